#include "document/schema_format.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>

#include "base/hex_digit.h"
#include "base/uuid.h"

namespace kvarts {
namespace {

constexpr std::array<std::string_view, 9> kNames = {"date-time", "date", "time", "email",   "uuid",
                                                    "uri",       "ipv4", "ipv6", "hostname"};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsAlphanumeric(char c) { return IsLetter(c) || IsDigit(c); }
bool IsOneOf(char c, std::string_view these) { return these.find(c) != these.npos; }

bool TakeAny(std::string_view* from, std::string_view any_of) {
  if (from->empty() || !IsOneOf(from->front(), any_of)) return false;
  from->remove_prefix(1);
  return true;
}

// A number of so many digits, at most so large, or -1.
int TakeNumber(std::string_view* from, size_t digits, int at_most) {
  if (from->size() < digits) return -1;
  int number = 0;
  for (const char c : from->substr(0, digits)) {
    if (!IsDigit(c)) return -1;
    number = number * 10 + (c - '0');
  }
  from->remove_prefix(digits);
  return number <= at_most ? number : -1;
}

bool TakeDate(std::string_view* from) {
  const int year = TakeNumber(from, 4, 9999);
  if (year < 0 || !TakeAny(from, "-")) return false;
  const int month = TakeNumber(from, 2, 12);
  if (month < 0 || !TakeAny(from, "-")) return false;
  const int day = TakeNumber(from, 2, 31);
  if (day < 0) return false;
  return std::chrono::year_month_day(std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                     std::chrono::day(static_cast<unsigned>(day)))
      .ok();
}

bool TakeTime(std::string_view* from) {
  constexpr int kMinutesOfDay = 24 * 60;
  const int hour = TakeNumber(from, 2, 23);
  if (hour < 0 || !TakeAny(from, ":")) return false;
  const int minute = TakeNumber(from, 2, 59);
  if (minute < 0 || !TakeAny(from, ":")) return false;
  const int second = TakeNumber(from, 2, 60);
  if (second < 0) return false;
  if (TakeAny(from, ".")) {
    if (TakeNumber(from, 1, 9) < 0) return false;
    while (TakeAny(from, "0123456789")) {
    }
  }
  int offset = 0;
  if (!TakeAny(from, "Zz")) {
    const bool west = !from->empty() && from->front() == '-';
    if (!TakeAny(from, "+-")) return false;
    const int hours = TakeNumber(from, 2, 23);
    if (hours < 0 || !TakeAny(from, ":")) return false;
    const int minutes = TakeNumber(from, 2, 59);
    if (minutes < 0) return false;
    offset = (hours * 60 + minutes) * (west ? -1 : 1);
  }
  // A leap second is the last of a day in UTC.
  const int utc = (hour * 60 + minute - offset + 2 * kMinutesOfDay) % kMinutesOfDay;
  return second < 60 || utc == kMinutesOfDay - 1;
}

bool IsDateTime(std::string_view text) {
  return TakeDate(&text) && TakeAny(&text, "Tt") && TakeTime(&text) && text.empty();
}

bool IsIpv4(std::string_view text) {
  for (int part = 0; part < 4; ++part) {
    if (part > 0 && !TakeAny(&text, ".")) return false;
    size_t digits = 0;
    while (digits < text.size() && IsDigit(text[digits])) ++digits;
    if (digits == 0 || digits > 3 || (digits > 1 && text.front() == '0')) return false;
    if (TakeNumber(&text, digits, 255) < 0) return false;
  }
  return text.empty();
}

bool IsIpv6(std::string_view text) {
  // What follows a zero would not be seen.
  if (text.size() >= INET6_ADDRSTRLEN || text.find('\0') != text.npos) return false;
  in6_addr address{};
  return inet_pton(AF_INET6, std::string(text).c_str(), &address) == 1;
}

bool IsHostname(std::string_view text) {
  constexpr size_t kMaxBytes = 253;
  constexpr size_t kMaxLabelBytes = 63;
  if (text.size() > kMaxBytes) return false;
  while (true) {
    const std::string_view label = text.substr(0, text.find('.'));
    if (label.empty() || label.size() > kMaxLabelBytes || label.front() == '-' || label.back() == '-') return false;
    if (!std::ranges::all_of(label, [](char c) { return IsAlphanumeric(c) || c == '-'; })) return false;
    if (label.size() == text.size()) return true;
    text.remove_prefix(label.size() + 1);
  }
}

// What stands between the quotes of a local part.
bool IsQuoted(std::string_view inside) {
  for (size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] == '"') return false;
    // The next one stands for itself.
    if (inside[i] == '\\' && ++i == inside.size()) return false;
    if (inside[i] < ' ' || inside[i] > '~') return false;
  }
  return true;
}

// Words with dots between them.
bool IsDotted(std::string_view text) {
  bool dot = true;
  for (const char c : text) {
    if (c == '.' ? dot : !IsAlphanumeric(c) && !IsOneOf(c, "!#$%&'*+-/=?^_`{|}~")) return false;
    dot = c == '.';
  }
  return !dot;
}

bool IsEmail(std::string_view text) {
  constexpr size_t kMaxLocalBytes = 64;
  constexpr std::string_view kIpv6 = "IPv6:";
  const size_t at = text.rfind('@');
  if (at == text.npos || at > kMaxLocalBytes) return false;
  const std::string_view local = text.substr(0, at);
  std::string_view domain = text.substr(at + 1);
  const bool quoted = local.size() >= 2 && local.front() == '"' && local.back() == '"';
  if (quoted ? !IsQuoted(local.substr(1, local.size() - 2)) : !IsDotted(local)) return false;
  if (!domain.starts_with('[')) return IsHostname(domain);
  if (!domain.ends_with(']')) return false;
  domain = domain.substr(1, domain.size() - 2);
  return domain.starts_with(kIpv6) ? IsIpv6(domain.substr(kIpv6.size())) : IsIpv4(domain);
}

// Of unreserved characters, those of sub-delims, percent-encoded ones, and `more`.
bool IsOfUri(std::string_view text, std::string_view more) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (text.size() - i < 3 || HexValue(text[i + 1]) < 0 || HexValue(text[i + 2]) < 0) return false;
      i += 2;
    } else if (!IsAlphanumeric(text[i]) && !IsOneOf(text[i], "-._~!$&'()*+,;=") && !IsOneOf(text[i], more)) {
      return false;
    }
  }
  return true;
}

// An address in brackets: of version 6, or of one that is yet to come.
bool IsIpLiteral(std::string_view inside) {
  if (!inside.starts_with('v') && !inside.starts_with('V')) return IsIpv6(inside);
  const size_t dot = inside.find('.');
  if (dot == inside.npos || dot < 2 || dot + 1 == inside.size()) return false;
  return std::ranges::all_of(inside.substr(1, dot - 1), [](char c) { return HexValue(c) >= 0; }) &&
         inside.find('%') == inside.npos && IsOfUri(inside.substr(dot + 1), ":");
}

bool IsAuthority(std::string_view text) {
  if (const size_t at = text.find('@'); at != text.npos) {
    if (!IsOfUri(text.substr(0, at), ":")) return false;
    text.remove_prefix(at + 1);
  }
  const size_t bracket = text.rfind(']');
  const size_t colon = text.find(':', bracket == text.npos ? 0 : bracket);
  const std::string_view host = text.substr(0, colon);
  const std::string_view port = colon == text.npos ? "" : text.substr(colon + 1);
  if (!std::ranges::all_of(port, IsDigit)) return false;
  if (!host.starts_with('[')) return IsOfUri(host, "");
  return host.ends_with(']') && IsIpLiteral(host.substr(1, host.size() - 2));
}

// Cuts the text off before the first such byte; what stood behind it, or nothing.
std::string_view TakeBehind(std::string_view* text, char separator) {
  const size_t at = text->find(separator);
  if (at == text->npos) return "";
  const std::string_view behind = text->substr(at + 1);
  *text = text->substr(0, at);
  return behind;
}

bool IsUri(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == text.npos || colon == 0 || !IsLetter(text.front())) return false;
  const auto of_scheme = [](char c) { return IsAlphanumeric(c) || IsOneOf(c, "+-."); };
  if (!std::ranges::all_of(text.substr(0, colon), of_scheme)) return false;
  text.remove_prefix(colon + 1);
  if (!IsOfUri(TakeBehind(&text, '#'), ":@/?")) return false;
  if (!IsOfUri(TakeBehind(&text, '?'), ":@/?")) return false;
  if (text.starts_with("//")) {
    text.remove_prefix(2);
    const size_t slash = std::min(text.find('/'), text.size());
    if (!IsAuthority(text.substr(0, slash))) return false;
    text.remove_prefix(slash);
  }
  return IsOfUri(text, ":@/");
}

}  // namespace

std::optional<SchemaFormat> FormatNamed(std::string_view name) {
  const auto* const found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<SchemaFormat>(found - kNames.begin());
}

std::string_view FormatName(SchemaFormat format) { return kNames[static_cast<size_t>(format)]; }

bool HasFormat(SchemaFormat format, std::string_view text) {
  switch (format) {
    case SchemaFormat::kDateTime:
      return IsDateTime(text);
    case SchemaFormat::kDate:
      return TakeDate(&text) && text.empty();
    case SchemaFormat::kTime:
      return TakeTime(&text) && text.empty();
    case SchemaFormat::kEmail:
      return IsEmail(text);
    case SchemaFormat::kUuid:
      return Uuid::Parse(text).has_value();
    case SchemaFormat::kUri:
      return IsUri(text);
    case SchemaFormat::kIpv4:
      return IsIpv4(text);
    case SchemaFormat::kIpv6:
      return IsIpv6(text);
    case SchemaFormat::kHostname:
      return IsHostname(text);
  }
  return false;
}

}  // namespace kvarts
