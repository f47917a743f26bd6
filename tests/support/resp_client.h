// A client of Redis' protocol for tests: sends commands, and gives answers back as text for people, in which all that
// the protocol tells apart is told apart.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kvarts::test {

class RespClient {
 public:
  // "127.0.0.1:6379". Throws when nobody answers there; and, in what follows, when the connection breaks.
  explicit RespClient(const std::string& address);
  ~RespClient();
  RespClient(const RespClient&) = delete;
  RespClient& operator=(const RespClient&) = delete;

  // An answer: (integer) 1, "bulk", OK, (nil), (error) "ERR …", [a, b], {k: v}.
  std::string Call(const std::vector<std::string>& words);

  void Send(const std::vector<std::string>& words);
  void SendRaw(std::string_view bytes);
  std::string Read();
  // Whether the server has closed the connection behind what was read.
  bool AtEnd();

 private:
  bool Receive();
  std::string_view TakeLine();
  std::string_view Take(size_t size);
  // So many elements, with commas between.
  std::string ReadSome(int64_t count, bool pairs);

  int socket_;
  std::string input_;
  size_t at_ = 0;
  std::string line_;
};

}  // namespace kvarts::test
