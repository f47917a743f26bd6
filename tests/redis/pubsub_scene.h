// Several clients of one server, by their names, and what they were told, line by line: played with redis-server and
// with Kvarts, it is the same.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "support/resp_client.h"

namespace kvarts::test {

class PubSubScene {
 public:
  using Words = std::vector<std::string>;

  explicit PubSubScene(std::string address) : address_(std::move(address)) {}

  // Sends it and reads so many answers.
  void Do(const std::string& name, const Words& words, int answers = 1) {
    Of(name).Send(words);
    Read(name, answers);
  }
  void Read(const std::string& name, int answers = 1) {
    for (int i = 0; i < answers; ++i) lines_.push_back(name + ": " + Of(name).Read());
  }
  // Nothing is there for it to be told but the answer to this.
  void ExpectNothing(const std::string& name) { Do(name, {"PING", "nothing"}); }
  void AtEnd(const std::string& name) { lines_.push_back(name + (Of(name).AtEnd() ? ": ended" : ": goes on")); }
  void Leave(const std::string& name) { clients_.erase(name); }

  RespClient& Of(const std::string& name) {
    auto& client = clients_[name];
    if (!client) client = std::make_unique<RespClient>(address_);
    return *client;
  }
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  const std::string address_;
  std::map<std::string, std::unique_ptr<RespClient>> clients_;
  std::vector<std::string> lines_;
};

}  // namespace kvarts::test
