#include "protocol/resp/command_names.h"

#include <algorithm>
#include <span>

#include "base/lower_case.h"
#include "protocol/resp/command.h"

namespace kvarts::resp {
namespace {

struct FlagName {
  uint32_t flag;
  std::string_view name;
};
constexpr FlagName kFlagNames[] = {
    {kWrite, "write"},
    {kReadOnly, "readonly"},
    {kDenyOom, "denyoom"},
    {kAdmin, "admin"},
    {kPubSub, "pubsub"},
    {kNoScript, "noscript"},
    {kBlocking, "blocking"},
    {kLoading, "loading"},
    {kStale, "stale"},
    {kSkipMonitor, "skip_monitor"},
    {kSkipSlowlog, "skip_slowlog"},
    {kAsking, "asking"},
    {kFast, "fast"},
    {kNoAuth, "no_auth"},
    {kMovableKeys, "movablekeys"},
    {kNoAsyncLoading, "no_async_loading"},
    {kNoMulti, "no_multi"},
    {kAllowBusy, "allow_busy"},
};
constexpr FlagName kCategoryNames[] = {
    {kKeyspace, "@keyspace"},
    {kRead, "@read"},
    {kWrites, "@write"},
    {kSet, "@set"},
    {kSortedSet, "@sortedset"},
    {kList, "@list"},
    {kHash, "@hash"},
    {kString, "@string"},
    {kBitmap, "@bitmap"},
    {kHyperLogLog, "@hyperloglog"},
    {kGeo, "@geo"},
    {kStream, "@stream"},
    {kPubSubs, "@pubsub"},
    {kAdmins, "@admin"},
    {kQuick, "@fast"},
    {kSlow, "@slow"},
    {kBlocks, "@blocking"},
    {kDangerous, "@dangerous"},
    {kConnection, "@connection"},
    {kTransaction, "@transaction"},
    {kScripting, "@scripting"},
};

std::vector<std::string_view> NamesOf(uint32_t which, std::span<const FlagName> all) {
  std::vector<std::string_view> names;
  for (const FlagName& one : all) {
    if ((which & one.flag) != 0) names.push_back(one.name);
  }
  return names;
}

}  // namespace

std::vector<std::string_view> FlagNames(uint32_t flags) { return NamesOf(flags, kFlagNames); }
std::vector<std::string_view> CategoryNames(uint32_t categories) { return NamesOf(categories, kCategoryNames); }

uint32_t CategoryOf(std::string_view name) {
  const std::string wanted = "@" + LowerCase(name);
  const auto found = std::ranges::find(kCategoryNames, std::string_view(wanted), &FlagName::name);
  return found == std::end(kCategoryNames) ? 0 : found->flag;
}

std::string UpperCase(std::string_view text) {
  std::string upper(text);
  std::ranges::transform(upper, upper.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return upper;
}

}  // namespace kvarts::resp
