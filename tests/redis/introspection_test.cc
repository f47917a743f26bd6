// What a server tells of its commands: as redis-server tells it, of every command that is built.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>

#include "redis/commands.h"
#include "redis/redis_server.h"
#include "support/server_process.h"

namespace kvarts::test {
namespace {

// What Redis 7.0 does not have.
constexpr std::string_view kOurs[] = {"client|setinfo", "hexpire",           "hexpireat",    "hexpiretime", "hpersist",
                                      "hpexpire",       "hpexpireat",        "hpexpiretime", "hpttl",       "httl",
                                      "kvarts",         "kvarts|durability", "kvarts|help",  "waitaof"};

bool IsOurs(const std::string& name) { return std::ranges::find(kOurs, name) != std::end(kOurs); }

std::string Unquoted(const std::string& text) { return text.starts_with('"') ? text.substr(1, text.size() - 2) : text; }

// The elements of an array or set, in an order of their own.
std::vector<std::string> Sorted(const std::string& set) {
  std::vector<std::string> elements = ElementsOf(set.substr(set.find('[')));
  std::ranges::sort(elements);
  return elements;
}

// Of COMMAND INFO.
struct Description {
  explicit Description(const std::string& answer) : parts(ElementsOf(answer)) {
    if (parts.size() != 10) throw std::runtime_error("no description: " + answer);
  }
  std::string name() const { return Unquoted(parts[0]); }
  // Redis has notes for people.
  std::string KeySpecs() const {
    static const std::regex kNotes("\"notes\": \"[^\"]*\", ");
    return std::regex_replace(parts[8], kNotes, "");
  }
  std::map<std::string, Description> Subcommands() const {
    std::map<std::string, Description> all;
    for (const std::string& sub : ElementsOf(parts[9].substr(parts[9].find('[')))) {
      Description one(sub);
      all.emplace(one.name(), std::move(one));
    }
    return all;
  }

  std::vector<std::string> parts;
};

void ExpectAlike(const Description& ours, const Description& theirs) {
  SCOPED_TRACE(ours.name());
  EXPECT_EQ(ours.parts[0], theirs.parts[0]);
  EXPECT_EQ(ours.parts[1], theirs.parts[1]) << "arity";
  EXPECT_EQ(Sorted(ours.parts[2]), Sorted(theirs.parts[2])) << "flags";
  for (const size_t part : {3, 4, 5}) EXPECT_EQ(ours.parts[part], theirs.parts[part]) << "keys";
  EXPECT_EQ(Sorted(ours.parts[6]), Sorted(theirs.parts[6])) << "categories";
  EXPECT_EQ(Sorted(ours.parts[7]), Sorted(theirs.parts[7])) << "tips";
  EXPECT_EQ(ours.KeySpecs(), theirs.KeySpecs());
  const auto their_subcommands = theirs.Subcommands();
  for (const auto& [name, sub] : ours.Subcommands()) {
    if (IsOurs(name)) continue;
    const auto found = their_subcommands.find(name);
    if (found == their_subcommands.end()) {
      ADD_FAILURE() << "Redis has no " << name;
    } else {
      ExpectAlike(sub, found->second);
    }
  }
}

class IntrospectionTest : public ::testing::Test {
 protected:
  IntrospectionTest() {
    us_.Call({"HELLO", "3"});
    them_.Call({"HELLO", "3"});
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const std::string& name : ElementsOf(us_.Call({"COMMAND", "LIST"}))) names.push_back(Unquoted(name));
    return names;
  }

  ServerProcess ours_{{"--engine", "memory"}};
  RespClient us_{ours_.address()};
  RedisServer theirs_;
  RespClient them_{theirs_.address()};
};

TEST_F(IntrospectionTest, CommandsAreDescribedAlike) {
  const std::vector<std::string> names = Names();
  ASSERT_GT(names.size(), 100U);
  for (const std::string& name : names) {
    if (IsOurs(name)) continue;
    const auto ours = ElementsOf(us_.Call({"COMMAND", "INFO", name}));
    const auto theirs = ElementsOf(them_.Call({"COMMAND", "INFO", name}));
    ASSERT_EQ(ours.size(), 1U);
    ExpectAlike(Description(ours[0]), Description(theirs[0]));
  }
}

TEST_F(IntrospectionTest, CommandsAreFiledAlike) {
  const auto field = [](const std::string& docs, const std::string& name) {
    const size_t at = docs.find('"' + name + "\": ");
    return at == std::string::npos ? "" : docs.substr(at, docs.find_first_of(",}", at) - at);
  };
  for (const std::string& name : Names()) {
    if (IsOurs(name) || name.contains('|')) continue;
    const std::string ours = us_.Call({"COMMAND", "DOCS", name});
    const std::string theirs = them_.Call({"COMMAND", "DOCS", name});
    for (const char* one : {"since", "group", "deprecated_since"}) {
      // Of subcommands that are not built there is nothing to compare.
      if (theirs.contains("\"subcommands\"") && std::string_view(one) == "deprecated_since") continue;
      EXPECT_EQ(field(ours, one), field(theirs, one)) << name;
    }
  }
}

TEST_F(IntrospectionTest, TheListIsFilteredAlike) {
  const std::vector<std::string> names = Names();
  const auto both = [&](const std::vector<std::string>& filter) {
    std::vector<std::string> words = {"COMMAND", "LIST", "FILTERBY"};
    words.insert(words.end(), filter.begin(), filter.end());
    std::vector<std::string> ours = Sorted(us_.Call(words));
    std::vector<std::string> theirs = Sorted(them_.Call(words));
    std::erase_if(ours, [](const std::string& name) { return IsOurs(Unquoted(name)); });
    std::erase_if(theirs,
                  [&](const std::string& name) { return std::ranges::find(names, Unquoted(name)) == names.end(); });
    EXPECT_EQ(ours, theirs) << filter[0] << ' ' << filter[1];
  };
  for (const char* category : {"read", "WRITE", "set", "hash", "dangerous", "admin", "fast", "connection", "none"}) {
    both({"ACLCAT", category});
  }
  both({"PATTERN", "c*"});
  both({"pattern", "config|*"});
  both({"MODULE", "none"});
}

}  // namespace
}  // namespace kvarts::test
