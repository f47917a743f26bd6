// A schema, compiled: a flat list of nodes, which are its subschemas, each with a range of rules. A rule is a keyword
// and two numbers, which mean what stands beside the keyword: places in the lists of the program, or counts. What a
// document must be like is known by the first node; nodes refer to each other by their index, also in circles.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "document/regex.h"
#include "encoding/document.h"

namespace kvarts {

// The rules of a node are in this order, which is that in which they are looked at: what a value is itself comes first.
enum class SchemaKeyword : uint8_t {
  kFalse,              // no value follows it
  kType,               // a: bits of SchemaType
  kConst,              // a: of values
  kEnum,               // a, b: a range of values, sorted
  kMinimum,            // a: of numbers, as the next four
  kMaximum,            //
  kExclusiveMinimum,   //
  kExclusiveMaximum,   //
  kMultipleOf,         //
  kMinLength,          // a: the count, as the next
  kMaxLength,          //
  kPattern,            // a: of patterns
  kFormat,             // a: the SchemaFormat
  kMinItems,           // a: the count, as the next three
  kMaxItems,           //
  kMinProperties,      //
  kMaxProperties,      //
  kRequired,           // a, b: a range of names, sorted as fields are
  kDependentRequired,  // a, b: a range of names; if there is the first, then the others, sorted
  kRef,                // a: the node
  kAllOf,              // a, b: a range of children, as the next two
  kAnyOf,              //
  kOneOf,              //
  kNot,                // a: the node
  kIf,                 // a: of children, three: if, then, else; of the last two either may be kNoNode
  kDependentSchemas,   // a, b: a range of named
  kPropertyNames,      // a: the node
  kProperties,         // a: of fields
  kPrefixItems,        // a, b: a range of children
  kItems,              // a: the node; b: how many elements of a list are not meant
  kContains,           // a: the node
  kMinContains,        // a: the node; b: the count
  kMaxContains,        // a: the node; b: the count
  kUniqueItems,        //
  // These make no rules of their own.
  kThen,
  kElse,
  kPatternProperties,
  kAdditionalProperties,
  kDefs,
};
inline constexpr size_t kSchemaKeywords = static_cast<size_t>(SchemaKeyword::kDefs) + 1;

// As a schema has it.
std::string_view KeywordName(SchemaKeyword keyword);

enum class SchemaType : uint8_t { kNull, kBoolean, kInteger, kNumber, kString, kArray, kObject, kBinary, kSet };
inline constexpr std::array<std::string_view, 9> kSchemaTypeNames = {"null",  "boolean", "integer", "number", "string",
                                                                     "array", "object",  "binary",  "set"};
constexpr uint32_t TypeBit(SchemaType type) { return uint32_t{1} << static_cast<unsigned>(type); }

// The order of the fields of a document.
inline bool NameIsBefore(std::string_view a, std::string_view b) { return CompareNames(a, b) < 0; }

// No node.
inline constexpr uint32_t kNoNode = UINT32_MAX;

struct SchemaRule {
  SchemaKeyword keyword = SchemaKeyword::kFalse;
  uint32_t node = 0;  // whose it is
  uint32_t a = 0;
  uint32_t b = 0;
};

struct SchemaNode {
  // Where it stands: the keyword of its parent, and under that a name or an index, or nothing.
  uint32_t parent = kNoNode;
  SchemaKeyword under = SchemaKeyword::kFalse;
  std::optional<std::string> name = {};
  // Its rules.
  uint32_t from = 0;
  uint32_t to = 0;
};

struct SchemaProgram {
  struct Named {
    std::string name;
    uint32_t node = kNoNode;
  };
  struct OfPattern {
    uint32_t pattern = 0;
    uint32_t node = kNoNode;
  };
  // What is said about the fields of a map by properties, patternProperties and additionalProperties together.
  struct Fields {
    uint32_t from = 0;  // of named, sorted as fields are
    uint32_t to = 0;
    std::vector<OfPattern> patterns = {};
    uint32_t additional = kNoNode;
  };

  std::vector<SchemaNode> nodes;
  std::vector<SchemaRule> rules;
  std::vector<Bytes> values;
  std::vector<Decimal> numbers;
  std::vector<Regex> patterns;
  std::vector<std::string> names;
  std::vector<uint32_t> children;
  std::vector<Named> named;
  std::vector<Fields> fields;

  std::span<const SchemaRule> RulesOf(uint32_t node) const {
    return std::span(rules).subspan(nodes[node].from, nodes[node].to - nodes[node].from);
  }
  // The JSON Pointer of a node, and of a keyword in it.
  std::string PointerTo(uint32_t node) const;
  std::string PointerTo(uint32_t node, std::string_view keyword) const;
};

// Behind what is there, a slash and the token as JSON Pointers (RFC 6901) have it.
void AppendPointerToken(std::string* to, std::string_view token);

}  // namespace kvarts
