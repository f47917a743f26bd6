// kvarts row query and scan: many rows, page after page.
#include <fmt/format.h>

#include <functional>

#include "base/utf8.h"
#include "cli/answers.h"
#include "cli/client.h"
#include "cli/key_words.h"
#include "cli/query_values.h"
#include "cli/row.h"
#include "cli/row_text.h"
#include "cli/table_words.h"
#include "cli/terminal.h"
#include "cli/text.h"

namespace kvarts::cli {
namespace {

constexpr uint64_t kDefaultLimit = 100;
constexpr uint64_t kPage = 1000;

std::vector<OptionSyntax> PageOptions() {
  return {{"filter", OptionKind::kText, "CONDITION", "only rows of which this holds"},
          {"fields", OptionKind::kText, "PATHS", "only these, with commas between them"},
          {"limit", OptionKind::kCount, "N", "at most so many rows (default 100)", {}, 1},
          {"all", OptionKind::kFlag, {}, "all of them"}};
}

Status CheckPages(const Arguments& arguments) {
  KVARTS_CHECK_OK(CheckTableWord(arguments));
  if (!arguments.Has("all") || !arguments.Has("limit")) return {};
  return Error(ErrorCode::kInvalidArgument, "--all and --limit exclude each other");
}

Status CheckQuery(const Arguments& arguments) {
  KVARTS_CHECK_OK(CheckPages(arguments));
  if (!arguments.Has("partition")) {
    return Error(ErrorCode::kInvalidArgument,
                 "a query names its partition: --partition NAME=VALUE; `kvarts row scan` reads all rows");
  }
  if (arguments.Has("from") && arguments.Has("after")) {
    return Error(ErrorCode::kInvalidArgument, "--from and --after exclude each other");
  }
  if (arguments.Has("to") && arguments.Has("before")) {
    return Error(ErrorCode::kInvalidArgument, "--to and --before exclude each other");
  }
  for (const std::string_view name : {"index", "filter", "fields"}) {
    if (IsUtf8(arguments.Text(name).value_or(""))) continue;
    return Error(ErrorCode::kInvalidArgument, "an option has a value that is no UTF-8",
                 {{"option", fmt::format("--{}", name)}});
  }
  return {};
}

// A page behind a cursor, of at most so many rows.
using ReadPage = std::function<Result<Reply>(uint64_t limit, const std::string& cursor)>;

Result<int> PrintPages(const Arguments& arguments, const ReadPage& read) {
  const uint64_t limit = arguments.Has("all") ? UINT64_MAX : arguments.Number("limit").value_or(kDefaultLimit);
  std::string cursor;
  uint64_t printed = 0;
  do {
    KVARTS_TRY(const Reply reply, read(std::min(kPage, limit - printed), cursor));
    KVARTS_TRY(const JsonObject answer, JsonObject::Parse(reply.body));
    KVARTS_TRY(const std::vector<std::string> rows, answer.Elements("rows"));
    KVARTS_CHECK_OK(PrintRows(arguments, rows));
    printed += rows.size();
    cursor = answer.Text("cursor");
  } while (!cursor.empty() && printed < limit);
  if (OutputIsTerminal() && !arguments.Has("json")) Print(Dim(Counted(printed, "row", "rows")) + "\n");
  // Who gave no limit may take what came for all there is, a program behind a pipe above all.
  if (!cursor.empty() && !arguments.Has("limit")) {
    PrintError(fmt::format("kvarts: these are the first {}, and there are more: --limit N or --all\n",
                           Counted(printed, "row", "rows")));
  }
  return kExitOk;
}

void WriteFields(JsonWriter& json, std::string_view paths) {
  json.Name("fields").BeginArray();
  while (true) {
    const size_t comma = paths.find(',');
    json.Text(paths.substr(0, comma));
    if (comma == std::string_view::npos) break;
    paths.remove_prefix(comma + 1);
  }
  json.EndArray();
}

// What is asked of the sort fields: the leading ones by --sort, the next one by its bounds.
Status WriteSort(JsonWriter& json, const Arguments& arguments, const QueryFields& fields) {
  const std::vector<std::string> leading = arguments.Texts("sort");
  json.Name("sort").BeginArray();
  for (size_t i = 0; i < leading.size(); ++i) {
    KVARTS_TRY(const QueryField field, fields.SortAt(i));
    KVARTS_TRY(const std::string value, QueryFields::ValueJson(field, leading[i]));
    json.Raw(value);
  }
  json.EndArray();
  const auto write = [&](std::string_view option, std::string_view name, bool inclusive) -> Status {
    const auto text = arguments.Text(option);
    if (!text) return {};
    KVARTS_TRY(const QueryField field, fields.SortAt(leading.size()));
    KVARTS_TRY(const std::string value, QueryFields::ValueJson(field, *text));
    json.Name(name).BeginObject().Name("value").Raw(value).Field("inclusive", inclusive).EndObject();
    return {};
  };
  KVARTS_CHECK_OK(write("from", "from", true));
  KVARTS_CHECK_OK(write("after", "from", false));
  KVARTS_CHECK_OK(write("to", "to", true));
  KVARTS_CHECK_OK(write("before", "to", false));
  if (const auto prefix = arguments.Text("prefix")) {
    KVARTS_TRY(QueryField field, fields.SortAt(leading.size()));
    // The beginning of a text or of a binary; of anything else, the server says that it has none.
    if (field.type != KeyType::kBinary) field.type = KeyType::kText;
    KVARTS_TRY(const std::string value, QueryFields::ValueJson(field, *prefix));
    json.Name("prefix").Raw(value);
  }
  return {};
}

// The query without its closing bracket, behind which limit and cursor come.
Result<std::string> QueryBody(const Arguments& arguments, const QueryFields& fields) {
  KVARTS_TRY(const std::string partition, fields.PartitionJson(arguments.Texts("partition")));
  std::string body;
  JsonWriter json(&body);
  json.BeginObject().Name("partition").Raw(partition);
  if (const auto index = arguments.Text("index")) json.Field("index", *index);
  KVARTS_CHECK_OK(WriteSort(json, arguments, fields));
  if (arguments.Has("reverse")) json.Field("reverse", true);
  if (const auto filter = arguments.Text("filter")) json.Field("filter", *filter);
  if (const auto paths = arguments.Text("fields")) WriteFields(json, *paths);
  return body;
}

}  // namespace

const Syntax& RowQuerySyntax() {
  static const Syntax kSyntax = OverApi(
      {.arguments = {{"TABLE"}},
       .options =
           Joined({{"partition", OptionKind::kList, "NAME=VALUE", "a field of the partition; several times"},
                   {"index", OptionKind::kText, "NAME", "by this index, in its order"},
                   {"sort", OptionKind::kList, "VALUE", "what a leading sort field equals; several times, in order"},
                   {"from", OptionKind::kText, "VALUE", "the next sort field is at least this, whichever its order"},
                   {"after", OptionKind::kText, "VALUE", "it is more than this"},
                   {"to", OptionKind::kText, "VALUE", "it is at most this"},
                   {"before", OptionKind::kText, "VALUE", "it is less than this"},
                   {"prefix", OptionKind::kText, "TEXT", "it begins with this"},
                   {"reverse", OptionKind::kFlag, {}, "from the end"}},
                  PageOptions()),
       .description = "Prints the rows of a partition, in the order of the table's key or of an index: on a\n"
                      "terminal as a table, into a pipe as lines of JSON. Values are of the types that the\n"
                      "table declares.\n\n"
                      "  kvarts row query acme/shop/orders --partition customer=ada\n"
                      "  kvarts row query acme/shop/events --partition tenant=acme --from 2026-07-01T00:00:00Z\n"
                      "  kvarts row query acme/shop/orders --index by_state --partition state=open \\\n"
                      "      --filter 'total > 10' --fields total --reverse --limit 5\n",
       .check = &CheckQuery});
  return kSyntax;
}

Result<int> RunRowQuery(const Arguments& arguments) {
  KVARTS_TRY(const std::string url, TableUrl(arguments.at(0)));
  KVARTS_TRY(const auto client, Client::Open(arguments));
  KVARTS_TRY(const Reply described, client->Call({.path = url}));
  KVARTS_TRY(const JsonObject table, JsonObject::Parse(described.body));
  KVARTS_TRY(const QueryFields fields, QueryFields::Of(table, arguments.Text("index").value_or("")));
  KVARTS_TRY(const std::string body, QueryBody(arguments, fields));
  return PrintPages(arguments, [&](uint64_t limit, const std::string& cursor) {
    std::string page = fmt::format("{},\"limit\":{}", body, limit);
    if (!cursor.empty()) AppendJsonText(&page.append(",\"cursor\":"), cursor);
    return client->Call(JsonRequest("POST", url + "/query", page + "}"));
  });
}

const Syntax& RowScanSyntax() {
  static const Syntax kSyntax = OverApi(
      {.arguments = {{"TABLE"}},
       .options = PageOptions(),
       .description = "Prints the rows of a table in the order of their keys: on a terminal as a table, into a\n"
                      "pipe as lines of JSON. It reads them all to find those of a filter; what is asked\n"
                      "for often is better found by `kvarts row query`.\n\n"
                      "  kvarts row scan acme/shop/users --limit 10\n"
                      "  kvarts row scan acme/shop/users --all > users.ndjson\n",
       .check = &CheckPages});
  return kSyntax;
}

Result<int> RunRowScan(const Arguments& arguments) {
  KVARTS_TRY(const std::string url, TableUrl(arguments.at(0)));
  KVARTS_TRY(const auto client, Client::Open(arguments));
  return PrintPages(arguments, [&](uint64_t limit, const std::string& cursor) {
    Query query;
    query.Add("limit", std::to_string(limit));
    for (const std::string_view name : {"filter", "fields"}) {
      if (const auto text = arguments.Text(name)) query.Add(name, *text);
    }
    if (!cursor.empty()) query.Add("cursor", cursor);
    return client->Call({.path = url + "/rows" + query.text()});
  });
}

}  // namespace kvarts::cli
