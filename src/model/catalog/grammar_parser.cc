// The text of a grammar, read strictly.
#include <algorithm>

#include "model/catalog/grammar.h"

namespace kvarts {
namespace {

bool IsNameByte(char c, bool first) {
  return (c >= 'a' && c <= 'z') || (!first && ((c >= '0' && c <= '9') || c == '_'));
}

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

class Grammar::Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Grammar> Run() {
    if (text_.size() > kMaxTextBytes) return TooLong();
    while (at_ < text_.size()) KVARTS_CHECK_OK(text_[at_] == '<' ? TakeField() : TakeLiteral());
    if (grammar_.fields_.empty()) return Refused("a grammar must have a field");
    grammar_.Finish();
    // Escapes may have made it longer than what was read; what is stored is this.
    if (grammar_.ToString().size() > kMaxTextBytes) return TooLong();
    return std::move(grammar_);
  }

 private:
  Error Refused(const char* why) const {
    return Error(ErrorCode::kInvalidArgument, why, {{"grammar", Escaped(text_)}, {"position", std::to_string(at_)}});
  }

  static Error TooLong() {
    return Error(ErrorCode::kTooLarge, "the grammar is too long",
                 {{"limit", "max_grammar_bytes"}, {"at_most", std::to_string(kMaxTextBytes)}});
  }

  Status TakeLiteral() {
    Bytes literal;
    while (at_ < text_.size() && text_[at_] != '<') {
      if (text_[at_] == '>') return Refused("a > without a < before it; as a byte of the key it is \\>");
      if (IsControl(text_[at_])) return Refused("a control character must be written as \\xNN");
      if (text_[at_] == '\\') {
        KVARTS_CHECK_OK(TakeEscape(&literal));
      } else {
        literal.push_back(text_[at_++]);
      }
    }
    KVARTS_CHECK_OK(CheckNotBehindPath());
    Element element;
    element.literal = std::move(literal);
    grammar_.elements_.push_back(std::move(element));
    return {};
  }

  Status TakeEscape(Bytes* literal) {
    const std::string_view next = text_.substr(at_ + 1, 1);
    if (next == "<" || next == ">") {
      literal->append(next);
      at_ += 2;
      return {};
    }
    const size_t size = next == "x" ? 4 : 2;
    const Result<Bytes> byte = ParseEscaped(text_.substr(at_, size));
    if (!byte.has_value()) return Refused("a backslash must be followed by <, >, a backslash or xNN");
    literal->append(*byte);
    at_ += size;
    return {};
  }

  Status TakeField() {
    if (!grammar_.elements_.empty() && grammar_.elements_.back().field &&
        grammar_.elements_.back().type.kind == FieldKind::kText) {
      return Refused("a text field must be followed by a literal or the end");
    }
    KVARTS_CHECK_OK(CheckNotBehindPath());
    if (grammar_.fields_.size() == KeyFields::kMaxFields) return Refused("a grammar has at most 16 fields");
    const size_t end = text_.find('>', at_);
    if (end == text_.npos) return Refused("a field without its >");
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    const size_t colon = std::min(inside.find(':'), inside.size());
    const std::string_view name = inside.substr(0, colon);
    KVARTS_CHECK_OK(CheckName(name));
    GrammarField field{std::string(name), {}};
    if (colon < inside.size()) {
      const std::optional<FieldType> type = FieldType::Parse(inside.substr(colon + 1));
      at_ += colon + 2;
      if (!type) {
        return Refused(
            "a type is text, path, uuid, int(1 to 19), hex(1 to 128), date, timestamp, timestamp_ms or timestamp_us");
      }
      field.type = *type;
    }
    Element element;
    element.field = grammar_.fields_.size();
    element.type = field.type;
    element.width = field.type.width();
    grammar_.elements_.push_back(std::move(element));
    grammar_.fields_.push_back(std::move(field));
    at_ = end + 1;
    return {};
  }

  Status CheckName(std::string_view name) {
    at_ += 1;
    for (size_t i = 0; i < name.size(); ++i, ++at_) {
      if (!IsNameByte(name[i], i == 0)) return Refused("a field's name is a letter and then letters, digits and _");
    }
    if (name.empty()) return Refused("a field must have a name");
    at_ -= name.size();
    if (name.size() > kMaxNameBytes) return Refused("a field's name has at most 32 bytes");
    if (grammar_.FieldIndex(name)) return Refused("two fields have the same name");
    at_ -= 1;
    return {};
  }

  Status CheckNotBehindPath() const {
    const bool behind = !grammar_.elements_.empty() && grammar_.elements_.back().field &&
                        grammar_.elements_.back().type.kind == FieldKind::kPath;
    if (behind) return Refused("a path field must be the last");
    return {};
  }

  const std::string_view text_;
  size_t at_ = 0;
  Grammar grammar_;
};

Result<Grammar> Grammar::Parse(std::string_view text) { return Parser(text).Run(); }

}  // namespace kvarts
