// kvarts table: declares tables, shows and changes them.
#include <fmt/format.h>

#include "base/utf8.h"
#include "cli/catalog.h"
#include "cli/command.h"
#include "cli/declared_text.h"
#include "cli/input.h"
#include "cli/key_words.h"
#include "cli/table_drift.h"
#include "cli/table_words.h"
#include "cli/terminal.h"
#include "encoding/json_writer.h"

namespace kvarts::cli {
namespace {

constexpr size_t kMaxBodyBytes = 4 << 20;

// Whether the text of an option can stand in JSON.
Status CheckText(const Arguments& arguments, std::string_view option) {
  if (IsUtf8(arguments.Text(option).value_or(""))) return {};
  return Error(ErrorCode::kInvalidArgument, "an option has a value that is no UTF-8",
               {{"option", fmt::format("--{}", option)}});
}

Status CheckCreate(const Arguments& arguments) {
  KVARTS_CHECK_OK(CheckTableWord(arguments));
  if (arguments.Has("key") == arguments.Has("spec")) {
    return Error(ErrorCode::kInvalidArgument, "a table is declared by --key with other options, or by --spec");
  }
  for (const std::string_view name : {"sort", "index", "ttl", "ttl-field", "schema", "profile"}) {
    if (!arguments.Has("spec") || !arguments.Has(name)) continue;
    return Error(ErrorCode::kInvalidArgument, "--spec says all of it", {{"option", fmt::format("--{}", name)}});
  }
  for (const std::string_view name : {"key", "sort"}) {
    KVARTS_TRY([[maybe_unused]] const std::string fields, FieldsJson(FieldOf::kKey, arguments, name));
  }
  for (const std::string& index : arguments.Texts("index")) {
    JsonReader json{std::string_view(index)};
    json.Skip();
    if (json.Finish().has_value()) continue;
    return Error(ErrorCode::kInvalidArgument, "an index is declared in JSON, as in {\"name\": …, \"partition\": […]}",
                 {{"word", index}});
  }
  return CheckText(arguments, "ttl-field");
}

Status CheckAlter(const Arguments& arguments) {
  KVARTS_CHECK_OK(CheckTableWord(arguments));
  const bool ttl = arguments.Has("ttl") || arguments.Has("ttl-field");
  if (ttl && arguments.Has("no-ttl")) {
    return Error(ErrorCode::kInvalidArgument, "--no-ttl excludes --ttl and --ttl-field");
  }
  if (arguments.Has("schema") && arguments.Has("no-schema")) {
    return Error(ErrorCode::kInvalidArgument, "--schema and --no-schema exclude each other");
  }
  if (!ttl && !arguments.Has("no-ttl") && !arguments.Has("keep") && !arguments.Has("schema") &&
      !arguments.Has("no-schema")) {
    return Error(ErrorCode::kInvalidArgument,
                 "what changes is --ttl, --ttl-field, --no-ttl, --keep, --schema or --no-schema");
  }
  return CheckText(arguments, "ttl-field");
}

const Syntax& ListSyntax() {
  static const Syntax kSyntax = OverApi({.arguments = {{"PROJECT/DATASET"}},
                                         .options = {},
                                         .description = "Lists the tables of a dataset.\n",
                                         .check = &CheckDatasetWord});
  return kSyntax;
}

const Syntax& CreateSyntax() {
  static const Syntax kSyntax = OverApi(
      {.arguments = {{"TABLE"}},
       .options = {{"key", OptionKind::kList, "FIELD", "a partition field of the key; several times"},
                   {"sort", OptionKind::kList, "FIELD", "a sort field of the key; several times"},
                   {"index", OptionKind::kList, "JSON", "an index; several times"},
                   {"ttl", OptionKind::kDuration, "TIME", "how long rows live: 30s, 5m, 2h, 7d", {}, 1},
                   {"ttl-field", OptionKind::kText, "FIELD", "the field that says until when a row lives"},
                   {"schema", OptionKind::kPath, "FILE", "the JSON Schema of its rows, or - for the standard input"},
                   {"profile", OptionKind::kChoice, "HOW", "how it is mostly used", {"lookup", "ingest", "window"}},
                   {"spec", OptionKind::kPath, "FILE", "all of this as JSON, or - for the standard input"},
                   IfMissingOption()},
       .description = "Declares a table. A FIELD is NAME, NAME:TYPE or NAME:TYPE:desc; a type is text, number,\n"
                      "binary, bool, timestamp or uuid. Ends with 5 when there is a table of this name; with\n"
                      "--if-missing that one stays as it is, and is no error; `kvarts table alter` changes it.\n\n"
                      "  kvarts table create acme/shop/users --key id --ttl 30d\n"
                      "  kvarts table create acme/shop/events --key tenant --sort at:timestamp:desc \\\n"
                      "      --index '{\"name\": \"by_kind\", \"partition\": [\"kind\"], \"sort\": [\"at\"]}'\n"
                      "  kvarts table create acme/shop/orders --spec orders.json\n",
       .check = &CheckCreate});
  return kSyntax;
}

const Syntax& ShowSyntax() {
  static const Syntax kSyntax =
      OverApi({.arguments = {{"TABLE"}},
               .options = {},
               .description = "Shows a table: its key, its rules, and its indexes with their state.\n",
               .check = &CheckTableWord});
  return kSyntax;
}

const Syntax& RenameSyntax() {
  static const Syntax kSyntax = OverApi({.arguments = {{"TABLE"}, {"NAME"}},
                                         .options = {},
                                         .description = "Gives a table another name in its dataset, at once.\n\n"
                                                        "  kvarts table rename acme/shop/orders purchases\n",
                                         .check = &CheckTableWord});
  return kSyntax;
}

const Syntax& AlterSyntax() {
  static const Syntax kSyntax = OverApi(
      {.arguments = {{"TABLE"}},
       .options = {{"ttl", OptionKind::kDuration, "TIME", "how long rows live: 30s, 5m, 2h, 7d", {}, 1},
                   {"ttl-field", OptionKind::kText, "FIELD", "the field that says until when a row lives"},
                   {"no-ttl", OptionKind::kFlag, {}, "rows live for ever"},
                   {"keep", OptionKind::kDuration, "TIME", "of a table with a retention: how long it keeps", {}, 1},
                   {"schema", OptionKind::kPath, "FILE", "the JSON Schema of its rows, or - for the standard input"},
                   {"no-schema", OptionKind::kFlag, {}, "rows may be anything"}},
       .description = "Changes how long the rows of a table live, or their schema, for rows that are written from\n"
                      "now on. --ttl and --ttl-field together replace what was said about it.\n\n"
                      "  kvarts table alter acme/shop/events --ttl 90d\n"
                      "  kvarts table alter acme/shop/users --schema user.schema.json\n",
       .check = &CheckAlter});
  return kSyntax;
}

const Syntax& DropSyntax() {
  static const Syntax kSyntax =
      OverApi({.arguments = {{"TABLE"}},
               .options = {{"wait", OptionKind::kFlag, {}, "wait until its rows are gone from the disk"}},
               .description = "Drops a table with all that is in it, at once; a job takes the rows away.\n",
               .check = &CheckTableWord});
  return kSyntax;
}

void WriteTtl(const Arguments& arguments, JsonWriter& json) {
  const auto ttl = arguments.Number("ttl");
  const auto field = arguments.Text("ttl-field");
  if (!ttl && !field) return;
  json.Name("ttl").BeginObject();
  if (field) json.Field("field", *field);
  if (ttl) json.Name("default").Raw(Seconds(*ttl));
  json.EndObject();
}

Status WriteSchema(const Arguments& arguments, JsonWriter& json) {
  const auto file = arguments.Text("schema");
  if (!file) return {};
  KVARTS_TRY(const Bytes schema, ReadInput(*file, kMaxBodyBytes));
  JsonReader reader{std::string_view(schema)};
  const std::string_view raw = reader.Raw();
  const Status finished = reader.Finish();
  if (!finished.has_value()) {
    return Error(ErrorCode::kInvalidArgument, "the schema is no JSON",
                 {{"path", *file}, {"cause", std::string(finished.error().text())}});
  }
  json.Name("schema").Raw(raw);
  return {};
}

Result<std::string> CreateBody(const Arguments& arguments) {
  if (const auto file = arguments.Text("spec")) return ReadInput(*file, kMaxBodyBytes);
  KVARTS_TRY(const std::string partition, FieldsJson(FieldOf::kKey, arguments, "key"));
  KVARTS_TRY(const std::string sort, FieldsJson(FieldOf::kKey, arguments, "sort"));
  std::string body;
  JsonWriter json(&body);
  json.BeginObject().Name("key").BeginObject().Name("partition").Raw(partition).Name("sort").Raw(sort).EndObject();
  if (arguments.Has("index")) {
    json.Name("indexes").BeginArray();
    for (const std::string& index : arguments.Texts("index")) json.Raw(index);
    json.EndArray();
  }
  WriteTtl(arguments, json);
  KVARTS_CHECK_OK(WriteSchema(arguments, json));
  if (const auto profile = arguments.Text("profile")) json.Field("profile", *profile);
  json.EndObject();
  return body;
}

Result<std::string> AlterBody(const Arguments& arguments) {
  std::string body;
  JsonWriter json(&body);
  json.BeginObject();
  WriteTtl(arguments, json);
  if (arguments.Has("no-ttl")) json.Name("ttl").Null();
  if (const auto keep = arguments.Number("keep")) {
    json.Name("retention").BeginObject().Name("keep").Raw(Seconds(*keep)).EndObject();
  }
  KVARTS_CHECK_OK(WriteSchema(arguments, json));
  if (arguments.Has("no-schema")) json.Name("schema").Null();
  json.EndObject();
  return body;
}

Result<int> RunList(const Arguments& arguments) {
  KVARTS_TRY(const std::string url, DatasetUrl(arguments.at(0)));
  return ListNames(arguments, url + "/tables", "tables");
}

Result<int> RunCreate(const Arguments& arguments) {
  KVARTS_TRY(const std::string url, TableUrl(arguments.at(0)));
  KVARTS_TRY(std::string body, CreateBody(arguments));
  return Create(arguments, JsonRequest("PUT", url, std::move(body)));
}

Result<int> RunShow(const Arguments& arguments) {
  KVARTS_TRY(const std::string url, TableUrl(arguments.at(0)));
  KVARTS_TRY(const auto client, Client::Open(arguments));
  KVARTS_TRY(const Reply reply, client->Call({.path = url}));
  if (PrintedAsJson(arguments, reply)) return kExitOk;
  KVARTS_TRY(const JsonObject table, JsonObject::Parse(reply.body));
  KVARTS_TRY(const std::string text, DeclaredText(table));
  Print(text);
  return kExitOk;
}

Result<int> RunRename(const Arguments& arguments) {
  KVARTS_TRY(const std::string url, TableUrl(arguments.at(0)));
  return Rename(arguments, url);
}

Result<int> RunAlter(const Arguments& arguments) {
  KVARTS_TRY(const std::string url, TableUrl(arguments.at(0)));
  KVARTS_TRY(std::string body, AlterBody(arguments));
  KVARTS_TRY(const auto client, Client::Open(arguments));
  KVARTS_TRY(const Reply reply, client->Call(JsonRequest("PATCH", url, std::move(body))));
  if (!PrintedAsJson(arguments, reply)) Print(fmt::format("altered {}\n", Harmless(arguments.at(0))));
  return kExitOk;
}

Result<int> RunDrop(const Arguments& arguments) {
  KVARTS_TRY(const std::string url, TableUrl(arguments.at(0)));
  return Drop(arguments, url);
}

constexpr Command kCommands[] = {
    {"list", "The tables of a dataset", &ListSyntax, &RunList},
    {"create", "Declare a table", &CreateSyntax, &RunCreate},
    {"show", "Its key, its rules and its indexes", &ShowSyntax, &RunShow},
    {"rename", "Give it another name", &RenameSyntax, &RunRename},
    {"alter", "Change how long rows live, or their schema", &AlterSyntax, &RunAlter},
    {"drop", "Drop a table with all that is in it", &DropSyntax, &RunDrop},
    {"verify", "Hold its indexes against its rows", &TableVerifySyntax, &RunTableVerify},
    {"findings", "What a job of these has found", &TableFindingsSyntax, &RunTableFindings},
    {"repair", "Mend its indexes, or take that back", &TableRepairSyntax, &RunTableRepair},
};

}  // namespace

const Syntax& TableSyntax() {
  static const Syntax kSyntax = {
      .arguments = {},
      .options = {},
      .description =
          "A table holds rows, which are JSON objects with a key in them: partition fields, which say\n"
          "where a row lives, and sort fields, in whose order the rows of a partition lie. It is named\n"
          "by its project, its dataset and itself, as in acme/shop/orders.\n"};
  return kSyntax;
}

std::span<const Command> TableCommands() { return kCommands; }

}  // namespace kvarts::cli
