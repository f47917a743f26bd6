// When fields of hashes expire, as Redis 7.4 documents it: redis-server 7.0 has no such commands.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>

#include "support/eventually.h"
#include "support/on_every_engine.h"
#include "support/resp_client.h"
#include "support/server_process.h"

namespace kvarts::test {
namespace {

using Words = std::vector<std::string>;

class FieldExpiryTest : public OnEngineTest {
 protected:
  void SetUp() override {
    server_ = std::make_unique<ServerProcess>(
        std::vector<std::string>{"--engine", GetParam().name, "--durability", "none", "--expiry-interval", "100ms"});
    client_ = std::make_unique<RespClient>(server_->address());
  }
  std::string Call(const Words& words) { return client_->Call(words); }
  static void Wait(int millis) { std::this_thread::sleep_for(std::chrono::milliseconds(millis)); }
  // With so many fields f0, f1 and so on.
  void MakeHash(const std::string& name, int fields) {
    Words words{"HSET", name};
    for (int i = 0; i < fields; ++i) words.insert(words.end(), {"f" + std::to_string(i), "value" + std::to_string(i)});
    Call(words);
  }
  static Words With(Words words, int from, int to) {
    words.push_back("FIELDS");
    words.push_back(std::to_string(to - from));
    for (int i = from; i < to; ++i) words.push_back("f" + std::to_string(i));
    return words;
  }

  std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<RespClient> client_;
};
KVARTS_ON_EVERY_ENGINE(FieldExpiryTest);

TEST_P(FieldExpiryTest, AFieldIsGoneAtItsInstantEverywhere) {
  for (const int fields : {5, 500}) {
    const std::string name = "h" + std::to_string(fields);
    MakeHash(name, fields);
    const std::string rest = std::to_string(fields - 2);
    EXPECT_EQ(Call(With({"HPEXPIRE", name, "60"}, 0, 2)), "[(integer) 1, (integer) 1]");
    EXPECT_EQ(Call({"HLEN", name}), "(integer) " + std::to_string(fields));
    Wait(70);
    EXPECT_EQ(Call({"HLEN", name}), "(integer) " + rest);
    EXPECT_EQ(Call({"HGET", name, "f0"}), "(nil)");
    EXPECT_EQ(Call({"HMGET", name, "f1", "f2"}), R"([(nil), "value2"])");
    EXPECT_EQ(Call({"HEXISTS", name, "f1"}), "(integer) 0");
    EXPECT_EQ(Call({"HSTRLEN", name, "f1"}), "(integer) 0");
    EXPECT_EQ(Call({"HKEYS", name}).find("\"f0\""), std::string::npos);
    EXPECT_EQ(Call({"HGETALL", name}).find("\"f1\""), std::string::npos);
    EXPECT_EQ(Call({"HSCAN", name, "0", "COUNT", "1000"}).find("\"f1\""), std::string::npos);
    EXPECT_EQ(Call(With({"HTTL", name}, 0, 3)), "[(integer) -2, (integer) -2, (integer) -1]");
    EXPECT_EQ(Call({"HSET", name, "f0", "again"}), "(integer) 1");
    EXPECT_EQ(Call({"HLEN", name}), "(integer) " + std::to_string(fields - 1));
    Wait(400);
    EXPECT_EQ(Call({"HLEN", name}), "(integer) " + std::to_string(fields - 1)) << "also when it was taken away";
    EXPECT_EQ(Call({"HGET", name, "f0"}), "\"again\"");
  }
}

TEST_P(FieldExpiryTest, AHashIsGoneWithItsLastField) {
  for (const int fields : {3, 300}) {
    const std::string name = "h" + std::to_string(fields);
    MakeHash(name, fields);
    Call(With({"HPEXPIRE", name, "400"}, 0, fields));
    EXPECT_EQ(Call({"EXISTS", name}), "(integer) 1");
    Wait(420);
    EXPECT_EQ(Call({"EXISTS", name}), "(integer) 0");
    EXPECT_EQ(Call({"TYPE", name}), "none");
    EXPECT_EQ(Call({"HLEN", name}), "(integer) 0");
    EXPECT_TRUE(Eventually([&] { return Call({"DBSIZE"}) == "(integer) 0"; }));
    // Another takes its place.
    EXPECT_EQ(Call({"SADD", name, "x"}), "(integer) 1");
    Call({"DEL", name});
  }
  // One is erased by hand when the others have expired, and nobody has noticed.
  MakeHash("mixed", 200);
  Call(With({"HPEXPIRE", "mixed", "400"}, 0, 199));
  Wait(420);
  EXPECT_EQ(Call({"HDEL", "mixed", "f199"}), "(integer) 1");
  EXPECT_EQ(Call({"EXISTS", "mixed"}), "(integer) 0");
}

TEST_P(FieldExpiryTest, ConditionsAreHeld) {
  for (const int fields : {4, 400}) {
    const std::string name = "h" + std::to_string(fields);
    MakeHash(name, fields);
    const auto expire = [&](const std::string& seconds, const std::string& condition) {
      return Call({"HEXPIRE", name, seconds, condition, "FIELDS", "2", "f0", "nobody"});
    };
    EXPECT_EQ(expire("100", "XX"), "[(integer) 0, (integer) -2]");
    EXPECT_EQ(expire("100", "GT"), "[(integer) 0, (integer) -2]");
    EXPECT_EQ(expire("100", "NX"), "[(integer) 1, (integer) -2]");
    EXPECT_EQ(expire("200", "NX"), "[(integer) 0, (integer) -2]");
    EXPECT_EQ(expire("50", "GT"), "[(integer) 0, (integer) -2]");
    EXPECT_EQ(expire("200", "GT"), "[(integer) 1, (integer) -2]");
    EXPECT_EQ(expire("300", "LT"), "[(integer) 0, (integer) -2]");
    EXPECT_EQ(expire("150", "LT"), "[(integer) 1, (integer) -2]");
    EXPECT_EQ(expire("120", "XX"), "[(integer) 1, (integer) -2]");
    EXPECT_EQ(Call({"HTTL", name, "FIELDS", "1", "f0"}), "[(integer) 120]");
    EXPECT_EQ(Call({"HEXPIRE", name, "100", "LT", "FIELDS", "1", "f1"}), "[(integer) 1]");
    EXPECT_EQ(Call({"HPERSIST", name, "FIELDS", "3", "f0", "f2", "nobody"}),
              "[(integer) 1, (integer) -1, (integer) -2]");
    EXPECT_EQ(Call({"HTTL", name, "FIELDS", "1", "f0"}), "[(integer) -1]");
    EXPECT_EQ(Call({"HEXPIRE", name, "0", "FIELDS", "1", "f0"}), "[(integer) 2]");
    EXPECT_EQ(Call({"HEXPIREAT", name, "1", "FIELDS", "1", "f1"}), "[(integer) 2]");
    EXPECT_EQ(Call({"HLEN", name}), "(integer) " + std::to_string(fields - 2));
    EXPECT_EQ(Call({"HPEXPIREAT", name, "4000000000001", "FIELDS", "1", "f2"}), "[(integer) 1]");
    EXPECT_EQ(Call({"HPEXPIRETIME", name, "FIELDS", "1", "f2"}), "[(integer) 4000000000001]");
    EXPECT_EQ(Call({"HEXPIRETIME", name, "FIELDS", "1", "f2"}), "[(integer) 4000000001]");
  }
}

TEST_P(FieldExpiryTest, WhatSetsAFieldAnewTakesItsExpiry) {
  for (const int fields : {2, 200}) {
    const std::string name = "h" + std::to_string(fields);
    MakeHash(name, fields);
    Call({"HSET", name, "n", "1"});
    EXPECT_EQ(Call({"HEXPIRE", name, "100", "FIELDS", "2", "n", "f0"}), "[(integer) 1, (integer) 1]");
    EXPECT_EQ(Call({"HINCRBY", name, "n", "1"}), "(integer) 2");
    EXPECT_EQ(Call({"HINCRBYFLOAT", name, "n", "0.5"}), "\"2.5\"");
    EXPECT_EQ(Call({"HTTL", name, "FIELDS", "1", "n"}), "[(integer) 100]");
    EXPECT_EQ(Call({"HSET", name, "f0", "x"}), "(integer) 0");
    EXPECT_EQ(Call({"HTTL", name, "FIELDS", "1", "f0"}), "[(integer) -1]");
    EXPECT_EQ(Call({"COPY", name, "copy"}), "(integer) 1");
    EXPECT_EQ(Call({"RENAME", name, "renamed"}), "OK");
    EXPECT_EQ(Call({"HTTL", "copy", "FIELDS", "1", "n"}), "[(integer) 100]");
    EXPECT_EQ(Call({"HTTL", "renamed", "FIELDS", "1", "n"}), "[(integer) 100]");
    EXPECT_EQ(Call({"HPEXPIRE", "renamed", "10", "FIELDS", "1", "n"}), "[(integer) 1]");
    EXPECT_TRUE(Eventually([&] { return Call({"HGET", "renamed", "n"}) == "(nil)"; }));
    EXPECT_EQ(Call({"HGET", "copy", "n"}), "\"2.5\"");
    Call({"DEL", "copy", "renamed"});
  }
}

TEST_P(FieldExpiryTest, SpreadingOutKeepsExpiries) {
  MakeHash("h", 100);
  Call(With({"HPEXPIRE", "h", "100000"}, 0, 3));
  MakeHash("h", 2);
  for (int i = 100; i < 300; ++i) Call({"HSET", "h", "f" + std::to_string(i), "x"});
  EXPECT_EQ(Call(With({"HTTL", "h"}, 0, 4)), "[(integer) -1, (integer) -1, (integer) 100, (integer) -1]");
  EXPECT_EQ(Call({"HLEN", "h"}), "(integer) 300");
}

TEST_P(FieldExpiryTest, ManyAreTakenAwayInTheEnd) {
  constexpr int kFields = 3000;
  MakeHash("h", kFields);
  for (int from = 0; from < kFields - 1; from += 500) {
    Call(With({"HPEXPIRE", "h", "300"}, from, std::min(from + 500, kFields - 1)));
  }
  Wait(400);
  EXPECT_EQ(Call({"HLEN", "h"}), "(integer) 1");
  Wait(1500);
  EXPECT_EQ(Call({"HLEN", "h"}), "(integer) 1");
  EXPECT_EQ(Call({"HRANDFIELD", "h", "10"}), R"(["f2999"])");
  EXPECT_EQ(Call({"HKEYS", "h"}), R"(["f2999"])");
}

TEST_P(FieldExpiryTest, ErrorsAreThoseOfRedis) {
  const auto error = [](const std::string& text) { return "(error) \"" + text + "\""; };
  Call({"HSET", "h", "a", "1"});
  Call({"SET", "s", "1"});
  EXPECT_EQ(Call({"HEXPIRE", "s", "1", "FIELDS", "1", "a"}),
            error("WRONGTYPE Operation against a key holding the wrong kind of value"));
  EXPECT_EQ(Call({"HEXPIRE", "none", "1", "FIELDS", "2", "a", "b"}), "[(integer) -2, (integer) -2]");
  EXPECT_EQ(Call({"HTTL", "none", "FIELDS", "1", "a"}), "[(integer) -2]");
  EXPECT_EQ(Call({"HEXPIRE", "h", "x", "FIELDS", "1", "a"}), error("ERR value is not an integer or out of range"));
  EXPECT_EQ(Call({"HEXPIRE", "h", "-1", "FIELDS", "1", "a"}), error("ERR invalid expire time, must be >= 0"));
  EXPECT_EQ(Call({"HEXPIRE", "h", "9223372036854775807", "FIELDS", "1", "a"}),
            error("ERR invalid expire time in 'hexpire' command"));
  EXPECT_EQ(Call({"HPEXPIREAT", "h", "70368744177664", "FIELDS", "1", "a"}),
            error("ERR invalid expire time in 'hpexpireat' command"));
  EXPECT_EQ(Call({"HPEXPIREAT", "h", "70368744177663", "FIELDS", "1", "a"}), "[(integer) 1]");
  EXPECT_EQ(Call({"HPEXPIRETIME", "h", "FIELDS", "1", "a"}), "[(integer) 9007199254740]");
  EXPECT_EQ(Call({"PEXPIREAT", "h", "70368744177663"}), "(integer) 1");
  EXPECT_EQ(Call({"PEXPIRETIME", "h"}), "(integer) 9007199254740");
  EXPECT_EQ(Call({"HEXPIRE", "h", "1", "FIELD", "1", "a"}),
            error("ERR Mandatory argument FIELDS is missing or not at the right position"));
  EXPECT_EQ(Call({"HEXPIRE", "h", "1", "FIELDS", "0", "a"}),
            error("ERR Parameter `numFields` should be greater than 0"));
  EXPECT_EQ(Call({"HEXPIRE", "h", "1", "FIELDS", "2", "a"}),
            error("ERR The `numfields` parameter must match the number of arguments"));
  EXPECT_EQ(Call({"HTTL", "h", "FIELDS", "0", "a"}), error("ERR Number of fields must be a positive integer"));
  EXPECT_EQ(Call({"HEXPIRE", "h", "1"}), error("ERR wrong number of arguments for 'hexpire' command"));
}

}  // namespace
}  // namespace kvarts::test
