// Any bytes are refused as JSON, however they are read, or are the same value by every way: as a whole, part by part,
// and written anew; without its whitespace it is still the same. links: kvarts_encoding
#include <cstdint>

#include "base/utf8.h"
#include "encoding/json_minify.h"
#include "encoding/json_reader.h"
#include "encoding/json_writer.h"
#include "support/expect.h"

namespace {

using namespace kvarts;  // NOLINT: a target has one subject

// Reads a value part by part, and writes each part as it was understood; numbers as they are written.
void Copy(JsonReader& json, JsonWriter& out) {
  switch (json.Peek()) {
    case JsonKind::kObject:
      out.BeginObject();
      json.Object([&](std::string_view name) { Copy(json, out.Name(name)); });
      out.EndObject();
      return;
    case JsonKind::kArray:
      out.BeginArray();
      json.Array([&] { Copy(json, out); });
      out.EndArray();
      return;
    case JsonKind::kText:
      out.Text(json.Text());
      return;
    case JsonKind::kNumber:
      out.Raw(json.Number());
      return;
    case JsonKind::kBool:
      out.Bool(json.Bool());
      return;
    default:
      if (json.TakeNull()) {
        out.Null();
      } else {
        json.Skip();
      }
  }
}

Result<Bytes> Copied(std::string_view text) {
  Bytes copy;
  JsonWriter writer(&copy);
  JsonReader json(text);
  Copy(json, writer);
  KVARTS_CHECK_OK(json.Finish());
  return copy;
}

// Typed reads of anything at all end in a value or an error.
void ReadAsNumbers(std::string_view text) {
  JsonReader integers(text);
  integers.Array([&] { integers.Int(-1000, 1000); });
  JsonReader doubles(text);
  doubles.Object([&](std::string_view) { doubles.Double(); });
  JsonReader bytes(text);
  bytes.Array([&] { Expect(bytes.Base64().size() <= text.size(), "bytes are fewer than their digits"); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const BytesView text(reinterpret_cast<const char*>(data), size);
  ReadAsNumbers(text);

  Bytes escaped;
  JsonWriter(&escaped).BeginObject().BytesField("v", text).EndObject();
  JsonReader fields(escaped);
  fields.Object([&](std::string_view name) {
    Expect((name == "v" ? Bytes(fields.Text()) : fields.Base64()) == text, "any bytes are read back from their field");
  });
  Expect(fields.Finish().has_value(), "what is written is JSON");

  JsonReader whole(text);
  const std::string_view raw = whole.Raw();
  const Status status = whole.Finish();
  const Result<Bytes> copy = Copied(text);
  if (!status.has_value()) {
    Expect(status.error().code() == ErrorCode::kInvalidArgument, "what is not JSON is an invalid argument");
    Expect(!copy.has_value(), "what is refused as a whole is refused in parts");
    Bytes ignored;
    AppendMinified(&ignored, text);
    return 0;
  }
  Expect(IsUtf8(text), "JSON is UTF-8");
  JsonReader again(raw);
  Expect(again.Raw() == raw && again.Finish().has_value(), "a value is a text of its own");
  const Result<Bytes> minified = Minified(text);
  Expect(minified.has_value() && Minified(*minified).value_or("") == *minified, "there is nothing left to drop");
  const Result<Bytes> copy_of_minified = Copied(*minified);
  Expect(copy.has_value() == copy_of_minified.has_value(), "whitespace means nothing");
  // A name that is there twice is refused in parts only.
  if (!copy.has_value()) return 0;
  Expect(*copy == *copy_of_minified, "whitespace means nothing at all");
  Expect(Copied(*copy).value_or("") == *copy, "what is written anew is read as the same");
  return 0;
}
