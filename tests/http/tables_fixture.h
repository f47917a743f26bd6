// Tables over HTTP: each test has a dataset of its own, in a project that all share.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <thread>

#include "http/http_fixture.h"

namespace kvarts::test {

class TablesHttpTest : public HttpTest {
 protected:
  TablesHttpTest() = default;
  explicit TablesHttpTest(std::vector<std::string> own) : HttpTest(std::move(own)) {}

  static constexpr const char* kProject = "/projects/acme";
  static constexpr const char* kById = R"({"key":{"partition":["id"]}})";
  static constexpr const char* kEvents = R"({"key":{"partition":["tenant"],"sort":[{"name":"n","type":"number"}]}})";

  // Named after the test, whose name has slashes in it.
  static std::string DatasetName() {
    const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    std::string name = fmt::format("{}.{}", test->test_suite_name(), test->name());
    for (char& c : name) c = c == '/' ? '-' : c;
    return name;
  }
  static std::string Dataset() { return std::string(kProject) + "/datasets/" + DatasetName(); }
  static std::string TableAt(const std::string& name) { return Dataset() + "/tables/" + name; }

  void SetUp() override {
    ASSERT_LE(Call("PUT", kProject).status, 201);
    ASSERT_LE(Call("PUT", Dataset()).status, 201);
  }

  // Declares a table, and returns its path.
  std::string MustDeclare(const std::string& name, const std::string& spec) {
    const HttpAnswer made = PutJson(TableAt(name), spec);
    EXPECT_EQ(made.status, 201) << made.body;
    return TableAt(name);
  }
  void MustPut(const std::string& row_path, const std::string& row) {
    const HttpAnswer put = PutJson(row_path, row);
    ASSERT_EQ(put.status, 200) << row_path << put.body;
  }
  JsonValue GetJson(const std::string& target) { return JsonValue::Parse(Get(target).body); }
  JsonValue PostJson(const std::string& target, const std::string& body) {
    const HttpAnswer answer = Post(target, body);
    EXPECT_EQ(answer.status, 200) << target << body << answer.body;
    return JsonValue::Parse(answer.body);
  }
  // The value of one field of each row, with spaces between.
  static std::string FieldsOf(const JsonValue& page, const std::string& field) {
    std::string fields;
    for (const JsonValue& row : page["rows"].elements()) {
      fields += (fields.empty() ? "" : " ") + row["value"][field].text();
    }
    return fields;
  }
  static bool Await(const std::function<bool()>& so, std::chrono::seconds patience = std::chrono::seconds(20)) {
    const auto give_up = std::chrono::steady_clock::now() + patience;
    while (!so()) {
      if (std::chrono::steady_clock::now() > give_up) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
  }
  // A table as the bodies of batches name it.
  static std::string Named(const std::string& table) {
    return fmt::format(R"({{"project":"acme","dataset":"{}","table":"{}"}})", DatasetName(), table);
  }
};

}  // namespace kvarts::test
