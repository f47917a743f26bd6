#include "protocol/resp/acl_rules.h"

#include <algorithm>

#include "base/hex_digit.h"
#include "net/resp/command_parser.h"
#include "protocol/resp/acl_text.h"
#include "protocol/resp/command_names.h"

namespace kvarts::resp {
namespace {

constexpr const char* kNoRule = "Syntax error";
constexpr const char* kUnknown = "Unknown command or category name in ACL";
constexpr const char* kBehindAllKeys =
    "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have any effect. Try "
    "'resetkeys' to start with an empty list of patterns";
constexpr const char* kBehindAllChannels =
    "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not have any effect. Try "
    "'resetchannels' to start with an empty list of channels";
constexpr const char* kNoSuchPassword = "The password you are trying to remove from the user does not exist";
constexpr const char* kBadHash =
    "The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters";
constexpr const char* kArgumentOfSubcommand = "Allowing first-arg of a subcommand is not supported";

constexpr size_t kHashChars = 2 * Digest::kSize;

// Redis takes words up to the first zero.
std::string_view WordOf(std::string_view rule) { return rule.substr(0, rule.find('\0')); }

std::optional<Digest> HashOf(std::string_view hex) {
  if (hex.size() != kHashChars || hex.find_first_not_of("0123456789abcdef") != hex.npos) return std::nullopt;
  Digest hash;
  for (size_t i = 0; i < Digest::kSize; ++i) {
    hash.bytes[i] = static_cast<char>(HexValue(hex[2 * i]) * 16 + HexValue(hex[2 * i + 1]));
  }
  return hash;
}

}  // namespace

bool HasBlanks(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return c == ' ' || c == '\0' || (c >= '\t' && c <= '\r'); });
}

void AclSelector::SetCommand(uint16_t number, bool allowed) {
  const AclName& name = AllAclNames()[number];
  commands_.set(number, allowed);
  first_arguments_.erase(number);
  for (uint16_t i = 0; i < name.subcommands; ++i) commands_.set(name.first_sub + i, allowed);
}

void AclSelector::SetCategories(uint32_t categories, bool allowed) {
  const std::span<const AclName> names = AllAclNames();
  for (uint16_t number = 0; number < names.size(); ++number) {
    if ((names[number].categories & categories) != 0) SetCommand(number, allowed);
  }
}

void AclSelector::SetAllCommands(bool allowed) {
  allows_new_ = allowed;
  if (allowed) {
    commands_.set();
  } else {
    commands_.reset();
  }
  first_arguments_.clear();
}

const char* AclSelector::AddKeys(std::string_view rule) {
  if (all_keys_) return kBehindAllKeys;
  uint8_t access = rule[0] == '~' ? KeyPattern::kBoth : 0;
  size_t at = 1;
  if (rule[0] == '%') {
    for (; at < rule.size() && rule[at] != '~'; ++at) {
      const char letter = rule[at];
      const uint8_t bit = letter == 'R' || letter == 'r'   ? KeyPattern::kReads
                          : letter == 'W' || letter == 'w' ? KeyPattern::kWrites
                                                           : 0;
      if (bit == 0 || (access & bit) != 0) return kNoRule;
      access |= bit;
    }
    if (access == 0) return kNoRule;
    at = std::min(at + 1, rule.size());
  }
  const std::string_view pattern = rule.substr(at);
  if (HasBlanks(pattern)) return kNoRule;
  const auto there = std::ranges::find(keys_, pattern, &KeyPattern::pattern);
  if (there != keys_.end()) {
    there->access |= access;
  } else {
    keys_.push_back({Bytes(pattern), access});
  }
  return nullptr;
}

const char* AclSelector::AddChannel(std::string_view rule) {
  if (all_channels_) return kBehindAllChannels;
  const std::string_view pattern = rule.substr(1);
  if (HasBlanks(pattern)) return kNoRule;
  if (std::ranges::find(channels_, pattern) == channels_.end()) channels_.emplace_back(pattern);
  return nullptr;
}

// "get", "config|get", or "select|0": a command with this first argument.
const char* AclSelector::AllowCommand(std::string_view name) {
  const auto number = FindAclName(name);
  const size_t bar = name.rfind('|');
  if (bar == name.npos) {
    if (!number) return kUnknown;
    SetCommand(*number, true);
    return nullptr;
  }
  const auto container = FindAclName(name.substr(0, bar));
  if (!container) return kUnknown;
  const AclName& of = AllAclNames()[*container];
  if (of.has_parent) return kArgumentOfSubcommand;
  const std::string_view argument = name.substr(bar + 1);
  if (argument.empty()) return kNoRule;
  if (of.subcommands > 0) {
    if (!number) return kUnknown;
    SetCommand(*number, true);
    return nullptr;
  }
  std::vector<std::string>& allowed = first_arguments_[*container];
  const auto same = [&](const std::string& one) { return AsciiLower(one) == AsciiLower(argument); };
  if (std::ranges::none_of(allowed, same)) allowed.emplace_back(argument);
  return nullptr;
}

const char* AclSelector::Set(std::string_view rule) {
  const std::string_view text = WordOf(rule);
  const std::string word = AsciiLower(text);
  if (word == "allkeys" || word == "~*") {
    all_keys_ = true;
    keys_.clear();
  } else if (word == "resetkeys") {
    all_keys_ = false;
    keys_.clear();
  } else if (word == "allchannels" || word == "&*") {
    all_channels_ = true;
    channels_.clear();
  } else if (word == "resetchannels") {
    all_channels_ = false;
    channels_.clear();
  } else if (word == "allcommands" || word == "+@all") {
    SetAllCommands(true);
  } else if (word == "nocommands" || word == "-@all") {
    SetAllCommands(false);
  } else if (word.starts_with('~') || word.starts_with('%')) {
    return AddKeys(rule);
  } else if (word.starts_with('&')) {
    return AddChannel(rule);
  } else if (word.starts_with("+@") || word.starts_with("-@")) {
    const uint32_t category = CategoryOf(word.substr(2));
    if (category == 0) return kUnknown;
    SetCategories(category, word[0] == '+');
  } else if (word.starts_with('+')) {
    return AllowCommand(text.substr(1));
  } else if (word.starts_with('-')) {
    const auto number = FindAclName(word.substr(1));
    if (!number) return kUnknown;
    SetCommand(*number, false);
  } else {
    return kNoRule;
  }
  return nullptr;
}

SelectorRecord AclSelector::ToRecord() const {
  return {all_keys_, all_channels_, keys_, channels_, CommandRules(*this)};
}

bool AclSelector::Take(const SelectorRecord& record) {
  all_keys_ = record.all_keys;
  all_channels_ = record.all_channels;
  keys_ = record.keys;
  channels_ = record.channels;
  for (const Bytes& rule : record.commands) {
    if (!rule.starts_with('+') && !rule.starts_with('-')) return false;
    if (Set(rule) != nullptr) return false;
  }
  return true;
}

AclUser AclUser::Default() {
  AclUser user(kDefaultUser, Bytes(UserRecord::kIdBytes, '\0'));
  for (const char* rule : {"on", "nopass", "~*", "&*", "+@all"}) (void)user.Set(rule);
  return user;
}

AclUser AclUser::Of(const UserRecord& record) {
  AclUser user(record.name, record.id);
  user.flags_ = record.flags;
  user.passwords_ = record.passwords;
  user.selectors_.clear();
  for (const SelectorRecord& selector : record.selectors) {
    if (user.selectors_.emplace_back().Take(selector)) continue;
    return AclUser(record.name, record.id);
  }
  return user;
}

UserRecord AclUser::ToRecord() const {
  UserRecord record{name_, id_, flags_, passwords_, {}};
  for (const AclSelector& selector : selectors_) record.selectors.push_back(selector.ToRecord());
  return record;
}

bool AclUser::AllowsEverything() const { return std::ranges::any_of(selectors_, &AclSelector::AllowsEverything); }

bool AclUser::SetFlag(std::string_view word) {
  const auto set = [&](uint8_t flag, uint8_t instead_of) {
    flags_ = static_cast<uint8_t>((flags_ & ~instead_of) | flag);
    return true;
  };
  if (word == "on") return set(UserRecord::kOn, 0);
  if (word == "off") return set(0, UserRecord::kOn);
  if (word == "sanitize-payload") return set(UserRecord::kSanitizes, UserRecord::kSkipsSanitizing);
  if (word == "skip-sanitize-payload") return set(UserRecord::kSkipsSanitizing, UserRecord::kSanitizes);
  if (word != "nopass" && word != "resetpass") return false;
  passwords_.clear();
  return word == "nopass" ? set(UserRecord::kNoPassword, 0) : set(0, UserRecord::kNoPassword);
}

// ">password", "#hash"; "<password", "!hash".
const char* AclUser::SetPassword(std::string_view rule) {
  const bool hashed = rule[0] == '#' || rule[0] == '!';
  const std::optional<Digest> hash = hashed ? HashOf(rule.substr(1)) : Sha256(rule.substr(1));
  if (!hash) return kBadHash;
  const auto there = std::ranges::find(passwords_, *hash);
  if (rule[0] == '<' || rule[0] == '!') {
    if (there == passwords_.end()) return kNoSuchPassword;
    passwords_.erase(there);
    return nullptr;
  }
  if (there == passwords_.end()) passwords_.push_back(*hash);
  flags_ &= static_cast<uint8_t>(~UserRecord::kNoPassword);
  return nullptr;
}

// Words as in a line of words; when their quotes do not fit together, none.
const char* AclUser::AddSelector(std::string_view rule) {
  const std::string_view line = WordOf(rule.substr(1, rule.size() - 2));
  Bytes words;
  std::vector<size_t> sizes;
  if (!SplitWords(line, &words, &sizes)) sizes.clear();
  AclSelector selector;
  std::string_view left = words;
  for (const size_t size : sizes) {
    if (const char* why = selector.Set(left.substr(0, size)); why != nullptr) return why;
    left.remove_prefix(size);
  }
  selectors_.push_back(std::move(selector));
  return nullptr;
}

const char* AclUser::Set(std::string_view rule) {
  if (rule.empty()) return nullptr;
  const std::string word = AsciiLower(WordOf(rule));
  if (SetFlag(word)) return nullptr;
  if (std::string_view("><#!").contains(rule[0])) return SetPassword(rule);
  if (rule.size() > 1 && rule.starts_with('(') && rule.ends_with(')')) return AddSelector(rule);
  if (word == "clearselectors") {
    selectors_.resize(1);
    return nullptr;
  }
  if (word == "reset") {
    for (const char* one : {"resetpass", "off", "sanitize-payload"}) (void)SetFlag(one);
    selectors_.assign(1, AclSelector());
    return nullptr;
  }
  return selectors_.front().Set(rule);
}

MergedRules MergeRules(std::span<const std::string_view> words) {
  MergedRules merged;
  std::string selector;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word.starts_with('(') && !word.ends_with(')')) {
      selector = word;
      merged.unclosed = i;
    } else if (merged.unclosed) {
      selector.append(" ").append(WordOf(word));
      if (!word.ends_with(')')) continue;
      merged.rules.push_back(std::move(selector));
      merged.unclosed.reset();
    } else {
      merged.rules.emplace_back(word);
    }
  }
  return merged;
}

}  // namespace kvarts::resp
