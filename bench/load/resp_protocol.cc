#include "load/resp_protocol.h"

#include <charconv>
#include <optional>

namespace kvarts::load {
namespace {

constexpr size_t kMaxLine = 64 << 10;
constexpr int64_t kMaxLength = int64_t{1} << 40;
constexpr Answer kBrokenAnswer = {Verdict::kBroken, 0, true};

void AppendHead(char type, uint64_t number, std::string* out) {
  char line[24] = {type};
  const auto written = std::to_chars(line + 1, line + sizeof(line) - 2, number);
  written.ptr[0] = '\r';
  written.ptr[1] = '\n';
  out->append(line, written.ptr + 2);
}

void AppendWord(std::string_view word, std::string* out) {
  AppendHead('$', word.size(), out);
  out->append(word).append("\r\n");
}

std::vector<std::string_view> WordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const size_t end = std::min(line.find(' '), line.size());
    if (end != 0) words.push_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

// A line of an answer: its type and the number behind that, if it is one.
struct Line {
  char type;
  std::optional<int64_t> number;
  size_t end;  // of it
};

// Nothing: it is not whole.
std::optional<Line> LineAt(std::string_view in, size_t at) {
  const size_t end = in.find("\r\n", at);
  if (end == in.npos) return {};
  Line line{in[at], {}, end + 2};
  int64_t number = 0;
  const auto [last, error] = std::from_chars(in.data() + at + 1, in.data() + end, number);
  if (error == std::errc() && last == in.data() + end) line.number = number;
  return line;
}

}  // namespace

RespProtocol::Template RespProtocol::TemplateOf(std::string_view line) {
  const std::vector<std::string_view> words = WordsOf(line);
  Template parts(1);
  AppendHead('*', words.size(), &parts.back().fixed);
  for (const std::string_view word : words) {
    const Varying varying = word == "{key}"      ? Varying::kKey
                            : word == "{value}"  ? Varying::kValue
                            : word == "{number}" ? Varying::kNumber
                                                 : Varying::kNothing;
    if (varying == Varying::kNothing) {
      AppendWord(word, &parts.back().fixed);
    } else {
      parts.back().varying = varying;
      parts.push_back({{}, Varying::kNothing});
    }
  }
  return parts;
}

RespProtocol::RespProtocol(const RespSettings& settings)
    : value_bytes_(settings.value_bytes), get_(TemplateOf(settings.get)), put_(TemplateOf(settings.put)) {}

void RespProtocol::AppendRequest(const Operation& operation, std::string* out) const {
  const bool gets = operation.kind == OperationKind::kGet || operation.kind == OperationKind::kPath;
  for (const Part& part : gets ? get_ : put_) {
    out->append(part.fixed);
    switch (part.varying) {
      case Varying::kNothing:
        break;
      case Varying::kKey:
        AppendHead('$', bench::kKeyBytes, out);
        AppendKey(operation.key, out);
        out->append("\r\n");
        break;
      case Varying::kValue:
        AppendHead('$', value_bytes_, out);
        AppendValue(operation.key, value_bytes_, out);
        out->append("\r\n");
        break;
      case Varying::kNumber: {
        char digits[20];
        const auto written = std::to_chars(digits, digits + sizeof(digits), operation.key);
        AppendWord({digits, written.ptr}, out);
        break;
      }
    }
  }
}

Answer RespProtocol::Look(OperationKind asked, std::string_view in) const {
  Answer answer{Verdict::kGood, 0, false};
  const auto partial = [&in](size_t wanted) {
    return Answer{Verdict::kPartial, std::max(wanted, in.size() + 1), false};
  };
  // Elements that an aggregate still has are answers of their own.
  for (int64_t left = 1; left > 0; --left) {
    const auto line = answer.bytes < in.size() ? LineAt(in, answer.bytes) : std::nullopt;
    if (!line) return in.size() - answer.bytes > kMaxLine ? kBrokenAnswer : partial(0);
    const int64_t number = line->number.value_or(-1);
    if (number > kMaxLength) return kBrokenAnswer;
    const bool first = answer.bytes == 0;
    answer.bytes = line->end;
    switch (line->type) {
      case '+':
      case ':':
      case ',':
      case '#':
        break;
      case '-':
        if (first) answer.verdict = Verdict::kUnexpected;
        break;
      case '_':
        if (first && asked == OperationKind::kGet) answer.verdict = Verdict::kMissing;
        break;
      case '$':
        if (!line->number) return kBrokenAnswer;
        if (number < 0 && first && asked == OperationKind::kGet) answer.verdict = Verdict::kMissing;
        if (number < 0) break;
        answer.bytes += static_cast<size_t>(number) + 2;
        if (answer.bytes > in.size()) return partial(answer.bytes);
        break;
      case '*':
      case '~':
      case '%':
        if (!line->number) return kBrokenAnswer;
        left += std::max<int64_t>(number, 0) * (line->type == '%' ? 2 : 1);
        break;
      default:
        return kBrokenAnswer;
    }
  }
  return answer;
}

}  // namespace kvarts::load
