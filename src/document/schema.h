// DocumentSchema: what the documents of a table must be like, in JSON Schema (draft 2020-12): the part of it that can
// be checked in bounded time, and says nothing that is not checked. docs/schema.md has it for users.
//
// - What would change which documents are valid and is not known here is refused by Parse, never ignored.
// - `format` is asserted. `$ref` leads to places in the same schema only.
// - For what JSON lacks there are the types "binary" and "set". A set is no "array", but items, contains, minItems and
//   maxItems hold for sets, too; the lengths of binaries are those of texts, in bytes.
// - Numbers are decimals: multipleOf and the bounds are exact.
//
// A schema is compiled into a flat program (schema_program.h) by schema_parser.cc and schema_links.cc, and run over the
// bytes of a document by schema_check.cc. It is a value that is cheap to copy; checking is safe from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "encoding/document.h"

namespace kvarts {

class DocumentSchema {
 public:
  static constexpr size_t kMaxTextBytes = 64 * 1024;
  // How many schemas may be inside each other, and how many may follow from each other for one value, by $ref, allOf
  // and the like.
  static constexpr size_t kMaxDepth = 32;
  static constexpr size_t kMaxNodes = 2'000;
  // Of different regular expressions, each of which may take Regex::kMaxMemoryBytes.
  static constexpr size_t kMaxPatterns = 64;
  // The work of one check; a step is about a tenth of a microsecond at most. And how many schemas may be under way at
  // a time, which is what a check needs of the stack.
  static constexpr uint64_t kMaxSteps = 1'000'000;
  static constexpr size_t kMaxCheckDepth = 512;

  // `invalid_argument` with the `schema_path` (a JSON Pointer) of what is wrong and its `keyword`; `too_large` with the
  // `limit`.
  static Result<DocumentSchema> Parse(std::string_view json);

  // `invalid_argument` when the document does not follow the schema: the `path` of the first value that does not, as a
  // JSON Pointer, the `keyword` it offends against, where that is in the schema (`schema_path`), and what was
  // `expected`. First is what begins first in the document; a value begins before what is in it. `too_large` when that
  // takes too much work to be told.
  Status Check(const DocumentView& document) const;

  // As it was given, minified.
  const std::string& text() const;
  friend bool operator==(const DocumentSchema& a, const DocumentSchema& b) { return a.text() == b.text(); }

 private:
  struct Compiled;

  explicit DocumentSchema(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}

  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace kvarts
