#include "document/schema_program.h"

#include <algorithm>

namespace kvarts {
namespace {

constexpr std::array<std::string_view, kSchemaKeywords> kNames = {
    "false",
    "type",
    "const",
    "enum",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "required",
    "dependentRequired",
    "$ref",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "dependentSchemas",
    "propertyNames",
    "properties",
    "prefixItems",
    "items",
    "contains",
    "minContains",
    "maxContains",
    "uniqueItems",
    "then",
    "else",
    "patternProperties",
    "additionalProperties",
    "$defs",
};

}  // namespace

std::string_view KeywordName(SchemaKeyword keyword) { return kNames[static_cast<size_t>(keyword)]; }

void AppendPointerToken(std::string* to, std::string_view token) {
  to->push_back('/');
  for (const char c : token) {
    if (c == '~') {
      to->append("~0");
    } else if (c == '/') {
      to->append("~1");
    } else {
      to->push_back(c);
    }
  }
}

std::string SchemaProgram::PointerTo(uint32_t node) const {
  std::vector<const SchemaNode*> way;
  for (; nodes[node].parent != kNoNode; node = nodes[node].parent) way.push_back(&nodes[node]);
  std::ranges::reverse(way);
  std::string pointer;
  for (const SchemaNode* step : way) {
    AppendPointerToken(&pointer, KeywordName(step->under));
    if (step->name) AppendPointerToken(&pointer, *step->name);
  }
  return pointer;
}

std::string SchemaProgram::PointerTo(uint32_t node, std::string_view keyword) const {
  std::string pointer = PointerTo(node);
  AppendPointerToken(&pointer, keyword);
  return pointer;
}

}  // namespace kvarts
