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

// `kvarts serve` as words to run it by: these options, and what a test's server has unless they say otherwise, a log
// as JSON, a port of its own and these data. With --engine postgres, too: its database is the same for the same data.
std::vector<std::string> ServeCommand(const std::vector<std::string>& options, const std::string& data);

class ServerProcess {
 public:
  // ServeCommand with these options and data of its own. Waits until it serves; throws when it does not. With this
  // object the process ends.
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
