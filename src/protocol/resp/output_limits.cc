#include "protocol/resp/output_limits.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "base/lower_case.h"
#include "model/structure/strings.h"
#include "protocol/resp/sizes.h"

namespace kvarts::resp {
namespace {

constexpr uint64_t kMiB = 1 << 20;

struct ClassName {
  std::string_view name;
  ClientClass of;
};
// The first of each class is what it is shown as.
constexpr ClassName kNames[] = {
    {"normal", ClientClass::kNormal},
    {"slave", ClientClass::kReplica},
    {"pubsub", ClientClass::kPubSub},
    {"replica", ClientClass::kReplica},
};

// Between single spaces: a second one stands for a word that is empty.
std::vector<std::string_view> WordsOf(std::string_view text) {
  std::vector<std::string_view> words;
  if (text.empty()) return words;
  while (true) {
    const size_t end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    if (end == text.size()) return words;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

OutputLimits::OutputLimits() {
  Set(ClientClass::kReplica, {256 * kMiB, 64 * kMiB, 60});
  Set(ClientClass::kPubSub, {32 * kMiB, 8 * kMiB, 60});
}

OutputLimits::Limit OutputLimits::operator[](ClientClass of) const {
  const Numbers& numbers = all_[static_cast<size_t>(of)];
  return {numbers.hard.load(std::memory_order_relaxed), numbers.soft.load(std::memory_order_relaxed),
          numbers.seconds.load(std::memory_order_relaxed)};
}

void OutputLimits::Set(ClientClass of, const Limit& limit) {
  Numbers& numbers = all_[static_cast<size_t>(of)];
  numbers.hard = limit.hard_bytes;
  numbers.soft = limit.soft_bytes;
  numbers.seconds = limit.soft_seconds;
}

std::string OutputLimits::Text() const {
  std::string text;
  for (const ClassName& one : std::span(kNames).first(static_cast<size_t>(ClientClass::kCount_))) {
    const Limit limit = (*this)[one.of];
    fmt::format_to(std::back_inserter(text), "{}{} {} {} {}", text.empty() ? "" : " ", one.name, limit.hard_bytes,
                   limit.soft_bytes, limit.soft_seconds);
  }
  return text;
}

std::string OutputLimits::Set(std::string_view text, bool apply) {
  const std::vector<std::string_view> words = WordsOf(text);
  if (words.size() % 4 != 0) return "Wrong number of arguments in buffer limit configuration.";
  for (size_t i = 0; i < words.size(); i += 4) {
    const std::string name = LowerCase(words[i]);
    const auto found = std::ranges::find(kNames, std::string_view(name), &ClassName::name);
    if (found == std::end(kNames)) return "Invalid client class specified in buffer limit configuration.";
    const std::optional<int64_t> hard = ParseSize(words[i + 1]);
    const std::optional<int64_t> soft = ParseSize(words[i + 2]);
    const std::optional<int64_t> seconds = structure::ParseInteger(words[i + 3]);
    if (!hard || !soft || !seconds || *seconds < 0) {
      return "Error in hard, soft or soft_seconds setting in buffer limit configuration.";
    }
    if (!apply) continue;
    Set(found->of, {static_cast<uint64_t>(*hard), static_cast<uint64_t>(*soft), static_cast<uint64_t>(*seconds)});
  }
  return {};
}

}  // namespace kvarts::resp
