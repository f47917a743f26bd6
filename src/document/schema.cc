#include "document/schema.h"

#include "document/schema_check.h"
#include "document/schema_parser.h"
#include "encoding/json_minify.h"

namespace kvarts {

struct DocumentSchema::Compiled {
  std::string text;
  SchemaProgram program;
};

Result<DocumentSchema> DocumentSchema::Parse(std::string_view json) {
  KVARTS_TRY(SchemaProgram program, ParseSchema(json));
  auto compiled = std::make_shared<Compiled>();
  AppendMinified(&compiled->text, json);
  compiled->program = std::move(program);
  return DocumentSchema(std::move(compiled));
}

Status DocumentSchema::Check(const DocumentView& document) const {
  return CheckAgainst(compiled_->program, document.bytes());
}

const std::string& DocumentSchema::text() const { return compiled_->text; }

}  // namespace kvarts
