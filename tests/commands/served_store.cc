#include "commands/served_store.h"

namespace kvarts::test {

std::string WayName(const testing::TestParamInfo<Way>& info) {
  return info.param == Way::kServer ? "server" : "directory";
}

CommandsOnBothWays::CommandsOnBothWays() {
  if (GetParam() == Way::kServer) server_ = Serve();
}

std::unique_ptr<ServerProcess> CommandsOnBothWays::Serve() const {
  return std::make_unique<ServerProcess>(
      std::vector<std::string>{"--listen", "unix:" + temp_ / "socket", "--data", data_});
}

std::vector<std::string> CommandsOnBothWays::Words(std::vector<std::string> words) const {
  if (server_) {
    words.insert(words.end(), {"--server", server_->address()});
  } else {
    words.insert(words.end(), {"--data", data_});
  }
  return words;
}

Ran CommandsOnBothWays::Run(const std::vector<std::string>& words, const std::string& input) const {
  return RunKvarts(Words(words), input);
}

std::string CommandsOnBothWays::Done(const std::vector<std::string>& words, const std::string& input) const {
  const Ran ran = Run(words, input);
  EXPECT_EQ(ran.code, 0) << words.front() << ": " << ran.err;
  EXPECT_EQ(ran.err, "") << words.front();
  return ran.out;
}

}  // namespace kvarts::test
