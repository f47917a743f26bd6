#include "encoding/tuple_text.h"

#include <time.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <optional>

#include "encoding/tuple.h"

namespace kvarts {
namespace {

std::string Quoted(BytesView bytes) {
  std::string out = "\"";
  for (const char c : Escaped(bytes)) {
    if (c == '"') {
      out.append("\\x22");
    } else {
      out.push_back(c);
    }
  }
  return out + "\"";
}

// The shortest text that reads back as the same number.
std::string DoubleText(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

std::string TextOf(const Element& element);

std::string TextOf(const Tuple& tuple) {
  std::string out = "(";
  for (const Element& element : tuple) {
    if (out.size() > 1) out.append(", ");
    out.append(TextOf(element));
  }
  return out + ")";
}

std::string TextOf(Element::Null) { return "null"; }
std::string TextOf(bool value) { return value ? "true" : "false"; }
std::string TextOf(int64_t value) { return std::to_string(value); }
std::string TextOf(uint64_t value) { return std::to_string(value); }
std::string TextOf(const Decimal& value) { return "decimal " + value.ToString(); }
std::string TextOf(double value) { return "double " + DoubleText(value); }
std::string TextOf(const Element::Text& text) { return Quoted(text.value); }
std::string TextOf(const Element::Blob& blob) { return "x'" + ToHex(blob.value) + "'"; }
std::string TextOf(const Uuid& value) { return "uuid " + value.ToString(); }
std::string TextOf(Timestamp value) { return "time " + value.ToString(); }
std::string TextOf(const Element::Tail& tail) { return "tail " + Quoted(tail.value); }

std::string TextOf(const Element& element) {
  const std::string prefix = element.order == Order::kDescending ? "desc " : "";
  return prefix + std::visit([](const auto& value) { return TextOf(value); }, element.value);
}

// The inverse of Timestamp::ToString, and of nothing else.
std::optional<Timestamp> ParseTime(const std::string& text) {
  if (text == kNever.ToString()) return kNever;
  long year = 0;
  unsigned long micros = 0;
  tm parts{};
  if (std::sscanf(text.c_str(), "%6ld-%2d-%2dT%2d:%2d:%2d.%6luZ", &year, &parts.tm_mon, &parts.tm_mday, &parts.tm_hour,
                  &parts.tm_min, &parts.tm_sec, &micros) != 7) {
    return std::nullopt;
  }
  parts.tm_year = static_cast<int>(year - 1900);
  parts.tm_mon -= 1;
  const auto seconds = static_cast<uint64_t>(timegm(&parts));
  const Timestamp time{seconds * 1'000'000 + micros};
  if (time.ToString() != text) return std::nullopt;
  return time;
}

class TupleParser {
 public:
  explicit TupleParser(std::string_view text) : text_(text) {}

  Result<Tuple> Parse() {
    KVARTS_TRY(Tuple tuple, TakeTuple(0));
    SkipSpace();
    if (at_ != text_.size()) return Wrong("a tuple ends with its closing parenthesis");
    return tuple;
  }

 private:
  Error Wrong(const char* text) const {
    return Error(ErrorCode::kInvalidArgument, text, {{"position", std::to_string(at_)}});
  }

  void SkipSpace() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool Take(std::string_view token) {
    SkipSpace();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  // Everything up to a space, comma or parenthesis.
  std::string TakeWord() {
    SkipSpace();
    const size_t start = at_;
    at_ = std::min(text_.find_first_of(" ,()", at_), text_.size());
    return std::string(text_.substr(start, at_ - start));
  }

  Result<Tuple> TakeTuple(int depth) {
    if (!Take("(")) return Wrong("a tuple begins with an opening parenthesis");
    if (depth > kMaxTupleDepth) return Wrong("tuples are nested too deep");
    Tuple tuple;
    if (Take(")")) return tuple;
    do {
      KVARTS_TRY(Element element, TakeElement(depth));
      tuple.push_back(std::move(element));
    } while (Take(","));
    if (!Take(")")) return Wrong("expected a comma or a closing parenthesis");
    return tuple;
  }

  Result<Element> TakeElement(int depth) {
    const Order order = Take("desc ") ? Order::kDescending : Order::kAscending;
    SkipSpace();
    if (text_.substr(at_).starts_with("(")) {
      KVARTS_TRY(Tuple nested, TakeTuple(depth + 1));
      return Element{std::move(nested), order};
    }
    KVARTS_TRY(Element::Value value, TakeValue());
    return Element{std::move(value), order};
  }

  Result<Element::Value> TakeValue() {
    if (Take("\"")) {
      KVARTS_TRY(Bytes text, TakeQuoted());
      return Element::Value(Element::Text{std::move(text)});
    }
    if (Take("x'")) {
      KVARTS_TRY(const std::string_view hex, TakeUpTo('\''));
      KVARTS_TRY(Bytes bytes, FromHex(hex));
      return Element::Value(Element::Blob{std::move(bytes)});
    }
    if (Take("tail \"")) {
      KVARTS_TRY(Bytes tail, TakeQuoted());
      return Element::Value(Element::Tail{std::move(tail)});
    }
    if (Take("decimal ")) {
      KVARTS_TRY(const Decimal decimal, Decimal::Parse(TakeWord()));
      return Element::Value(decimal);
    }
    return TakePlainValue();
  }

  Result<Element::Value> TakePlainValue() {
    if (Take("uuid ")) {
      const auto uuid = Uuid::Parse(TakeWord());
      if (!uuid.has_value()) return Wrong("not a UUID");
      return Element::Value(*uuid);
    }
    if (Take("time ")) {
      const auto time = ParseTime(TakeWord());
      if (!time.has_value()) return Wrong("not a time like 2026-07-05T10:15:30.000000Z");
      return Element::Value(*time);
    }
    if (Take("double ")) return TakeNumber<double>();
    const size_t start = at_;
    const std::string word = TakeWord();
    if (word == "null") return Element::Value(Element::Null{});
    if (word == "true" || word == "false") return Element::Value(word == "true");
    at_ = start;
    auto number = TakeNumber<int64_t>();
    if (number.has_value()) return number;
    at_ = start;
    return TakeNumber<uint64_t>();
  }

  template <class Number>
  Result<Element::Value> TakeNumber() {
    const std::string word = TakeWord();
    Number number{};
    const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (problem != std::errc() || end != word.data() + word.size()) {
      return Wrong("not an element: neither a word we know nor a number that fits");
    }
    return Element::Value(number);
  }

  Result<std::string_view> TakeUpTo(char end_mark) {
    const size_t end = text_.find(end_mark, at_);
    if (end == text_.npos) return Wrong("a quote is not closed");
    const std::string_view inside = text_.substr(at_, end - at_);
    at_ = end + 1;
    return inside;
  }
  Result<Bytes> TakeQuoted() {
    KVARTS_TRY(const std::string_view inside, TakeUpTo('"'));
    return ParseEscaped(inside);
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::string TupleToString(BytesView key) {
  TupleReader reader(key);
  std::string out = "(";
  while (!reader.AtEnd()) {
    if (out.size() > 1) out.append(", ");
    const size_t position = reader.position();
    const Result<Element> element = reader.TakeElement();
    if (!element.has_value()) {
      return out + "!x'" + ToHex(key.substr(position)) + "')";
    }
    out.append(TextOf(*element));
  }
  return out + ")";
}

Result<Bytes> ParseTuple(std::string_view text) {
  KVARTS_TRY(const Tuple tuple, TupleParser(text).Parse());
  return EncodeTuple(tuple);
}

}  // namespace kvarts
