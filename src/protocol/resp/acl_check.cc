#include "protocol/resp/acl_check.h"

#include <algorithm>
#include <memory>

#include "model/structure/glob.h"
#include "protocol/resp/arguments.h"
#include "protocol/resp/command_keys.h"
#include "protocol/resp/command_table.h"

namespace kvarts::resp {
namespace {

using Of = AclDenial::Of;

// As Redis has it: a star stands for something, or for nothing, but an empty text is only that of an empty pattern.
bool Matches(std::string_view pattern, std::string_view text) {
  return text.empty() ? pattern.empty() : structure::GlobMatches(pattern, text);
}

// The channels among the words of a command.
struct Channels {
  size_t first = 0;
  size_t last = 0;  // zero: up to the end
  bool patterns = false;
  bool any = false;
};

Channels ChannelsOf(const Command& command) {
  // Whoever stops listening needs no leave for that.
  if (!command.Is(kPubSub)) return {};
  if (command.name == "publish" || command.name == "spublish") return {1, 1, false, true};
  if (command.name == "subscribe" || command.name == "ssubscribe") return {1, 0, false, true};
  if (command.name == "psubscribe") return {1, 0, true, true};
  return {};
}

bool ChannelIsIn(const AclSelector& selector, std::string_view channel, bool is_pattern) {
  if (selector.all_channels()) return true;
  return std::ranges::any_of(selector.channels(), [&](const Bytes& pattern) {
    return is_pattern ? pattern == channel : Matches(pattern, channel);
  });
}

uint8_t RightsFor(uint32_t access) {
  uint8_t rights = 0;
  if ((access & kAccess) != 0) rights |= KeyPattern::kReads;
  if ((access & (kInsert | kDelete | kUpdate)) != 0) rights |= KeyPattern::kWrites;
  return rights;
}

bool KeyIsIn(const AclSelector& selector, std::string_view key, uint8_t rights) {
  return std::ranges::any_of(selector.keys(), [&](const KeyPattern& pattern) {
    return (pattern.access & rights) == rights && Matches(pattern.pattern, key);
  });
}

// A command against the selectors of a user, one after the other; its keys are looked for once, if at all.
class Check {
 public:
  Check(const Command& command, Arguments arguments)
      : command_(command), arguments_(arguments), number_(AclNumberOf(command)) {}

  AclDenial Against(const AclSelector& selector) {
    if (!AllowsCommand(selector)) return {Of::kCommand, 0};
    if (!selector.all_keys()) {
      for (const FoundKey& key : Keys()) {
        if (!KeyIsIn(selector, arguments_[key.at], RightsFor(key.access))) return {Of::kKey, key.at};
      }
    }
    if (selector.all_channels()) return {};
    const Channels channels = ChannelsOf(command_);
    if (!channels.any) return {};
    const size_t end = channels.last == 0 ? arguments_.size() : channels.last + 1;
    for (size_t i = channels.first; i < end; ++i) {
      if (!ChannelIsIn(selector, arguments_[i], channels.patterns)) return {Of::kChannel, i};
    }
    return {};
  }

 private:
  bool AllowsCommand(const AclSelector& selector) const {
    if (selector.commands()[number_] || command_.Is(kNoAuth)) return true;
    if (selector.first_arguments().empty() || arguments_.size() < 2) return false;
    const auto found = selector.first_arguments().find(number_);
    if (found == selector.first_arguments().end()) return false;
    const std::string argument = AsciiLower(arguments_[1]);
    return std::ranges::any_of(found->second, [&](const std::string& one) { return AsciiLower(one) == argument; });
  }
  // What makes no sense has none, and is refused for that.
  const std::vector<FoundKey>& Keys() {
    if (!keys_) keys_ = FindKeys(command_, arguments_).value_or(std::vector<FoundKey>());
    return *keys_;
  }

  const Command& command_;
  const Arguments arguments_;
  const uint16_t number_;
  std::optional<std::vector<FoundKey>> keys_;
};

bool ReadsAllKeys(const AclSelector& selector) {
  return selector.all_keys() || std::ranges::any_of(selector.keys(), [](const KeyPattern& key) {
           return key.pattern == "*" && (key.access & KeyPattern::kReads) != 0;
         });
}

}  // namespace

AclDenial CheckAcl(const AclUser& user, const Command& command, Arguments arguments) {
  Check check(command, arguments);
  // Of several reasons the strongest is told, and of these the last of the words.
  AclDenial told{Of::kCommand, 0};
  size_t last = 0;
  for (const AclSelector& selector : user.selectors()) {
    const AclDenial denial = check.Against(selector);
    if (!denial) return {};
    if (denial.argument != 0) last = denial.argument;
    if (denial.of > told.of || (denial.of == told.of && last > told.argument)) told = {denial.of, last};
  }
  return told;
}

std::string_view WhyNotSort(const AclUser& user, const Command& command, Arguments arguments) {
  if (command.name != "sort" && command.name != "sort_ro") return {};
  Check check(command, arguments);
  const auto reads_all = [&](const AclSelector& one) { return ReadsAllKeys(one) && !check.Against(one); };
  if (std::ranges::any_of(user.selectors(), reads_all)) return {};
  for (size_t i = 2; i + 1 < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    if (IsWord(word, "BY")) {
      if (arguments[++i].contains('*')) return "ERR BY option of SORT denied due to insufficient ACL permissions.";
    } else if (IsWord(word, "GET")) {
      return "ERR GET option of SORT denied due to insufficient ACL permissions.";
    } else if (IsWord(word, "LIMIT")) {
      i += 2;
    } else if (IsWord(word, "STORE")) {
      ++i;
    }
  }
  return {};
}

bool MayListen(const AclUser& user, std::string_view channel, bool is_pattern) {
  return std::ranges::any_of(user.selectors(),
                             [&](const AclSelector& selector) { return ChannelIsIn(selector, channel, is_pattern); });
}

std::string DenialReply(const AclDenial& denial, const Command& command) {
  constexpr std::string_view kNoRight = "NOPERM this user has no permissions to ";
  switch (denial.of) {
    case Of::kKey:
      return std::string(kNoRight) + "access one of the keys used as arguments";
    case Of::kChannel:
      return std::string(kNoRight) + "access one of the channels used as arguments";
    default:
      return std::string(kNoRight) + "run the '" + std::string(AclNameOf(command)) + "' command";
  }
}

std::string ChangedReply(const AclDenial& denial) {
  constexpr std::string_view kChanged =
      "NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC call. This command is "
      "no longer allowed for the following reason: ";
  switch (denial.of) {
    case Of::kKey:
      return std::string(kChanged) + "no permission to touch the specified keys";
    case Of::kChannel:
      return std::string(kChanged) + "no permission to access one of the channels used as arguments to the command";
    default:
      return std::string(kChanged) + "no permission to execute the command or subcommand";
  }
}

}  // namespace kvarts::resp
