// kvarts get: the value of a key, as bytes on a pipe and readable on a terminal.
#include <fmt/format.h>

#include "cli/client.h"
#include "cli/command.h"
#include "cli/item.h"
#include "cli/key_words.h"
#include "cli/terminal.h"

namespace kvarts::cli {
namespace {

// More than this is for a pipe.
constexpr size_t kShownBytes = 64 << 10;

Status Check(const Arguments& arguments) {
  if (arguments.Has("raw") && arguments.Has("json")) {
    return Error(ErrorCode::kInvalidArgument, "--raw and --json exclude each other");
  }
  return CheckWords(arguments);
}

Syntax MakeSyntax() {
  return OverApi(
      {.arguments = {{"KEY"}},
       .options = Joined({{"raw", OptionKind::kFlag, {}, "the bytes of the value, on a terminal too"}}, WordOptions()),
       .description = "Prints the value of a key. On a terminal with its version and expiry; into a pipe or\n"
                      "a file its bytes, as they are and without a line end. Ends with 4 when there is\n"
                      "nothing under the key.\n\n"
                      "  kvarts get user:1\n"
                      "  kvarts get photo:7 > photo.jpg\n"
                      "  kvarts get --hex 00ff --json --data ./data\n",
       .check = &Check});
}

}  // namespace

const Syntax& GetSyntax() {
  static const Syntax kSyntax = MakeSyntax();
  return kSyntax;
}

Result<int> RunGet(const Arguments& arguments) {
  KVARTS_TRY(const Bytes key, DecodeWord(arguments, arguments.at(0)));
  KVARTS_TRY(const auto client, Client::Open(arguments));
  const bool json = arguments.Has("json");
  const bool raw = arguments.Has("raw") || (!json && !OutputIsTerminal());
  const std::string accept = raw ? "Accept: application/octet-stream" : "Accept: application/json";
  KVARTS_TRY(const Reply reply, client->Call({.path = KeyPath("/keys/", key), .headers = {accept}}));
  if (raw) {
    Print(reply.body);
  } else if (json) {
    Print(reply.body + "\n");
  } else {
    KVARTS_TRY(const JsonObject object, JsonObject::Parse(reply.body));
    KVARTS_TRY(const Item item, Item::Of(object));
    Print(fmt::format("{}\n{}\n", ValueForTerminal(item.value.value_or(""), kShownBytes), Dim(item.About())));
  }
  return kExitOk;
}

}  // namespace kvarts::cli
