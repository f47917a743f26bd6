// What does not follow a schema, for people: from the byte at which a value begins to its path, and from a rule to what
// it expects.
#pragma once

#include "document/schema_program.h"

namespace kvarts {

struct SchemaFailure {
  const char* at = nullptr;  // where the value begins in the document; null: all is well
  const SchemaRule* rule = nullptr;
  uint32_t name = 0;  // of the names of the program, the one that is missing
};

// The error of DocumentSchema::Check.
Error ErrorOf(const SchemaProgram& program, BytesView document, const SchemaFailure& failure);

}  // namespace kvarts
