// Rules of users: what they make, how they are told, and what commands are held against.
#include <gtest/gtest.h>

#include <random>

#include "protocol/resp/acl_check.h"
#include "protocol/resp/acl_log.h"
#include "protocol/resp/acl_session.h"
#include "protocol/resp/acl_text.h"
#include "protocol/resp/command_docs.h"
#include "protocol/resp/command_keys.h"
#include "protocol/resp/command_table.h"

namespace kvarts::resp {
namespace {

using Words = std::vector<std::string_view>;

// Of rules that are right.
AclUser UserWith(const Words& rules) {
  AclUser user("ada", "12345678");
  for (const std::string_view rule : rules) {
    const char* why = user.Set(rule);
    EXPECT_EQ(why, nullptr) << rule << ": " << why;
  }
  return user;
}

std::string Told(const Words& rules) { return UserRules(UserWith(rules)); }

std::string Commands(const Words& rules) { return CommandRulesLine(UserWith(rules).selectors().front()); }

// "key 1", or empty: there is nothing against it.
std::string Denied(const AclUser& user, const Words& words) {
  const Command* command = FindCommand(words).command;
  if (command == nullptr || !command->Takes(words.size())) return "no command";
  constexpr const char* kNames[] = {"", "command", "key", "channel"};
  const AclDenial denial = CheckAcl(user, *command, words);
  if (!denial) return "";
  return kNames[static_cast<size_t>(denial.of)] + (" " + std::to_string(denial.argument));
}

TEST(AclRulesTest, MakeAUserOfNothing) {
  EXPECT_EQ(Told({}), "off resetchannels -@all");
  EXPECT_EQ(Told({"on", "nopass", "~*", "&*", "+@all"}), "on nopass ~* &* +@all");
  EXPECT_EQ(UserRules(AclUser::Default()), "on nopass ~* &* +@all");
  EXPECT_EQ(
      Told({"on", ">x", "~k*", "%R~r*", "%W~w*", "%rw~b", "&ch*", "+@read", "-get", "+set", "(+get ~x)"}),
      "on #2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881 ~k* %R~r* %W~w* ~b resetchannels &ch* "
      "-@all +@read -get +set (~x resetchannels -@all +get)");
  EXPECT_EQ(Told({"ON", "allkeys", "AllChannels", "allcommands"}), "on ~* &* +@all");
  EXPECT_EQ(Told({"+@all", "~a", "&b", "on", "nopass", "(+get)", "reset"}), "off sanitize-payload resetchannels -@all");
  EXPECT_EQ(Told({"(+get)", "(~a)", "clearselectors", "(~b)"}), "off resetchannels -@all (~b resetchannels -@all)");
  EXPECT_EQ(Told({"~a", "%R~b", "%W~b", "~a", "&c", "&c"}), "off ~a ~b resetchannels &c -@all");
  EXPECT_EQ(Told({"(+get \"~a\\x62\")", "(+get \"~open)", "()"}),
            "off resetchannels -@all (~ab resetchannels -@all +get) (resetchannels -@all) (resetchannels -@all)");
  EXPECT_EQ(Told({"", "skip-sanitize-payload"}), "off skip-sanitize-payload resetchannels -@all");
}

TEST(AclRulesTest, CommandsAreToldAsCategoriesAndWhatIsLeft) {
  EXPECT_EQ(Commands({"-get", "+@all", "+@read", "-@write", "+set"}), "+@all -@write +set");
  EXPECT_EQ(Commands({"+client", "-client|kill"}), "-@all +client -client|kill");
  EXPECT_EQ(Commands({"+config|get"}), "-@all +config|get");
  EXPECT_EQ(Commands({"+@all", "-get", "+get"}), "+@all");
  EXPECT_EQ(Commands({"+@hash", "+@list"}), "-@all +@list +@hash") << "as without the commands that Redis has not";
  EXPECT_EQ(Commands({"+hexpire", "+XADD", "+eval"}), "-@all +eval +hexpire +xadd");
  EXPECT_EQ(Commands({"+@ALL", "-select", "+SELECT|a", "+select|A", "+select|b c"}),
            "+@all -select +select|a +select|b c");
  EXPECT_EQ(Commands({"+select|0", "+select"}), "-@all +select");
  EXPECT_EQ(Commands({"+select|0", "-@fast"}), "-@all") << "a category takes arguments away, too";
  EXPECT_EQ(Commands({"+debug|object"}), "-@all +debug|object") << "an argument, as for Redis";
}

TEST(AclRulesTest, WhatIsNoRuleChangesNothing) {
  const std::pair<const char*, const char*> kRefused[] = {
      {"foo", "Syntax error"},
      {")", "Syntax error"},
      {"(", "Syntax error"},
      {"(on)", "Syntax error"},
      {"((+get))", "Syntax error"},
      {"(+get ~a b)", "Syntax error"},
      {"~a b", "Syntax error"},
      {"&a\tb", "Syntax error"},
      {"%~x", "Syntax error"},
      {"%", "Syntax error"},
      {"%RR~x", "Syntax error"},
      {"%X~x", "Syntax error"},
      {"+debug|", "Syntax error"},
      {"+config|", "Syntax error"},
      {"+nosuch", "Unknown command"},
      {"-nosuch", "Unknown command"},
      {"+", "Unknown command"},
      {"-", "Unknown command"},
      {"+@", "Unknown command"},
      {"+@nosuch", "Unknown command"},
      {"-select|0", "Unknown command"},
      {"+|x", "Unknown command"},
      {"+config|nosuch", "Unknown command"},
      {"+a|b|c", "Unknown command"},
      {"+config|get|x", "Allowing first-arg of a subcommand"},
      {"#x", "The password hash must be"},
      {"!x", "The password hash must be"},
      {"#2D711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881", "The password hash must be"},
      {"<x", "The password you are trying"},
      {"!2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881", "The password you are trying"},
  };
  for (const auto& [rule, why] : kRefused) {
    AclUser user = UserWith({"on", "+get", "~a"});
    const char* refused = user.Set(rule);
    ASSERT_NE(refused, nullptr) << rule;
    EXPECT_TRUE(std::string_view(refused).starts_with(why)) << rule << ": " << refused;
    EXPECT_EQ(UserRules(user), "on ~a resetchannels -@all +get") << rule;
  }
  AclUser all = UserWith({"~*", "&*"});
  EXPECT_TRUE(std::string_view(all.Set("~x")).contains("'allkeys' flag"));
  EXPECT_TRUE(std::string_view(all.Set("%R~x")).contains("'allkeys' flag"));
  EXPECT_TRUE(std::string_view(all.Set("&x")).contains("'allchannels' flag"));
}

// What is told makes the same user again, and so does what is stored; whatever the rules were.
TEST(AclRulesTest, AnyUserIsMadeAgainFromWhatIsTold) {
  std::mt19937_64 random(1);
  std::vector<std::string> rules = {
      "on",      "off",   "nopass", "reset", ">a", ">b",     "<a",   "~a*",       "%R~b*",         "%W~b*",
      "~*",      "&c",    "&*",     "(+get", "~d", "+@all)", "(~e)", "resetkeys", "resetchannels", "+select|a b",
      "-select", "+@all", "-@all"};
  for (const AclName& name : AllAclNames()) {
    rules.push_back("+" + std::string(name.name));
    rules.push_back("-" + std::string(name.name));
  }
  for (const std::string_view category : {"read", "write", "fast", "slow", "dangerous", "admin", "hash", "stream"}) {
    rules.push_back("+@" + std::string(category));
    rules.push_back("-@" + std::string(category));
  }
  for (int round = 0; round < 300; ++round) {
    AclUser user("ada", "12345678");
    for (uint64_t i = random() % 12; i > 0; --i) (void)user.Set(rules[random() % rules.size()]);
    AclUser stored = AclUser::Of(UserRecord::Decode(user.ToRecord().Encode().value()).value());
    EXPECT_EQ(UserRules(stored), UserRules(user));
    for (size_t i = 0; i < user.selectors().size(); ++i) {
      AclSelector again;
      for (const std::string& rule : CommandRules(user.selectors()[i])) ASSERT_EQ(again.Set(rule), nullptr) << rule;
      EXPECT_EQ(again.commands(), user.selectors()[i].commands()) << UserRules(user);
      EXPECT_EQ(stored.selectors()[i].commands(), user.selectors()[i].commands());
    }
  }
}

// It may come from a server that knows more.
TEST(AclRulesTest, ARecordWithUnknownRulesIsNobody) {
  UserRecord record = UserWith({"on", "nopass", "+@all", "~*"}).ToRecord();
  record.selectors[0].commands.emplace_back("-@unheard");
  EXPECT_EQ(UserRules(AclUser::Of(record)), "off resetchannels -@all");
  record.selectors[0].commands.back() = "~x";
  EXPECT_EQ(UserRules(AclUser::Of(record)), "off resetchannels -@all");
}

TEST(AclRulesTest, SelectorsMayComeInPieces) {
  const auto merged = [](const Words& words) {
    const MergedRules rules = MergeRules(words);
    std::string text = rules.unclosed ? "unclosed " + std::to_string(*rules.unclosed) : "";
    for (const std::string& rule : rules.rules) text.append("[").append(rule).append("]");
    return text;
  };
  EXPECT_EQ(merged({"on", "(+get", "~a", "+set)", "off"}), "[on][(+get ~a +set)][off]");
  EXPECT_EQ(merged({"(+get)", "(", ")"}), "[(+get)][( )]");
  EXPECT_EQ(merged({"on", "(+get", "~a"}), "unclosed 1[on]");
  EXPECT_EQ(merged({"(+get", "(~x", ")"}), "[(~x )]") << "the last one that is opened counts";
  EXPECT_EQ(merged({"(", "", ")"}), "[(  )]");
}

TEST(AclCheckTest, ACommandNeedsItsBit) {
  const AclUser user = UserWith({"~*", "&*", "+get", "+config|get", "+select|0"});
  EXPECT_EQ(Denied(user, {"GET", "a"}), "");
  EXPECT_EQ(Denied(user, {"SET", "a", "b"}), "command 0");
  EXPECT_EQ(Denied(user, {"CONFIG", "GET", "a"}), "");
  EXPECT_EQ(Denied(user, {"CONFIG", "SET", "a", "b"}), "command 0");
  EXPECT_EQ(Denied(user, {"SELECT", "0"}), "");
  EXPECT_EQ(Denied(user, {"SELECT", "1"}), "command 0");
  EXPECT_EQ(Denied(user, {"AUTH", "a"}), "") << "who has to say who it is, may";
  const AclUser object = UserWith({"~*", "+debug|object"});
  EXPECT_EQ(Denied(object, {"DEBUG", "OBJECT", "a"}), "");
  EXPECT_EQ(Denied(object, {"DEBUG", "SLEEP", "1"}), "command 0");
}

TEST(AclCheckTest, KeysNeedAPatternForWhatIsDoneWithThem) {
  const AclUser user = UserWith({"+@all", "%R~r*", "%W~w*", "~b*"});
  EXPECT_EQ(Denied(user, {"GET", "r1"}), "");
  EXPECT_EQ(Denied(user, {"GET", "w1"}), "key 1");
  EXPECT_EQ(Denied(user, {"SET", "w1", "x"}), "");
  EXPECT_EQ(Denied(user, {"SET", "w1", "x", "GET"}), "key 1") << "it tells what was there";
  EXPECT_EQ(Denied(user, {"SET", "b1", "x", "GET"}), "");
  EXPECT_EQ(Denied(user, {"SET", "r1", "x"}), "key 1");
  EXPECT_EQ(Denied(user, {"EXISTS", "w1", "r1"}), "") << "it neither reads nor writes";
  EXPECT_EQ(Denied(user, {"EXISTS", "w1", "x"}), "key 2");
  EXPECT_EQ(Denied(user, {"COPY", "r1", "w1"}), "");
  EXPECT_EQ(Denied(user, {"COPY", "w1", "w2"}), "key 1");
  EXPECT_EQ(Denied(user, {"ZUNIONSTORE", "w1", "2", "r1", "r2"}), "");
  EXPECT_EQ(Denied(user, {"ZUNIONSTORE", "w1", "2", "r1", "x"}), "key 4");
  EXPECT_EQ(Denied(user, {"LMPOP", "2", "b1", "r1", "LEFT"}), "key 3");
  EXPECT_EQ(Denied(user, {"BLPOP", "b1", "b2", "0"}), "");
  EXPECT_EQ(Denied(user, {"BLPOP", "b1", "x", "0"}), "key 2");
  EXPECT_EQ(Denied(user, {"SORT", "r1", "STORE", "r2"}), "key 3");
  EXPECT_EQ(Denied(user, {"SORT", "r1", "STORE", "w2"}), "");
  EXPECT_EQ(Denied(user, {"OBJECT", "ENCODING", "x"}), "key 2");
  EXPECT_EQ(Denied(user, {"DBSIZE"}), "");
  EXPECT_EQ(Denied(UserWith({"+@all", "%R~*"}), {"GET", ""}), "key 1") << "as in Redis";
  EXPECT_EQ(Denied(UserWith({"+@all", "%R~"}), {"GET", ""}), "");
  EXPECT_EQ(Denied(UserWith({"+@all", "~*"}), {"GET", ""}), "");
}

TEST(AclCheckTest, OneSelectorHasToAllowAllOfIt) {
  const AclUser user = UserWith({"+get", "~a*", "(+set ~b*)", "(+@all ~c* %R~*)"});
  EXPECT_EQ(Denied(user, {"GET", "a"}), "");
  EXPECT_EQ(Denied(user, {"SET", "b", "x"}), "");
  EXPECT_EQ(Denied(user, {"GET", "b"}), "") << "the third reads everything";
  EXPECT_EQ(Denied(user, {"SET", "a", "x"}), "key 1");
  EXPECT_EQ(Denied(user, {"MGET", "a", "b"}), "");
  EXPECT_EQ(Denied(user, {"RENAME", "c1", "b1"}), "key 2");
  EXPECT_EQ(Denied(UserWith({"+get", "~a*", "(+set ~b*)"}), {"DEL", "a"}), "command 0");
}

TEST(AclCheckTest, SortIsForWhoReadsEverything) {
  const auto why = [](const Words& rules, const Words& words) {
    return std::string(WhyNotSort(UserWith(rules), *FindCommand(words).command, words));
  };
  const Words some = {"+@all", "~a*"};
  EXPECT_TRUE(why(some, {"SORT", "a", "BY", "w*"}).contains("BY option"));
  EXPECT_TRUE(why(some, {"SORT_RO", "a", "GET", "#"}).contains("GET option"));
  EXPECT_EQ(why(some, {"SORT", "a", "BY", "nosort"}), "");
  EXPECT_EQ(why(some, {"SORT", "a", "LIMIT", "GET", "BY"}), "");
  EXPECT_EQ(why(some, {"GET", "a"}), "");
  EXPECT_EQ(why({"+@all", "~a*", "(+sort_ro %R~*)"}, {"SORT_RO", "a", "BY", "w*"}), "");
  EXPECT_TRUE(why({"+@all", "~a*", "(+sort_ro %R~*)"}, {"SORT", "a", "BY", "w*"}).contains("BY option"));
  EXPECT_EQ(why({"+@all", "~*"}, {"SORT", "a", "BY", "w*"}), "");
}

TEST(AclCheckTest, ChannelsArePatternsOrAsTheyAreWritten) {
  const AclUser user = UserWith({"+@all", "~*", "&a*", "&b"});
  EXPECT_TRUE(MayListen(user, "abc", false));
  EXPECT_FALSE(MayListen(user, "bc", false));
  EXPECT_TRUE(MayListen(user, "a*", true));
  EXPECT_FALSE(MayListen(user, "ab*", true)) << "it has to be one of those";
  EXPECT_TRUE(MayListen(UserWith({"&*"}), "ab*", true));
  EXPECT_FALSE(MayListen(UserWith({}), "a", false));
  EXPECT_EQ(Denied(user, {"PUBLISH", "abc", "x"}), "");
  EXPECT_EQ(Denied(user, {"PUBLISH", "c", "abc"}), "channel 1");
  EXPECT_EQ(Denied(user, {"SUBSCRIBE", "b", "a", "c"}), "channel 3");
  EXPECT_EQ(Denied(user, {"SSUBSCRIBE", "b", "a1"}), "");
  EXPECT_EQ(Denied(user, {"PSUBSCRIBE", "b", "a*"}), "");
  EXPECT_EQ(Denied(user, {"PSUBSCRIBE", "ab*"}), "channel 1");
  EXPECT_EQ(Denied(user, {"UNSUBSCRIBE", "c"}), "") << "whoever stops needs no leave";
}

// Whoever reads ahead, and whoever checks, find the same keys: a command could otherwise touch one that nobody checked.
TEST(AclCheckTest, EveryKeyThatIsReadIsFound) {
  const auto check = [](const Command& command) {
    // Those of channels are no keys.
    if (command.Is(kPubSub)) return;
    if (command.Is(kMovableKeys) || command.first_key == 0 || DocOf(command.name) == nullptr) return;
    const size_t size = static_cast<size_t>(std::abs(command.arity)) + (command.arity < 0 ? 4 : 0);
    std::vector<std::string> texts;
    for (size_t i = 0; i < size; ++i) texts.push_back("k" + std::to_string(i));
    const Words words(texts.begin(), texts.end());
    const auto found = FindKeys(command, words);
    ASSERT_TRUE(found.has_value()) << command.name;
    ForEachKey(command, words, [&](std::string_view key) {
      const auto same = [&](const FoundKey& one) { return words[one.at] == key; };
      EXPECT_TRUE(std::ranges::any_of(*found, same)) << command.name << " " << key;
    });
  };
  for (const Command& command : AllCommands()) check(command);
  for (const Command& command : AllSubcommands()) check(command);
}

TEST(AclNamesTest, EveryCommandHasANumber) {
  EXPECT_LE(AllAclNames().size(), kMaxAclNames);
  for (const Command& command : AllCommands()) EXPECT_EQ(AllAclNames()[AclNumberOf(command)].name, command.name);
  for (const Command& command : AllSubcommands()) {
    const std::string_view name = AllAclNames()[AclNumberOf(command)].name;
    EXPECT_TRUE(name == command.name || (name == "debug" && command.name.starts_with("debug|"))) << command.name;
  }
  EXPECT_FALSE(FindAclName("debug|object"));
  EXPECT_TRUE(FindAclName("XGROUP|Create"));
  EXPECT_GT(AllAclNames()[*FindAclName("client")].subcommands, 10);
}

TEST(AclLogTest, WhatIsAlikeIsCounted) {
  AclLog log;
  const auto add = [&](std::string object, int64_t at, size_t most = 100) {
    AclLog::Entry entry;
    entry.reason = "key";
    entry.context = "toplevel";
    entry.object = std::move(object);
    entry.user = "ada";
    entry.at_millis = at;
    log.Add(std::move(entry), most);
  };
  const auto told = [&] {
    std::string text;
    for (const AclLog::Entry& entry : log.Latest(100)) {
      text += entry.object.substr(0, 3) + std::to_string(entry.count) + " ";
    }
    return text;
  };
  add("a", 0);
  add("b", 1);
  add("a", 60'000);
  EXPECT_EQ(told(), "a2 b1 ");
  add("b", 60'001);
  add("b", 120'002);
  EXPECT_EQ(told(), "b1 b2 a2 ") << "not within a minute";
  for (int i = 0; i < 10; ++i) add("x" + std::to_string(i), 120'003);
  add("a", 60'000);
  EXPECT_EQ(log.Latest(1)[0].count, 1U) << "not among the ten before it";
  add("y", 120'003, 3);
  EXPECT_EQ(told(), "y1 a1 x91 ");
  add("z", 120'003, 0);
  EXPECT_EQ(told(), "");
  add(std::string(10'000, 'l'), 0);
  EXPECT_EQ(log.Latest(1)[0].object.size(), AclLog::kMaxTextBytes);
  log.Clear();
  EXPECT_TRUE(log.Latest(1).empty());
}

TEST(AclLogTest, LogsShowNoPasswords) {
  const auto shown = [](const Words& words) {
    std::string text;
    for (const std::string_view word : WithoutSecrets(words)) text.append(text.empty() ? "" : " ").append(word);
    return text;
  };
  EXPECT_EQ(shown({"auth", "x"}), "auth (redacted)");
  EXPECT_EQ(shown({"AUTH", "ada", "x"}), "AUTH (redacted) (redacted)");
  EXPECT_EQ(shown({"HELLO", "3", "AUTH", "ada", "x", "SETNAME", "me"}),
            "HELLO 3 AUTH (redacted) (redacted) SETNAME me");
  EXPECT_EQ(shown({"ACL", "SETUSER", "ada", ">x"}), "ACL SETUSER (redacted) (redacted)");
  EXPECT_EQ(shown({"CONFIG", "SET", "timeout", "1", "requirepass", "x"}),
            "CONFIG SET timeout 1 requirepass (redacted)");
  EXPECT_EQ(shown({"SET", "auth", "x"}), "SET auth x");
}

}  // namespace
}  // namespace kvarts::resp
