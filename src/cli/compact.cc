// kvarts compact: rewrites a range on disk, which is work that nobody should start by accident.
#include <fmt/format.h>

#include "cli/client.h"
#include "cli/command.h"
#include "cli/key_words.h"
#include "cli/progress_bar.h"
#include "cli/terminal.h"
#include "cli/text.h"

namespace kvarts::cli {
namespace {

Status Check(const Arguments& arguments) {
  KVARTS_CHECK_OK(CheckWords(arguments));
  KVARTS_TRY(const RangeWords range, RangeOf(arguments));
  if (range.IsEverything() == !arguments.Has("all")) {
    return Error(ErrorCode::kInvalidArgument, "what to compact is a PREFIX, --start and --end, or --all");
  }
  return {};
}

Syntax MakeSyntax() {
  return OverApi(
      {.arguments = {{"PREFIX", true}},
       .options = Joined(Joined(RangeOptions(), {{"all", OptionKind::kFlag, {}, "everything"}}), WordOptions()),
       .description = "Rewrites the files that hold a range, without what was deleted, replaced or has expired.\n"
                      "The store does this by itself as it goes; this is for afterwards: a large deletion, or\n"
                      "before a copy is made. It reads and writes the whole range, and returns when it is done.\n\n"
                      "  kvarts compact session:\n",
       .check = &Check});
}

}  // namespace

const Syntax& CompactSyntax() {
  static const Syntax kSyntax = MakeSyntax();
  return kSyntax;
}

Result<int> RunCompact(const Arguments& arguments) {
  KVARTS_TRY(const RangeWords range, RangeOf(arguments));
  Request request{.method = "POST", .path = "/compact", .headers = {"Content-Type: application/json"}};
  JsonWriter json(&request.body);
  json.BeginObject();
  range.Write(json);
  if (range.IsEverything()) json.Field("all", true);
  json.EndObject();
  KVARTS_TRY(const auto client, Client::Open(arguments));
  const ProgressBar progress;
  KVARTS_TRY(const Reply reply, client->Call(request));
  if (arguments.Has("json")) {
    Print(reply.body + "\n");
  } else {
    Print(fmt::format("compacted in {}\n", HumanDuration(progress.Elapsed())));
  }
  return kExitOk;
}

}  // namespace kvarts::cli
