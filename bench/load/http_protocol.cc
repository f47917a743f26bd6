#include "load/http_protocol.h"

#include <charconv>
#include <cstring>
#include <optional>

namespace kvarts::load {
namespace {

constexpr size_t kMaxHeadBytes = 64 << 10;
constexpr size_t kMaxChunkLine = 1 << 10;
constexpr uint64_t kMaxBodyBytes = uint64_t{1} << 40;
constexpr Answer kBrokenAnswer = {Verdict::kBroken, 0, true};

bool SameLetters(std::string_view text, std::string_view lower_case) {
  if (text.size() != lower_case.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] | 0x20) : text[i];
    if (c != lower_case[i]) return false;
  }
  return true;
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// All of the text as a number.
std::optional<uint64_t> NumberOf(std::string_view text, int base) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

struct Head {
  unsigned status = 0;
  std::optional<uint64_t> length;
  bool chunked = false;
  bool closes = false;
};

// `head` is everything before the empty line, without the end of the last line.
std::optional<Head> ParseHead(std::string_view head) {
  // "HTTP/1.1 200"
  if (head.size() < 12 || !head.starts_with("HTTP/1.") || head[8] != ' ') return {};
  Head parsed;
  const auto status = NumberOf(head.substr(9, 3), 10);
  if (!status.has_value() || *status < 200) return {};
  parsed.status = static_cast<unsigned>(*status);
  parsed.closes = head[7] == '0';
  for (size_t at = head.find("\r\n"); at != head.npos;) {
    head.remove_prefix(at + 2);
    at = head.find("\r\n");
    const std::string_view line = head.substr(0, at);
    // Content-Length, Connection and Transfer-Encoding: the others need not be looked at.
    if (line.empty() || ((line[0] | 0x20) != 'c' && (line[0] | 0x20) != 't')) continue;
    const size_t colon = line.find(':');
    if (colon == line.npos) return {};
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = Trimmed(line.substr(colon + 1));
    if (SameLetters(name, "content-length")) {
      parsed.length = NumberOf(value, 10);
      if (!parsed.length.has_value() || *parsed.length > kMaxBodyBytes) return {};
    } else if (SameLetters(name, "transfer-encoding")) {
      parsed.chunked = SameLetters(value, "chunked");
      if (!parsed.chunked) return {};
    } else if (SameLetters(name, "connection")) {
      parsed.closes = SameLetters(value, "close");
    }
  }
  return parsed;
}

// The size of a chunked body that begins at `at`, from chunk to chunk. Partial, with what is known to be missing, when
// its end is not there.
Answer LookAtChunks(std::string_view in, size_t at) {
  while (true) {
    const size_t end = in.find("\r\n", at);
    if (end == in.npos) {
      return in.size() - at > kMaxChunkLine ? kBrokenAnswer : Answer{Verdict::kPartial, in.size() + 1, false};
    }
    const std::string_view line = in.substr(at, end - at);
    const auto size = NumberOf(Trimmed(line.substr(0, line.find(';'))), 16);
    if (!size.has_value() || *size > kMaxBodyBytes) return kBrokenAnswer;
    at = end + 2;
    if (*size == 0) break;
    at += *size + 2;
    if (at > in.size()) return {Verdict::kPartial, at, false};
    if (in.substr(at - 2, 2) != "\r\n") return kBrokenAnswer;
  }
  // Trailers, if any, up to the empty line.
  while (true) {
    const size_t end = in.find("\r\n", at);
    if (end == in.npos) return {Verdict::kPartial, in.size() + 1, false};
    const bool last = end == at;
    at = end + 2;
    if (last) return {Verdict::kGood, at, false};
  }
}

Verdict VerdictOn(OperationKind asked, unsigned status) {
  if (status == 404 && asked == OperationKind::kGet) return Verdict::kMissing;
  const bool reads = asked == OperationKind::kGet || asked == OperationKind::kPath;
  const bool good = reads ? status == 200 : status == 200 || status == 201 || status == 204;
  return good ? Verdict::kGood : Verdict::kUnexpected;
}

}  // namespace

HttpProtocol::HttpProtocol(const HttpSettings& settings) : settings_(settings) {
  std::string common = "Host: " + settings.host + "\r\n";
  for (const std::string& header : settings.headers) common += header + "\r\n";
  const std::string accept = settings.accept_raw ? "Accept: application/octet-stream\r\n" : "";
  get_rest_ = " HTTP/1.1\r\n" + common + accept + "\r\n";
  const std::string json = "Content-Type: application/json\r\n";
  const std::string type = settings.put_json ? json : "Content-Type: application/octet-stream\r\n";
  put_rest_ = " HTTP/1.1\r\n" + common + type + "Content-Length: ";
  fill_head_ = "POST /commit HTTP/1.1\r\n" + common + json + "Content-Length: ";
  path_request_ = "GET " + settings.path + get_rest_;
}

void HttpProtocol::AppendBody(std::string_view body, std::string* out) const {
  char digits[20];
  const auto written = std::to_chars(digits, digits + sizeof(digits), body.size());
  out->append(digits, written.ptr);
  out->append("\r\n\r\n").append(body);
}

void HttpProtocol::AppendFill(const Operation& operation, std::string* out) const {
  std::string body = R"({"mutations":[)";
  for (uint64_t key = operation.key; key < operation.key + operation.count; ++key) {
    body += key == operation.key ? R"({"op":"put","key":")" : R"(,{"op":"put","key":")";
    AppendKey(key, &body);
    body += R"(","value":")";
    AppendValue(key, settings_.value_bytes, &body);
    body += R"("})";
  }
  body += "]}";
  out->append(fill_head_);
  AppendBody(body, out);
}

void HttpProtocol::AppendRequest(const Operation& operation, std::string* out) const {
  switch (operation.kind) {
    case OperationKind::kPath:
      out->append(path_request_);
      return;
    case OperationKind::kFill:
      if (operation.count > 1) return AppendFill(operation, out);
      break;  // as a put
    case OperationKind::kGet:
      out->append("GET /keys/");
      AppendKey(operation.key, out);
      out->append(get_rest_);
      return;
    case OperationKind::kPut:
      break;
  }
  std::string body = settings_.put_json ? R"({"value":")" : "";
  AppendValue(operation.key, settings_.value_bytes, &body);
  if (settings_.put_json) body += R"("})";
  out->append("PUT /keys/");
  AppendKey(operation.key, out);
  out->append(put_rest_);
  AppendBody(body, out);
}

Answer HttpProtocol::Look(OperationKind asked, std::string_view in) const {
  const size_t head_end = in.find("\r\n\r\n");
  if (head_end == in.npos) {
    return in.size() > kMaxHeadBytes ? kBrokenAnswer : Answer{Verdict::kPartial, in.size() + 1, false};
  }
  const auto head = ParseHead(in.substr(0, head_end));
  if (!head.has_value()) return kBrokenAnswer;
  const size_t body_at = head_end + 4;
  Answer answer = {Verdict::kGood, body_at, false};
  if (head->status != 204 && head->status != 304) {
    if (head->chunked) {
      answer = LookAtChunks(in, body_at);
    } else if (head->length.has_value()) {
      answer.bytes += *head->length;
      if (answer.bytes > in.size()) answer.verdict = Verdict::kPartial;
    } else {
      return kBrokenAnswer;  // ends with the connection: nothing that is measured answers like that
    }
  }
  if (answer.verdict == Verdict::kGood) {
    answer.verdict = VerdictOn(asked, head->status);
    answer.closes = head->closes;
  }
  return answer;
}

}  // namespace kvarts::load
