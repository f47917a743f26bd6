// kvarts row: one row of a table by its key; queries and scans are in row_query.cc.
#include "cli/row.h"

#include <fmt/format.h>

#include "cli/answers.h"
#include "cli/input.h"
#include "cli/key_words.h"
#include "cli/row_input.h"
#include "cli/row_text.h"
#include "cli/table_words.h"
#include "cli/terminal.h"
#include "cli/text.h"

namespace kvarts::cli {
namespace {

constexpr size_t kMaxBodyBytes = 64 << 20;

// What every write of a row takes.
std::vector<OptionSyntax> WriteOptions() {
  return {{"if-version", OptionKind::kCount, "V", "only if the row has this version"},
          {"where", OptionKind::kText, "CONDITION", "only if this holds of the row that is there"},
          {"return", OptionKind::kChoice, "WHICH", "also print the row", {"before", "after"}},
          DurabilityOption()};
}

Status CheckPut(const Arguments& arguments) {
  KVARTS_CHECK_OK(CheckTableWord(arguments));
  if (!arguments.Has("if-absent") || !arguments.Has("if-version")) return {};
  return Error(ErrorCode::kInvalidArgument, "--if-absent and --if-version exclude each other");
}

Status CheckDelete(const Arguments& arguments) {
  KVARTS_CHECK_OK(CheckTableWord(arguments));
  if (arguments.Text("return").value_or("") != "after") return {};
  return Error(ErrorCode::kInvalidArgument, "nothing is there after a delete: --return before");
}

const Syntax& GetSyntax() {
  static const Syntax kSyntax =
      OverApi({.arguments = {{"TABLE"}, {"KEY", false, {}, true}},
               .options = {{"fields", OptionKind::kText, "PATHS", "only these, with commas between them"}},
               .description = "Prints a row: on a terminal field by field with its version, into a pipe as a line of\n"
                              "JSON, with --json in an object with all that is known about it. KEY is a word for each\n"
                              "field of the key, in their order. Ends with 4 when there is no such row.\n\n"
                              "  kvarts row get acme/shop/users 17\n"
                              "  kvarts row get acme/shop/orders ada 3 --fields total,lines[0].name\n",
               .check = &CheckTableWord});
  return kSyntax;
}

const Syntax& PutSyntax() {
  static const Syntax kSyntax = OverApi(
      {.arguments = {{"TABLE"}, {"KEY", true, {}, true}, {"ROW"}},
       .options = Joined({{"if-absent", OptionKind::kFlag, {}, "only if there is no such row"}}, WriteOptions()),
       .description = "Puts a row in place of what is there. ROW is a JSON object; fields of the key may stand in\n"
                      "it, or before it as words. As -, rows come from the standard input, one after the other,\n"
                      "and each is a commit of its own. Ends with 5 when a condition does not hold.\n\n"
                      "  kvarts row put acme/shop/users '{\"id\": \"17\", \"name\": \"Ada\"}'\n"
                      "  kvarts row put acme/shop/orders ada 3 '{\"total\": 12.50}' --if-absent\n"
                      "  kvarts row scan acme/shop/users --all | kvarts row put acme/copy/users -\n",
       .check = &CheckPut});
  return kSyntax;
}

const Syntax& DeleteSyntax() {
  static const Syntax kSyntax =
      OverApi({.arguments = {{"TABLE"}, {"KEY", false, {}, true}},
               .options = WriteOptions(),
               .description = "Deletes a row. Ends with 4 when it is not there, and with 5 when a condition does not\n"
                              "hold.\n\n"
                              "  kvarts row delete acme/shop/orders ada 3\n",
               .check = &CheckDelete});
  return kSyntax;
}

const Syntax& PatchSyntax() {
  static const Syntax kSyntax = OverApi(
      {.arguments = {{"TABLE"}, {"KEY", false, {}, true}, {"CHANGE"}},
       .options = Joined({{"update", OptionKind::kFlag, {}, "CHANGE is updates of fields, and no merge patch"},
                          {"make", OptionKind::kFlag, {}, "make a row that is not there of its key first"}},
                         WriteOptions()),
       .description = "Changes fields of a row, in one step. CHANGE is JSON, or - for the standard input: a merge\n"
                      "patch, or with --update an object of set, set_if_missing, remove, increment, append,\n"
                      "prepend, add_to_set and remove_from_set.\n\n"
                      "  kvarts row patch acme/shop/users 17 '{\"name\": \"Ada L.\", \"nick\": null}'\n"
                      "  kvarts row patch acme/shop/users 17 --update '{\"increment\": {\"visits\": 1}}' --make\n",
       .check = &CheckTableWord});
  return kSyntax;
}

// The path of a row whose key is the words from 1 on, before `end`.
Result<std::string> RowUrl(const Arguments& arguments, size_t end) {
  KVARTS_TRY(std::string url, TableUrl(arguments.at(0)));
  url.append("/rows");
  for (size_t i = 1; i < end; ++i) url = KeyPath(url + "/", arguments.at(i));
  return url;
}

std::vector<std::string> HeadersOf(const Arguments& arguments, std::vector<std::string> others) {
  if (arguments.Has("if-absent")) others.emplace_back("If-None-Match: *");
  if (const auto version = arguments.Text("if-version")) others.push_back(fmt::format("If-Match: \"{}\"", *version));
  return WriteHeaders(arguments, std::move(others));
}

std::string QueryOf(const Arguments& arguments) {
  Query query;
  if (const auto where = arguments.Text("where")) query.Add("where", *where);
  if (const auto shown = arguments.Text("return")) query.Add("return", *shown);
  if (arguments.Has("make")) query.Add("make", "true");
  return query.text();
}

// "put ada 3, version 17…", and the row if that was asked for.
Status PrintRowWritten(const Arguments& arguments, const Reply& reply, std::string_view done) {
  if (PrintedAsJson(arguments, reply)) return {};
  KVARTS_TRY(const JsonObject answer, JsonObject::Parse(reply.body));
  const std::string version = Dim(", version " + Harmless(answer.Text("version")));
  Print(fmt::format("{} {}{}\n", done, KeyWords(answer), version));
  if (const auto shown = arguments.Text("return")) {
    const std::string row = answer.Text(*shown);
    Print((row.empty() ? "null" : row) + "\n");
  }
  return {};
}

Result<int> Write(const Arguments& arguments, const Request& request, std::string_view done) {
  KVARTS_TRY(const auto client, Client::Open(arguments));
  KVARTS_TRY(const Reply reply, client->Call(request));
  KVARTS_CHECK_OK(PrintRowWritten(arguments, reply, done));
  return kExitOk;
}

Result<int> RunGet(const Arguments& arguments) {
  KVARTS_TRY(std::string url, RowUrl(arguments, arguments.size()));
  if (const auto fields = arguments.Text("fields")) url.append(Query().Add("fields", *fields).text());
  KVARTS_TRY(const auto client, Client::Open(arguments));
  KVARTS_TRY(const Reply reply, client->Call({.path = url}));
  KVARTS_CHECK_OK(PrintRow(arguments, reply.body));
  return kExitOk;
}

// Rows of the standard input, each on its own.
Result<int> PutAll(const Arguments& arguments, Request request) {
  KVARTS_TRY(const auto input, RowInput::Open("-"));
  KVARTS_TRY(const auto client, Client::Open(arguments));
  uint64_t count = 0;
  while (true) {
    KVARTS_TRY(std::optional<Bytes> row, input->Next());
    if (!row) break;
    request.body = *std::move(row);
    const Result<Reply> reply = client->Call(request);
    if (!reply.has_value()) {
      // Who goes on where this stopped has to know where that was.
      PrintError(fmt::format("kvarts: {} put; refused is the one that ends on line {}\n",
                             Counted(count, "row was", "rows were"), input->line()));
      return reply.error();
    }
    ++count;
    if (arguments.Has("json") || arguments.Has("return")) KVARTS_CHECK_OK(PrintRowWritten(arguments, *reply, "put"));
  }
  if (!arguments.Has("json")) Print(fmt::format("put {}\n", Counted(count, "row", "rows")));
  return kExitOk;
}

Result<int> RunPut(const Arguments& arguments) {
  const size_t last = arguments.size() - 1;
  const bool keyed = last > 1;
  Request request{.method = keyed ? "PUT" : "POST", .path = {}};
  KVARTS_TRY(request.path, RowUrl(arguments, last));
  request.path.append(QueryOf(arguments));
  request.headers = HeadersOf(arguments, {"Content-Type: application/json"});
  if (!keyed && arguments.at(last) == "-") return PutAll(arguments, std::move(request));
  request.body = arguments.at(last);
  if (request.body == "-") {
    KVARTS_TRY(request.body, ReadInput("-", kMaxBodyBytes));
  }
  return Write(arguments, request, "put");
}

Result<int> RunDelete(const Arguments& arguments) {
  Request request{.method = "DELETE", .path = {}, .headers = HeadersOf(arguments, {})};
  KVARTS_TRY(request.path, RowUrl(arguments, arguments.size()));
  request.path.append(QueryOf(arguments));
  return Write(arguments, request, "deleted");
}

Result<int> RunPatch(const Arguments& arguments) {
  const size_t last = arguments.size() - 1;
  const bool update = arguments.Has("update");
  Request request{.method = "PATCH", .path = {}};
  KVARTS_TRY(request.path, RowUrl(arguments, last));
  request.path.append(QueryOf(arguments));
  request.headers =
      HeadersOf(arguments, {update ? "Content-Type: application/json" : "Content-Type: application/merge-patch+json"});
  Bytes change = arguments.at(last);
  if (change == "-") {
    KVARTS_TRY(change, ReadInput("-", kMaxBodyBytes));
  }
  request.body = update ? fmt::format("{{\"update\":{}}}", change) : change;
  return Write(arguments, request, "patched");
}

constexpr Command kCommands[] = {
    {"get", "Read a row by its key", &GetSyntax, &RunGet},
    {"put", "Write a row, or many", &PutSyntax, &RunPut},
    {"delete", "Delete a row", &DeleteSyntax, &RunDelete},
    {"patch", "Change fields of a row", &PatchSyntax, &RunPatch},
    {"query", "Rows of a partition, in the order of the table or an index", &RowQuerySyntax, &RunRowQuery},
    {"scan", "All rows, in the order of keys", &RowScanSyntax, &RunRowScan},
};

}  // namespace

const Syntax& RowSyntax() {
  static const Syntax kSyntax = {
      .arguments = {},
      .options = {},
      .description =
          "A row is a JSON object in a table, with its key in it. What JSON has no form for is an object\n"
          "with one field: {\"$binary\": \"AAEC\"}, {\"$set\": [\"a\", \"b\"]}. Into a pipe, rows are lines of "
          "JSON.\n"};
  return kSyntax;
}

std::span<const Command> RowCommands() { return kCommands; }

}  // namespace kvarts::cli
