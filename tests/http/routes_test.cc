// The routes as /openapi.json tells of them, walked against the running server.
#include <algorithm>
#include <regex>
#include <set>

#include "http/http_fixture.h"

namespace kvarts::test {
namespace {

const std::vector<std::string> kMethods = {"GET", "HEAD", "PUT", "POST", "DELETE", "PATCH"};

std::string Upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

class RoutesTest : public HttpTest {
 protected:
  // What a connection of its own says to a request without a body. A watch is asked not to wait.
  HttpAnswer Ask(std::string_view method, const std::string& target) {
    HttpClient client = Connect();
    client.Send(RequestText(method, target + (target == "/watch" ? "?wait=0" : ""), {{"Content-Length", "0"}}));
    return client.Read(method);
  }
  // Whether a path of the document, whose parameters may be anything, is that of the target and knows the method.
  static bool Documented(const JsonValue& paths, const std::string& target, const std::string& method) {
    return std::ranges::any_of(paths.fields(), [&](const auto& path) {
      // Only a key may hold slashes.
      const std::string with_key = std::regex_replace(path.first, std::regex("\\{key\\}"), ".+");
      const std::regex pattern(std::regex_replace(with_key, std::regex("\\{[^}]*\\}"), "[^/]+"));
      return std::regex_match(target, pattern) &&
             std::ranges::any_of(path.second.fields(), [&](const auto& of) { return Upper(of.first) == method; });
    });
  }
  // The path with something in place of its parameters.
  static std::string Filled(const std::string& path) {
    return std::regex_replace(path, std::regex("\\{[^}]*\\}"), "routes");
  }
};

TEST_P(RoutesTest, EveryRouteOfTheDocumentAnswersAndNoOther) {
  const HttpAnswer document = Get("/openapi.json");
  ASSERT_EQ(document.status, 200);
  const JsonValue openapi = JsonValue::Parse(document.body);
  EXPECT_TRUE(openapi["openapi"].text().starts_with("3.1"));
  EXPECT_GE(openapi["paths"].size(), 7U);
  for (const auto& [path, operations] : openapi["paths"].fields()) {
    const std::string target = Filled(path);
    const std::string allowed = Ask("OPTIONS", target).Header("Allow");
    for (const auto& [method, operation] : operations.fields()) {
      EXPECT_GT(operation["responses"].size(), 0U) << method << path;
    }
    for (const std::string& method : kMethods) {
      const HttpAnswer answer = Ask(method, target);
      ASSERT_NE(answer.status, 0) << method << " " << target;
      const bool known = Documented(openapi["paths"], target, method);
      EXPECT_EQ(allowed.find(method) != std::string::npos, answer.status != 405)
          << method << " " << target << ": " << allowed;
      if (known) {
        EXPECT_NE(answer.status, 405) << method << " " << target;
        EXPECT_NE(answer.status, 501) << method << " " << target;
      } else {
        EXPECT_EQ(answer.status, 405) << method << " " << target;
        EXPECT_EQ(answer.Header("Allow"), allowed);
      }
    }
  }
}

TEST_P(RoutesTest, NoDocumentedRouteIsUnknown) {
  const JsonValue openapi = JsonValue::Parse(Get("/openapi.json").body);
  for (const auto& [path, operations] : openapi["paths"].fields()) {
    for (const auto& [method, operation] : operations.fields()) {
      const HttpAnswer answer = Ask(Upper(method), Filled(path));
      // Something may be missing there, but not the route.
      EXPECT_EQ(answer.body.find("no_such_route"), std::string::npos) << method << " " << path << answer.body;
    }
  }
}

TEST_P(RoutesTest, EverySchemaThatIsNamedIsThere) {
  const std::string text = Get("/openapi.json").body;
  const JsonValue schemas = JsonValue::Parse(text)["components"]["schemas"];
  const std::regex reference("\"\\$ref\":\"([^\"]*)\"");
  const std::string place = "#/components/schemas/";
  size_t references = 0;
  for (std::sregex_iterator found(text.begin(), text.end(), reference), end; found != end; ++found, ++references) {
    const std::string to = (*found)[1].str();
    ASSERT_TRUE(to.starts_with(place)) << to;
    EXPECT_TRUE(schemas.Has(to.substr(place.size()))) << to;
  }
  EXPECT_GT(references, 20U);
  for (const auto& [name, schema] : schemas.fields()) {
    EXPECT_TRUE(std::regex_match(name, std::regex("^[a-zA-Z0-9._-]+$"))) << "'" << name << "'";
    EXPECT_GT(schema.size(), 0U) << name;
  }
}

TEST_P(RoutesTest, OperationsHaveNamesOfTheirOwnAndHeadIsOneWhereGetIs) {
  const JsonValue openapi = JsonValue::Parse(Get("/openapi.json").body);
  std::set<std::string> names;
  for (const auto& [path, operations] : openapi["paths"].fields()) {
    EXPECT_EQ(operations.Has("head"), operations.Has("get")) << path;
    for (const auto& [method, operation] : operations.fields()) {
      const std::string name = operation["operationId"].text();
      EXPECT_TRUE(std::regex_match(name, std::regex("^[a-z][a-zA-Z]+$"))) << method << path << name;
      EXPECT_TRUE(names.insert(name).second) << name;
    }
  }
  const JsonValue& put = openapi["paths"]["/keys/{key}"]["put"]["requestBody"]["content"];
  EXPECT_TRUE(put.Has("application/json"));
  EXPECT_TRUE(put.Has("*/*"));
  EXPECT_TRUE(openapi["components"]["schemas"]["Problem"].Has("additionalProperties"));
}

TEST_P(RoutesTest, WhatIsNotInTheDocumentIsNotFound) {
  for (const char* target :
       {"/key", "/keysx", "/keys/..", "/Keys", "/openapi.json/", "/livez/x", "//keys", "/commit/"}) {
    const HttpAnswer answer = Get(target);
    if (std::string_view(target) == "/keys/..") {
      EXPECT_TRUE(IsProblem(answer, 404, "not_found"));  // a key as any other
    } else {
      EXPECT_TRUE(IsProblem(answer, 404, "no_such_route")) << target;
    }
  }
}

KVARTS_ON_EVERY_ENGINE(RoutesTest);

}  // namespace
}  // namespace kvarts::test
