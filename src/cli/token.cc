// kvarts token: makes tokens, lists them, and takes them back.
#include <fmt/format.h>

#include "cli/answers.h"
#include "cli/command.h"
#include "cli/key_words.h"
#include "cli/terminal.h"
#include "encoding/json_writer.h"
#include "model/access/scope.h"
#include "model/access/token_record.h"

namespace kvarts::cli {
namespace {

Status CheckCreate(const Arguments& arguments) {
  if (!arguments.Has("scope")) return Error(ErrorCode::kInvalidArgument, "a token needs a --scope, as in read,write");
  for (const std::string& text : arguments.Texts("scope")) {
    const Result<Scope> scope = Scope::Parse(text);
    if (!scope.has_value()) {
      return Error(ErrorCode::kInvalidArgument, scope.error().text().data(), {{"word", text}});
    }
  }
  return {};
}

const Syntax& CreateSyntax() {
  static const Syntax kSyntax = OverApi(
      {.arguments = {{"NAME"}},
       .options = {{"scope", OptionKind::kList, "SCOPE", "what it may do; may be given several times"},
                   {"ttl", OptionKind::kDuration, "TIME", "how long it is good (default: for ever)", {}, 1},
                   {"rate", OptionKind::kCount, "N", "units of cost per second that it may use", {}, 1},
                   {"burst", OptionKind::kCount, "N", "how many it may use at once", {}, 1}},
       .description = "Makes a token and prints it, once: only its hash is kept. Its id, by which it is revoked,\n"
                      "goes to the standard error; --json has both. A scope is a list of read, write and admin,\n"
                      "over everything, over a namespace, over a prefix, or over a project, dataset or table:\n\n"
                      "  kvarts token create deploy --scope read,write,admin\n"
                      "  kvarts token create ops --scope admin --shards shards.toml\n"
                      "  kvarts token create reports --scope read:namespace=cases --ttl 30d\n"
                      "  kvarts token create web --scope read,write:prefix=session: --rate 1000\n"
                      "  kvarts token create sensors --scope write:tables=acme/metrics/events\n",
       .check = &CheckCreate});
  return kSyntax;
}

const Syntax& ListSyntax() {
  static const Syntax kSyntax = OverApi(
      {.arguments = {}, .options = {}, .description = "Lists all tokens: who they are and what they may do.\n"});
  return kSyntax;
}

const Syntax& RevokeSyntax() {
  static const Syntax kSyntax = OverApi(
      {.arguments = {{"ID"}},
       .options = {},
       .description = "Takes a token back for good. `kvarts token list` has the ids; ends with 4 when it has not.\n"});
  return kSyntax;
}

const Syntax& DisableSyntax() {
  static const Syntax kSyntax = OverApi({.arguments = {{"ID"}},
                                         .options = {},
                                         .description = "Refuses a token from now on, until `kvarts token enable`.\n"});
  return kSyntax;
}

const Syntax& EnableSyntax() {
  static const Syntax kSyntax =
      OverApi({.arguments = {{"ID"}}, .options = {}, .description = "Accepts a token again that was disabled.\n"});
  return kSyntax;
}

std::string CreateBody(const Arguments& arguments) {
  std::string body;
  JsonWriter json(&body);
  json.BeginObject().BytesField("name", arguments.at(0)).Name("scopes").BeginArray();
  for (const std::string& scope : arguments.Texts("scope")) json.Text(Harmless(scope));
  json.EndArray();
  if (const auto ttl = arguments.Number("ttl")) json.Name("ttl").Raw(Seconds(*ttl));
  if (const auto rate = arguments.Number("rate")) json.Field("rate", *rate);
  if (const auto burst = arguments.Number("burst")) json.Field("burst", *burst);
  json.EndObject();
  return body;
}

Result<int> RunCreate(const Arguments& arguments) {
  KVARTS_TRY(const auto client, Client::Open(arguments, IfMissing::kCreate));
  KVARTS_TRY(const Reply reply, client->Call(JsonRequest("POST", "/tokens", CreateBody(arguments))));
  if (PrintedAsJson(arguments, reply)) return kExitOk;
  KVARTS_TRY(const JsonObject answer, JsonObject::Parse(reply.body));
  // The token alone, for $(kvarts token create …); the rest is for whoever looks on.
  Print(Harmless(answer.Text("token")) + "\n");
  PrintError(fmt::format("kvarts: the token has the id {} and is not shown again\n", Harmless(answer.Text("id"))));
  return kExitOk;
}

Result<int> RunList(const Arguments& arguments) {
  KVARTS_TRY(const auto client, Client::Open(arguments));
  KVARTS_TRY(const Reply reply, client->Call({.path = "/tokens"}));
  if (PrintedAsJson(arguments, reply)) return kExitOk;
  KVARTS_TRY(const JsonObject answer, JsonObject::Parse(reply.body));
  KVARTS_TRY(const std::vector<JsonObject> items, answer.Objects("items"));
  Print(TableOf(items, {{"id", "id"},
                        {"name", "name"},
                        {"scopes", "scopes"},
                        {"expiry", "expires"},
                        {"rate", "rate"},
                        {"burst", "burst"},
                        {"disabled", "disabled"}}));
  return kExitOk;
}

// What cannot be an id, such as a name, is the id of no token: to whoever wants it gone, both are the same.
Error IdProblem(const std::string& id, const Error& error) {
  const bool is_none = error.code() == ErrorCode::kInvalidArgument && !TokenId::Parse(id).has_value();
  if (!is_none && error.code() != ErrorCode::kNotFound) return error;
  return Error(ErrorCode::kNotFound, "there is no token with this id; `kvarts token list` has the ids",
               {{"word", Harmless(id)}});
}

Result<int> Change(const Arguments& arguments, Request request, std::string_view done) {
  request.path = KeyPath("/tokens/", arguments.at(0));
  KVARTS_TRY(const auto client, Client::Open(arguments));
  const Result<Reply> reply = client->Call(request);
  if (!reply.has_value()) return IdProblem(arguments.at(0), reply.error());
  if (!PrintedAsJson(arguments, *reply)) Print(fmt::format("{} token {}\n", done, Harmless(arguments.at(0))));
  return kExitOk;
}

Result<int> RunRevoke(const Arguments& arguments) {
  return Change(arguments, {.method = "DELETE", .path = {}}, "revoked");
}
Result<int> RunDisable(const Arguments& arguments) {
  return Change(arguments, JsonRequest("PATCH", {}, R"({"disabled":true})"), "disabled");
}
Result<int> RunEnable(const Arguments& arguments) {
  return Change(arguments, JsonRequest("PATCH", {}, R"({"disabled":false})"), "enabled");
}

constexpr Command kCommands[] = {
    {"create", "Make a token", &CreateSyntax, &RunCreate},
    {"list", "All tokens", &ListSyntax, &RunList},
    {"revoke", "Take a token back for good", &RevokeSyntax, &RunRevoke},
    {"disable", "Refuse a token for a while", &DisableSyntax, &RunDisable},
    {"enable", "Accept a disabled token again", &EnableSyntax, &RunEnable},
};

}  // namespace

const Syntax& TokenSyntax() {
  static const Syntax kSyntax = {
      .arguments = {},
      .options = {},
      .description =
          "A server without tokens serves everybody on its own machine, and nobody else. As\n"
          "soon as there is one, every request needs one: the first should be an admin. With\n"
          "--data DIR or --shards FILE tokens are made without a server and without a token;\n"
          "servers that run on the same PostgreSQL know of it within a second.\n"};
  return kSyntax;
}

std::span<const Command> TokenCommands() { return kCommands; }

}  // namespace kvarts::cli
