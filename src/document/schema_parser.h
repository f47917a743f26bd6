// Reads the text of a schema into its program. What it may be is said by DocumentSchema::Parse.
//
// What schemas are made of is in schema_parser.cc, and what is said about single values in schema_keywords.cc.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/schema_links.h"
#include "document/schema_program.h"
#include "encoding/json_reader.h"

namespace kvarts {

// Keywords may come in any order, so what a schema says together is put together when all of it has been read. The
// first thing that is wrong is kept; the reader is told, so that it goes no further.
class SchemaParser {
 public:
  explicit SchemaParser(std::string_view text);

  Result<SchemaProgram> Run() &&;

 private:
  // What has been read of an object that is a schema.
  struct Draft {
    explicit Draft(uint32_t its) : node(its) {}
    void Add(SchemaKeyword keyword, uint32_t a = 0, uint32_t b = 0) { rules.push_back({keyword, node, a, b}); }

    const uint32_t node;
    std::vector<SchemaRule> rules;
    std::optional<std::string> ref;
    std::vector<SchemaProgram::Named> properties;
    std::vector<SchemaProgram::OfPattern> patterns;
    uint32_t additional = kNoNode;
    uint32_t prefix_items = 0;
    uint32_t items = kNoNode;
    uint32_t contains = kNoNode;
    std::optional<uint32_t> min_contains;
    std::optional<uint32_t> max_contains;
    uint32_t condition = kNoNode;
    uint32_t consequence = kNoNode;
    uint32_t alternative = kNoNode;
  };
  struct Reader {
    SchemaKeyword keyword;
    void (SchemaParser::*read)(Draft&, SchemaKeyword);
  };
  static const Reader kReaders[];

  void Refuse(Error error);
  void Refuse(uint32_t node, SchemaKeyword keyword, const char* why);
  void RefuseKeyword(uint32_t node, std::string_view name);
  void Exceeded(const char* what, const char* limit, size_t at_most, std::string pointer);
  bool IsNext(JsonKind kind, const Draft& draft, SchemaKeyword keyword, const char* why);

  uint32_t Schema(uint32_t parent, SchemaKeyword under, std::optional<std::string> name = {});
  void Keyword(Draft& draft, std::string_view name);
  void Finish(Draft& draft);
  void FinishFields(Draft& draft);
  void FinishElements(Draft& draft);

  void ReadType(Draft& draft, SchemaKeyword keyword);
  void ReadValues(Draft& draft, SchemaKeyword keyword);
  void ReadNumber(Draft& draft, SchemaKeyword keyword);
  void ReadCount(Draft& draft, SchemaKeyword keyword);
  void ReadPattern(Draft& draft, SchemaKeyword keyword);
  void ReadFormat(Draft& draft, SchemaKeyword keyword);
  void ReadFlag(Draft& draft, SchemaKeyword keyword);
  void ReadRequired(Draft& draft, SchemaKeyword keyword);
  void ReadDependentRequired(Draft& draft, SchemaKeyword keyword);
  void ReadRef(Draft& draft, SchemaKeyword keyword);
  void ReadSchema(Draft& draft, SchemaKeyword keyword);
  void ReadSchemas(Draft& draft, SchemaKeyword keyword);
  void ReadNamedSchemas(Draft& draft, SchemaKeyword keyword);

  // Behind those that the program has, sorted; where they begin.
  uint32_t AddSorted(std::vector<SchemaProgram::Named> named);
  uint32_t ReadNames(const Draft& draft, SchemaKeyword keyword);
  uint32_t Value(const Draft& draft, SchemaKeyword keyword);
  uint32_t Pattern(const Draft& draft, SchemaKeyword keyword, std::string_view text);
  // Whether everything follows it.
  bool SaysNothing(uint32_t node) const { return program_.nodes[node].from == program_.nodes[node].to; }

  JsonReader json_;
  SchemaProgram program_;
  std::vector<SchemaRef> refs_;
  size_t depth_ = 0;
  std::optional<Error> error_;
};

// `too_large` when the text is too long; otherwise what the parser makes of it.
Result<SchemaProgram> ParseSchema(std::string_view json);

}  // namespace kvarts
