// Strings that lie in chunks, and those that do not fit into one commit. The limits are small, so that it does not take
// long to reach them; the long run has one string that is as large as strings may be.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "support/eventually.h"
#include "support/on_every_engine.h"
#include "support/resp_client.h"
#include "support/server_process.h"

namespace kvarts::test {
namespace {

using Words = std::vector<std::string>;

constexpr size_t kMiB = 1 << 20;

// Text that is somewhere else nowhere the same.
std::string Text(size_t size, uint64_t seed = 1) {
  std::string text;
  text.reserve(size + 8);
  for (uint64_t state = seed * 0x9e3779b97f4a7c15; text.size() < size;) {
    state = state * 6364136223846793005 + 1442695040888963407;
    text.append(reinterpret_cast<const char*>(&state), 7);
  }
  text.resize(size);
  for (char& c : text) c = static_cast<char>('a' + (static_cast<unsigned char>(c) % 26));
  return text;
}

std::string Bulk(const std::string& text) { return '"' + text + '"'; }

class LargeStringsTest : public OnEngineTest {
 protected:
  void Serve(const Words& options) {
    Words all{"--engine", GetParam().name, "--durability", "none"};
    all.insert(all.end(), options.begin(), options.end());
    server_ = std::make_unique<ServerProcess>(all);
    client_ = std::make_unique<RespClient>(server_->address());
  }
  void SetUp() override {
    Serve({"--redis-max-bulk-bytes", "40MiB", "--redis-staged-bytes", "5MiB", "--redis-max-held-bytes", "100MiB"});
  }
  std::string Call(const Words& words) { return client_->Call(words); }
  // Compared here, so that a failure does not print all of it.
  bool Is(const std::string& key, const std::string& text) { return Call({"GET", key}) == Bulk(text); }

  std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<RespClient> client_;
};
KVARTS_ON_EVERY_ENGINE(LargeStringsTest);

TEST_P(LargeStringsTest, AnySizeIsWhatWasSet) {
  for (const size_t size : {kMiB - 1, kMiB, kMiB + 1, 2 * kMiB + 12'345, 5 * kMiB, 5 * kMiB + 1, 9 * kMiB}) {
    const std::string text = Text(size);
    ASSERT_EQ(Call({"SET", "k", text}), "OK") << size;
    EXPECT_EQ(Call({"STRLEN", "k"}), "(integer) " + std::to_string(size));
    EXPECT_TRUE(Is("k", text)) << size;
    EXPECT_EQ(Call({"TYPE", "k"}), "string");
  }
  EXPECT_EQ(Call({"DBSIZE"}), "(integer) 1");
}

TEST_P(LargeStringsTest, PartsAreReadAndWritten) {
  std::string text = Text(3 * kMiB);
  Call({"SET", "k", text});
  const auto write = [&](size_t at, const std::string& part) {
    Call({"SETRANGE", "k", std::to_string(at), part});
    if (text.size() < at + part.size()) text.resize(at + part.size(), '\0');
    text.replace(at, part.size(), part);
  };
  write(0, "begin");
  write(32 * 1024 - 3, "across");
  write(kMiB - 70'000, std::string(200'000, 'X'));
  write(3 * kMiB - 2, "end");
  EXPECT_TRUE(Is("k", text));
  EXPECT_EQ(Call({"APPEND", "k", "more"}), "(integer) " + std::to_string(text.size() + 4));
  text += "more";
  for (const auto& [first, last] :
       {std::pair<int64_t, int64_t>{0, 10}, {32'760, 32'780}, {-5, -1}, {2'000'000, 2'100'000}}) {
    const auto size = static_cast<int64_t>(text.size());
    const int64_t from = first < 0 ? first + size : first;
    const int64_t to = last < 0 ? last + size : last;
    EXPECT_EQ(Call({"GETRANGE", "k", std::to_string(first), std::to_string(last)}),
              Bulk(text.substr(static_cast<size_t>(from), static_cast<size_t>(to - from + 1))));
  }
  EXPECT_EQ(Call({"COPY", "k", "copy"}), "(integer) 1");
  EXPECT_EQ(Call({"RENAME", "k", "renamed"}), "OK");
  EXPECT_TRUE(Is("renamed", text));
  Call({"SETRANGE", "renamed", "5", "changed"});
  EXPECT_TRUE(Is("copy", text));
  EXPECT_EQ(Call({"INCR", "copy"}), "(error) \"ERR value is not an integer or out of range\"");
  EXPECT_EQ(Call({"SADD", "copy", "x"}),
            "(error) \"WRONGTYPE Operation against a key holding the wrong kind of value\"");
}

TEST_P(LargeStringsTest, ZerosCostNothing) {
  EXPECT_EQ(Call({"SETBIT", "bits", "319999999", "1"}), "(integer) 0");
  EXPECT_EQ(Call({"STRLEN", "bits"}), "(integer) 40000000");
  EXPECT_EQ(Call({"GETBIT", "bits", "319999999"}), "(integer) 1");
  EXPECT_EQ(Call({"GETBIT", "bits", "5000000"}), "(integer) 0");
  EXPECT_EQ(Call({"BITCOUNT", "bits"}), "(integer) 1");
  EXPECT_EQ(Call({"BITPOS", "bits", "1"}), "(integer) 319999999");
  EXPECT_EQ(Call({"SETRANGE", "text", "30000000", "x"}), "(integer) 30000001");
  EXPECT_EQ(Call({"GETRANGE", "text", "29999998", "-1"}), R"("\x00\x00x")");
  EXPECT_EQ(Call({"BITFIELD", "bits", "SET", "u8", "100000000", "255", "GET", "u8", "100000004"}),
            "[(integer) 0, (integer) 240]");
  EXPECT_EQ(Call({"BITCOUNT", "bits", "100000002", "-1", "BIT"}), "(integer) 7");
  EXPECT_EQ(Call({"BITOP", "NOT", "not", "bits"}), "(integer) 40000000");
  EXPECT_EQ(Call({"BITPOS", "not", "0"}), "(integer) 100000000");
  EXPECT_EQ(Call({"BITCOUNT", "not"}), "(integer) 319999991");
}

TEST_P(LargeStringsTest, LimitsAreExact) {
  // The largest there may be, and one byte more.
  const std::string largest = Text(40 * kMiB);
  EXPECT_EQ(Call({"SET", "k", largest}), "OK");
  EXPECT_TRUE(Is("k", largest));
  EXPECT_EQ(Call({"APPEND", "k", "x"}), "(error) \"ERR string exceeds maximum allowed size (proto-max-bulk-len)\"");
  EXPECT_EQ(Call({"SETRANGE", "k", std::to_string(40 * kMiB), "x"}),
            "(error) \"ERR string exceeds maximum allowed size (proto-max-bulk-len)\"");
  EXPECT_EQ(Call({"SETBIT", "k", std::to_string(40 * kMiB * 8), "1"}),
            "(error) \"ERR bit offset is not an integer or out of range\"");
  EXPECT_TRUE(Is("k", largest));
  client_->SendRaw("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$" + std::to_string(40 * kMiB + 1) + "\r\n");
  EXPECT_EQ(client_->Read(), "(error) \"ERR Protocol error: invalid bulk length\"");
  EXPECT_TRUE(client_->AtEnd());
}

TEST_P(LargeStringsTest, WhatIsStagedIsSeenAsAWholeOrNotAtAll) {
  const std::string first = Text(7 * kMiB, 1);
  const std::string second = Text(8 * kMiB, 2);
  Call({"SET", "k", first});
  std::atomic<bool> done = false;
  std::thread writer([&] {
    RespClient other(server_->address());
    for (int i = 0; i < 4; ++i) other.Call({"SET", "k", i % 2 == 0 ? second : first});
    done = true;
  });
  while (!done) {
    const std::string seen = Call({"GET", "k"});
    EXPECT_TRUE(seen == Bulk(first) || seen == Bulk(second)) << seen.size();
  }
  writer.join();
  EXPECT_EQ(Call({"DBSIZE"}), "(integer) 1");
}

TEST_P(LargeStringsTest, OptionsAndTransactionsTakeWhatIsStaged) {
  const std::string text = Text(6 * kMiB);
  EXPECT_EQ(Call({"SET", "k", text, "XX"}), "(nil)");
  EXPECT_EQ(Call({"SETNX", "k", text}), "(integer) 1");
  EXPECT_EQ(Call({"SETNX", "k", text}), "(integer) 0");
  EXPECT_EQ(Call({"SET", "k", text, "NX"}), "(nil)");
  EXPECT_TRUE(Call({"SET", "k", "small", "GET"}) == Bulk(text));
  EXPECT_EQ(Call({"GETSET", "k", text}), "\"small\"");
  EXPECT_EQ(Call({"SETEX", "k", "100", text}), "OK");
  EXPECT_EQ(Call({"TTL", "k"}), "(integer) 100");
  EXPECT_EQ(Call({"MSET", "a", text, "b", "small", "c", text}), "OK");
  EXPECT_TRUE(Is("a", text) && Is("c", text));
  EXPECT_EQ(Call({"MULTI"}), "OK");
  EXPECT_EQ(Call({"SET", "d", text}), "QUEUED");
  EXPECT_EQ(Call({"STRLEN", "d"}), "QUEUED");
  EXPECT_EQ(Call({"SET", "e", "x"}), "QUEUED");
  EXPECT_EQ(Call({"EXEC"}), "[OK, (integer) 6291456, OK]");
  EXPECT_TRUE(Is("d", text));
  Call({"SADD", "set", "x"});
  EXPECT_EQ(Call({"SET", "set", text, "GET"}),
            "(error) \"WRONGTYPE Operation against a key holding the wrong kind of value\"");
  EXPECT_EQ(Call({"SET", "k", text, "EX", "0"}), "(error) \"ERR invalid expire time in 'set' command\"");
}

TEST_P(LargeStringsTest, WhatMustBeOneCommitSaysWhyItCannotBe) {
  const std::string text = Text(33 * kMiB);
  server_.reset();
  Serve({"--redis-max-bulk-bytes", "40MiB", "--redis-staged-bytes", "5MiB", "--limits-max-commit-bytes", "16MiB"});
  EXPECT_EQ(Call({"SET", "k", text}), "OK");
  EXPECT_TRUE(Is("k", text));
  const std::string refused = Call({"APPEND", "other", text});
  EXPECT_TRUE(refused.starts_with("(error) \"ERR ") && refused.find("limit=max_commit_bytes") != std::string::npos)
      << refused;
  EXPECT_NE(Call({"COPY", "k", "copy"}).find("limit=max_commit_bytes"), std::string::npos);
  EXPECT_NE(Call({"BITOP", "NOT", "not", "k"}).find("limit=max_commit_bytes"), std::string::npos);
  EXPECT_NE(Call({"DUMP", "k"}).find("limit=max_commit_bytes"), std::string::npos);
  EXPECT_EQ(Call({"EXISTS", "other", "copy", "not"}), "(integer) 0");
}

TEST_P(LargeStringsTest, WhatAllHoldIsBounded) {
  Call({"SET", "k", Text(30 * kMiB)});
  // Answers of a pipeline are larger together than what may be held, and come one after the other.
  std::string pipeline;
  for (int i = 0; i < 6; ++i) pipeline += "GET k\r\n";
  client_->SendRaw(pipeline);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(client_->Read().size(), 30 * kMiB + 2);
  // In a transaction they belong together.
  Call({"MULTI"});
  for (int i = 0; i < 6; ++i) EXPECT_EQ(Call({"GET", "k"}), "QUEUED");
  EXPECT_NE(Call({"EXEC"}).find("limit=redis.max_held_bytes"), std::string::npos);
  // Whoever sends more than there is room for is told, and the others are served.
  std::vector<std::unique_ptr<RespClient>> others;
  for (int i = 0; i < 4; ++i) {
    others.push_back(std::make_unique<RespClient>(server_->address()));
    try {
      others.back()->SendRaw("*3\r\n$3\r\nSET\r\n$1\r\nx\r\n$" + std::to_string(39 * kMiB) + "\r\n" +
                             std::string(35 * kMiB, 'x'));
    } catch (const std::runtime_error&) {
      // It was told before it had sent everything.
    }
  }
  EXPECT_TRUE(Eventually([&] { return Call({"PING"}) == "PONG"; }));
  others.clear();
  EXPECT_TRUE(Eventually([&] { return Call({"SET", "x", Text(20 * kMiB)}) == "OK"; }));
}

TEST_P(LargeStringsTest, TheLargestThereMayBe) {
  if (!LongRun()) GTEST_SKIP() << "only in the long version";
  server_.reset();
  Serve({});
  const std::string text = Text(512 * kMiB);
  EXPECT_EQ(Call({"SET", "k", text}), "OK");
  EXPECT_EQ(Call({"STRLEN", "k"}), "(integer) 536870912");
  EXPECT_TRUE(Call({"GETRANGE", "k", "536870902", "-1"}) == Bulk(text.substr(536870902)));
  EXPECT_TRUE(Is("k", text));
}

}  // namespace
}  // namespace kvarts::test
