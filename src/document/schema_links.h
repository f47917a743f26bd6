// What is to be done when all of a schema has been read: `$ref`s are led to what they mean, wherever that stands, and a
// schema is refused that would have no end, or none soon.
#pragma once

#include <string>
#include <vector>

#include "document/schema_program.h"

namespace kvarts {

// A $ref as it stands in a schema; its rule waits for the node.
struct SchemaRef {
  uint32_t rule = 0;
  std::string text;
};

// "#" and JSON Pointers behind it, as in "#/$defs/name".
Status LinkRefs(const std::vector<SchemaRef>& refs, SchemaProgram* program);

// That no node follows from itself for the same value, and none from more than DocumentSchema::kMaxDepth others.
Status CheckEnds(const SchemaProgram& program);

}  // namespace kvarts
