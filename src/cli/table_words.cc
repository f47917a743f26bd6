#include "cli/table_words.h"

#include <array>
#include <utility>
#include <vector>

#include "base/nearest.h"
#include "base/utf8.h"
#include "encoding/json_writer.h"
#include "model/table/key_value.h"
#include "model/table/table_spec.h"

namespace kvarts::cli {
namespace {

constexpr std::array<std::string_view, 3> kFolders = {"/projects/", "/datasets/", "/tables/"};

// What may stand behind the name of a field.
constexpr std::array<std::string_view, 10> kFieldWords = {"text", "number", "binary", "bool",  "timestamp",
                                                          "uuid", "asc",    "desc",   "lower", "trim"};

std::vector<std::string_view> Split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

Result<std::string> UrlOf(std::string_view word, size_t names, const char* why) {
  const std::vector<std::string_view> parts = Split(word, '/');
  if (parts.size() != names) return Error(ErrorCode::kInvalidArgument, why, {{"word", std::string(word)}});
  std::string url;
  for (size_t i = 0; i < names; ++i) {
    KVARTS_CHECK_OK(CheckCatalogName(parts[i]));
    url.append(kFolders.at(i)).append(parts[i]);
  }
  return url;
}

Status StatusOf(const Result<std::string>& url) { return url.has_value() ? Status{} : url.error(); }

// What a word says about a field, in its parts.
struct FieldWord {
  std::string_view name;
  std::string_view type = {};
  std::string_view order = {};
  bool lower = false;
  bool trim = false;
};

// False when it was said before, or is nothing that can be said.
bool Take(std::string_view part, FieldWord* field) {
  if (ParseKeyType(part)) return std::exchange(field->type, part).empty();
  if (part == "asc" || part == "desc") return std::exchange(field->order, part).empty();
  if (part == "lower") return !std::exchange(field->lower, true);
  if (part == "trim") return !std::exchange(field->trim, true);
  return false;
}

}  // namespace

Result<std::string> ProjectUrl(std::string_view word) { return UrlOf(word, 1, "a project has one name, as in acme"); }

Result<std::string> DatasetUrl(std::string_view word) {
  return UrlOf(word, 2, "a dataset is named behind its project, as in acme/shop");
}

Result<std::string> TableUrl(std::string_view word) {
  return UrlOf(word, 3, "a table is named behind its project and dataset, as in acme/shop/orders");
}

Status CheckProjectWord(const Arguments& arguments) { return StatusOf(ProjectUrl(arguments.at(0))); }
Status CheckDatasetWord(const Arguments& arguments) { return StatusOf(DatasetUrl(arguments.at(0))); }
Status CheckTableWord(const Arguments& arguments) { return StatusOf(TableUrl(arguments.at(0))); }

Result<std::string> FieldJson(FieldOf what, const std::string& word) {
  const std::vector<std::string_view> parts = Split(word, ':');
  FieldWord field{.name = parts.front()};
  if (field.name.empty() || !IsUtf8(word)) {
    return Error(ErrorCode::kInvalidArgument, "a field is NAME, NAME:TYPE or NAME:TYPE:desc", {{"word", word}});
  }
  for (size_t i = 1; i < parts.size(); ++i) {
    if (Take(parts[i], &field)) continue;
    return Error(
        ErrorCode::kInvalidArgument, "a type is text, number, binary, bool, timestamp or uuid, an order asc or desc",
        {{"word", word}, {"nearest", std::string(Nearest(parts[i], {kFieldWords.begin(), kFieldWords.end()}))}});
  }
  if (what == FieldOf::kKey && (field.lower || field.trim)) {
    return Error(ErrorCode::kInvalidArgument, "only fields of an index are brought to lower case or trimmed",
                 {{"word", word}});
  }
  std::string out;
  JsonWriter json(&out);
  json.BeginObject().Field(what == FieldOf::kKey ? "name" : "path", field.name);
  if (!field.type.empty()) json.Field("type", field.type);
  if (!field.order.empty()) json.Field("order", field.order);
  if (field.lower) json.Field("lower", true);
  if (field.trim) json.Field("trim", true);
  json.EndObject();
  return out;
}

Result<std::string> FieldsJson(FieldOf what, const Arguments& arguments, std::string_view option) {
  std::string out;
  JsonWriter json(&out);
  json.BeginArray();
  for (const std::string& word : arguments.Texts(option)) {
    KVARTS_TRY(const std::string field, FieldJson(what, word));
    json.Raw(field);
  }
  json.EndArray();
  return out;
}

}  // namespace kvarts::cli
