// The server as a test runs it: the real binary, on a port of its own, ended by its process id.
//
//   ServerProcess server({"--engine", "memory"});
//   HttpClient client(server.address());
//   …
//   server.Signal(SIGTERM);
//   EXPECT_EQ(server.Wait(), 0);
#pragma once

#include <string>
#include <vector>

#include "support/child_process.h"
#include "support/temp_dir.h"

namespace kvarts::test {

class ServerProcess {
 public:
  // `kvarts serve` with these options, and with --listen 127.0.0.1:0 and a data directory of its own unless they name
  // others. Waits until it serves; throws when it does not. With this object the process ends.
  explicit ServerProcess(const std::vector<std::string>& options);

  // "127.0.0.1:50514" or "unix:/path", as the server says.
  const std::string& address(size_t i = 0) const { return addresses_.at(i); }
  pid_t pid() const { return process_.pid(); }
  bool Running() { return process_.Running(); }
  void Signal(int number) const { process_.Signal(number); }
  // Waits for its end: the exit code, or 128 and the number of the signal.
  int Wait() { return process_.Wait(); }
  // What it has written to the standard error, line by line as JSON.
  std::string Log() const;
  // Whether the text appears in the log within some seconds.
  bool AwaitLog(const std::string& text) const;

 private:
  void AwaitAddresses();

  TempDir files_;
  ChildProcess process_;
  std::vector<std::string> addresses_;
};

}  // namespace kvarts::test
