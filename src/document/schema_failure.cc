#include "document/schema_failure.h"

#include <fmt/format.h>

#include "base/utf8.h"
#include "document/schema_format.h"
#include "document/schema_value.h"
#include "encoding/cbor.h"
#include "encoding/document_json.h"

namespace kvarts {
namespace {

// As much of a path, and of what is expected, as is told.
constexpr size_t kMaxPathBytes = 1024;
constexpr size_t kMaxExpectedBytes = 120;

std::string Cut(std::string text, size_t at_most) {
  if (text.size() <= at_most) return text;
  return std::string(CutText(text, at_most)) + "…";
}

// The way to the value that begins at this byte.
std::string PathTo(BytesView document, const char* at) {
  std::string path;
  for (size_t depth = 0; depth < kMaxDocumentDepth && document.data() != at; ++depth) {
    const bool is_map = DocumentView(document).kind() == DocumentKind::kMap;
    BytesView rest = document;
    const uint64_t count = TakeCount(&rest);
    for (uint64_t i = 0; i < count; ++i) {
      const std::string_view name = is_map ? cbor::TakeString(&rest) : std::string_view();
      document = rest;
      SkipCounting(&rest);
      if (at >= rest.data()) continue;
      AppendPointerToken(&path, is_map ? name : std::to_string(i));
      break;
    }
  }
  return Cut(std::move(path), kMaxPathBytes);
}

std::string TypesOf(uint32_t types) {
  std::string text;
  for (size_t i = 0; i < kSchemaTypeNames.size(); ++i) {
    if ((types & TypeBit(static_cast<SchemaType>(i))) == 0) continue;
    if (!text.empty()) text += " or ";
    text += kSchemaTypeNames[i];
  }
  return text;
}

std::string ValuesOf(const SchemaProgram& program, const SchemaRule& rule) {
  std::string text;
  for (uint32_t i = rule.a; i < rule.b && text.size() <= kMaxExpectedBytes; ++i) {
    text += text.empty() ? "one of " : ", ";
    text += DocumentToJson(DocumentView(program.values[i]));
  }
  return text;
}

std::string Counted(const char* bound, uint32_t count, const char* what) {
  return fmt::format("{} {} {}{}", bound, count, what, count == 1 ? "" : "s");
}

std::string Expected(const SchemaProgram& program, const SchemaFailure& failure) {
  const SchemaRule& rule = *failure.rule;
  switch (rule.keyword) {
    case SchemaKeyword::kFalse:
      return "nothing";
    case SchemaKeyword::kType:
      return TypesOf(rule.a);
    case SchemaKeyword::kConst:
      return DocumentToJson(DocumentView(program.values[rule.a]));
    case SchemaKeyword::kEnum:
      return ValuesOf(program, rule);
    case SchemaKeyword::kMinimum:
      return "at least " + program.numbers[rule.a].ToString();
    case SchemaKeyword::kMaximum:
      return "at most " + program.numbers[rule.a].ToString();
    case SchemaKeyword::kExclusiveMinimum:
      return "more than " + program.numbers[rule.a].ToString();
    case SchemaKeyword::kExclusiveMaximum:
      return "less than " + program.numbers[rule.a].ToString();
    case SchemaKeyword::kMultipleOf:
      return "a multiple of " + program.numbers[rule.a].ToString();
    case SchemaKeyword::kMinLength:
      return Counted("at least", rule.a, "character");
    case SchemaKeyword::kMaxLength:
      return Counted("at most", rule.a, "character");
    case SchemaKeyword::kPattern:
      return "a match of " + program.patterns[rule.a].text();
    case SchemaKeyword::kFormat:
      return std::string(FormatName(static_cast<SchemaFormat>(rule.a)));
    case SchemaKeyword::kMinItems:
      return Counted("at least", rule.a, "element");
    case SchemaKeyword::kMaxItems:
      return Counted("at most", rule.a, "element");
    case SchemaKeyword::kMinProperties:
      return Counted("at least", rule.a, "field");
    case SchemaKeyword::kMaxProperties:
      return Counted("at most", rule.a, "field");
    case SchemaKeyword::kRequired:
      return "a field " + program.names[failure.name];
    case SchemaKeyword::kDependentRequired:
      return fmt::format("a field {} beside {}", program.names[failure.name], program.names[rule.a]);
    case SchemaKeyword::kAnyOf:
      return fmt::format("a value that follows one of {} schemas", rule.b - rule.a);
    case SchemaKeyword::kOneOf:
      return fmt::format("a value that follows exactly one of {} schemas", rule.b - rule.a);
    case SchemaKeyword::kNot:
      return "a value that does not follow the schema";
    case SchemaKeyword::kPropertyNames:
      return "a field whose name follows the schema";
    case SchemaKeyword::kContains:
      return "an element that follows the schema";
    case SchemaKeyword::kMinContains:
      return Counted("at least", rule.b, "element") + " following the schema";
    case SchemaKeyword::kMaxContains:
      return Counted("at most", rule.b, "element") + " following the schema";
    case SchemaKeyword::kUniqueItems:
      return "an element that is not there already";
    default:
      return "";  // the others fail by schemas that they lead to
  }
}

}  // namespace

Error ErrorOf(const SchemaProgram& program, BytesView document, const SchemaFailure& failure) {
  const SchemaRule& rule = *failure.rule;
  // A schema that is `false` is named by the keyword it stands for.
  const SchemaNode& node = program.nodes[rule.node];
  const bool never = rule.keyword == SchemaKeyword::kFalse;
  const std::string_view keyword = KeywordName(never ? node.under : rule.keyword);
  return Error(ErrorCode::kInvalidArgument, "the row does not follow its schema",
               {{"path", PathTo(document, failure.at)},
                {"keyword", std::string(keyword)},
                {"schema_path", never ? program.PointerTo(rule.node) : program.PointerTo(rule.node, keyword)},
                {"expected", Cut(Expected(program, failure), kMaxExpectedBytes)}});
}

}  // namespace kvarts
