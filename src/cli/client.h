// Client: requests to a Kvarts server, one after the other, over libcurl. A place (place.h) is served by this very
// process over a socket pair, so whoever uses a client does not know where its answers come from.
//
// It belongs to one thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/result.h"
#include "cli/arguments.h"
#include "cli/target.h"

namespace kvarts::cli {

struct Request {
  std::string method = "GET";
  std::string path;                       // with its query, encoded
  std::vector<std::string> headers = {};  // "Name: value"
  Bytes body = {};
};

struct Reply {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  Bytes body;

  // Empty when it is not there.
  std::string Header(const std::string& name) const;
};

class Client {
 public:
  // Of the options in cli/target.h and of the environment. A server is not asked before the first request.
  static Result<std::unique_ptr<Client>> Open(const Arguments& arguments, IfMissing if_missing = IfMissing::kRefuse);
  static Result<std::unique_ptr<Client>> Open(const Target& target, IfMissing if_missing);
  virtual ~Client() = default;

  // The answer, if it is a good one (2xx); any other is an error with the server's code and fields. A write whose
  // answer did not come is `unknown_outcome`.
  virtual Result<Reply> Call(const Request& request) = 0;
  // The same with the body in pieces as they come. Ends when the body does, or when `on_piece` says false.
  virtual Status Stream(const Request& request, const std::function<bool(std::string_view)>& on_piece) = 0;
};

// While it lives, Ctrl-C and SIGTERM end streams and waits in good order instead of ending the process.
class Interruptible {
 public:
  Interruptible();
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  static bool Happened();
  // False when it was interrupted.
  static bool Sleep(Duration duration);
};

}  // namespace kvarts::cli
