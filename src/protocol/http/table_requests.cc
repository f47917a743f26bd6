#include "protocol/http/table_requests.h"

#include "base/error_fields.h"
#include "encoding/document_writer.h"
#include "net/http/target.h"

namespace kvarts::http {
namespace {

Result<std::string> NameAt(const Call& call, size_t place) {
  KVARTS_TRY(std::string name, PercentDecode(call.values[place]));
  KVARTS_CHECK_OK(CheckCatalogName(name));
  return name;
}

std::string NamesOf(const KeySpec& key) {
  std::string names;
  for (size_t i = 0; i < key.size(); ++i) names += (i == 0 ? "" : "/") + key[i].name;
  return names;
}

}  // namespace

Result<std::string> ProjectOf(const Call& call) { return NameAt(call, 0); }

Result<DatasetPath> DatasetOf(const Call& call) {
  DatasetPath path;
  KVARTS_TRY(path.project, NameAt(call, 0));
  KVARTS_TRY(path.dataset, NameAt(call, 1));
  return path;
}

Result<TablePath> TableOf(const Call& call) {
  TablePath path;
  KVARTS_TRY(path.project, NameAt(call, 0));
  KVARTS_TRY(path.dataset, NameAt(call, 1));
  KVARTS_TRY(path.table, NameAt(call, 2));
  return path;
}

Status CheckPath(const TablePath& path) {
  for (const std::string* name : {&path.project, &path.dataset, &path.table}) {
    KVARTS_CHECK_OK(CheckCatalogName(*name));
  }
  return {};
}

std::string ScopePath(const DatasetPath& path) { return path.project + '/' + path.dataset; }

std::string ScopePath(const TablePath& path) { return path.project + '/' + path.dataset + '/' + path.table; }

Result<std::vector<std::string>> KeyTextsOf(const Call& call) {
  std::vector<std::string> texts;
  std::string_view rest = call.values[3];
  while (true) {
    const size_t slash = rest.find('/');
    if (texts.size() == KeySpec::kMaxFields) {
      return Error(ErrorCode::kInvalidArgument, "the path has more fields than a key can have");
    }
    KVARTS_TRY(std::string text, PercentDecode(rest.substr(0, slash)));
    texts.push_back(std::move(text));
    if (slash == std::string_view::npos) return texts;
    rest.remove_prefix(slash + 1);
  }
}

Result<Bytes> KeyDocument(const TableInfo& table, std::span<const std::string> texts) {
  const KeySpec& key = table.key();
  if (texts.size() != key.size()) {
    return Error(ErrorCode::kInvalidArgument, "the path has the fields of the row's key, with a slash between them",
                 {{"expected", NamesOf(key)}, {"fields", std::to_string(texts.size())}});
  }
  Bytes document;
  DocumentWriter writer(&document);
  writer.BeginMap();
  for (size_t i = 0; i < key.size(); ++i) {
    writer.Name(key[i].name);
    if (WriteKeyText(key[i].type, texts[i], &writer)) continue;
    return Error(ErrorCode::kInvalidArgument, "a field of the key is of another type",
                 {{"field", key[i].name}, {"expected", std::string(Expected(key[i].type))}, {"is", Escaped(texts[i])}});
  }
  writer.EndMap();
  return document;
}

Result<std::optional<Projection>> ParseFields(std::optional<std::string_view> text) {
  if (!text) return std::optional<Projection>();
  const auto refused = [](const Error& error) { return WithField(error, "parameter", "fields"); };
  std::vector<DocumentPath> paths;
  std::string_view rest = *text;
  while (true) {
    if (paths.size() == Projection::kMaxPaths) return refused(Projection::TooManyPaths());
    size_t end = 0;
    Result<DocumentPath> path = DocumentPath::ParseFront(rest, &end);
    if (!path.has_value()) return refused(path.error());
    paths.push_back(*std::move(path));
    rest.remove_prefix(end);
    if (rest.empty()) break;
    if (!rest.starts_with(',')) {
      return refused(Error(ErrorCode::kInvalidArgument, "fields are paths with a comma between them",
                           {{"position", std::to_string(text->size() - rest.size())}}));
    }
    rest.remove_prefix(1);
  }
  Result<Projection> projection = Projection::Of(std::move(paths));
  if (!projection.has_value()) return refused(projection.error());
  return std::optional<Projection>(*std::move(projection));
}

Result<std::optional<Condition>> ParseCondition(std::string_view parameter, std::optional<std::string_view> text) {
  if (!text) return std::optional<Condition>();
  Result<Condition> condition = Condition::Parse(*text);
  if (!condition.has_value()) return WithField(condition.error(), "parameter", std::string(parameter));
  return std::optional<Condition>(*std::move(condition));
}

}  // namespace kvarts::http
