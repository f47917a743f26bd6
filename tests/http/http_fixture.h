// What the tests of the server over HTTP share: a server for each set of options, started when first asked for and
// shared by the tests of a process; a plain client, and curl.
//
// Tests share the keys of a server, so each keeps to a prefix of its own.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/environment.h"
#include "support/http_client.h"
#include "support/json_value.h"
#include "support/on_every_engine.h"
#include "support/programs.h"
#include "support/server_process.h"

namespace kvarts::test {

class HttpTest : public OnEngineTest {
 protected:
  HttpTest() = default;
  // `own`: options that are nobody else's, for tests whose server is to be theirs alone.
  explicit HttpTest(std::vector<std::string> own) : own_(std::move(own)) {}

  // A server of this engine with these options besides.
  ServerProcess& Server(const std::vector<std::string>& options = {});
  // A new connection to it.
  HttpClient Connect(const std::vector<std::string>& options = {}) { return HttpClient(Server(options).address()); }

  // A request on the connection of this test to the server without options.
  HttpAnswer Call(std::string_view method, std::string_view target, const HttpHeaders& headers = {},
                  std::string_view body = {});
  HttpAnswer Get(std::string_view target, const HttpHeaders& headers = {}) { return Call("GET", target, headers); }
  // PUT of a JSON body.
  HttpAnswer PutJson(std::string_view target, std::string_view body, HttpHeaders headers = {});
  // PUT of bytes as they are.
  HttpAnswer PutRaw(std::string_view target, std::string_view value, HttpHeaders headers = {});
  HttpAnswer Post(std::string_view target, std::string_view body);
  HttpAnswer Patch(std::string_view target, std::string_view body, HttpHeaders headers = {});

  // The answer is what GET says of the value as it was written: "3", "\"x\"", "null" when there is nothing.
  std::string RawValueOf(std::string_view target);

 private:
  const std::vector<std::string> own_;
  std::unique_ptr<HttpClient> client_;
};

// curl as a person would call it, with these words after -s -i: the last answer that it printed.
HttpAnswer Curl(const std::vector<std::string>& words, const std::string& input = {});

// That it is an answer of this status and a problem of this type, in the form that all problems have.
::testing::AssertionResult IsProblem(const HttpAnswer& answer, int status, std::string_view type);

}  // namespace kvarts::test
