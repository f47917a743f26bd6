#include "cli/row_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "cli/answers.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/text.h"

namespace kvarts::cli {
namespace {

// How much of rows a table has room for; `kvarts row get` and --json show the rest.
constexpr size_t kMaxColumns = 16;
constexpr size_t kMaxCellBytes = 48;

// A row in its parts.
struct Row {
  JsonObject key;
  JsonObject value;
  std::string about;
};

Result<Row> RowOf(const JsonObject& object) {
  Row row;
  KVARTS_TRY(row.key, JsonObject::Parse(object.Text("key")));
  KVARTS_TRY(row.value, JsonObject::Parse(object.Text("value")));
  row.about = fmt::format("version {}", Harmless(object.Text("version")));
  for (const auto& [field, words] : {std::pair("expiry", "expires"), std::pair("updatedBy", "written by")}) {
    const std::string text = object.Text(field);
    if (!text.empty()) row.about.append(fmt::format(", {} {}", words, Harmless(text)));
  }
  return row;
}

// Names of fields in the order of their columns: those of the key, then others as they are first seen.
std::vector<std::string> ColumnsOf(const std::vector<Row>& rows) {
  std::vector<std::string> names;
  const auto add = [&](const JsonObject& object) {
    for (const JsonField& field : object.fields()) {
      if (std::ranges::find(names, field.name) == names.end()) names.push_back(field.name);
    }
  };
  for (const Row& row : rows) add(row.key);
  for (const Row& row : rows) add(row.value);
  return names;
}

std::string Cell(const Row& row, std::string_view name) {
  const std::string whole = CellOf(row.key.Find(name) != nullptr ? row.key : row.value, name);
  if (whole.empty()) return "-";
  const std::string_view cut = CutText(whole, kMaxCellBytes);
  return cut.size() == whole.size() ? whole : std::string(cut) + "…";
}

std::string RowsTable(const std::vector<Row>& rows) {
  std::vector<std::string> names = ColumnsOf(rows);
  const size_t left_out = names.size() - std::min(names.size(), kMaxColumns);
  names.resize(names.size() - left_out);
  Table table(std::vector<Table::Align>(names.size(), Table::Align::kLeft));
  std::vector<std::string> headings;
  for (const std::string& name : names) headings.push_back(Harmless(name));
  table.Add(std::move(headings));
  for (const Row& row : rows) {
    std::vector<std::string> cells;
    for (const std::string& name : names) cells.push_back(Cell(row, name));
    table.Add(std::move(cells));
  }
  const std::string lines = table.ToString();
  const size_t first = lines.find('\n');
  std::string out = Dim(lines.substr(0, first)) + lines.substr(first);
  if (left_out > 0) {
    out.append(Dim(fmt::format("and {}: --fields or --json", Counted(left_out, "field", "fields")))).append("\n");
  }
  return out;
}

}  // namespace

Status PrintRows(const Arguments& arguments, const std::vector<std::string>& rows) {
  std::vector<Row> shown;
  for (const std::string& text : rows) {
    if (arguments.Has("json")) {
      Print(text + "\n");
      continue;
    }
    KVARTS_TRY(const JsonObject object, JsonObject::Parse(text));
    if (!OutputIsTerminal()) {
      Print(object.Text("value") + "\n");
      continue;
    }
    KVARTS_TRY(Row row, RowOf(object));
    shown.push_back(std::move(row));
  }
  if (!shown.empty()) Print(RowsTable(shown));
  return {};
}

Status PrintRow(const Arguments& arguments, const std::string& text) {
  if (arguments.Has("json") || !OutputIsTerminal()) return PrintRows(arguments, {text});
  KVARTS_TRY(const JsonObject object, JsonObject::Parse(text));
  KVARTS_TRY(const Row row, RowOf(object));
  Table table({Table::Align::kLeft, Table::Align::kLeft});
  for (const std::string& name : ColumnsOf({row})) {
    const std::string cell = CellOf(row.key.Find(name) != nullptr ? row.key : row.value, name);
    table.Add({Harmless(name), cell.empty() ? "-" : cell});
  }
  Print(fmt::format("{}{}\n", table.ToString(), Dim(row.about)));
  return {};
}

std::string KeyWords(const JsonObject& row) {
  const Result<JsonObject> key = JsonObject::Parse(row.Text("key"));
  if (!key.has_value()) return {};
  std::string words;
  for (const JsonField& field : key->fields()) words.append(words.empty() ? "" : " ").append(ShownWord(field.text));
  return words;
}

}  // namespace kvarts::cli
