// The tree of a condition: how it is built, within its bounds, and what it says about a document.
#include "document/condition.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "document/cursor.h"

namespace kvarts {
namespace {

using Kind = Condition::Kind;
using Operand = Condition::Operand;

constexpr std::array<std::string_view, 10> kKindNames = {"null", "bool", "number",   "text",       "binary",
                                                         "list", "map",  "text_set", "number_set", "binary_set"};

Error Refused(const char* why) { return Error(ErrorCode::kInvalidArgument, why); }

Error TooLarge(const char* text, const char* limit, size_t at_most) {
  return Error(ErrorCode::kTooLarge, text, {{"limit", limit}, {"at_most", std::to_string(at_most)}});
}

Status CheckBounds(const Condition::Node& node) {
  if (node.depth > Condition::kMaxDepth) {
    return TooLarge("the condition is too deep", "max_condition_depth", Condition::kMaxDepth);
  }
  if (node.operators > Condition::kMaxOperators) {
    return TooLarge("the condition has too many operators", "max_condition_operators", Condition::kMaxOperators);
  }
  return {};
}

bool IsOrdered(DocumentKind kind) {
  return kind == DocumentKind::kNumber || kind == DocumentKind::kText || kind == DocumentKind::kBinary;
}

bool IsString(DocumentKind kind) { return kind == DocumentKind::kText || kind == DocumentKind::kBinary; }

bool HasElements(DocumentKind kind) { return kind == DocumentKind::kList || IsSet(kind); }

bool IsLiteral(const Operand& operand) { return operand.kind() == Operand::Kind::kLiteral; }

// Whether it is no literal, or one of such a kind.
template <class OfKind>
bool MayBe(const Operand& operand, OfKind of_kind) {
  return !IsLiteral(operand) || of_kind(operand.literal().kind());
}

Status CheckOrdered(const std::vector<Operand>& operands) {
  for (const Operand& operand : operands) {
    if (!MayBe(operand, IsOrdered)) return Refused("only numbers, texts and binaries have an order");
  }
  return {};
}

Status CheckBetween(const std::vector<Operand>& operands) {
  KVARTS_CHECK_OK(CheckOrdered(operands));
  if (!IsLiteral(operands[1]) || !IsLiteral(operands[2])) return {};
  const DocumentView low = operands[1].literal();
  const DocumentView high = operands[2].literal();
  if (low.kind() != high.kind() || low > high) return Refused("the bounds of between are of one kind, the lower first");
  return {};
}

Status CheckStrings(const std::vector<Operand>& operands) {
  for (const Operand& operand : operands) {
    if (!MayBe(operand, IsString) || operand.kind() == Operand::Kind::kSize) {
      return Refused("begins_with is about texts and binaries");
    }
  }
  return {};
}

Status CheckContainer(const Operand& operand) {
  const bool may_be = MayBe(operand, [](DocumentKind kind) { return IsString(kind) || HasElements(kind); });
  if (may_be && operand.kind() != Operand::Kind::kSize) return {};
  return Refused("contains looks into texts, binaries, lists and sets");
}

Status CheckOperands(Kind kind, const std::vector<Operand>& operands) {
  const size_t count = operands.size();
  const bool right_count = kind == Kind::kBetween ? count == 3 : kind == Kind::kIn ? count >= 2 : count == 2;
  if (!right_count || kind < Kind::kEqual || kind > Kind::kContains) return Refused("the wrong number of operands");
  switch (kind) {
    case Kind::kLess:
    case Kind::kLessOrEqual:
    case Kind::kGreater:
    case Kind::kGreaterOrEqual:
      return CheckOrdered(operands);
    case Kind::kBetween:
      return CheckBetween(operands);
    case Kind::kIn:
      if (count - 1 <= Condition::kMaxAmong) return {};
      return TooLarge("in has too many operands", "max_condition_in", Condition::kMaxAmong);
    case Kind::kBeginsWith:
      return CheckStrings(operands);
    case Kind::kContains:
      return CheckContainer(operands[0]);
    default:
      return {};
  }
}

// What an operand is for a document. It may be in here, so it stays where it is.
class Evaluated {
 public:
  Evaluated(const Operand& operand, const DocumentView& document) {
    if (operand.kind() == Operand::Kind::kLiteral) {
      value_ = operand.literal();
      return;
    }
    value_ = operand.path().Find(document);
    if (operand.kind() == Operand::Kind::kSize && value_) TakeSize();
  }
  Evaluated(const Evaluated&) = delete;
  Evaluated& operator=(const Evaluated&) = delete;

  explicit operator bool() const { return value_.has_value(); }
  const DocumentView& operator*() const { return *value_; }
  const DocumentView* operator->() const { return &*value_; }

 private:
  void TakeSize() {
    const DocumentKind kind = value_->kind();
    if (!IsString(kind) && !HasElements(kind) && kind != DocumentKind::kMap) {
      value_.reset();
      return;
    }
    const size_t size = IsString(kind) ? value_->Text().size() : value_->size();
    char* const end = cbor::WriteHead(size_.data(), cbor::Major::kUnsigned, size);
    value_.emplace(BytesView(size_.data(), end));
  }

  std::array<char, 9> size_;
  std::optional<DocumentView> value_;
};

bool AreEqual(const Evaluated& a, const Evaluated& b) { return a && b && *a == *b; }

// Of two that have an order among each other.
std::optional<std::strong_ordering> OrderOf(const Evaluated& a, const Evaluated& b) {
  if (!a || !b || a->kind() != b->kind() || !IsOrdered(a->kind())) return std::nullopt;
  return *a <=> *b;
}

bool IsAtMost(const Evaluated& a, const Evaluated& b) {
  const auto order = OrderOf(a, b);
  return order && *order <= 0;
}

bool IsLess(const Evaluated& a, const Evaluated& b) {
  const auto order = OrderOf(a, b);
  return order && *order < 0;
}

bool IsAmong(const std::vector<Operand>& operands, const DocumentView& document) {
  const Evaluated value(operands[0], document);
  if (!value) return false;
  const BytesView bytes = value->bytes();
  return std::any_of(operands.begin() + 1, operands.end(), [&](const Operand& operand) {
    const Evaluated one(operand, document);
    return one && one->bytes() == bytes;
  });
}

bool BeginsWith(const Evaluated& a, const Evaluated& b) {
  return a && b && a->kind() == b->kind() && IsString(a->kind()) && a->Text().starts_with(b->Text());
}

bool Contains(const Evaluated& a, const Evaluated& b) {
  if (!a || !b) return false;
  if (IsString(a->kind())) {
    if (a->kind() != b->kind()) return false;
    // Other than std::string_view's, it is never quadratic.
    const std::string_view all = a->Text();
    const std::string_view part = b->Text();
    return part.empty() || memmem(all.data(), all.size(), part.data(), part.size()) != nullptr;
  }
  if (!HasElements(a->kind())) return false;
  const BytesView bytes = b->bytes();
  bool found = false;
  a->ForEachElement([&](const DocumentView& element) { found = found || element.bytes() == bytes; });
  return found;
}

}  // namespace

std::string_view DocumentKindName(DocumentKind kind) { return kKindNames[static_cast<size_t>(kind)]; }

std::optional<DocumentKind> ParseDocumentKind(std::string_view name) {
  const auto found = std::ranges::find(kKindNames, name);
  if (found == kKindNames.end()) return std::nullopt;
  return static_cast<DocumentKind>(found - kKindNames.begin());
}

Result<Condition> Condition::OfParts(Kind kind, std::vector<Condition> parts) {
  if (parts.empty()) return Refused("the wrong number of operands");
  if (parts.size() == 1) return std::move(parts.front());
  Node node{kind};
  for (Condition& part : parts) {
    if (part.node().kind == kind) {
      node.parts.insert(node.parts.end(), part.node().parts.begin(), part.node().parts.end());
    } else {
      node.parts.push_back(std::move(part));
    }
  }
  node.operators = node.parts.size() - 1;
  for (const Condition& part : node.parts) {
    const bool in_parentheses = kind == Kind::kAnd && part.node().kind == Kind::kOr;
    node.depth = std::max(node.depth, part.node().depth + (in_parentheses ? 1 : 0));
    node.operators += part.node().operators;
  }
  KVARTS_CHECK_OK(CheckBounds(node));
  return Condition(std::move(node));
}

Result<Condition> Condition::Not(Condition part) {
  Node node{Kind::kNot};
  const bool in_parentheses = part.node().kind == Kind::kAnd || part.node().kind == Kind::kOr;
  node.depth = part.node().depth + (in_parentheses ? 2 : 1);
  node.operators = part.node().operators + 1;
  node.parts.push_back(std::move(part));
  KVARTS_CHECK_OK(CheckBounds(node));
  return Condition(std::move(node));
}

Result<Condition> Condition::Of(Kind kind, std::vector<Operand> operands) {
  KVARTS_CHECK_OK(CheckOperands(kind, operands));
  Node node{kind};
  for (const Operand& operand : operands) node.operators += operand.kind() == Operand::Kind::kSize ? 1 : 0;
  node.operands = std::move(operands);
  return Condition(std::move(node));
}

Condition Condition::Exists(DocumentPath path) {
  return Condition(Node{Kind::kExists, {}, {Operand::Value(std::move(path))}});
}

Condition Condition::Missing(DocumentPath path) {
  return Condition(Node{Kind::kMissing, {}, {Operand::Value(std::move(path))}});
}

Condition Condition::HasType(DocumentPath path, DocumentKind type) {
  return Condition(Node{Kind::kType, {}, {Operand::Value(std::move(path))}, type});
}

bool Condition::Holds(const DocumentView& document) const {
  const auto holds = [&](const Condition& part) { return part.Holds(document); };
  const auto operand = [&](size_t i) { return Evaluated(node_->operands[i], document); };
  switch (node_->kind) {
    case Kind::kAnd:
      return std::ranges::all_of(node_->parts, holds);
    case Kind::kOr:
      return std::ranges::any_of(node_->parts, holds);
    case Kind::kNot:
      return !holds(node_->parts[0]);
    case Kind::kEqual:
      return AreEqual(operand(0), operand(1));
    case Kind::kNotEqual:
      return !AreEqual(operand(0), operand(1));
    case Kind::kLess:
      return IsLess(operand(0), operand(1));
    case Kind::kLessOrEqual:
      return IsAtMost(operand(0), operand(1));
    case Kind::kGreater:
      return IsLess(operand(1), operand(0));
    case Kind::kGreaterOrEqual:
      return IsAtMost(operand(1), operand(0));
    case Kind::kBetween: {
      const Evaluated value(node_->operands[0], document);
      return IsAtMost(operand(1), value) && IsAtMost(value, operand(2));
    }
    case Kind::kIn:
      return IsAmong(node_->operands, document);
    case Kind::kBeginsWith:
      return BeginsWith(operand(0), operand(1));
    case Kind::kContains:
      return Contains(operand(0), operand(1));
    case Kind::kExists:
      return static_cast<bool>(operand(0));
    case Kind::kMissing:
      return !operand(0);
    case Kind::kType: {
      const Evaluated value(node_->operands[0], document);
      return value && value->kind() == node_->type;
    }
  }
  return false;
}

void Condition::CollectPaths(std::vector<DocumentPath>* paths) const {
  for (const Condition& part : node_->parts) part.CollectPaths(paths);
  for (const Operand& operand : node_->operands) {
    if (operand.kind() == Operand::Kind::kLiteral) continue;
    if (std::ranges::find(*paths, operand.path()) == paths->end()) paths->push_back(operand.path());
  }
}

bool operator==(const Condition& a, const Condition& b) {
  if (a.node_ == b.node_) return true;
  return a.node_->kind == b.node_->kind && a.node_->type == b.node_->type && a.node_->parts == b.node_->parts &&
         a.node_->operands == b.node_->operands;
}

}  // namespace kvarts
