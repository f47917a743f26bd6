#include "http/http_fixture.h"

#include <cstdlib>
#include <map>
#include <memory>

namespace kvarts::test {

ServerProcess& HttpTest::Server(const std::vector<std::string>& options) {
  static std::map<std::vector<std::string>, std::unique_ptr<ServerProcess>> servers;
  std::vector<std::string> words = {"--engine", GetParam().name};
  const std::vector<std::string>& more = options.empty() ? own_ : options;
  words.insert(words.end(), more.begin(), more.end());
  std::unique_ptr<ServerProcess>& server = servers[words];
  if (!server || !server->Running()) server = std::make_unique<ServerProcess>(words);
  return *server;
}

HttpAnswer HttpTest::Call(std::string_view method, std::string_view target, const HttpHeaders& headers,
                          std::string_view body) {
  if (!client_) client_ = std::make_unique<HttpClient>(Server().address());
  HttpAnswer answer = client_->Call(method, target, headers, body);
  EXPECT_NE(answer.status, 0) << method << " " << target << " has no answer";
  // A test that goes on should not fail everywhere else, too.
  if (answer.status == 0 || answer.Header("Connection") == "close") client_.reset();
  return answer;
}

HttpAnswer HttpTest::PutJson(std::string_view target, std::string_view body, HttpHeaders headers) {
  headers.emplace_back("Content-Type", "application/json");
  return Call("PUT", target, headers, body);
}

HttpAnswer HttpTest::PutRaw(std::string_view target, std::string_view value, HttpHeaders headers) {
  return Call("PUT", target, headers, value);
}

HttpAnswer HttpTest::Post(std::string_view target, std::string_view body) {
  return Call("POST", target, {{"Content-Type", "application/json"}}, body);
}

HttpAnswer HttpTest::Patch(std::string_view target, std::string_view body, HttpHeaders headers) {
  headers.emplace_back("Content-Type", "application/json");
  return Call("PATCH", target, headers, body);
}

std::string HttpTest::RawValueOf(std::string_view target) {
  const HttpAnswer answer = Get(target);
  return answer.status == 200 ? JsonValue::Parse(answer.body)["value"].raw() : "null";
}

HttpAnswer Curl(const std::vector<std::string>& words, const std::string& input) {
  std::vector<std::string> all = {"curl", "-s", "-i", "--max-time", "30"};
  all.insert(all.end(), words.begin(), words.end());
  const ProgramRun run = RunProgram(all, input);
  EXPECT_EQ(run.code, 0) << run.err;
  HttpAnswer answer;
  std::string_view rest = run.out;
  // Answers such as 100 Continue come before the last one.
  while (rest.starts_with("HTTP/")) {
    answer = {};
    answer.status = std::atoi(rest.substr(rest.find(' ') + 1, 3).data());
    const size_t end = rest.find("\r\n\r\n");
    std::string_view head = rest.substr(0, end);
    rest = rest.substr(end + 4);
    while (head.find("\r\n") != std::string_view::npos) {
      head.remove_prefix(head.find("\r\n") + 2);
      const std::string_view line = head.substr(0, head.find("\r\n"));
      const size_t colon = line.find(": ");
      answer.headers.emplace_back(line.substr(0, colon), line.substr(colon + 2));
    }
    if (answer.status >= 200) break;
  }
  answer.body = rest;
  return answer;
}

::testing::AssertionResult IsProblem(const HttpAnswer& answer, int status, std::string_view type) {
  const auto no = [&answer] {
    return ::testing::AssertionFailure() << "status " << answer.status << ", body " << answer.body << ": ";
  };
  if (answer.status != status) return no() << "the status is not " << status;
  if (answer.Header("Content-Type") != "application/problem+json") return no() << answer.Header("Content-Type");
  const JsonValue problem = JsonValue::Parse(answer.body);
  if (problem["type"].text() != "urn:kvarts:" + std::string(type)) return no() << "the type is not " << type;
  if (problem["status"].raw() != std::to_string(status)) return no() << "another status in the body";
  if (problem["title"].text().empty() || problem["detail"].text().empty()) return no() << "without a text";
  return ::testing::AssertionSuccess();
}

}  // namespace kvarts::test
