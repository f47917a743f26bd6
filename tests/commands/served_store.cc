#include "commands/served_store.h"

#include "support/postgres_database.h"

namespace kvarts::test {
namespace {

void SkipWithoutPostgres() {
  const std::string missing = PostgresDatabase::Missing();
  if (!missing.empty()) GTEST_SKIP() << missing;
}

}  // namespace

std::string WayName(const testing::TestParamInfo<Way>& info) {
  if (info.param == Way::kShards) return "postgres";
  return info.param == Way::kServer ? "server" : "directory";
}

CommandsOnEveryWay::CommandsOnEveryWay() {
  if (GetParam() == Way::kServer) server_ = Serve();
  // A test that is skipped in its constructor is not even set up.
  if (GetParam() == Way::kShards) SkipWithoutPostgres();
}

std::unique_ptr<ServerProcess> CommandsOnEveryWay::Serve() const {
  return std::make_unique<ServerProcess>(
      std::vector<std::string>{"--listen", "unix:" + temp_ / "socket", "--data", data_});
}

std::vector<std::string> CommandsOnEveryWay::Words(std::vector<std::string> words) const {
  if (server_) {
    words.insert(words.end(), {"--server", server_->address()});
  } else if (GetParam() == Way::kShards) {
    words.insert(words.end(), {"--shards", ShardsFileFor(data_)});
  } else {
    words.insert(words.end(), {"--data", data_});
  }
  return words;
}

Ran CommandsOnEveryWay::Run(const std::vector<std::string>& words, const std::string& input) const {
  return RunKvarts(Words(words), input);
}

std::string CommandsOnEveryWay::Done(const std::vector<std::string>& words, const std::string& input) const {
  const Ran ran = Run(words, input);
  EXPECT_EQ(ran.code, 0) << words.front() << ": " << ran.err;
  EXPECT_EQ(ran.err, "") << words.front();
  return ran.out;
}

}  // namespace kvarts::test
