// kvarts commit: preconditions and mutations, all or nothing.
#include <fmt/format.h>

#include "cli/client.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/json_object.h"
#include "cli/key_words.h"
#include "cli/terminal.h"
#include "cli/text.h"

namespace kvarts::cli {
namespace {

constexpr size_t kMaxBodyBytes = 256 << 20;

Syntax MakeSyntax() {
  return OverApi({.arguments = {{"FILE", true}},
                  .options = {DurabilityOption()},
                  .description =
                      "Sends a commit as JSON from FILE or the standard input: everything in it happens, or\n"
                      "nothing. Ends with 5 when a precondition does not hold.\n\n"
                      "  kvarts commit <<'END'\n"
                      "  {\"preconditions\": [{\"key\": \"seat:12\", \"absent\": true}],\n"
                      "   \"mutations\": [{\"op\": \"put\", \"key\": \"seat:12\", \"value\": \"Ada\", \"ttl\": 600},\n"
                      "                 {\"op\": \"increment\", \"key\": \"seats\"}]}\n"
                      "  END\n\n"
                      "A mutation is a put, delete, touch, increment, append, add or delete_range, or of a\n"
                      "row a put_row, patch_row or delete_row, which name their table; a precondition says\n"
                      "absent, present, version or unchanged_since.\n\n"
                      "  {\"op\": \"put_row\", \"table\": {\"project\": \"acme\", \"dataset\": \"shop\",\n"
                      "   \"table\": \"orders\"}, \"row\": {\"customer\": \"ada\", \"n\": 1}}\n"});
}

}  // namespace

const Syntax& CommitSyntax() {
  static const Syntax kSyntax = MakeSyntax();
  return kSyntax;
}

Result<int> RunCommit(const Arguments& arguments) {
  Request request{.method = "POST", .path = "/commit"};
  request.headers = WriteHeaders(arguments, {"Content-Type: application/json"});
  KVARTS_TRY(request.body, ReadInput(arguments.size() > 0 ? arguments.at(0) : "-", kMaxBodyBytes));
  KVARTS_TRY(const auto client, Client::Open(arguments, IfMissing::kCreate));
  KVARTS_TRY(const Reply reply, client->Call(request));
  if (arguments.Has("json")) {
    Print(reply.body + "\n");
    return kExitOk;
  }
  KVARTS_TRY(const JsonObject answer, JsonObject::Parse(reply.body));
  KVARTS_TRY(const std::vector<JsonObject> results, answer.Objects("results"));
  Print(fmt::format("committed {}{}\n", Counted(results.size(), "change", "changes"),
                    Dim(", version " + Harmless(answer.Text("version")))));
  for (size_t i = 0; i < results.size(); ++i) {
    const auto value = results[i].BytesOf("value");
    if (value) Print(fmt::format("  {}: {}\n", i + 1, ShownShort(*value, 200)));
  }
  return kExitOk;
}

}  // namespace kvarts::cli
