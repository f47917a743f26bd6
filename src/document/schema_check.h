// Holds a document against the program of a schema, within the bounds of DocumentSchema.
#pragma once

#include "document/schema_program.h"

namespace kvarts {

// As DocumentSchema::Check says. The bytes are those of one document.
Status CheckAgainst(const SchemaProgram& program, BytesView document);

}  // namespace kvarts
