// A server that asks for tokens, and those who bear one.
#pragma once

#include <map>

#include "http/http_fixture.h"

namespace kvarts::test {

class AccessTest : public HttpTest {
 protected:
  // Beats are rare, so that what happens at once does not happen because of one.
  static const std::vector<std::string>& Options() {
    static const std::vector<std::string> options = {"--watch-heartbeat", "60s"};
    return options;
  }
  const std::string& Address() { return Server(Options()).address(); }

  // The text of a token with every right; made with the server.
  const std::string& Admin();
  struct Token {
    std::string text;
    std::string id;
    HttpHeaders header;
  };
  // A new one; `more` is what else stands in the body, such as R"(,"ttl":1)".
  Token Make(const std::string& scope, const std::string& more = {});

  static HttpHeaders Bearing(const std::string& token) { return {{"Authorization", "Bearer " + token}}; }
  // A request on a connection of its own; an empty token is none.
  HttpAnswer Ask(const std::string& token, std::string_view method, std::string_view target, std::string_view body = {},
                 HttpHeaders headers = {});
  HttpAnswer AsAdmin(std::string_view method, std::string_view target, std::string_view body = {}) {
    return Ask(Admin(), method, target, body);
  }
  // A namespace of this grammar, if it is not there yet.
  void Declare(const std::string& name, const std::string& grammar, bool feed = false);
};

}  // namespace kvarts::test
