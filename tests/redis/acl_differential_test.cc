// The same rules of users to redis-server and to Kvarts: what is answered, what is told of users, and what these may do
// is the same.
//
// Single commands stand in ACL LIST of Redis in the order of a table that each server shuffles, so they are compared in
// the order of their names; of what Redis does not have nothing is compared. KVARTS_SEED chooses other rules.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <sstream>

#include "redis/both_servers.h"
#include "redis/commands.h"
#include "support/environment.h"
#include "support/on_every_engine.h"
#include "support/server_process.h"

namespace kvarts::test {
namespace {

using Words = std::vector<std::string>;

constexpr std::string_view kOurs[] = {"client|setinfo", "hexpire",           "hexpireat",    "hexpiretime", "hpersist",
                                      "hpexpire",       "hpexpireat",        "hpexpiretime", "hpttl",       "httl",
                                      "kvarts",         "kvarts|durability", "kvarts|help",  "waitaof"};

// Single commands that stand beside each other, in order.
std::string Normal(const std::string& told) {
  std::string spaced;
  for (const char c : told) spaced.append(std::string_view(")\"").contains(c) ? " " : "").push_back(c);
  std::istringstream words(spaced);
  std::string normal;
  std::vector<std::string> singles;
  const auto flush = [&] {
    std::ranges::sort(singles, {}, [](const std::string& rule) { return rule.substr(1); });
    for (const std::string& rule : singles) normal.append(rule).append(" ");
    singles.clear();
  };
  for (std::string word; words >> word;) {
    const bool rule = word.size() > 1 && (word[0] == '+' || word[0] == '-') && word[1] != '@';
    if (rule && std::ranges::find(kOurs, std::string_view(word).substr(1)) != std::end(kOurs)) continue;
    if (rule) {
      singles.push_back(word);
      continue;
    }
    flush();
    normal.append(word).append(" ");
  }
  flush();
  return normal;
}

class RuleMaker {
 public:
  RuleMaker(uint64_t seed, Words commands, Words categories)
      : random_(seed), commands_(std::move(commands)), categories_(std::move(categories)) {
    for (const char* more : {"all", "nosuch", ""}) categories_.emplace_back(more);
  }

  std::string User() { return "u" + std::to_string(Below(4)); }
  Words Rules(uint64_t at_most) {
    Words rules;
    for (uint64_t i = Below(at_most + 1); i > 0; --i) rules.push_back(Rule());
    return rules;
  }
  uint64_t Below(uint64_t end) { return random_() % end; }
  const std::string& OneOf(const Words& words) { return words[Below(words.size())]; }

 private:
  std::string Rule() {
    static const Words kPatterns = {"*", "a*", "b?", "[ab]", "k:*", "", "key*", "{*"};
    static const Words kFlags = {"on",
                                 "off",
                                 "nopass",
                                 "resetpass",
                                 "reset",
                                 "allkeys",
                                 "resetkeys",
                                 "allchannels",
                                 "resetchannels",
                                 "allcommands",
                                 "nocommands",
                                 "sanitize-payload",
                                 "clearselectors",
                                 "skip-sanitize-payload"};
    static const Words kArguments = {"select|0", "get|x", "config|x", "config|get|x", "debug|sleep", "select|", "|"};
    static const Words kNone = {"foo", "", ")", "+", "#zz", "!00", "%", "(((", "-select|0"};
    const std::string sign = Below(2) == 0 ? "+" : "-";
    switch (Below(20)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        return sign + OneOf(commands_);
      case 5:
      case 6:
      case 7:
      case 8:
      case 9:
        return sign + "@" + OneOf(categories_);
      case 10:
      case 11:
        return OneOf({"~", "%R~", "%W~", "%RW~", "%x~"}) + OneOf(kPatterns);
      case 12:
        return "&" + OneOf(kPatterns);
      case 13:
        return OneOf({">", "<"}) + OneOf({"x", "y"});
      case 14:
      case 15:
        return OneOf(kFlags);
      case 16:
        return "+" + OneOf(kArguments);
      case 17:
      case 18: {
        std::string selector = "(";
        for (const std::string& rule : Rules(3)) selector.append(selector.size() > 1 ? " " : "").append(rule);
        return selector + (Below(8) == 0 ? "" : ")");
      }
      default:
        return OneOf(kNone);
    }
  }

  std::mt19937_64 random_;
  const Words commands_;
  Words categories_;
};

class AclDifferentialTest : public BothServersTest {
 protected:
  RuleMaker Maker() const {
    const auto unquoted = [](const std::string& answer) {
      Words words;
      for (const std::string& word : ElementsOf(answer)) words.push_back(word.substr(1, word.size() - 2));
      return words;
    };
    return RuleMaker(FromEnvironment("KVARTS_SEED", 1), unquoted(them_->Call({"COMMAND", "LIST"})),
                     unquoted(them_->Call({"ACL", "CAT"})));
  }

  // Empty when both answer alike, else what they say.
  std::string Difference(const Words& words) {
    const std::string ours = Normal(us_->Call(words));
    const std::string theirs = Normal(them_->Call(words));
    return ours == theirs ? "" : words[0] + " " + words[1] + "\nours:   " + ours + "\ntheirs: " + theirs;
  }
  std::string DifferenceOfUser(const std::string& user, RuleMaker& maker) {
    static const std::vector<Words> kCommands = {{"GET", "a"},
                                                 {"SET", "b1", "x"},
                                                 {"SET", "b1", "x", "GET"},
                                                 {"SELECT", "0"},
                                                 {"CONFIG", "GET", "x"},
                                                 {"MGET", "a", "k:1", "zz"},
                                                 {"COPY", "a1", "k:2"},
                                                 {"SORT", "a", "STORE", "b1"},
                                                 {"EXISTS", "a", "b2"},
                                                 {"SINTERCARD", "2", "a", "zz"},
                                                 {"BITFIELD", "a", "GET", "u8", "0"},
                                                 {"CONFIG"},
                                                 {"GET"},
                                                 {"NOSUCH", "a"}};
    Words dry = {"ACL", "DRYRUN", user};
    const Words& command = kCommands[maker.Below(kCommands.size())];
    dry.insert(dry.end(), command.begin(), command.end());
    for (const Words& words : {Words{"ACL", "GETUSER", user}, Words{"ACL", "LIST"}, Words{"ACL", "USERS"}, dry}) {
      if (std::string difference = Difference(words); !difference.empty()) return difference;
    }
    return "";
  }
};
KVARTS_ON_EVERY_ENGINE(AclDifferentialTest);

TEST_P(AclDifferentialTest, RulesMakeTheSameUsers) {
  const uint64_t count = LongRun() ? 20'000 : GetParam().shared ? 200 : 2000;
  RuleMaker maker = Maker();
  for (uint64_t i = 0; i < count; ++i) {
    const std::string user = maker.User();
    Words words = {"ACL", maker.Below(12) == 0 ? "DELUSER" : "SETUSER", user};
    if (words[1] == "SETUSER") {
      if (maker.Below(12) == 0) words.emplace_back("reset");
      for (std::string& rule : maker.Rules(6)) words.push_back(std::move(rule));
    }
    std::string line;
    for (const std::string& word : words) line.append(Escaped(word)).append(" ");
    ASSERT_EQ(Difference(words), "") << i << ": " << line;
    ASSERT_EQ(DifferenceOfUser(user, maker), "") << i << ": " << line;
  }
}

// Random commands of a user with random rules are carried out, or refused in the same words.
TEST_P(AclDifferentialTest, UsersMayDoTheSame) {
  constexpr std::string_view kNotHere[] = {"MULTI",   "EXEC",    "DISCARD", "WATCH",   "FLUSHDB", "SWAPDB", "RESET",
                                           "LATENCY", "SLOWLOG", "INFO",    "COMMAND", "CONFIG",  "HELLO",  "CLIENT"};
  std::vector<CommandTemplate> templates;
  for (const CommandTemplate& one : CommandTemplates()) {
    if (std::ranges::find(kNotHere, one.name) == std::end(kNotHere)) templates.push_back(one);
  }
  const uint64_t seed = FromEnvironment("KVARTS_SEED", 1);
  const int users = LongRun() ? 300 : GetParam().shared ? 5 : 40;
  CommandMaker commands(seed);
  RuleMaker maker = Maker();
  RespClient we(ours_->address());
  RespClient they(theirs_->address());
  uint64_t denied = 0;
  uint64_t carried_out = 0;
  for (int i = 0; i < users; ++i) {
    Words set = {"ACL", "SETUSER", "u", "reset", "on", "nopass"};
    for (const char* rule : {"+@read", "+@write", "~key*", "%R~*", "~*", "(+@all ~k*)", "(+@list ~*)"}) {
      if (maker.Below(2) == 0) set.emplace_back(rule);
    }
    ASSERT_EQ(us_->Call(set), "OK");
    ASSERT_EQ(them_->Call(set), "OK");
    for (RespClient* client : {&we, &they}) ASSERT_EQ(client->Call({"AUTH", "u", ""}), "OK");
    for (int j = 0; j < 200; ++j) {
      const CommandTemplate& command = commands.Choose(templates);
      const Words words = commands.Make(command);
      we.Send(words);
      const std::string theirs = they.Call(words);
      const std::string ours = we.Read();
      std::string line;
      for (const std::string& word : words) line.append(Escaped(word)).append(" ");
      ASSERT_TRUE(Alike(ours, theirs, command.comparison))
          << "seed " << seed << ", user " << i << ": " << line << "\nours:   " << ours << "\ntheirs: " << theirs;
      ++(theirs.contains("NOPERM") ? denied : carried_out);
    }
  }
  EXPECT_GT(denied, static_cast<uint64_t>(users) * 5);
  EXPECT_GT(carried_out, static_cast<uint64_t>(users) * 5);
}

// What the test is worth: one rule that is other on one side is found out.
TEST_P(AclDifferentialTest, FindsARuleThatIsOther) {
  RuleMaker maker = Maker();
  for (const auto& [ours, theirs] : {std::pair<Words, Words>{{"+get"}, {"+mget"}},
                                     {{"+@read"}, {"+@read", "-get"}},
                                     {{"%R~a"}, {"%W~a"}},
                                     {{"&a", "&b"}, {"&b", "&a"}},
                                     {{">x"}, {">y"}},
                                     {{"(+get)"}, {"+get"}},
                                     {{"+@all", "-@write"}, {"+@all", "-@write", "-@read", "+@read", "-type"}}}) {
    for (const auto& [client, rules] : {std::pair(us_.get(), ours), {them_.get(), theirs}}) {
      Words words = {"ACL", "SETUSER", "u0", "reset"};
      words.insert(words.end(), rules.begin(), rules.end());
      ASSERT_EQ(client->Call(words), "OK");
    }
    EXPECT_NE(DifferenceOfUser("u0", maker), "") << ours[0];
  }
}

}  // namespace
}  // namespace kvarts::test
