// kvarts delete: a key, or a range that is named on purpose.
#include <fmt/format.h>

#include "cli/client.h"
#include "cli/command.h"
#include "cli/json_object.h"
#include "cli/key_words.h"
#include "cli/terminal.h"
#include "cli/text.h"

namespace kvarts::cli {
namespace {

Status Check(const Arguments& arguments) {
  const bool key = arguments.size() > 0;
  const bool prefix = arguments.Has("prefix");
  const bool bounds = arguments.Has("start") || arguments.Has("end");
  if ((key ? 1 : 0) + (prefix ? 1 : 0) + (bounds ? 1 : 0) != 1) {
    return Error(ErrorCode::kInvalidArgument, "what to delete is a KEY, --prefix, or --start and --end");
  }
  if (bounds && !(arguments.Has("start") && arguments.Has("end"))) {
    return Error(ErrorCode::kInvalidArgument, "a range that is deleted has both --start and --end");
  }
  if (!key && arguments.Has("if-version")) {
    return Error(ErrorCode::kInvalidArgument, "--if-version is about a single key");
  }
  if (arguments.Text("prefix") == "") {
    return Error(ErrorCode::kInvalidArgument, "an empty prefix would delete everything");
  }
  return CheckWords(arguments);
}

Syntax MakeSyntax() {
  return OverApi({.arguments = {{"KEY", true}},
                  .options = Joined({{"if-version", OptionKind::kCount, "V", "only if the key has this version"},
                                     {"prefix", OptionKind::kText, "P", "every key that begins with this instead"},
                                     {"start", OptionKind::kText, "KEY", "every key from this one on"},
                                     {"end", OptionKind::kText, "KEY", "and before this one"},
                                     DurabilityOption()},
                                    WordOptions()),
                  .description =
                      "Deletes a key. Ends with 4 when there is nothing under it, and with 5 when --if-version\n"
                      "does not hold. A range goes at once and needs its bounds.\n\n"
                      "  kvarts delete user:1\n"
                      "  kvarts delete --prefix session:\n",
                  .check = &Check});
}

std::string What(const RangeWords& range) {
  if (range.prefix) return fmt::format("what begins with {}", ShownWord(*range.prefix));
  return fmt::format("from {} to {}", ShownWord(range.start.value_or("")), ShownWord(range.end.value_or("")));
}

}  // namespace

const Syntax& DeleteSyntax() {
  static const Syntax kSyntax = MakeSyntax();
  return kSyntax;
}

Result<int> RunDelete(const Arguments& arguments) {
  Request request{.method = "DELETE", .path = {}, .headers = WriteHeaders(arguments)};
  std::string what;
  if (arguments.size() > 0) {
    KVARTS_TRY(const Bytes key, DecodeWord(arguments, arguments.at(0)));
    request.path = KeyPath("/keys/", key);
    if (const auto version = arguments.Text("if-version")) {
      request.headers.push_back(fmt::format("If-Match: \"{}\"", *version));
    }
    what = ShownWord(key);
  } else {
    KVARTS_TRY(const RangeWords range, RangeOf(arguments));
    request.path = "/keys" + Query().Add(range).text();
    what = What(range);
  }
  KVARTS_TRY(const auto client, Client::Open(arguments));
  KVARTS_TRY(const Reply reply, client->Call(request));
  if (arguments.Has("json")) {
    Print(reply.body + "\n");
    return kExitOk;
  }
  KVARTS_TRY(const JsonObject answer, JsonObject::Parse(reply.body));
  Print(fmt::format("deleted {}{}\n", what, Dim(", version " + Harmless(answer.Text("version")))));
  return kExitOk;
}

}  // namespace kvarts::cli
