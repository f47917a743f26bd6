// kvarts explain: how the namespaces read a key.
#include "cli/client.h"
#include "cli/command.h"
#include "cli/item.h"
#include "cli/json_object.h"
#include "cli/key_words.h"
#include "cli/terminal.h"

namespace kvarts::cli {
namespace {

constexpr size_t kMaxShownBytes = 256 << 10;

Syntax MakeSyntax() {
  return OverApi({.arguments = {{"KEY"}},
                  .options = WordOptions(),
                  .description =
                      "Says which namespace governs a key, how its fields are read, which partition and tenant it\n"
                      "belongs to, and, if it would be refused, where it leaves the grammar. The key need not\n"
                      "be there.\n\n"
                      "  kvarts explain t/acme/case/17\n",
                  .check = &CheckWords});
}

}  // namespace

const Syntax& ExplainSyntax() {
  static const Syntax kSyntax = MakeSyntax();
  return kSyntax;
}

Result<int> RunExplain(const Arguments& arguments) {
  KVARTS_TRY(const Bytes key, DecodeWord(arguments, arguments.at(0)));
  KVARTS_TRY(const auto client, Client::Open(arguments));
  KVARTS_TRY(const Reply reply, client->Call({.path = KeyPath("/explain/", key)}));
  if (arguments.Has("json")) {
    Print(reply.body + "\n");
    return kExitOk;
  }
  KVARTS_TRY(const JsonObject answer, JsonObject::Parse(reply.body));
  std::string text = ValueForTerminal(answer.Text("text"), kMaxShownBytes);
  if (!text.ends_with('\n')) text.push_back('\n');
  Print(text);
  return kExitOk;
}

}  // namespace kvarts::cli
