// Any text is refused as a grammar, or prints as one that reads and matches the same; any key is matched or refused at
// a place that is in it, and the bytes up to there can be skipped. The first line is the grammar, the rest the key.
// links: kvarts_model_catalog
#include <algorithm>
#include <cstdint>

#include "model/catalog/grammar.h"
#include "model/catalog/namespace.h"
#include "support/expect.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kvarts;  // NOLINT: a target has one subject
  const BytesView input(reinterpret_cast<const char*>(data), size);
  const auto decoded = Namespace::Decode("n", input);
  if (decoded.has_value()) Expect(decoded->Encode() == input, "what decodes encodes to the same bytes");
  const size_t line = std::min(input.find('\n'), input.size());
  const BytesView key = input.substr(std::min(line + 1, input.size()));
  const auto grammar = Grammar::Parse(input.substr(0, line));
  if (!grammar.has_value()) return 0;
  const auto again = Grammar::Parse(grammar->ToString());
  Expect(again.has_value() && *again == *grammar, "what is printed is read as the same grammar");
  Expect(grammar->Overlaps(*again), "a grammar overlaps itself");
  KeyFields fields;
  KeyMismatch why;
  if (grammar->Match(key, &fields, &why)) {
    Expect(fields.size() == grammar->fields().size(), "a match has every field");
    size_t bytes = 0;
    for (const Grammar::Part& part : grammar->PartsOf(key)) {
      Expect(part.position == bytes && !part.bytes.empty(), "the parts of a key follow each other");
      bytes += part.bytes.size();
    }
    Expect(bytes == key.size(), "the parts are the whole key");
    return 0;
  }
  Expect(why.position <= key.size(), "a mismatch is in the key");
  Expect(!grammar->Expected(why).empty(), "something else was expected");
  if (why.position < key.size()) {
    // Whatever follows, these bytes begin no key.
    for (const BytesView tail : {BytesView(""), BytesView("/"), BytesView("0"), key}) {
      const Bytes other = Bytes(key.substr(0, why.position + 1)) + Bytes(tail);
      Expect(!grammar->Match(other, &fields, &why), "what is skipped does not match");
    }
  }
  return 0;
}
