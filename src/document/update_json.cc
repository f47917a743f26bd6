#include <algorithm>
#include <array>

#include "document/update.h"
#include "encoding/document_json.h"
#include "encoding/document_writer.h"

namespace kvarts {
namespace {

using Op = FieldUpdate::Op;

constexpr std::array<std::pair<std::string_view, Op>, 8> kOps = {{{"set", Op::kSet},
                                                                  {"set_if_missing", Op::kSetIfMissing},
                                                                  {"remove", Op::kRemove},
                                                                  {"increment", Op::kIncrement},
                                                                  {"append", Op::kAppend},
                                                                  {"prepend", Op::kPrepend},
                                                                  {"add_to_set", Op::kAddToSet},
                                                                  {"remove_from_set", Op::kRemoveFromSet}}};

Bytes ReadValue(JsonReader& json, Op op) {
  Bytes value;
  DocumentWriter writer(&value);
  ReadDocument(json, &writer);
  if (!json.ok()) return {};
  const char* const why = WhyNoValue(op, DocumentView(value));
  json.Require(why == nullptr, why);
  return value;
}

void Add(JsonReader& json, Op op, std::string_view path_text, Bytes value, std::vector<FieldUpdate>* to) {
  if (!json.ok()) return;
  if (to->size() == kMaxUpdates) return json.Refuse(TooManyUpdates());
  Result<DocumentPath> path = DocumentPath::Parse(path_text);
  if (!path.has_value()) return json.Refuse(path.error());
  to->push_back({op, *std::move(path), std::move(value)});
}

}  // namespace

std::vector<FieldUpdate> ReadUpdates(JsonReader& json) {
  std::vector<FieldUpdate> updates;
  json.Object([&](std::string_view name) {
    const auto found = std::ranges::find(kOps, name, &std::pair<std::string_view, Op>::first);
    if (found == kOps.end()) return json.Unknown(name);
    const Op op = found->second;
    if (op == Op::kRemove) {
      json.Array([&] { Add(json, op, json.Text(), {}, &updates); });
      return;
    }
    json.Object([&](std::string_view path) {
      Bytes value = ReadValue(json, op);
      Add(json, op, path, std::move(value), &updates);
    });
  });
  return updates;
}

}  // namespace kvarts
