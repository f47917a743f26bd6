// dump, check and stats on a store that the shell has made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "commands/kvarts_process.h"
#include "core/secret.h"
#include "engine/rocksdb/rocks_engine.h"
#include "support/temp_dir.h"

namespace kvarts::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

class Tools : public testing::Test {
 protected:
  void SetUp() override {
    const Ran ran = RunScript(dir(),
                              "put user:1 Ada\n"
                              "put user:2 Grace ttl 2h\n"
                              "put \\x00\\xff raw\n"
                              "put \"with \\\"quotes\\\"\" {\"a\":1}\n"
                              "incr visits 7\n");
    ASSERT_EQ(ran.code, 0) << ran.err;
  }

  std::string dir() const { return temp_ / "data"; }
  Ran Run(const std::string& command, std::vector<std::string> options = {}) {
    options.insert(options.begin(), {command, dir()});
    return RunKvarts(options);
  }
  // Enough that there are data files with several blocks.
  void PutMany() {
    std::string script;
    for (int i = 0; i < 2000; ++i) script += "put many:" + std::to_string(i) + " value-" + std::to_string(i) + "\n";
    ASSERT_EQ(RunScript(dir(), script, {"--durability", "none"}).code, 0);
    ASSERT_EQ(RunScript(dir(), "count\n").code, 0);  // opening it writes the log's content into files
  }

  TempDir temp_;
};

TEST_F(Tools, DumpPrintsDecodedKeys) {
  const Ran ran = Run("dump");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(LinesOf(ran.out),
              ElementsAre(MatchesRegex("version +expiry +kind +size  key"),                          //
                          MatchesRegex("[0-9]{19}  - +bytes +3 B  keys: .x00.xff"),                  //
                          MatchesRegex("[0-9]{19}  - +bytes +3 B  keys: user:1"),                    //
                          MatchesRegex("[0-9]{19}  [-0-9]+ [:0-9]+ UTC  bytes +5 B  keys: user:2"),  //
                          MatchesRegex("[0-9]{19}  - +counter +8 B  keys: visits"),                  //
                          MatchesRegex("[0-9]{19}  - +bytes +7 B  keys: with \"quotes\""), "5 keys"));
}

TEST_F(Tools, DumpKeepsToPrefixLimitAndSpace) {
  EXPECT_THAT(
      LinesOf(Run("dump", {"--prefix", "user:", "--values"}).out),
      ElementsAre(StartsWith("version"), HasSubstr("keys: user:1 = Ada"), HasSubstr("keys: user:2 = Grace"), "2 keys"));
  EXPECT_THAT(LinesOf(Run("dump", {"--prefix=\\x00", "--values"}).out),
              ElementsAre(StartsWith("version"), HasSubstr("= raw"), "1 key"));
  EXPECT_THAT(LinesOf(Run("dump", {"--limit", "2"}).out), SizeIs(4));
  EXPECT_THAT(LinesOf(Run("dump", {"--space", "keys"}).out), SizeIs(7));
  EXPECT_THAT(LinesOf(Run("dump", {"--space", "feed"}).out), ElementsAre(StartsWith("version"), "0 keys"));
}

TEST_F(Tools, DumpAsJsonIsALinePerKey) {
  const Ran ran = Run("dump", {"--json", "--values"});
  EXPECT_EQ(ran.code, 0);
  const std::vector<std::string> lines = LinesOf(ran.out);
  ASSERT_THAT(lines, SizeIs(5));
  for (const std::string& line : lines) EXPECT_TRUE(IsJson(line)) << line;
  EXPECT_THAT(lines[0], HasSubstr("\"key_hex\":\"00ff\""));
  EXPECT_THAT(lines[1], HasSubstr("\"key\":\"user:1\""));
  EXPECT_THAT(lines[1], HasSubstr("\"expiry\":null"));
  EXPECT_THAT(lines[2], MatchesRegex(".*\"expiry\":\"[-0-9]+T[:0-9]+[.][0-9]+Z\".*"));
  EXPECT_THAT(lines[3], HasSubstr("\"kind\":\"counter\""));
  EXPECT_THAT(lines[3], HasSubstr("\"value\":\"7\""));
  EXPECT_THAT(lines[4], HasSubstr("\"value\":\"{\\\"a\\\":1}\""));
}

TEST_F(Tools, DumpKeepsTheSecretsOfTheStore) {
  Bytes secret;
  {
    RocksOptions options;
    auto engine = OpenRocksEngine(dir(), options);
    ASSERT_TRUE(engine) << engine.error();
    auto store = Store::Open(**engine);
    ASSERT_TRUE(store) << store.error();
    secret = StoreSecret(**store, kCursorSecret).value_or(Bytes());
    engine->reset();
  }
  ASSERT_EQ(secret.size(), kSecretBytes);
  const Ran text = Run("dump", {"--space", "settings", "--values"});
  EXPECT_THAT(text.out, HasSubstr("32 B  settings: (1, \"secret\", \"cursor\") = (secret)\n"));
  const Ran json = Run("dump", {"--space", "settings", "--values", "--json"});
  EXPECT_THAT(json.out, HasSubstr("\"value\":\"(secret)\""));
  for (const std::string& out : {text.out, json.out}) {
    EXPECT_THAT(out, Not(HasSubstr(ToHex(secret))));
    EXPECT_THAT(out, Not(HasSubstr(Escaped(secret))));
  }
  EXPECT_EQ(Run("check").code, 0);
}

TEST_F(Tools, LongValuesAreCutOff) {
  ASSERT_EQ(RunScript(dir(), "put long " + std::string(5000, 'x') + "\n").code, 0);
  const Ran text = Run("dump", {"--prefix", "long", "--values"});
  EXPECT_THAT(text.out, HasSubstr("xxx… (4.9 KiB)\n"));
  const Ran json = Run("dump", {"--prefix", "long", "--values", "--json"});
  EXPECT_TRUE(IsJson(json.out));
  EXPECT_THAT(json.out, HasSubstr("\"shortened\":true"));
}

TEST_F(Tools, StatsExplainThemselves) {
  PutMany();
  const Ran ran = Run("stats");
  EXPECT_EQ(ran.code, 0) << ran.err;
  for (const std::string part :
       {"profile  level  files", "lookup", "write ", "read ", "space ", "tombstones ", "Worry above", "live ", "stale ",
        "log ", "free ", "pressure ", "keep up", "hot values", "commits", "KiB"}) {
    EXPECT_THAT(ran.out, HasSubstr(part));
  }
}

TEST_F(Tools, StatsAsJsonIsOneObject) {
  const Ran ran = Run("stats", {"--json"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(IsJson(ran.out)) << ran.out;
  for (const std::string part :
       {"\"write_amplification\":{\"value\":", "\"profiles\":[{\"profile\":\"lookup\",", "\"flushes\":{\"count\":",
        "\"log_sync_seconds\":{\"count\":", "\"filter_spared\":", "\"pressure\":0", "\"writable\":true"}) {
    EXPECT_THAT(ran.out, HasSubstr(part));
  }
}

TEST_F(Tools, CheckSaysWhatItLookedAt) {
  PutMany();
  const Ran ran = Run("check");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("every checksum and header is right"));
  EXPECT_THAT(ran.out, MatchesRegex("(.|\n)*\n  keys +[0-9.]+ KiB in 2,005 entries\nok, in [0-9.]+ m?s\n"));
  EXPECT_THAT(ran.err, IsEmpty());
}

TEST_F(Tools, CheckTellsProgramsTheSame) {
  PutMany();
  const Ran ran = Run("check", {"--json"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_TRUE(IsJson(ran.out)) << ran.out;
  EXPECT_THAT(ran.out, MatchesRegex(R"(.*,"files":\{"tables":[0-9]+,"bytes":[0-9]+\},"spaces":\[.*)"
                                    R"(\{"space":"keys","entries":2005,.*"found":0,"findings":\[\]\})"
                                    "\n"));
  std::filesystem::remove(dir() + "/KVARTS");
  const Ran damaged = Run("check", {"--json"});
  EXPECT_EQ(damaged.code, 3);
  EXPECT_TRUE(IsJson(damaged.out)) << damaged.out;
  EXPECT_THAT(damaged.out, HasSubstr(R"("found":1,"findings":[{"where":"the store cannot be opened","detail":"the )"));
}

TEST_F(Tools, CheckFindsAFlippedByte) {
  PutMany();
  // The largest table is the one with the keys.
  std::filesystem::path largest;
  for (const auto& entry : std::filesystem::directory_iterator(dir() + "/data")) {
    if (entry.path().extension() != ".sst") continue;
    if (largest.empty() || entry.file_size() > std::filesystem::file_size(largest)) largest = entry.path();
  }
  ASSERT_FALSE(largest.empty());
  std::fstream file(largest, std::ios::in | std::ios::out | std::ios::binary);
  const auto place = static_cast<std::streamoff>(std::filesystem::file_size(largest) / 4);
  file.seekg(place);
  const int byte = file.get();
  file.seekp(place);
  file.put(static_cast<char>(byte ^ 0x40));
  file.close();

  const Ran ran = Run("check");
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(ran.out, HasSubstr("found: files: a data file is damaged"));
  EXPECT_THAT(ran.out, HasSubstr(largest.filename().string()));
  EXPECT_THAT(ran.out, HasSubstr(" finding"));
  EXPECT_THAT(ran.out, Not(HasSubstr("\nok")));
}

TEST_F(Tools, CheckFindsATableThatIsCutOff) {
  PutMany();
  for (const auto& entry : std::filesystem::directory_iterator(dir() + "/data")) {
    if (entry.path().extension() == ".sst") std::filesystem::resize_file(entry.path(), entry.file_size() / 2);
  }
  const Ran ran = Run("check");
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(ran.out, HasSubstr("found: "));
  const Ran stats = Run("stats");
  EXPECT_EQ(stats.code, 1);
  EXPECT_THAT(stats.err, HasSubstr("kvarts: stored data is damaged"));
}

}  // namespace
}  // namespace kvarts::test
