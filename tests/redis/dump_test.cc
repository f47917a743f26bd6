// DUMP and RESTORE between redis-server and Kvarts: what either dumps the other takes, and holds the same then.
#include <gtest/gtest.h>

#include <memory>

#include "base/bytes.h"
#include "redis/both_servers.h"
#include "support/on_every_engine.h"
#include "support/server_process.h"

namespace kvarts::test {
namespace {

using Words = std::vector<std::string>;

// The bytes of a bulk string as RespClient shows it.
std::string BytesOf(const std::string& answer) {
  const auto bytes = ParseEscaped(answer.substr(1, answer.size() - 2));
  EXPECT_TRUE(bytes) << answer;
  return bytes ? *bytes : std::string();
}

class DumpTest : public BothServersTest {
 protected:
  static std::string Take(RespClient& from, RespClient& to, const std::string& key) {
    return to.Call({"RESTORE", key, "0", BytesOf(from.Call({"DUMP", key})), "REPLACE"});
  }
  // What `make` makes on Redis is on ours what `show` shows of it on Redis, and back again.
  void GoesBothWays(const Words& make, const Words& show) {
    them_->Call({"DEL", "k"});
    ASSERT_FALSE(them_->Call(make).starts_with("(error)")) << make[0];
    const std::string shown = them_->Call(show);
    ASSERT_EQ(Take(*them_, *us_, "k"), "OK") << shown.substr(0, 200);
    EXPECT_EQ(us_->Call(show), shown);
    them_->Call({"DEL", "k"});
    ASSERT_EQ(Take(*us_, *them_, "k"), "OK") << shown.substr(0, 200);
    EXPECT_EQ(them_->Call(show), shown);
  }
};
KVARTS_ON_EVERY_ENGINE(DumpTest);

TEST_P(DumpTest, StringsGoBothWays) {
  std::string mixed;
  for (int i = 0; i < 3000; ++i) mixed.push_back(static_cast<char>(i * i >> 3));
  for (const std::string& text :
       {std::string(), std::string("0"), std::string("-1"), std::string("127"), std::string("128"),
        std::string("-40000"), std::string("2147483647"), std::string("2147483648"), std::string("007"),
        std::string(20'000, 'x'), std::string("abcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabc"), mixed,
        std::string(2'000'000, 'z') + mixed}) {
    GoesBothWays({"SET", "k", text}, {"GET", "k"});
  }
}

TEST_P(DumpTest, SetsGoBothWays) {
  for (const Words& members : {Words{"1", "2", "-3"}, Words{"1", "70000"}, Words{"1", "5000000000"}, Words{"a", "12"},
                               Words{std::string(5000, 'a'), "-40000"}}) {
    Words make{"SADD", "k"};
    make.insert(make.end(), members.begin(), members.end());
    GoesBothWays(make, {"SORT", "k", "ALPHA"});
  }
  Words many{"SADD", "k"};
  for (int i = 0; i < 2000; ++i) many.push_back("member" + std::to_string(i));
  GoesBothWays(many, {"SORT", "k", "ALPHA"});
}

TEST_P(DumpTest, HashesGoBothWays) {
  them_->Call({"CONFIG", "SET", "hash-max-listpack-value", "100000"});
  for (const Words& fields :
       {Words{"a", "1"}, Words{"0", "-1", "127", "128", "4095", "-4096", "4096", "-32768", "8388607", "-8388608"},
        Words{"n", "2147483647", "m", "-9223372036854775808"},
        Words{"short", std::string(63, 's'), "middle", std::string(64, 'm'), "long", std::string(4095, 'l'), "longer",
              std::string(4096, 'L'), "longest", std::string(20'000, 'x')}}) {
    Words make{"HSET", "k"};
    Words show{"HMGET", "k"};
    make.insert(make.end(), fields.begin(), fields.end());
    for (size_t i = 0; i < fields.size(); i += 2) show.push_back(fields[i]);
    GoesBothWays(make, show);
    GoesBothWays(make, {"HLEN", "k"});
  }
  Words many{"HSET", "k"};
  Words show{"HMGET", "k"};
  for (int i = 0; i < 1000; ++i) {
    many.insert(many.end(), {"field" + std::to_string(i), std::string(static_cast<size_t>(i), 'v')});
    show.push_back("field" + std::to_string(i));
  }
  GoesBothWays(many, show);
}

TEST_P(DumpTest, SortedSetsGoBothWays) {
  const Words show{"ZRANGE", "k", "0", "-1", "WITHSCORES"};
  GoesBothWays({"ZADD", "k", "1", "a", "2.5", "b", "-inf", "c", "1e300", "d", "-7", "12"}, show);
  GoesBothWays({"ZADD", "k", "1", std::string(100, 'a'), "0.1", "b"}, show);
  GoesBothWays({"ZADD", "k", "3", "a", "1", "b"}, {"SORT", "k", "BY", "nosort", "DESC"});
  Words many{"ZADD", "k"};
  for (int i = 0; i < 1000; ++i) many.insert(many.end(), {std::to_string(i % 70) + ".25", "m" + std::to_string(i)});
  GoesBothWays(many, show);
}

TEST_P(DumpTest, ListsGoBothWays) {
  const Words show{"LRANGE", "k", "0", "-1"};
  GoesBothWays({"RPUSH", "k", "a", "1", "-70000", "a", std::string(300, 'x')}, show);
  GoesBothWays({"RPUSH", "k", std::string(20'000, 'x'), "b"}, show);
  Words many{"RPUSH", "k"};
  for (int i = 0; i < 3000; ++i) many.push_back("item" + std::to_string(i));
  GoesBothWays(many, show);
}

TEST_P(DumpTest, FieldsKeepTheirExpiry) {
  us_->Call({"HSET", "h", "a", "1", "b", "2", "c", "3"});
  us_->Call({"HPEXPIREAT", "h", "4000000000123", "FIELDS", "1", "a"});
  us_->Call({"HPEXPIREAT", "h", "4100000000000", "FIELDS", "1", "b"});
  const std::string dump = BytesOf(us_->Call({"DUMP", "h"}));
  EXPECT_EQ(us_->Call({"RESTORE", "copy", "0", dump}), "OK");
  EXPECT_EQ(us_->Call({"HPEXPIRETIME", "copy", "FIELDS", "3", "a", "b", "c"}),
            "[(integer) 4000000000123, (integer) 4100000000000, (integer) -1]");
  EXPECT_EQ(us_->Call({"HMGET", "copy", "a", "b", "c"}), R"(["1", "2", "3"])");
}

TEST_P(DumpTest, WhatIsDamagedIsRefused) {
  them_->Call({"SADD", "k", "1", "2", "3"});
  const std::string dump = BytesOf(them_->Call({"DUMP", "k"}));
  for (size_t i = 0; i < dump.size(); ++i) {
    std::string damaged = dump;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x40);
    EXPECT_EQ(us_->Call({"RESTORE", "k", "0", damaged}), "(error) \"ERR DUMP payload version or checksum are wrong\"");
    EXPECT_EQ(us_->Call({"RESTORE", "k", "0", dump.substr(0, i)}),
              "(error) \"ERR DUMP payload version or checksum are wrong\"");
  }
  EXPECT_EQ(us_->Call({"EXISTS", "k"}), "(integer) 0");
}

TEST_P(DumpTest, OptionsOfRestoreAreKept) {
  them_->Call({"SET", "k", "text"});
  const std::string dump = BytesOf(them_->Call({"DUMP", "k"}));
  for (const Words& options : {Words{"0"}, Words{"0"}, Words{"0", "REPLACE"}, Words{"-1", "REPLACE"}, Words{"x"}}) {
    Words words{"RESTORE", "k2", options[0], dump};
    words.insert(words.end(), options.begin() + 1, options.end());
    EXPECT_EQ(us_->Call(words), them_->Call(words)) << options[0];
  }
  EXPECT_EQ(us_->Call({"RESTORE", "t", "100000", dump}), "OK");
  EXPECT_NE(us_->Call({"PTTL", "t"}), "(integer) -1");
  EXPECT_EQ(us_->Call({"RESTORE", "t", "4000000000000", dump, "ABSTTL", "REPLACE"}), "OK");
  EXPECT_EQ(us_->Call({"PEXPIRETIME", "t"}), "(integer) 4000000000000");
  EXPECT_EQ(us_->Call({"RESTORE", "t", "1000", dump, "ABSTTL", "REPLACE"}), "OK");
  EXPECT_EQ(us_->Call({"EXISTS", "t"}), "(integer) 0");
}

}  // namespace
}  // namespace kvarts::test
