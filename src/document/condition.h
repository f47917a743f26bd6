// Condition: whether something holds of a document. Filters, partial indexes and conditions of writes are conditions.
//
//   status = "open" and size(tags) > 0 and (due < "2026-07-01" or not exists(due))
//   address.country in ("DE", "AT") and price between 10 and 99.95
//
// docs/expressions.md has the grammar. A condition is a tree; Parse makes it from the text above, and other syntaxes
// build the same one, by the functions below.
//
// What holds is what holds in DynamoDB:
//
// - An operand is missing when nothing is there, and so is the size of what has none. Nothing equals it and nothing is
//   ordered with it, not even another that is missing. So of comparisons with it only != holds.
// - Values are equal when they are the same documents: numbers by value, sets and maps whatever order they were
//   written in, values of different kinds never.
// - Ordered are two numbers, two texts (by their UTF-8 bytes) or two binaries. Of anything else, <, <=, > and >= and
//   between do not hold.
// - A literal with which nothing could ever hold is refused, such as a < [1], or between 2 and 1.
//
// A condition is a value that is cheap to copy, and safe to use from any thread. Evaluation allocates nothing and takes
// time in proportion to the document for each operator.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "document/path.h"
#include "encoding/document.h"

namespace kvarts {

class Condition {
 public:
  static constexpr size_t kMaxTextBytes = 4096;
  static constexpr size_t kMaxDepth = 32;       // parentheses and nots around each other, where they are needed
  static constexpr size_t kMaxOperators = 300;  // words, comparisons and functions
  static constexpr size_t kMaxAmong = 100;      // of `in`

  // `invalid_argument` with the position in bytes and, as the text, what was expected there; `too_large` for what is
  // beyond the bounds, also when only the canonical text is.
  static Result<Condition> Parse(std::string_view text);
  // The text that every condition like this one has; it parses back to an equal one, if it was parsed.
  std::string ToString() const;

  bool Holds(const DocumentView& document) const;

  // Adds every path that it looks at and that is not there yet.
  void CollectPaths(std::vector<DocumentPath>* paths) const;

  friend bool operator==(const Condition& a, const Condition& b);

  // The tree.

  // What is compared: a value of the document, the size of one, or a literal, which is a document. The size of a text
  // is that of its UTF-8, in bytes.
  class Operand {
   public:
    enum class Kind : uint8_t { kValue, kSize, kLiteral };

    static Operand Value(DocumentPath path) { return Operand(Kind::kValue, std::move(path), {}); }
    static Operand Size(DocumentPath path) { return Operand(Kind::kSize, std::move(path), {}); }
    static Operand Literal(Bytes document) { return Operand(Kind::kLiteral, std::nullopt, std::move(document)); }

    Kind kind() const { return kind_; }
    const DocumentPath& path() const { return *path_; }              // of kValue and kSize
    DocumentView literal() const { return DocumentView(literal_); }  // of kLiteral

    friend bool operator==(const Operand&, const Operand&) = default;

   private:
    Operand(Kind kind, std::optional<DocumentPath> path, Bytes literal)
        : kind_(kind), path_(std::move(path)), literal_(std::move(literal)) {}

    Kind kind_;
    std::optional<DocumentPath> path_;
    Bytes literal_;
  };

  enum class Kind : uint8_t {
    // Of conditions.
    kAnd,
    kOr,
    kNot,
    // Of operands.
    kEqual,
    kNotEqual,
    kLess,
    kLessOrEqual,
    kGreater,
    kGreaterOrEqual,
    kBetween,     // a value, the lower bound, the upper bound
    kIn,          // a value, and those that it may be
    kBeginsWith,  // texts or binaries
    kContains,    // a part of a text or binary, an element of a list or set
    // Of one operand, which is a value of the document.
    kExists,
    kMissing,
    kType,
  };

  struct Node {
    Kind kind;
    std::vector<Condition> parts = {};
    std::vector<Operand> operands = {};
    DocumentKind type = DocumentKind::kNull;  // of kType
    // What the bounds are about.
    size_t depth = 0;
    size_t operators = 1;
  };

  // Each says what is wrong with its arguments. The parts of an `and` that are such themselves become parts of it.
  static Result<Condition> And(std::vector<Condition> parts) { return OfParts(Kind::kAnd, std::move(parts)); }
  static Result<Condition> Or(std::vector<Condition> parts) { return OfParts(Kind::kOr, std::move(parts)); }
  static Result<Condition> Not(Condition part);
  // Of the kinds from kEqual to kContains.
  static Result<Condition> Of(Kind kind, std::vector<Operand> operands);
  static Condition Exists(DocumentPath path);
  static Condition Missing(DocumentPath path);
  static Condition HasType(DocumentPath path, DocumentKind type);

  const Node& node() const { return *node_; }

 private:
  explicit Condition(Node node) : node_(std::make_shared<const Node>(std::move(node))) {}
  static Result<Condition> OfParts(Kind kind, std::vector<Condition> parts);

  std::shared_ptr<const Node> node_;
};

// As type() has them: null, bool, number, text, binary, list, map, text_set, number_set, binary_set.
std::string_view DocumentKindName(DocumentKind kind);
std::optional<DocumentKind> ParseDocumentKind(std::string_view name);

}  // namespace kvarts
