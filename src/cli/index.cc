// kvarts index: makes the indexes of a table, shows and drops them.
#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "cli/answers.h"
#include "cli/catalog.h"
#include "cli/command.h"
#include "cli/declared_text.h"
#include "cli/table_words.h"
#include "cli/terminal.h"
#include "encoding/json_writer.h"
#include "model/table/table_spec.h"

namespace kvarts::cli {
namespace {

// The options that a declaration in JSON leaves nothing to say for.
constexpr std::string_view kDeclaring[] = {"partition", "sort", "unique", "local", "not-sparse", "include", "where"};

bool AnyDeclared(const Arguments& arguments) {
  return std::ranges::any_of(kDeclaring, [&](std::string_view name) { return arguments.Has(name); });
}

Status CheckIndex(const Arguments& arguments) {
  KVARTS_CHECK_OK(CheckTableWord(arguments));
  return CheckCatalogName(arguments.at(1));
}

Status CheckCreate(const Arguments& arguments) {
  KVARTS_CHECK_OK(CheckIndex(arguments));
  if ((arguments.size() > 2) == AnyDeclared(arguments)) {
    return Error(ErrorCode::kInvalidArgument, "an index is declared by options, or by JSON");
  }
  for (const std::string_view name : {"partition", "sort"}) {
    KVARTS_TRY([[maybe_unused]] const std::string fields, FieldsJson(FieldOf::kIndex, arguments, name));
  }
  std::vector<std::string> texts = arguments.Texts("include");
  texts.push_back(arguments.Text("where").value_or(""));
  for (const std::string& text : texts) {
    if (!IsUtf8(text)) return Error(ErrorCode::kInvalidArgument, "a path or a condition is UTF-8", {{"word", text}});
  }
  return {};
}

const Syntax& ListSyntax() {
  static const Syntax kSyntax = OverApi({.arguments = {{"TABLE"}},
                                         .options = {},
                                         .description = "Lists the indexes of a table with their state.\n",
                                         .check = &CheckTableWord});
  return kSyntax;
}

const Syntax& ShowSyntax() {
  static const Syntax kSyntax =
      OverApi({.arguments = {{"TABLE"}, {"NAME"}},
               .options = {},
               .description = "Shows an index, how far its job is, and the rows that are in the way of a unique one.\n",
               .check = &CheckIndex});
  return kSyntax;
}

const Syntax& CreateSyntax() {
  static const Syntax kSyntax = OverApi(
      {.arguments = {{"TABLE"}, {"NAME"}, {"JSON", true}},
       .options = {{"partition", OptionKind::kList, "FIELD", "a field that rows are looked up by; several times"},
                   {"sort", OptionKind::kList, "FIELD", "a field that they are in the order of; several times"},
                   {"unique", OptionKind::kFlag, {}, "no two rows may have the same"},
                   {"local", OptionKind::kFlag, {}, "inside the partitions of the table, in another order"},
                   {"not-sparse", OptionKind::kFlag, {}, "rows that lack a field are in it, too, as null"},
                   {"include", OptionKind::kList, "PATH", "what it holds besides the key; all for everything"},
                   {"where", OptionKind::kText, "CONDITION", "of the rows that are in it"},
                   {"wait", OptionKind::kFlag, {}, "wait until it can be read"}},
       .description = "Makes an index. Every write keeps it from now on, and a job adds the rows from before;\n"
                      "it is read when that is done. A FIELD is PATH with :TYPE, :desc, :lower and :trim behind\n"
                      "it as wanted; tags[*] makes an entry per element of a list.\n\n"
                      "  kvarts index create acme/shop/users by_mail --partition mail:lower --unique --wait\n"
                      "  kvarts index create acme/shop/orders by_state --partition state --sort total:desc \\\n"
                      "      --include total --include customer.name --where 'total > 0'\n"
                      "  kvarts index create acme/shop/orders tags '{\"partition\": [\"tags[*]\"]}'\n",
       .check = &CheckCreate});
  return kSyntax;
}

const Syntax& DropSyntax() {
  static const Syntax kSyntax =
      OverApi({.arguments = {{"TABLE"}, {"NAME"}},
               .options = {{"wait", OptionKind::kFlag, {}, "wait until it is gone"}},
               .description = "Drops an index: it is no longer read or kept, and a job takes\n"
                              "its entries away.\n",
               .check = &CheckIndex});
  return kSyntax;
}

// Nothing, all, or the paths.
void WriteIncluded(const Arguments& arguments, JsonWriter& json) {
  const std::vector<std::string> paths = arguments.Texts("include");
  if (paths.empty()) return;
  if (paths == std::vector<std::string>{"all"}) {
    json.Field("include", "all");
    return;
  }
  json.Name("include").BeginArray();
  for (const std::string& path : paths) json.Text(path);
  json.EndArray();
}

Result<std::string> CreateBody(const Arguments& arguments) {
  if (arguments.size() > 2) return arguments.at(2);
  KVARTS_TRY(const std::string partition, FieldsJson(FieldOf::kIndex, arguments, "partition"));
  KVARTS_TRY(const std::string sort, FieldsJson(FieldOf::kIndex, arguments, "sort"));
  std::string body;
  JsonWriter json(&body);
  json.BeginObject().Name("partition").Raw(partition).Name("sort").Raw(sort);
  for (const std::string_view name : {"unique", "local"}) {
    if (arguments.Has(name)) json.Field(name, true);
  }
  if (arguments.Has("not-sparse")) json.Field("sparse", false);
  WriteIncluded(arguments, json);
  if (const auto where = arguments.Text("where")) json.Field("where", *where);
  json.EndObject();
  return body;
}

Result<std::string> UrlOf(const Arguments& arguments) {
  KVARTS_TRY(const std::string table, TableUrl(arguments.at(0)));
  return table + "/indexes/" + arguments.at(1);
}

// Rows that are in the way of an index: what is wrong, and their keys.
std::string FindingsText(const JsonObject& index) {
  const Result<std::vector<JsonObject>> findings = index.Objects("findings");
  if (!findings.has_value() || findings->empty()) return {};
  return "\n" + TableOf(*findings, {{"kind", "found"}, {"row", "row"}, {"other", "other"}});
}

// Where the rows stand for which an index could not be built.
Status SayWhoIsInTheWay(Client& client, const Arguments& arguments, const std::string& url) {
  KVARTS_TRY(const Reply reply, client.Call({.path = url}));
  KVARTS_TRY(const JsonObject index, JsonObject::Parse(reply.body));
  if (FindingsText(index).empty()) return {};
  PrintError(fmt::format(
      "kvarts: `kvarts index show {} {}` lists them; when they are changed, `kvarts job resume {}` goes on\n",
      Harmless(arguments.at(0)), Harmless(arguments.at(1)), Harmless(index.Text("job"))));
  return {};
}

Result<int> RunList(const Arguments& arguments) {
  KVARTS_TRY(const std::string url, TableUrl(arguments.at(0)));
  KVARTS_TRY(const auto client, Client::Open(arguments));
  KVARTS_TRY(const Reply reply, client->Call({.path = url + "/indexes"}));
  if (PrintedAsJson(arguments, reply)) return kExitOk;
  KVARTS_TRY(const JsonObject answer, JsonObject::Parse(reply.body));
  KVARTS_TRY(const std::vector<JsonObject> indexes, answer.Objects("indexes"));
  Print(IndexesText(indexes));
  return kExitOk;
}

Result<int> RunShow(const Arguments& arguments) {
  KVARTS_TRY(const std::string url, UrlOf(arguments));
  KVARTS_TRY(const auto client, Client::Open(arguments));
  KVARTS_TRY(const Reply reply, client->Call({.path = url}));
  if (PrintedAsJson(arguments, reply)) return kExitOk;
  KVARTS_TRY(const JsonObject index, JsonObject::Parse(reply.body));
  Print(IndexesText({index}));
  const Result<JsonObject> progress = JsonObject::Parse(index.Text("progress"));
  if (progress.has_value()) {
    Print(fmt::format("\njob {}\n{}", Harmless(index.Text("job")), FieldsOf(*progress)));
  }
  Print(FindingsText(index));
  return kExitOk;
}

Result<int> RunCreate(const Arguments& arguments) {
  KVARTS_TRY(const std::string url, UrlOf(arguments));
  KVARTS_TRY(std::string body, CreateBody(arguments));
  KVARTS_TRY(const auto client, Client::Open(arguments));
  KVARTS_TRY(const Reply reply, client->Call(JsonRequest("PUT", url, std::move(body))));
  KVARTS_TRY(const int code, FollowJob(*client, arguments, reply));
  if (code != kExitOk) KVARTS_CHECK_OK(SayWhoIsInTheWay(*client, arguments, url));
  return code;
}

Result<int> RunDrop(const Arguments& arguments) {
  KVARTS_TRY(const std::string url, UrlOf(arguments));
  return Drop(arguments, url);
}

constexpr Command kCommands[] = {
    {"list", "The indexes of a table", &ListSyntax, &RunList},
    {"show", "One index, and how far its job is", &ShowSyntax, &RunShow},
    {"create", "Make an index", &CreateSyntax, &RunCreate},
    {"drop", "Drop an index", &DropSyntax, &RunDrop},
};

}  // namespace

const Syntax& IndexSyntax() {
  static const Syntax kSyntax = {
      .arguments = {},
      .options = {},
      .description =
          "An index finds the rows of a table by other fields than its key, and in another order:\n"
          "`kvarts row query TABLE --index NAME`. It changes in the same commit as its rows.\n"};
  return kSyntax;
}

std::span<const Command> IndexCommands() { return kCommands; }

}  // namespace kvarts::cli
