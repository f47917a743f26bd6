// A condition as text.
#include "document/condition_words.h"
#include "encoding/document_json.h"

namespace kvarts {
namespace {

using Kind = Condition::Kind;
using Operand = Condition::Operand;

std::string PathText(const DocumentPath& path) {
  std::string text = path.ToString();
  const std::string& first = path.steps().front().name;
  // A word of the grammar is a plain name, but not at the beginning of an operand.
  return IsReserved(first) ? "`" + first + "`" + text.substr(first.size()) : text;
}

std::string OperandText(const Operand& operand) {
  switch (operand.kind()) {
    case Operand::Kind::kValue:
      return PathText(operand.path());
    case Operand::Kind::kSize:
      return "size(" + PathText(operand.path()) + ")";
    case Operand::Kind::kLiteral:
      break;
  }
  return DocumentToJson(operand.literal());
}

std::string Listed(const std::vector<Operand>& operands, size_t from) {
  std::string text = "(";
  for (size_t i = from; i < operands.size(); ++i) text.append(i == from ? "" : ", ").append(OperandText(operands[i]));
  return text + ")";
}

// A part of an `and` or a `not`, where what binds less stands in parentheses.
std::string PartText(const Condition& part, bool or_only) {
  const Kind kind = part.node().kind;
  const bool in_parentheses = kind == Kind::kOr || (kind == Kind::kAnd && !or_only);
  return in_parentheses ? "(" + part.ToString() + ")" : part.ToString();
}

std::string JoinedText(const Condition::Node& node) {
  std::string text;
  for (const Condition& part : node.parts) {
    if (!text.empty()) text += node.kind == Kind::kAnd ? " and " : " or ";
    text += node.kind == Kind::kAnd ? PartText(part, true) : part.ToString();
  }
  return text;
}

}  // namespace

std::string Condition::ToString() const {
  const Node& node = *node_;
  const auto operand = [&](size_t i) { return OperandText(node.operands[i]); };
  switch (node.kind) {
    case Kind::kAnd:
    case Kind::kOr:
      return JoinedText(node);
    case Kind::kNot:
      return "not " + PartText(node.parts[0], false);
    case Kind::kBetween:
      return operand(0) + " between " + operand(1) + " and " + operand(2);
    case Kind::kIn:
      return operand(0) + " in " + Listed(node.operands, 1);
    case Kind::kType:
      return "type(" + operand(0) + ", \"" + std::string(DocumentKindName(node.type)) + "\")";
    default:
      break;
  }
  if (const std::string_view sign = SignOf(node.kind); !sign.empty()) {
    return operand(0) + " " + std::string(sign) + " " + operand(1);
  }
  return std::string(FunctionName(node.kind)) + Listed(node.operands, 0);
}

}  // namespace kvarts
