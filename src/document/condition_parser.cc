// The text of a condition, read by descent:
//
//   or         = and { "or" and }
//   and        = not { "and" not }
//   not        = "not" not | "(" or ")" | function | operand comparison
//
// The descent is as deep as the condition may be. What is wrong is said with the position at which it was noticed.
#include <algorithm>

#include "base/shown.h"
#include "document/condition_words.h"
#include "encoding/document_json.h"

namespace kvarts {
namespace {

using Kind = Condition::Kind;
using Operand = Condition::Operand;

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

Error TooLong() {
  return Error(ErrorCode::kTooLarge, "the condition is too long",
               {{"limit", "max_condition_bytes"}, {"at_most", std::to_string(Condition::kMaxTextBytes)}});
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Condition> Run() {
    KVARTS_TRY(Condition condition, TakeOr(0));
    SkipSpace();
    if (at_ != text_.size()) return Refused("and, or, or the end was expected");
    return condition;
  }

 private:
  Error Refused(const char* why) const { return RefusedAt(at_, why); }
  Error RefusedAt(size_t position, const char* why) const {
    return Error(ErrorCode::kInvalidArgument, why,
                 {{"condition", Shown(text_)}, {"position", std::to_string(position)}});
  }
  // What the functions that build the tree say, of what begins at the position.
  template <class T>
  Result<T> Placed(size_t position, Result<T> built) const {
    if (built.has_value() || built.error().code() != ErrorCode::kInvalidArgument) return built;
    return RefusedAt(position, built.error().text().data());  // a constant
  }

  // Zero at the end, which no rule accepts.
  char Front() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void SkipSpace() {
    while (IsSpace(Front())) ++at_;
  }
  bool Take(std::string_view sign) {
    SkipSpace();
    if (!text_.substr(at_).starts_with(sign)) return false;
    at_ += sign.size();
    return true;
  }
  // All that a plain name could go on with; nothing when none begins here.
  std::string_view PeekWord() {
    SkipSpace();
    if (!IsLetter(Front())) return {};
    const std::string_view rest = text_.substr(at_);
    const auto end = std::ranges::find_if_not(rest, [](char c) { return IsLetter(c) || IsDigit(c) || c == '-'; });
    return rest.substr(0, static_cast<size_t>(end - rest.begin()));
  }
  bool TakeWord(std::string_view word) {
    if (!IsSameWord(PeekWord(), word)) return false;
    at_ += word.size();
    return true;
  }
  // Whether the word that comes next is followed by a parenthesis.
  bool IsCall(std::string_view word) const {
    const size_t behind = text_.find_first_not_of(" \t\n\r", at_ + word.size());
    return behind != text_.npos && text_[behind] == '(';
  }

  Status CheckDepth(size_t depth) const {
    if (depth < Condition::kMaxDepth) return {};
    return Error(ErrorCode::kTooLarge, "the condition is too deep",
                 {{"limit", "max_condition_depth"}, {"at_most", std::to_string(Condition::kMaxDepth)}});
  }

  Result<Condition> TakeOr(size_t depth) {
    std::vector<Condition> parts;
    do {
      KVARTS_TRY(Condition part, TakeAnd(depth));
      parts.push_back(std::move(part));
    } while (TakeWord("or"));
    return Condition::Or(std::move(parts));
  }

  Result<Condition> TakeAnd(size_t depth) {
    std::vector<Condition> parts;
    do {
      KVARTS_TRY(Condition part, TakeNot(depth));
      parts.push_back(std::move(part));
    } while (TakeWord("and"));
    return Condition::And(std::move(parts));
  }

  Result<Condition> TakeNot(size_t depth) {
    if (TakeWord("not")) {
      KVARTS_CHECK_OK(CheckDepth(depth));
      KVARTS_TRY(Condition part, TakeNot(depth + 1));
      return Condition::Not(std::move(part));
    }
    if (Take("(")) {
      KVARTS_CHECK_OK(CheckDepth(depth));
      KVARTS_TRY(Condition inside, TakeOr(depth + 1));
      if (!Take(")")) return Refused("and, or, or a ) was expected");
      return inside;
    }
    const std::string_view word = PeekWord();
    if (!word.empty() && !IsReserved(word) && !IsSameWord(word, "size") && IsCall(word)) return TakeFunction(word);
    return TakeComparison();
  }

  Result<Condition> TakeFunction(std::string_view name) {
    const std::optional<Kind> kind = ParseFunctionName(name);
    if (!kind) return Refused("the functions are exists, missing, begins_with, contains, type and size");
    const size_t from = at_;
    at_ += name.size();
    Take("(");
    if (*kind == Kind::kBeginsWith || *kind == Kind::kContains) {
      KVARTS_TRY(Operand first, TakeOperand());
      if (!Take(",")) return Refused("a comma was expected");
      KVARTS_TRY(Operand second, TakeOperand());
      KVARTS_CHECK_OK(TakeEndOfList());
      return Placed(from, Condition::Of(*kind, {std::move(first), std::move(second)}));
    }
    KVARTS_TRY(DocumentPath path, TakePath());
    std::optional<DocumentKind> type;
    if (*kind == Kind::kType) {
      if (!Take(",")) return Refused("a comma was expected");
      KVARTS_TRY(type, TakeType());
    }
    KVARTS_CHECK_OK(TakeEndOfList());
    if (type) return Condition::HasType(std::move(path), *type);
    return *kind == Kind::kExists ? Condition::Exists(std::move(path)) : Condition::Missing(std::move(path));
  }

  Result<DocumentKind> TakeType() {
    constexpr const char* kExpected =
        "\"null\", \"bool\", \"number\", \"text\", \"binary\", \"list\", \"map\", \"text_set\", \"number_set\" or "
        "\"binary_set\" was expected";
    SkipSpace();
    const size_t from = at_;
    if (Front() != '"') return Refused(kExpected);
    KVARTS_TRY(const Bytes literal, TakeJson());
    const std::optional<DocumentKind> type = ParseDocumentKind(DocumentView(literal).Text());
    if (!type) return RefusedAt(from, kExpected);
    return *type;
  }

  Status TakeEndOfList() {
    if (Take(")")) return {};
    return Refused("a ) was expected");
  }

  Result<Condition> TakeComparison() {
    SkipSpace();
    const size_t from = at_;
    std::vector<Operand> operands;
    KVARTS_CHECK_OK(TakeOperandInto(&operands));
    if (TakeWord("between")) {
      KVARTS_CHECK_OK(TakeOperandInto(&operands));
      if (!TakeWord("and")) return Refused("the and of between was expected");
      KVARTS_CHECK_OK(TakeOperandInto(&operands));
      return Placed(from, Condition::Of(Kind::kBetween, std::move(operands)));
    }
    if (TakeWord("in")) {
      if (!Take("(")) return Refused("a ( was expected");
      do {
        KVARTS_CHECK_OK(TakeOperandInto(&operands));
      } while (Take(","));
      if (!Take(")")) return Refused("a comma or a ) was expected");
      return Placed(from, Condition::Of(Kind::kIn, std::move(operands)));
    }
    for (const ConditionWord& comparison : kComparisons) {
      if (!Take(comparison.word)) continue;
      KVARTS_CHECK_OK(TakeOperandInto(&operands));
      return Placed(from, Condition::Of(comparison.kind, std::move(operands)));
    }
    return Refused("=, !=, <, <=, >, >=, between or in was expected");
  }

  Status TakeOperandInto(std::vector<Operand>* operands) {
    KVARTS_TRY(Operand operand, TakeOperand());
    operands->push_back(std::move(operand));
    return {};
  }

  Result<Operand> TakeOperand() {
    SkipSpace();
    const char front = Front();
    if (front == '"' || front == '{' || front == '[' || front == '-' || IsDigit(front)) {
      KVARTS_TRY(Bytes literal, TakeJson());
      return Operand::Literal(std::move(literal));
    }
    for (const std::string_view word : {"true", "false", "null"}) {
      if (TakeWord(word)) return Operand::Literal(*DocumentFromJson(word));
    }
    const std::string_view word = PeekWord();
    if (!word.empty() && !IsReserved(word) && IsCall(word)) {
      if (!IsSameWord(word, "size")) return Refused("of functions, only size is an operand");
      at_ += word.size();
      Take("(");
      KVARTS_TRY(DocumentPath path, TakePath());
      KVARTS_CHECK_OK(TakeEndOfList());
      return Operand::Size(std::move(path));
    }
    if (word.empty() && front != '`') return Refused("a path, a literal or size() was expected");
    KVARTS_TRY(DocumentPath path, TakePath());
    return Operand::Value(std::move(path));
  }

  Result<DocumentPath> TakePath() {
    if (IsReserved(PeekWord())) return Refused("a path was expected; as a name this word stands in backquotes");
    size_t taken = 0;
    Result<DocumentPath> path = DocumentPath::ParseFront(text_.substr(at_), &taken);
    at_ += taken;
    if (!path.has_value()) return Refused(path.error().text().data());  // a constant
    return path;
  }

  // The JSON that stands here, as a document.
  Result<Bytes> TakeJson() {
    const size_t from = at_;
    JsonReader json(text_.substr(at_), {.max_depth = 2 * kMaxDocumentDepth + 2});
    const std::string_view raw = json.Raw();
    const auto refused = [&](const Error& error) {
      if (error.code() != ErrorCode::kInvalidArgument) return error;
      return RefusedAt(from + std::stoul(std::string(error.field("position"))), error.text().data());  // a constant
    };
    if (!json.ok()) return refused(json.Finish().error());
    at_ += raw.size();
    Result<Bytes> document = DocumentFromJson(raw);
    if (!document.has_value()) return refused(document.error());
    return document;
  }

  const std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Result<Condition> Condition::Parse(std::string_view text) {
  if (text.size() > kMaxTextBytes) return TooLong();
  KVARTS_TRY(Condition condition, Parser(text).Run());
  // What is stored is its canonical text, which may be longer.
  if (condition.ToString().size() > kMaxTextBytes) return TooLong();
  return condition;
}

}  // namespace kvarts
