#include "document/schema_parser.h"

#include <algorithm>

#include "base/nearest.h"
#include "base/utf8.h"
#include "document/schema.h"
#include "encoding/document.h"

namespace kvarts {
namespace {

// What says nothing about which documents are valid; names that begin with x- are others' business, too.
constexpr std::string_view kAnnotations[] = {"title",      "description", "default",   "examples",
                                             "deprecated", "readOnly",    "writeOnly", "$comment"};
constexpr std::string_view kAnnotationsOfTheWhole[] = {"$schema", "$id"};

// As much of a name that nobody knows as is told.
constexpr size_t kMaxToldBytes = 100;

// A schema has two levels of JSON, the last one a value in it; of such a value each level may take two.
constexpr size_t kMaxJsonDepth = 2 * DocumentSchema::kMaxDepth + 2 * kMaxDocumentDepth + 1;

uint32_t Size32(const auto& list) { return static_cast<uint32_t>(list.size()); }

}  // namespace

// Every keyword that changes what is valid.
const SchemaParser::Reader SchemaParser::kReaders[] = {
    {SchemaKeyword::kType, &SchemaParser::ReadType},
    {SchemaKeyword::kConst, &SchemaParser::ReadValues},
    {SchemaKeyword::kEnum, &SchemaParser::ReadValues},
    {SchemaKeyword::kMinimum, &SchemaParser::ReadNumber},
    {SchemaKeyword::kMaximum, &SchemaParser::ReadNumber},
    {SchemaKeyword::kExclusiveMinimum, &SchemaParser::ReadNumber},
    {SchemaKeyword::kExclusiveMaximum, &SchemaParser::ReadNumber},
    {SchemaKeyword::kMultipleOf, &SchemaParser::ReadNumber},
    {SchemaKeyword::kMinLength, &SchemaParser::ReadCount},
    {SchemaKeyword::kMaxLength, &SchemaParser::ReadCount},
    {SchemaKeyword::kPattern, &SchemaParser::ReadPattern},
    {SchemaKeyword::kFormat, &SchemaParser::ReadFormat},
    {SchemaKeyword::kMinItems, &SchemaParser::ReadCount},
    {SchemaKeyword::kMaxItems, &SchemaParser::ReadCount},
    {SchemaKeyword::kMinProperties, &SchemaParser::ReadCount},
    {SchemaKeyword::kMaxProperties, &SchemaParser::ReadCount},
    {SchemaKeyword::kRequired, &SchemaParser::ReadRequired},
    {SchemaKeyword::kDependentRequired, &SchemaParser::ReadDependentRequired},
    {SchemaKeyword::kRef, &SchemaParser::ReadRef},
    {SchemaKeyword::kAllOf, &SchemaParser::ReadSchemas},
    {SchemaKeyword::kAnyOf, &SchemaParser::ReadSchemas},
    {SchemaKeyword::kOneOf, &SchemaParser::ReadSchemas},
    {SchemaKeyword::kNot, &SchemaParser::ReadSchema},
    {SchemaKeyword::kIf, &SchemaParser::ReadSchema},
    {SchemaKeyword::kThen, &SchemaParser::ReadSchema},
    {SchemaKeyword::kElse, &SchemaParser::ReadSchema},
    {SchemaKeyword::kDependentSchemas, &SchemaParser::ReadNamedSchemas},
    {SchemaKeyword::kPropertyNames, &SchemaParser::ReadSchema},
    {SchemaKeyword::kProperties, &SchemaParser::ReadNamedSchemas},
    {SchemaKeyword::kPatternProperties, &SchemaParser::ReadNamedSchemas},
    {SchemaKeyword::kAdditionalProperties, &SchemaParser::ReadSchema},
    {SchemaKeyword::kPrefixItems, &SchemaParser::ReadSchemas},
    {SchemaKeyword::kItems, &SchemaParser::ReadSchema},
    {SchemaKeyword::kContains, &SchemaParser::ReadSchema},
    {SchemaKeyword::kMinContains, &SchemaParser::ReadCount},
    {SchemaKeyword::kMaxContains, &SchemaParser::ReadCount},
    {SchemaKeyword::kUniqueItems, &SchemaParser::ReadFlag},
    {SchemaKeyword::kDefs, &SchemaParser::ReadNamedSchemas},
};

SchemaParser::SchemaParser(std::string_view text) : json_(text, {.max_depth = kMaxJsonDepth}) {}

Result<SchemaProgram> SchemaParser::Run() && {
  Schema(kNoNode, SchemaKeyword::kFalse);
  if (error_) return *std::move(error_);
  KVARTS_CHECK_OK(json_.Finish());
  KVARTS_CHECK_OK(LinkRefs(refs_, &program_));
  KVARTS_CHECK_OK(CheckEnds(program_));
  return std::move(program_);
}

void SchemaParser::Refuse(Error error) {
  if (error_ || !json_.ok()) return;
  json_.Require(false, "the schema was refused");
  error_ = std::move(error);
}

void SchemaParser::Refuse(uint32_t node, SchemaKeyword keyword, const char* why) {
  Refuse(Error(ErrorCode::kInvalidArgument, why,
               {{"keyword", std::string(KeywordName(keyword))},
                {"schema_path", program_.PointerTo(node, KeywordName(keyword))}}));
}

void SchemaParser::RefuseKeyword(uint32_t node, std::string_view name) {
  constexpr const char* kText = "the schema has a keyword that is not supported";
  name = CutText(name, kMaxToldBytes);
  const std::string pointer = program_.PointerTo(node, name);
  std::vector<std::string_view> known(std::begin(kAnnotations), std::end(kAnnotations));
  for (const Reader& reader : kReaders) known.push_back(KeywordName(reader.keyword));
  const std::string_view meant = Nearest(name, known);
  if (meant.empty()) {
    Refuse(Error(ErrorCode::kInvalidArgument, kText, {{"keyword", std::string(name)}, {"schema_path", pointer}}));
  } else {
    Refuse(Error(ErrorCode::kInvalidArgument, kText,
                 {{"keyword", std::string(name)}, {"schema_path", pointer}, {"did_you_mean", std::string(meant)}}));
  }
}

void SchemaParser::Exceeded(const char* what, const char* limit, size_t at_most, std::string pointer) {
  Refuse(Error(ErrorCode::kTooLarge, what,
               {{"limit", limit}, {"at_most", std::to_string(at_most)}, {"schema_path", std::move(pointer)}}));
}

// Where no value begins, the reader knows best what is wrong.
bool SchemaParser::IsNext(JsonKind kind, const Draft& draft, SchemaKeyword keyword, const char* why) {
  const JsonKind next = json_.Peek();
  if (next == kind) return true;
  if (next == JsonKind::kNone) {
    json_.Skip();
  } else {
    Refuse(draft.node, keyword, why);
  }
  return false;
}

uint32_t SchemaParser::Schema(uint32_t parent, SchemaKeyword under, std::optional<std::string> name) {
  constexpr size_t kMaxNodes = DocumentSchema::kMaxNodes;
  constexpr size_t kMaxDepth = DocumentSchema::kMaxDepth;
  const uint32_t node = Size32(program_.nodes);
  if (node == kMaxNodes || depth_ == kMaxDepth) {
    const std::string pointer = program_.PointerTo(parent, KeywordName(under));
    if (node == kMaxNodes) Exceeded("there are too many schemas in the schema", "max_schema_nodes", kMaxNodes, pointer);
    if (depth_ == kMaxDepth) Exceeded("the schema is too deep", "max_schema_depth", kMaxDepth, pointer);
    return kNoNode;
  }
  ++depth_;
  program_.nodes.push_back({parent, under, std::move(name)});
  Draft draft(node);
  switch (json_.Peek()) {
    case JsonKind::kObject:
      json_.Object([&](std::string_view keyword) { Keyword(draft, keyword); });
      break;
    case JsonKind::kBool:
      if (!json_.Bool()) draft.Add(SchemaKeyword::kFalse);
      break;
    case JsonKind::kNone:
      json_.Skip();
      break;
    default:
      Refuse(Error(ErrorCode::kInvalidArgument, "a schema is an object, true or false",
                   {{"schema_path", program_.PointerTo(node)}}));
  }
  if (json_.ok()) Finish(draft);
  --depth_;
  return node;
}

void SchemaParser::Keyword(Draft& draft, std::string_view name) {
  for (const Reader& reader : kReaders) {
    if (KeywordName(reader.keyword) == name) return (this->*reader.read)(draft, reader.keyword);
  }
  if (name.starts_with("x-") || std::ranges::find(kAnnotations, name) != std::end(kAnnotations)) return;
  if (draft.node == 0 && std::ranges::find(kAnnotationsOfTheWhole, name) != std::end(kAnnotationsOfTheWhole)) return;
  RefuseKeyword(draft.node, name);
}

void SchemaParser::Finish(Draft& draft) {
  if (draft.ref) draft.Add(SchemaKeyword::kRef);
  if (draft.condition != kNoNode && (draft.consequence != kNoNode || draft.alternative != kNoNode)) {
    draft.Add(SchemaKeyword::kIf, Size32(program_.children));
    program_.children.insert(program_.children.end(), {draft.condition, draft.consequence, draft.alternative});
  }
  FinishFields(draft);
  FinishElements(draft);
  std::ranges::stable_sort(draft.rules, {}, &SchemaRule::keyword);
  SchemaNode& node = program_.nodes[draft.node];
  node.from = Size32(program_.rules);
  for (const SchemaRule& rule : draft.rules) {
    if (rule.keyword == SchemaKeyword::kRef) refs_.push_back({Size32(program_.rules), *std::move(draft.ref)});
    program_.rules.push_back(rule);
  }
  node.to = Size32(program_.rules);
}

void SchemaParser::FinishFields(Draft& draft) {
  if (draft.additional != kNoNode && SaysNothing(draft.additional)) draft.additional = kNoNode;
  if (draft.properties.empty() && draft.patterns.empty() && draft.additional == kNoNode) return;
  draft.Add(SchemaKeyword::kProperties, Size32(program_.fields));
  const uint32_t from = AddSorted(std::move(draft.properties));
  program_.fields.push_back({from, Size32(program_.named), std::move(draft.patterns), draft.additional});
}

void SchemaParser::FinishElements(Draft& draft) {
  if (draft.items != kNoNode && !SaysNothing(draft.items)) {
    draft.Add(SchemaKeyword::kItems, draft.items, draft.prefix_items);
  }
  if (draft.contains == kNoNode) return;
  if (!draft.min_contains) {
    draft.Add(SchemaKeyword::kContains, draft.contains);
  } else if (*draft.min_contains > 0) {
    draft.Add(SchemaKeyword::kMinContains, draft.contains, *draft.min_contains);
  }
  if (draft.max_contains) draft.Add(SchemaKeyword::kMaxContains, draft.contains, *draft.max_contains);
}

void SchemaParser::ReadRef(Draft& draft, SchemaKeyword keyword) {
  if (IsNext(JsonKind::kText, draft, keyword, "a $ref is a text")) draft.ref.emplace(json_.Text());
}

void SchemaParser::ReadSchema(Draft& draft, SchemaKeyword keyword) {
  const uint32_t node = Schema(draft.node, keyword);
  switch (keyword) {
    case SchemaKeyword::kIf:
      draft.condition = node;
      return;
    case SchemaKeyword::kThen:
      draft.consequence = node;
      return;
    case SchemaKeyword::kElse:
      draft.alternative = node;
      return;
    case SchemaKeyword::kAdditionalProperties:
      draft.additional = node;
      return;
    case SchemaKeyword::kItems:
      draft.items = node;
      return;
    case SchemaKeyword::kContains:
      draft.contains = node;
      return;
    default:
      draft.Add(keyword, node);
  }
}

void SchemaParser::ReadSchemas(Draft& draft, SchemaKeyword keyword) {
  constexpr const char* kWhy = "a list of schemas was expected, one at least";
  if (!IsNext(JsonKind::kArray, draft, keyword, kWhy)) return;
  std::vector<uint32_t> nodes;
  json_.Array([&](size_t index) { nodes.push_back(Schema(draft.node, keyword, std::to_string(index))); });
  if (nodes.empty()) Refuse(draft.node, keyword, kWhy);
  const uint32_t from = Size32(program_.children);
  program_.children.insert(program_.children.end(), nodes.begin(), nodes.end());
  draft.Add(keyword, from, Size32(program_.children));
  if (keyword == SchemaKeyword::kPrefixItems) draft.prefix_items = Size32(nodes);
}

void SchemaParser::ReadNamedSchemas(Draft& draft, SchemaKeyword keyword) {
  if (!IsNext(JsonKind::kObject, draft, keyword, "an object of schemas was expected")) return;
  std::vector<SchemaProgram::Named> named;
  json_.Object([&](std::string_view name) {
    const bool by_pattern = keyword == SchemaKeyword::kPatternProperties;
    const uint32_t pattern = by_pattern ? Pattern(draft, keyword, name) : 0;
    const uint32_t node = Schema(draft.node, keyword, std::string(name));
    if (by_pattern) {
      draft.patterns.push_back({pattern, node});
    } else {
      named.push_back({std::string(name), node});
    }
  });
  if (keyword == SchemaKeyword::kProperties) {
    draft.properties = std::move(named);
  } else if (keyword == SchemaKeyword::kDependentSchemas && !named.empty()) {
    const uint32_t from = AddSorted(std::move(named));
    draft.Add(keyword, from, Size32(program_.named));
  }
}

uint32_t SchemaParser::AddSorted(std::vector<SchemaProgram::Named> named) {
  const uint32_t from = Size32(program_.named);
  std::ranges::sort(named, NameIsBefore, &SchemaProgram::Named::name);
  std::ranges::move(named, std::back_inserter(program_.named));
  return from;
}

Result<SchemaProgram> ParseSchema(std::string_view json) {
  if (json.size() > DocumentSchema::kMaxTextBytes) {
    return Error(ErrorCode::kTooLarge, "the schema is too long",
                 {{"limit", "max_schema_bytes"}, {"at_most", std::to_string(DocumentSchema::kMaxTextBytes)}});
  }
  return SchemaParser(json).Run();
}

}  // namespace kvarts
