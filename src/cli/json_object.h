// A JSON object of an answer, field by field, for whoever knows which of them matter. Fields that are not known yet do
// no harm, so an older program reads the answers of a newer server.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "encoding/json_reader.h"

namespace kvarts::cli {

struct JsonField {
  std::string name;
  JsonKind kind = JsonKind::kNull;
  std::string text;  // decoded if it is a text, else as it is written
};

class JsonObject {
 public:
  // `unavailable` when it is none: the server is not what we take it for.
  static Result<JsonObject> Parse(std::string_view json);

  const std::vector<JsonField>& fields() const { return fields_; }
  const JsonField* Find(std::string_view name) const;
  // A text, or what was written; empty for null, and when it is not there.
  std::string Text(std::string_view name) const;
  bool Is(std::string_view name) const { return Text(name) == "true"; }
  std::optional<uint64_t> Uint(std::string_view name) const;
  // The field or, in base64, the one with _base64 behind its name.
  std::optional<Bytes> BytesOf(std::string_view name) const;
  // The elements of an array, each as it is written.
  Result<std::vector<std::string>> Elements(std::string_view name) const;
  // The same, of objects.
  Result<std::vector<JsonObject>> Objects(std::string_view name) const;

 private:
  std::vector<JsonField> fields_;
};

// Text from a server: nothing in it moves the cursor or begins a line. Backslashes stay single.
std::string Harmless(std::string_view text);

}  // namespace kvarts::cli
