#include "protocol/resp/acl_text.h"

#include <algorithm>
#include <array>
#include <limits>

#include "protocol/resp/command_names.h"

namespace kvarts::resp {
namespace {

// Commands as categories, as far as they fit.
class Fitting {
 public:
  Fitting(const AclSelector& selector, std::vector<std::string>* rules)
      : adds_(!selector.allows_new()), left_(selector), rules_(*rules) {
    made_.SetAllCommands(!adds_);
    rules_.emplace_back(adds_ ? "-@all" : "+@all");
  }

  void TakeCategories() {
    uint32_t taken = 0;
    while (const uint32_t best = Best(taken)) {
      taken |= best;
      made_.SetCategories(best, adds_);
      left_.SetCategories(best, !adds_);
      rules_.push_back((adds_ ? "+" : "-") + std::string(CategoryNames(best).front()));
    }
  }
  const AclSelector& made() const { return made_; }

 private:
  // The one with the fewest commands that would be wrong, and the most that would be right; zero: there is none of
  // which more are right than wrong. What Redis has not does not count, so that its choice is ours.
  uint32_t Best(uint32_t taken) const {
    uint32_t best = 0;
    size_t least_wrong = std::numeric_limits<size_t>::max();
    size_t most_right = 0;
    for (uint32_t category = 1; category <= kScripting; category <<= 1) {
      if ((taken & category) != 0) continue;
      size_t right = 0;
      size_t wrong = 0;
      const std::span<const AclName> names = AllAclNames();
      for (uint16_t number = 0; number < names.size(); ++number) {
        if (!names[number].of_redis || (names[number].categories & category) == 0) continue;
        ++(left_.commands()[number] == adds_ ? right : wrong);
      }
      if (right > wrong && (wrong < least_wrong || (wrong == least_wrong && right > most_right))) {
        best = category;
        least_wrong = wrong;
        most_right = right;
      }
    }
    return best;
  }

  const bool adds_;
  AclSelector left_;  // what the categories have not said yet
  AclSelector made_;
  std::vector<std::string>& rules_;
};

}  // namespace

std::vector<std::string> CommandRules(const AclSelector& selector) {
  std::vector<std::string> rules;
  Fitting fitting(selector, &rules);
  fitting.TakeCategories();
  AclSelector made = fitting.made();
  const std::span<const AclName> names = AllAclNames();
  for (uint16_t number = 0; number < names.size(); ++number) {
    const bool allowed = selector.commands()[number];
    if (made.commands()[number] != allowed) {
      rules.push_back((allowed ? "+" : "-") + std::string(names[number].name));
      made.SetCommand(number, allowed);
    }
    const auto arguments = selector.first_arguments().find(number);
    if (allowed || arguments == selector.first_arguments().end()) continue;
    for (const std::string& argument : arguments->second) {
      rules.push_back("+" + std::string(names[number].name) + "|" + argument);
    }
  }
  return rules;
}

std::string CommandRulesLine(const AclSelector& selector) {
  std::string line;
  for (const std::string& rule : CommandRules(selector)) line.append(line.empty() ? "" : " ").append(rule);
  return line;
}

std::string KeyRules(const AclSelector& selector) {
  if (selector.all_keys()) return "~*";
  std::string rules;
  for (const KeyPattern& key : selector.keys()) {
    if (&key != &selector.keys().front()) rules.push_back(' ');
    rules.append(key.access == KeyPattern::kBoth ? "~" : key.access == KeyPattern::kReads ? "%R~" : "%W~");
    rules.append(key.pattern);
  }
  return rules;
}

std::string ChannelRules(const AclSelector& selector) {
  if (selector.all_channels()) return "&*";
  std::string rules;
  for (const Bytes& channel : selector.channels()) {
    if (&channel != &selector.channels().front()) rules.push_back(' ');
    rules.append("&").append(channel);
  }
  return rules;
}

namespace {

std::string SelectorRules(const AclSelector& selector) {
  std::string rules = KeyRules(selector);
  if (selector.all_keys() || !selector.keys().empty()) rules.push_back(' ');
  if (!selector.all_channels()) rules.append("resetchannels ");
  rules.append(ChannelRules(selector));
  if (selector.all_channels() || !selector.channels().empty()) rules.push_back(' ');
  return rules.append(CommandRulesLine(selector));
}

}  // namespace

std::vector<std::string_view> FlagRules(const AclUser& user) {
  std::vector<std::string_view> flags = {user.Is(UserRecord::kOn) ? "on" : "off"};
  if (user.Is(UserRecord::kNoPassword)) flags.emplace_back("nopass");
  if (user.Is(UserRecord::kSkipsSanitizing)) flags.emplace_back("skip-sanitize-payload");
  if (user.Is(UserRecord::kSanitizes)) flags.emplace_back("sanitize-payload");
  return flags;
}

std::string HashText(const Digest& password) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : password.bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

std::string UserRules(const AclUser& user) {
  std::string rules;
  for (const std::string_view flag : FlagRules(user)) rules.append(flag).append(" ");
  for (const Digest& password : user.passwords()) rules.append("#").append(HashText(password)).append(" ");
  for (const AclSelector& selector : user.selectors()) {
    const bool own = &selector == &user.selectors().front();
    rules.append(own ? SelectorRules(selector) : " (" + SelectorRules(selector) + ")");
  }
  return rules;
}

}  // namespace kvarts::resp
