// The same random commands to redis-server and to Kvarts: every answer is the same.
//
// A command is made from one of its templates (commands.h), with words that are sometimes wrong, too few or too many.
// KVARTS_SEED chooses others; KVARTS_COMMANDS how many of each.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "redis/both_servers.h"
#include "redis/commands.h"
#include "support/environment.h"
#include "support/on_every_engine.h"
#include "support/server_process.h"

namespace kvarts::test {
namespace {

std::string Line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line.append(line.empty() ? "" : " ").append(Escaped(word));
  return line;
}

class DifferentialTest : public BothServersTest {
 protected:
  // What a client that tracks is told beside its answers, tracking_test.cc compares.
  static std::string Answer(RespClient& client) {
    while (true) {
      std::string answer = client.Read();
      const bool beside =
          answer.starts_with("(push) [\"invalidate\"") || answer.starts_with("(push) [\"tracking-redir-broken\"");
      if (!beside) return answer;
    }
  }
  // An answer of both; a failure when they differ.
  void Compare(const std::vector<std::string>& words, Comparison how) {
    us_->Send(words);
    them_->Send(words);
    const std::string theirs = Answer(*them_);
    std::string ours;
    ASSERT_NO_THROW(ours = Answer(*us_)) << "theirs: " << theirs << "\n" << ours_->Log();
    const bool ends = words[0] == "EXEC" || words[0] == "DISCARD";
    ASSERT_TRUE(ends ? TransactionsAlike(ours, theirs) : Alike(ours, theirs, how))
        << "ours:   " << ours << "\ntheirs: " << theirs;
    if (theirs == "QUEUED") queued_.push_back(how);
    if (theirs == "RESET") {
      queued_.clear();
      watches_ = false;
    }
    if (ends && !theirs.starts_with("(error) \"ERR")) {
      queued_.clear();
      watches_ = false;
    }
    if (words[0] == "WATCH" || words[0] == "watch") watches_ = true;
  }
  void WatchNothing() {
    Compare({"DISCARD"}, Comparison::kExact);
    Compare({"UNWATCH"}, Comparison::kExact);
    watches_ = false;
  }
  bool TransactionsAlike(const std::string& ours, const std::string& theirs) const {
    if (ours == theirs) return true;
    if (!ours.starts_with('[') || !theirs.starts_with('[')) return ours == theirs;
    const std::vector<std::string> a = ElementsOf(ours);
    const std::vector<std::string> b = ElementsOf(theirs);
    if (a.size() != b.size() || a.size() != queued_.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
      if (!Alike(a[i], b[i], queued_[i])) return false;
    }
    return true;
  }
  // Everything that is there, by commands that are known to be right.
  void CompareAll() {
    for (int database = 0; database < 2; ++database) {
      Compare({"SELECT", std::to_string(database)}, Comparison::kExact);
      // What has expired is removed when it is asked for.
      for (const std::string& key : CommandMaker::Keys()) Compare({"EXISTS", key}, Comparison::kExact);
      Compare({"KEYS", "*"}, Comparison::kUnordered);
      Compare({"DBSIZE"}, Comparison::kExact);
    }
  }

  std::vector<Comparison> queued_;  // between MULTI and EXEC
  bool watches_ = false;
};
KVARTS_ON_EVERY_ENGINE(DifferentialTest);

TEST_P(DifferentialTest, AnswersAreTheSame) {
  const uint64_t seed = FromEnvironment("KVARTS_SEED", 1);
  const uint64_t each = FromEnvironment("KVARTS_COMMANDS", LongRun() ? 5000 : GetParam().shared ? 50 : 400);
  const auto templates = CommandTemplates();
  CommandMaker maker(seed);
  std::map<std::string_view, uint64_t> counts;
  std::vector<std::string> lately;
  for (uint64_t i = 0; i < each * templates.size(); ++i) {
    const CommandTemplate& command = maker.Choose(templates);
    const std::vector<std::string> words = maker.Make(command);
    // Ours keeps a transaction from going through that watches a key of such a database, also if it was not there.
    if (watches_ && (command.name.starts_with("FLUSH") || command.name == "SWAPDB")) WatchNothing();
    // In a transaction ours speaks as it did before it, to its end.
    if (command.name == "HELLO") Compare({"DISCARD"}, Comparison::kExact);
    ++counts[command.name];
    lately.push_back(Line(words));
    if (lately.size() > 20) lately.erase(lately.begin());
    Compare(words, command.comparison);
    if (i % 1000 == 999 && !HasFatalFailure()) CompareAll();
    if (HasFatalFailure()) {
      std::string story;
      for (const std::string& line : lately) story.append("  ").append(line).append("\n");
      FAIL() << "seed " << seed << ", command " << i << ":\n" << story;
    }
  }
  for (const CommandTemplate& command : templates) EXPECT_GE(counts[command.name], each / 3) << command.name;
}

// Commands that no template has, and why.
const std::map<std::string_view, std::string_view>& WithoutTemplate() {
  static const std::map<std::string_view, std::string_view> kWithout = {
      {"acl", "acl_test.cc compares users with rules by chance"},
      {"bgrewriteaof", "one server is busy with it while the other is not"},
      {"bgsave", "one server is busy with it while the other is not"},
      {"save", "one server is busy with it while the other is not"},
      {"debug", "is not the same"},
      {"hexpire", "Redis has it since 7.4; field_expiry_test.cc has it, as the following"},
      {"hexpireat", "since 7.4"},
      {"hexpiretime", "since 7.4"},
      {"hpersist", "since 7.4"},
      {"hpexpire", "since 7.4"},
      {"hpexpireat", "since 7.4"},
      {"hpexpiretime", "since 7.4"},
      {"hpttl", "since 7.4"},
      {"httl", "since 7.4"},
      {"kvarts", "is ours alone"},
      {"psubscribe", "is told of, and not answered; pubsub_test.cc has it, as the following"},
      {"punsubscribe", "pubsub_test.cc"},
      {"ssubscribe", "pubsub_test.cc"},
      {"subscribe", "pubsub_test.cc"},
      {"sunsubscribe", "pubsub_test.cc"},
      {"unsubscribe", "pubsub_test.cc"},
      {"lolwut", "draws something else"},
      {"quit", "ends the connection; connection tests have it"},
      {"replicaof", "would make a replica of the other server"},
      {"slaveof", "would make a replica of the other server"},
      {"shutdown", "ends the server"},
      {"waitaof", "since 7.2; administration_test.cc has it"},
  };
  return kWithout;
}

TEST(CommandTemplatesTest, HaveEveryCommandThatIsThere) {
  const ServerProcess server({"--engine", "memory"});
  std::set<std::string> asked;
  for (const CommandTemplate& command : CommandTemplates()) {
    std::string name(command.name);
    std::ranges::transform(name, name.begin(),
                           [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c); });
    EXPECT_FALSE(WithoutTemplate().contains(name)) << name;
    asked.insert(std::move(name));
  }
  RespClient client(server.address());
  const std::vector<std::string> names = ElementsOf(client.Call({"COMMAND", "LIST"}));
  EXPECT_GT(names.size(), asked.size());
  for (const std::string& quoted : names) {
    const std::string name = quoted.substr(1, quoted.size() - 2);
    if (name.contains('|') || WithoutTemplate().contains(name)) continue;
    EXPECT_TRUE(asked.contains(name)) << name;
  }
}

// What the test is worth: a server that is wrong in one answer of many is found out.
TEST(ComparisonTest, TellsWhatDiffers) {
  EXPECT_TRUE(Alike("(integer) 1", "(integer) 1", Comparison::kExact));
  EXPECT_FALSE(Alike("(integer) 1", "(integer) 2", Comparison::kExact));
  EXPECT_FALSE(Alike("\"1\"", "(integer) 1", Comparison::kExact));
  EXPECT_TRUE(Alike("[a, b]", "[b, a]", Comparison::kUnordered));
  EXPECT_FALSE(Alike("[a, b]", "[b, b]", Comparison::kUnordered));
  EXPECT_FALSE(Alike("[a, b]", "[a]", Comparison::kUnordered));
  EXPECT_TRUE(Alike("(set) [a, b]", "(set) [b, a]", Comparison::kUnordered));
  EXPECT_FALSE(Alike("(set) [a, b]", "[b, a]", Comparison::kUnordered));
  EXPECT_TRUE(Alike("{a: (integer) 1, b: (integer) 2}", "{b: (integer) 2, a: (integer) 1}", Comparison::kUnordered));
  EXPECT_FALSE(Alike("{a: (integer) 1, b: (integer) 2}", "{b: (integer) 1, a: (integer) 2}", Comparison::kUnordered));
  EXPECT_TRUE(Alike("\"a\"", "\"[b\"", Comparison::kKind));
  EXPECT_FALSE(Alike("\"a\"", "(nil)", Comparison::kKind));
  EXPECT_FALSE(Alike("(integer) 1", "[(integer) 1]", Comparison::kKind));
  EXPECT_FALSE(Alike("(error) \"ERR a\"", "(error) \"ERR b\"", Comparison::kKind));
  EXPECT_TRUE(Alike("(integer) 100", "(integer) 99", Comparison::kSeconds));
  EXPECT_FALSE(Alike("(integer) 100", "(integer) 80", Comparison::kSeconds));
  EXPECT_FALSE(Alike("(integer) -1", "(integer) -2", Comparison::kSeconds));
  EXPECT_TRUE(Alike("(integer) 100000", "(integer) 99990", Comparison::kMillis));
  EXPECT_FALSE(Alike("(error) ERR a", "(error) ERR b", Comparison::kMillis));
}

}  // namespace
}  // namespace kvarts::test
