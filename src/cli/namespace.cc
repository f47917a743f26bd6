// kvarts namespace: rules for keys under a grammar.
#include <fmt/format.h>

#include "cli/answers.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/key_words.h"
#include "cli/terminal.h"
#include "encoding/json_writer.h"

namespace kvarts::cli {
namespace {

constexpr size_t kMaxBodyBytes = 1 << 20;

const Syntax& ListSyntax() {
  static const Syntax kSyntax =
      OverApi({.arguments = {}, .options = {}, .description = "Lists all namespaces with their grammars.\n"});
  return kSyntax;
}

const Syntax& ShowSyntax() {
  static const Syntax kSyntax =
      OverApi({.arguments = {{"NAME"}}, .options = {}, .description = "Shows everything that a namespace says.\n"});
  return kSyntax;
}

Status CheckDeclare(const Arguments& arguments) {
  if ((arguments.size() > 1) == arguments.Has("file")) {
    return Error(ErrorCode::kInvalidArgument, "a namespace is declared by a GRAMMAR with options, or by --file");
  }
  if (arguments.Has("retention") != arguments.Has("keep")) {
    return Error(ErrorCode::kInvalidArgument, "--retention and --keep belong together");
  }
  return {};
}

const Syntax& DeclareSyntax() {
  static const Syntax kSyntax = OverApi(
      {.arguments = {{"NAME"}, {"GRAMMAR", true}},
       .options = {{"partition", OptionKind::kText, "FIELD", "what is kept together (default: the first field)"},
                   {"tenant", OptionKind::kText, "FIELD", "whose the key is (default: the field tenant)"},
                   {"max-key-bytes", OptionKind::kSize, "SIZE", "of a key", {}, 1},
                   {"max-value-bytes", OptionKind::kSize, "SIZE", "of a value", {}, 1},
                   {"default-ttl", OptionKind::kDuration, "TIME", "of what is put without one", {}, 1},
                   {"profile", OptionKind::kChoice, "HOW", "how it is mostly used", {"lookup", "ingest", "window"}},
                   {"envelope", OptionKind::kFlag, {}, "every value must have an envelope"},
                   {"envelope-type", OptionKind::kList, "TYPE", "an entity type that it may have; several times"},
                   {"min-schema", OptionKind::kCount, "N", "the oldest schema version"},
                   {"max-schema", OptionKind::kCount, "N", "the newest one"},
                   {"retention", OptionKind::kText, "FIELD", "drop keys by this date or timestamp"},
                   {"keep", OptionKind::kDuration, "TIME", "that is older than this", {}, 1},
                   {"feed", OptionKind::kFlag, {}, "keep a feed of its changes"},
                   {"file", OptionKind::kPath, "FILE", "all of this as JSON from a file, or - for the standard input"}},
       .description = "Declares a namespace, or replaces its rules: from now on keys that begin as its grammar\n"
                      "does must follow it. The range has to be empty; `kvarts namespace move` brings keys in.\n\n"
                      "  kvarts namespace declare cases 't/<tenant>/case/<id:uuid>' --envelope\n"
                      "  kvarts namespace declare events 'e/<day:date>/<id>' --retention day --keep 90d\n",
       .check = &CheckDeclare});
  return kSyntax;
}

const Syntax& DropSyntax() {
  static const Syntax kSyntax =
      OverApi({.arguments = {{"NAME"}},
               .options = {{"erase", OptionKind::kFlag, {}, "erase its keys as well, by a job"},
                           {"wait", OptionKind::kFlag, {}, "wait for the job"}},
               .description = "Takes the rules of a namespace away. It must have no keys, unless --erase is given.\n"});
  return kSyntax;
}

const Syntax& MoveSyntax() {
  static const Syntax kSyntax = OverApi(
      {.arguments = {{"NAME"}},
       .options = Joined({{"from", OptionKind::kText, "PREFIX", "the keys to move"},
                          {"to", OptionKind::kText, "PREFIX", "what they begin with afterwards"},
                          {"throttle", OptionKind::kCount, "N", "at most so many keys per second", {}, 1},
                          {"wait", OptionKind::kFlag, {}, "wait for the job"}},
                         WordOptions()),
       .description = "Moves keys that lie under another prefix into a namespace, by a job. A key that would not\n"
                      "follow its rules, or that is there already, stays where it is.\n\n"
                      "  kvarts namespace move cases --from old/ --to t/acme/ --wait\n",
       .check = [](const Arguments& arguments) -> Status {
         if (arguments.Has("from")) return {};
         return Error(ErrorCode::kInvalidArgument, "--from names the keys to move");
       }});
  return kSyntax;
}

const Syntax& DropBucketSyntax() {
  static const Syntax kSyntax =
      OverApi({.arguments = {{"NAME"}, {"BUCKET"}},
               .options = Joined({{"leading", OptionKind::kText, "PREFIX", "what stands before the bucket in its keys"},
                                  {"wait", OptionKind::kFlag, {}, "wait for the job, if it takes one"}},
                                 WordOptions()),
               .description = "Drops all keys of one bucket of the retention field, as a range.\n\n"
                              "  kvarts namespace drop-bucket events 2026-07 --leading t/acme/\n"});
  return kSyntax;
}

std::string PathOf(const Arguments& arguments) { return KeyPath("/namespaces/", arguments.at(0)); }

void WriteEnvelope(const Arguments& arguments, JsonWriter& json) {
  const std::vector<std::string> types = arguments.Texts("envelope-type");
  const auto min = arguments.Number("min-schema");
  const auto max = arguments.Number("max-schema");
  if (!arguments.Has("envelope") && types.empty() && !min && !max) return;
  json.Name("envelope").BeginObject().Field("required", true);
  if (!types.empty()) {
    json.Name("types").BeginArray();
    for (const std::string& type : types) json.Text(Harmless(type));
    json.EndArray();
  }
  if (min) json.Field("min_schema", *min);
  if (max) json.Field("max_schema", *max);
  json.EndObject();
}

std::string DeclareBody(const Arguments& arguments) {
  std::string body;
  JsonWriter json(&body);
  json.BeginObject().BytesField("grammar", arguments.at(1));
  for (const std::string_view name : {"partition", "tenant", "profile"}) {
    if (const auto text = arguments.Text(name)) json.BytesField(name, *text);
  }
  if (const auto size = arguments.Number("max-key-bytes")) json.Field("max_key_bytes", *size);
  if (const auto size = arguments.Number("max-value-bytes")) json.Field("max_value_bytes", *size);
  if (const auto ttl = arguments.Number("default-ttl")) json.Name("default_ttl").Raw(Seconds(*ttl));
  WriteEnvelope(arguments, json);
  if (const auto field = arguments.Text("retention")) {
    json.Name("retention").BeginObject().BytesField("field", *field);
    json.Name("keep").Raw(Seconds(arguments.Number("keep").value_or(0))).EndObject();
  }
  if (arguments.Has("feed")) json.Field("feed", true);
  json.EndObject();
  return body;
}

Result<int> RunList(const Arguments& arguments) {
  KVARTS_TRY(const auto client, Client::Open(arguments));
  KVARTS_TRY(const Reply reply, client->Call({.path = "/namespaces"}));
  if (PrintedAsJson(arguments, reply)) return kExitOk;
  KVARTS_TRY(const JsonObject answer, JsonObject::Parse(reply.body));
  KVARTS_TRY(const std::vector<JsonObject> items, answer.Objects("items"));
  Print(TableOf(items, {{"name", "name"}, {"grammar", "grammar"}, {"profile", "profile"}, {"feed", "feed"}}));
  return kExitOk;
}

Result<int> RunShow(const Arguments& arguments) {
  KVARTS_TRY(const auto client, Client::Open(arguments));
  KVARTS_TRY(const Reply reply, client->Call({.path = PathOf(arguments)}));
  if (PrintedAsJson(arguments, reply)) return kExitOk;
  KVARTS_TRY(const JsonObject answer, JsonObject::Parse(reply.body));
  Print(FieldsOf(answer));
  return kExitOk;
}

Result<int> RunDeclare(const Arguments& arguments) {
  Request request = JsonRequest("PUT", PathOf(arguments), {});
  if (const auto file = arguments.Text("file")) {
    KVARTS_TRY(request.body, ReadInput(*file, kMaxBodyBytes));
  } else {
    request.body = DeclareBody(arguments);
  }
  KVARTS_TRY(const auto client, Client::Open(arguments, IfMissing::kCreate));
  KVARTS_TRY(const Reply reply, client->Call(request));
  if (!PrintedAsJson(arguments, reply)) Print(fmt::format("declared {}\n", Harmless(arguments.at(0))));
  return kExitOk;
}

Result<int> RunDrop(const Arguments& arguments) {
  const std::string query = arguments.Has("erase") ? "?erase=true" : "";
  KVARTS_TRY(const auto client, Client::Open(arguments));
  KVARTS_TRY(const Reply reply, client->Call({.method = "DELETE", .path = PathOf(arguments) + query}));
  return FollowJob(*client, arguments, reply);
}

Result<int> RunMove(const Arguments& arguments) {
  std::string body;
  JsonWriter json(&body);
  json.BeginObject();
  for (const std::string_view name : {"from", "to"}) {
    const auto word = arguments.Text(name);
    if (!word) continue;
    KVARTS_TRY(const Bytes prefix, DecodeWord(arguments, *word));
    json.BytesField(name, prefix);
  }
  if (const auto throttle = arguments.Number("throttle")) json.Field("throttle", *throttle);
  json.EndObject();
  KVARTS_TRY(const auto client, Client::Open(arguments));
  KVARTS_TRY(const Reply reply, client->Call(JsonRequest("POST", PathOf(arguments) + "/move", std::move(body))));
  return FollowJob(*client, arguments, reply);
}

Result<int> RunDropBucket(const Arguments& arguments) {
  KVARTS_TRY(const Bytes leading, DecodeWord(arguments, arguments.Text("leading").value_or("")));
  std::string body;
  JsonWriter(&body).BeginObject().BytesField("leading", leading).BytesField("bucket", arguments.at(1)).EndObject();
  KVARTS_TRY(const auto client, Client::Open(arguments));
  KVARTS_TRY(const Reply reply, client->Call(JsonRequest("POST", PathOf(arguments) + "/drop-bucket", std::move(body))));
  return FollowJob(*client, arguments, reply);
}

constexpr Command kCommands[] = {
    {"list", "All namespaces", &ListSyntax, &RunList},
    {"show", "Everything that a namespace says", &ShowSyntax, &RunShow},
    {"declare", "Declare a namespace, or change it", &DeclareSyntax, &RunDeclare},
    {"drop", "Take its rules away", &DropSyntax, &RunDrop},
    {"move", "Move keys into it", &MoveSyntax, &RunMove},
    {"drop-bucket", "Drop a bucket of its retention field", &DropBucketSyntax, &RunDropBucket},
};

}  // namespace

const Syntax& NamespaceSyntax() {
  static const Syntax kSyntax = {
      .arguments = {},
      .options = {},
      .description =
          "A namespace has a grammar such as t/<tenant>/case/<id:uuid>, and rules for the keys and\n"
          "values under it: limits, a default time to live, envelopes, a feed, retention.\n"
          "`kvarts explain KEY` says how a key is read.\n"};
  return kSyntax;
}

std::span<const Command> NamespaceCommands() { return kCommands; }

}  // namespace kvarts::cli
