#include "cli/catalog.h"

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/key_words.h"
#include "cli/terminal.h"
#include "encoding/json_writer.h"

namespace kvarts::cli {
namespace {

constexpr std::string_view kPage = "1000";

}  // namespace

OptionSyntax IfMissingOption() { return {"if-missing", OptionKind::kFlag, {}, "what is there already stays as it is"}; }

Result<int> ListNames(const Arguments& arguments, const std::string& path, std::string_view items) {
  KVARTS_TRY(const auto client, Client::Open(arguments));
  std::vector<JsonObject> all;
  std::string after;
  do {
    Query query;
    query.Add("limit", kPage);
    if (!after.empty()) query.Add("after", after);
    KVARTS_TRY(const Reply reply, client->Call({.path = path + query.text()}));
    KVARTS_TRY(const JsonObject answer, JsonObject::Parse(reply.body));
    KVARTS_TRY(const std::vector<std::string> page, answer.Elements(items));
    for (const std::string& element : page) {
      if (arguments.Has("json")) {
        Print(element + "\n");
        continue;
      }
      KVARTS_TRY(JsonObject item, JsonObject::Parse(element));
      all.push_back(std::move(item));
    }
    after = answer.Text("next");
  } while (!after.empty());
  if (!arguments.Has("json")) Print(TableOf(all, {{"name", "name"}, {"id", "id"}, {"created", "created"}}));
  return kExitOk;
}

Result<int> ShowFields(const Arguments& arguments, const std::string& path) {
  KVARTS_TRY(const auto client, Client::Open(arguments));
  KVARTS_TRY(const Reply reply, client->Call({.path = path}));
  if (PrintedAsJson(arguments, reply)) return kExitOk;
  KVARTS_TRY(const JsonObject answer, JsonObject::Parse(reply.body));
  Print(FieldsOf(answer));
  return kExitOk;
}

Result<int> Create(const Arguments& arguments, Request request) {
  // What is there stays as it is, whatever the request says of it.
  request.headers.emplace_back("If-None-Match: *");
  KVARTS_TRY(const auto client, Client::Open(arguments, IfMissing::kCreate));
  Result<Reply> reply = client->Call(request);
  const bool was_there = !reply.has_value() && reply.error().code() == ErrorCode::kPreconditionFailed;
  if (was_there && arguments.Has("if-missing")) reply = client->Call({.path = request.path});
  if (!reply.has_value()) return reply.error();
  if (PrintedAsJson(arguments, *reply)) return kExitOk;
  Print(fmt::format(fmt::runtime(was_there ? "{} was there\n" : "created {}\n"), Harmless(arguments.at(0))));
  return kExitOk;
}

Result<int> Rename(const Arguments& arguments, const std::string& path) {
  std::string body;
  JsonWriter(&body).BeginObject().BytesField("name", arguments.at(1)).EndObject();
  KVARTS_TRY(const auto client, Client::Open(arguments));
  KVARTS_TRY(const Reply reply, client->Call(JsonRequest("PATCH", path, std::move(body))));
  if (PrintedAsJson(arguments, reply)) return kExitOk;
  Print(fmt::format("renamed {} to {}\n", Harmless(arguments.at(0)), Harmless(arguments.at(1))));
  return kExitOk;
}

Result<int> Drop(const Arguments& arguments, const std::string& path) {
  KVARTS_TRY(const auto client, Client::Open(arguments));
  KVARTS_TRY(const Reply reply, client->Call({.method = "DELETE", .path = path}));
  return FollowJob(*client, arguments, reply);
}

}  // namespace kvarts::cli
