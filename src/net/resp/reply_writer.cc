#include "net/resp/reply_writer.h"

#include <algorithm>

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace kvarts::resp {

ReplyWriter& ReplyWriter::Head(char type, uint64_t size) {
  std::array<char, 24> line;
  line[0] = type;
  char* const end = std::to_chars(line.data() + 1, line.data() + line.size(), size).ptr;
  end[0] = '\r';
  end[1] = '\n';
  out_.append(line.data(), static_cast<size_t>(end + 2 - line.data()));
  return *this;
}

ReplyWriter& ReplyWriter::Line(char type, std::string_view text) {
  out_.push_back(type);
  out_.append(text).append("\r\n");
  return *this;
}

ReplyWriter& ReplyWriter::Simple(std::string_view text) { return Line('+', text); }

ReplyWriter& ReplyWriter::Error(std::string_view text) {
  constexpr std::string_view kEnds = "\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kEnds), text.size()));
  text = text.substr(0, text.find_last_not_of(kEnds) + 1);
  const size_t begin = out_.size() + 1;
  Line('-', text);
  for (size_t i = begin; i < begin + text.size(); ++i) {
    if (out_[i] == '\r' || out_[i] == '\n') out_[i] = ' ';
  }
  return *this;
}

ReplyWriter& ReplyWriter::Int(int64_t number) {
  if (number >= 0) return Head(':', static_cast<uint64_t>(number));
  return Line(':', fmt::format_int(number).c_str());
}

ReplyWriter& ReplyWriter::BeginBulk(uint64_t size) {
  constexpr uint64_t kAround = 32;
  out_.reserve(out_.size() + size + kAround);
  return Head('$', size);
}

ReplyWriter& ReplyWriter::EndBulk() {
  out_.append("\r\n");
  return *this;
}

ReplyWriter& ReplyWriter::Bulk(BytesView bytes) {
  Head('$', bytes.size());
  out_.append(bytes).append("\r\n");
  return *this;
}

ReplyWriter& ReplyWriter::Null() {
  out_.append(version_ == 2 ? "$-1\r\n" : "_\r\n");
  return *this;
}

ReplyWriter& ReplyWriter::NullArray() {
  out_.append(version_ == 2 ? "*-1\r\n" : "_\r\n");
  return *this;
}

ReplyWriter& ReplyWriter::Bool(bool value) {
  if (version_ == 2) return Int(value ? 1 : 0);
  return Line('#', value ? "t" : "f");
}

ReplyWriter& ReplyWriter::Double(double number) {
  // Those that are integers, as most are, have no more digits than that.
  constexpr double kIntegers = 1e15;
  std::string text;
  if (std::isinf(number)) {
    text = number > 0 ? "inf" : "-inf";
  } else if (std::abs(number) < kIntegers && std::trunc(number) == number && !(number == 0 && std::signbit(number))) {
    text = fmt::format_int(static_cast<int64_t>(number)).str();
  } else {
    text = fmt::format("{:.17g}", number);
  }
  return version_ == 2 ? Bulk(text) : Line(',', text);
}

ReplyWriter& ReplyWriter::Verbatim(std::string_view format, BytesView text) {
  if (version_ == 2) return Bulk(text);
  Head('=', format.size() + 1 + text.size());
  out_.append(format).append(":").append(text).append("\r\n");
  return *this;
}

ReplyWriter& ReplyWriter::BigNumber(std::string_view digits) {
  return version_ == 2 ? Bulk(digits) : Line('(', digits);
}

}  // namespace kvarts::resp
