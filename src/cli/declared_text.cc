#include "cli/declared_text.h"

#include "cli/answers.h"
#include "cli/table.h"
#include "cli/terminal.h"

namespace kvarts::cli {
namespace {

std::string FieldWord(const JsonObject& field) {
  std::string word = Harmless(field.Find("path") != nullptr ? field.Text("path") : field.Text("name"));
  for (const std::string_view name : {"type", "order"}) {
    const std::string text = field.Text(name);
    if (!text.empty()) word.append(":").append(Harmless(text));
  }
  for (const std::string_view name : {"lower", "trim"}) {
    if (field.Is(name)) word.append(":").append(name);
  }
  return word;
}

// What is special about an index: "unique, local".
std::string Traits(const JsonObject& index) {
  std::string traits;
  for (const std::string_view name : {"unique", "local", "sparse"}) {
    if (index.Is(name)) traits.append(traits.empty() ? "" : ", ").append(name);
  }
  return traits;
}

std::string OrDash(std::string text) { return text.empty() ? "-" : text; }

}  // namespace

std::string FieldWords(const JsonObject& declared, std::string_view name) {
  const Result<std::vector<JsonObject>> fields = declared.Objects(name);
  if (!fields.has_value()) return {};
  std::string words;
  for (const JsonObject& field : *fields) words.append(words.empty() ? "" : ", ").append(FieldWord(field));
  return words;
}

std::string IndexesText(const std::vector<JsonObject>& indexes) {
  Table table(std::vector<Table::Align>(7, Table::Align::kLeft));
  table.Add({"index", "partition", "sort", "is", "includes", "where", "state"});
  for (const JsonObject& index : indexes) {
    table.Add({CellOf(index, "name"), OrDash(FieldWords(index, "partition")), OrDash(FieldWords(index, "sort")),
               OrDash(Traits(index)), OrDash(CellOf(index, "include")), OrDash(CellOf(index, "where")),
               OrDash(CellOf(index, "state"))});
  }
  const std::string lines = table.ToString();
  const size_t first = lines.find('\n');
  return Dim(lines.substr(0, first)) + lines.substr(first);
}

Result<std::string> DeclaredText(const JsonObject& table) {
  KVARTS_TRY(const JsonObject key, JsonObject::Parse(table.Text("key")));
  KVARTS_TRY(const std::vector<JsonObject> indexes, table.Objects("indexes"));
  Table fields({Table::Align::kLeft, Table::Align::kLeft});
  for (const JsonField& field : table.fields()) {
    if (field.name == "indexes") continue;
    if (field.name == "key") {
      fields.Add({"key", FieldWords(key, "partition")});
      const std::string sort = FieldWords(key, "sort");
      if (!sort.empty()) fields.Add({"sort", sort});
      continue;
    }
    const std::string text = CellOf(table, field.name);
    if (!text.empty()) fields.Add({Harmless(field.name), text});
  }
  std::string out = fields.ToString();
  if (!indexes.empty()) out.append("\n").append(IndexesText(indexes));
  return out;
}

}  // namespace kvarts::cli
