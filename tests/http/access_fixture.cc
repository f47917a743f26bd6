#include "http/access_fixture.h"

#include <fmt/format.h>

namespace kvarts::test {

const std::string& AccessTest::Admin() {
  static std::map<std::string, std::string> texts;
  std::string& text = texts[Address()];
  if (text.empty()) {
    HttpClient client(Address());
    const HttpAnswer made = client.Call("POST", "/tokens", {}, R"({"name":"operator","scopes":["admin"]})");
    EXPECT_EQ(made.status, 201) << made.body;
    text = JsonValue::Parse(made.body)["token"].text();
  }
  return text;
}

AccessTest::Token AccessTest::Make(const std::string& scope, const std::string& more) {
  const HttpAnswer made =
      AsAdmin("POST", "/tokens", fmt::format(R"({{"name":"tester","scopes":["{}"]{}}})", scope, more));
  EXPECT_EQ(made.status, 201) << made.body;
  const JsonValue json = JsonValue::Parse(made.body);
  return {json["token"].text(), json["id"].text(), Bearing(json["token"].text())};
}

HttpAnswer AccessTest::Ask(const std::string& token, std::string_view method, std::string_view target,
                           std::string_view body, HttpHeaders headers) {
  HttpClient client(Address());
  if (!token.empty()) headers.emplace_back("Authorization", "Bearer " + token);
  HttpAnswer answer = client.Call(method, target, headers, body);
  EXPECT_NE(answer.status, 0) << method << " " << target << " has no answer";
  return answer;
}

void AccessTest::Declare(const std::string& name, const std::string& grammar, bool feed) {
  const HttpAnswer declared =
      AsAdmin("PUT", "/namespaces/" + name, fmt::format(R"({{"grammar":"{}","feed":{}}})", grammar, feed));
  EXPECT_EQ(declared.status, 200) << declared.body;
}

}  // namespace kvarts::test
