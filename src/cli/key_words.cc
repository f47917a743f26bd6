#include "cli/key_words.h"

#include <fmt/format.h>

#include "base/base64.h"
#include "net/http/target.h"

namespace kvarts::cli {
namespace {

Result<Bytes> Decoded(const Arguments& arguments, const std::string& word) {
  if (arguments.Has("hex")) return FromHex(word);
  if (arguments.Has("base64")) return FromBase64(word);
  return ParseEscaped(word);
}

Status CheckThese(const Arguments& arguments, const std::vector<std::string>& words) {
  if (arguments.Has("hex") && arguments.Has("base64")) {
    return Error(ErrorCode::kInvalidArgument, "--hex and --base64 exclude each other");
  }
  for (const std::string& word : words) {
    if (word == "-") continue;
    const Result<Bytes> bytes = DecodeWord(arguments, word);
    if (!bytes.has_value()) return bytes.error();
  }
  return {};
}

}  // namespace

std::vector<OptionSyntax> WordOptions() {
  return {{"hex", OptionKind::kFlag, {}, "keys and values of the command line are hex"},
          {"base64", OptionKind::kFlag, {}, "keys and values of the command line are base64"}};
}

std::vector<OptionSyntax> RangeOptions() {
  return {{"start", OptionKind::kText, "KEY", "from this key on"},
          {"end", OptionKind::kText, "KEY", "before this key"}};
}

OptionSyntax DurabilityOption() {
  return {"durability",
          OptionKind::kChoice,
          "HOW",
          "what the answer promises (default: what the server says)",
          {"none", "interval", "sync", "quorum", "applied"}};
}

std::vector<OptionSyntax> Joined(std::vector<OptionSyntax> first, const std::vector<OptionSyntax>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Result<Bytes> DecodeWord(const Arguments& arguments, const std::string& word) {
  Result<Bytes> bytes = Decoded(arguments, word);
  if (bytes.has_value()) return bytes;
  const char* why = arguments.Has("hex")      ? "this is no hex"
                    : arguments.Has("base64") ? "this is no base64"
                                              : "a broken escape: \\\\ and \\xNN are known";
  return Error(ErrorCode::kInvalidArgument, why, {{"word", word}});
}

Status CheckWords(const Arguments& arguments) {
  std::vector<std::string> words;
  for (size_t i = 0; i < arguments.size(); ++i) words.push_back(arguments.at(i));
  for (const std::string_view name : {"start", "end", "prefix"}) {
    if (const auto text = arguments.Text(name)) words.push_back(*text);
  }
  return CheckThese(arguments, words);
}

Status CheckKeyWord(const Arguments& arguments) { return CheckThese(arguments, {arguments.at(0)}); }

Result<RangeWords> RangeOf(const Arguments& arguments) {
  RangeWords range;
  const auto take = [&](const std::optional<std::string>& word, std::optional<Bytes>* to) -> Status {
    if (word) {
      KVARTS_TRY(*to, DecodeWord(arguments, *word));
    }
    return {};
  };
  KVARTS_CHECK_OK(take(arguments.size() > 0 ? arguments.at(0) : arguments.Text("prefix"), &range.prefix));
  KVARTS_CHECK_OK(take(arguments.Text("start"), &range.start));
  KVARTS_CHECK_OK(take(arguments.Text("end"), &range.end));
  if (range.prefix && (range.start || range.end)) {
    return Error(ErrorCode::kInvalidArgument, "a range is a prefix, or has --start and --end");
  }
  return range;
}

Status CheckRange(const Arguments& arguments) {
  KVARTS_CHECK_OK(CheckWords(arguments));
  const Result<RangeWords> range = RangeOf(arguments);
  return range.has_value() ? Status{} : range.error();
}

void RangeWords::Write(JsonWriter& json) const {
  if (prefix) json.BytesField("prefix", *prefix);
  if (start) json.BytesField("start", *start);
  if (end) json.BytesField("end", *end);
}

std::string KeyPath(std::string_view before, BytesView key) {
  std::string path(before);
  http::AppendPercentEncoded(&path, key);
  return path;
}

Query& Query::Add(std::string_view name, BytesView value) {
  text_.push_back(text_.empty() ? '?' : '&');
  text_.append(name).push_back('=');
  http::AppendPercentEncoded(&text_, value);
  return *this;
}

Query& Query::Add(const RangeWords& range) {
  if (range.prefix) Add("prefix", *range.prefix);
  if (range.start) Add("start", *range.start);
  if (range.end) Add("end", *range.end);
  return *this;
}

std::vector<std::string> WriteHeaders(const Arguments& arguments, std::vector<std::string> others) {
  if (const auto durability = arguments.Text("durability")) others.push_back("Kvarts-Durability: " + *durability);
  return others;
}

std::string Seconds(uint64_t micros) {
  std::string text = fmt::format("{}.{:06}", micros / 1'000'000, micros % 1'000'000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace kvarts::cli
