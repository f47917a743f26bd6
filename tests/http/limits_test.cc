// Every named limit that an option sets, at, below and above it.
#include <fmt/format.h>

#include <thread>

#include "http/http_fixture.h"

namespace kvarts::test {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSoon(5'000);

const std::vector<std::string> kSmall = {
    "--http-max-body-bytes",
    "8KiB",
    "--http-max-head-bytes",
    "2KiB",
    "--http-max-headers",
    "10",
    "--http-max-batch-keys",
    "5",
    "--http-max-page-limit",
    "7",
    "--http-default-page-limit",
    "3",
    "--limits-max-key-bytes",
    "64",
    "--limits-max-value-bytes",
    "4KiB",
    "--limits-max-commit-operations",
    "16",
    "--http-max-pipelined",
    "2",
    "--http-compress-min-bytes",
    "1KiB",
};

class LimitsTest : public HttpTest {
 protected:
  HttpAnswer Ask(std::string_view method, std::string_view target, const HttpHeaders& headers = {},
                 std::string_view body = {}) {
    HttpClient client = Connect(kSmall);
    return client.Call(method, target, headers, body);
  }
};

TEST_P(LimitsTest, MaxBodyBytes) {
  // A batch of keys is a body that may hold any number of spaces.
  const auto body = [](size_t size) {
    std::string text = R"({"keys":[]})";
    return text + std::string(size - text.size(), ' ');
  };
  const auto chunked = [](const std::string& text, size_t part) {
    std::string chunks;
    for (size_t at = 0; at < text.size(); at += part) {
      const std::string data = text.substr(at, part);
      chunks += fmt::format("{:x}\r\n{}\r\n", data.size(), data);
    }
    return "POST /keys/get HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + "0\r\n\r\n";
  };
  for (const size_t size : {8'191U, 8'192U}) {
    EXPECT_EQ(Ask("POST", "/keys/get", {}, body(size)).status, 200) << size;
    HttpClient client = Connect(kSmall);
    client.Send(chunked(body(size), 1'000));
    EXPECT_EQ(client.Read().status, 200) << size;
  }
  for (const size_t size : {8'193U, 100'000U}) {
    HttpClient client = Connect(kSmall);
    EXPECT_TRUE(IsProblem(client.Call("POST", "/keys/get", {}, body(size)), 413, "too_large")) << size;
    EXPECT_TRUE(client.EndsWithin(kSoon));
    HttpClient in_chunks = Connect(kSmall);
    in_chunks.Send(chunked(body(size), 1'000));
    EXPECT_TRUE(IsProblem(in_chunks.Read(), 413, "too_large")) << size;
    EXPECT_TRUE(in_chunks.EndsWithin(kSoon));
    // In two parts: the head first.
    HttpClient parts = Connect(kSmall);
    parts.SendInParts(RequestText("POST", "/keys/get", {}, body(size)).substr(0, 200), 100);
    EXPECT_TRUE(IsProblem(parts.Read(), 413, "too_large")) << size;
  }
}

TEST_P(LimitsTest, MaxHeadBytes) {
  const auto head = [](size_t size) {
    const std::string rest = "GET /livez HTTP/1.1\r\nHost: x\r\nX: \r\n\r\n";
    return "GET /livez HTTP/1.1\r\nHost: x\r\nX: " + std::string(size - rest.size(), 'x') + "\r\n\r\n";
  };
  for (const size_t size : {2'047U, 2'048U}) {
    HttpClient client = Connect(kSmall);
    client.Send(head(size));
    EXPECT_EQ(client.Read().status, 200) << size;
  }
  for (const size_t size : {2'049U, 50'000U}) {
    HttpClient client = Connect(kSmall);
    client.Send(head(size));
    EXPECT_TRUE(IsProblem(client.Read(), 431, "too_large")) << size;
    EXPECT_TRUE(client.EndsWithin(kSoon));
  }
}

TEST_P(LimitsTest, MaxHeaders) {
  const auto answer = [this](int count) {
    HttpHeaders headers;
    for (int i = 1; i < count; ++i) headers.emplace_back("X-" + std::to_string(i), "y");  // and Host
    return Ask("GET", "/livez", headers);
  };
  EXPECT_EQ(answer(9).status, 200);
  EXPECT_EQ(answer(10).status, 200);
  EXPECT_TRUE(IsProblem(answer(11), 431, "too_large"));
}

TEST_P(LimitsTest, MaxBatchKeys) {
  const auto answer = [this](size_t count) {
    std::string keys;
    for (size_t i = 0; i < count; ++i) keys += i == 0 ? "\"k\"" : ",\"k\"";
    return Ask("POST", "/keys/get", {}, R"({"keys":[)" + keys + "]}");
  };
  EXPECT_EQ(JsonValue::Parse(answer(4).body)["items"].size(), 4U);
  EXPECT_EQ(JsonValue::Parse(answer(5).body)["items"].size(), 5U);
  ASSERT_TRUE(IsProblem(answer(6), 413, "too_large"));
  EXPECT_EQ(JsonValue::Parse(answer(6).body)["limit"].text(), "max_batch_keys");
}

TEST_P(LimitsTest, PageLimits) {
  HttpClient client = Connect(kSmall);
  for (int i = 0; i < 10; ++i) client.Call("PUT", "/keys/page/" + std::to_string(i), {}, "x");
  const auto items = [&](const std::string& query) {
    return JsonValue::Parse(client.Call("GET", "/keys?prefix=page/" + query).body)["items"].size();
  };
  EXPECT_EQ(items(""), 3U);
  EXPECT_EQ(items("&limit=6"), 6U);
  EXPECT_EQ(items("&limit=7"), 7U);
  EXPECT_TRUE(IsProblem(client.Call("GET", "/keys?prefix=page/&limit=8"), 400, "invalid_argument"));
  EXPECT_EQ(client.Call("GET", "/keys?prefix=page/", {{"Accept", "application/x-ndjson"}}).status, 200);
}

TEST_P(LimitsTest, MaxKeyBytes) {
  for (const char* byte : {"k", "%FF"}) {
    const auto target = [byte](int size) {
      std::string text = "/keys/";
      for (int i = 0; i < size; ++i) text += byte;
      return text;
    };
    EXPECT_EQ(Ask("PUT", target(63), {}, "x").status, 200);
    EXPECT_EQ(Ask("PUT", target(64), {}, "x").status, 200);
    EXPECT_EQ(Ask("GET", target(64)).status, 200);
    for (const char* method : {"GET", "PUT", "DELETE"}) {
      const HttpAnswer answer = Ask(method, target(65));
      EXPECT_TRUE(IsProblem(answer, 413, "too_large")) << method;
      EXPECT_EQ(JsonValue::Parse(answer.body)["limit"].text(), "max_key_bytes");
    }
  }
  const std::string long_key(65, 'k');
  EXPECT_EQ(Ask("POST", "/keys/get", {}, R"({"keys":[")" + long_key + R"("]})").status, 413);
  EXPECT_EQ(Ask("POST", "/commit", {}, R"({"mutations":[{"op":"put","key":")" + long_key + R"(","value":1}]})").status,
            413);
  EXPECT_EQ(Ask("GET", "/keys?prefix=" + long_key).status, 413);
}

TEST_P(LimitsTest, MaxValueBytes) {
  EXPECT_EQ(Ask("PUT", "/keys/value", {}, std::string(4'095, 'x')).status, 200);
  EXPECT_EQ(Ask("PUT", "/keys/value", {}, std::string(4'096, 'x')).status, 200);
  const HttpAnswer answer = Ask("PUT", "/keys/value", {}, std::string(4'097, 'y'));
  EXPECT_TRUE(IsProblem(answer, 413, "too_large"));
  EXPECT_EQ(JsonValue::Parse(answer.body)["limit"].text(), "max_value_bytes");
  // Nor can it grow beyond.
  EXPECT_EQ(Ask("PATCH", "/keys/value", {}, R"({"append":"x"})").status, 413);
  EXPECT_EQ(Ask("GET", "/keys/value", {{"Accept", "application/octet-stream"}}).body, std::string(4'096, 'x'));
}

TEST_P(LimitsTest, MaxCommitOperations) {
  const auto answer = [this](int count) {
    std::string mutations;
    for (int i = 0; i < count; ++i)
      mutations += fmt::format(R"({}{{"op":"put","key":"ops/{}","value":1}})", i == 0 ? "" : ",", i);
    return Ask("POST", "/commit", {}, R"({"mutations":[)" + mutations + "]}");
  };
  EXPECT_EQ(answer(15).status, 200);
  EXPECT_EQ(answer(16).status, 200);
  EXPECT_TRUE(IsProblem(answer(17), 413, "too_large"));
}

TEST_P(LimitsTest, MaxPipelinedBoundsABatchAndNothingElse) {
  HttpClient client = Connect(kSmall);
  std::string text;
  for (int i = 0; i < 20; ++i) text += RequestText("PATCH", "/keys/pipelined", {}, R"({"increment":1})");
  client.Call("DELETE", "/keys/pipelined");
  client.Send(text);
  for (int i = 1; i <= 20; ++i) EXPECT_EQ(JsonValue::Parse(client.Read().body)["value"].number(), i);
}

TEST_P(LimitsTest, CompressMinBytes) {
  for (const size_t size : {1'023U, 1'024U}) {
    Ask("PUT", "/keys/compress", {}, std::string(size, 'x'));
    const HttpAnswer answer =
        Ask("GET", "/keys/compress", {{"Accept", "application/octet-stream"}, {"Accept-Encoding", "br, gzip;q=0.5"}});
    EXPECT_EQ(answer.Header("Content-Encoding"), size < 1'024 ? "" : "gzip") << size;
  }
  for (const char* encoding : {"identity", "gzip;q=0", "br", "*;q=0"}) {
    const HttpAnswer answer =
        Ask("GET", "/keys/compress", {{"Accept", "application/octet-stream"}, {"Accept-Encoding", encoding}});
    EXPECT_EQ(answer.body.size(), 1'024U) << encoding;
  }
}

TEST_P(LimitsTest, MaxTargetBytes) {
  const auto status = [this](const std::vector<std::string>& options, size_t bytes) {
    const std::string path = "/keys?prefix=";
    HttpClient client = Connect(options);
    return client.Call("GET", path + std::string(bytes - path.size(), 'x')).status;
  };
  const std::vector<std::string> set = {"--http-max-target-bytes", "100"};
  EXPECT_EQ(status(set, 99), 200);
  EXPECT_EQ(status(set, 100), 200);
  EXPECT_EQ(status(set, 101), 414);
  // Else it follows the longest key: here 64 bytes, and by default 8 KiB.
  EXPECT_NE(status(kSmall, 3 * 64 + 1024), 414);
  EXPECT_EQ(status(kSmall, 3 * 64 + 1025), 414);
  EXPECT_NE(status({}, 3 * 8'192 + 1024), 414);
  EXPECT_EQ(status({}, 3 * 8'192 + 1025), 414);
  const std::vector<std::string> longer = {"--limits-max-key-bytes", "12KiB"};
  std::string encoded;
  for (size_t i = 0; i < (12U << 10); ++i) encoded += "%F0";
  HttpClient client = Connect(longer);
  EXPECT_EQ(client.Call("PUT", "/keys/" + encoded, {{"Prefer", "return=minimal"}}, "x").status, 204);
  EXPECT_EQ(client.Call("GET", "/keys/" + encoded).status, 200);
}

TEST_P(LimitsTest, MaxCount) {
  HttpClient client = Connect({"--scan-max-count", "5"});
  const auto count = [&](const std::string& query) {
    return JsonValue::Parse(client.Call("GET", "/keys?count=exact&prefix=count/" + query).body);
  };
  for (int i = 1; i <= 6; ++i) {
    client.Call("PUT", "/keys/count/" + std::to_string(i), {}, "x");
    const JsonValue counted = count("");
    EXPECT_EQ(counted["count"].number(), std::min(i, 5)) << i;
    EXPECT_EQ(counted["cursor"].raw() == "null", i <= 5) << i;
  }
  EXPECT_EQ(count("&cursor=" + count("")["cursor"].text())["count"].number(), 1);
}

TEST_P(LimitsTest, MaxConnections) {
  const std::vector<std::string> options = {"--http-max-connections", "5"};
  std::vector<HttpClient> clients;
  for (int i = 0; i < 5; ++i) {
    clients.push_back(Connect(options));
    ASSERT_EQ(clients.back().Call("GET", "/livez").status, 200) << i;
  }
  {
    HttpClient sixth = Connect(options);
    const HttpAnswer refused = sixth.Call("PUT", "/keys/sixth", {}, "x");
    EXPECT_TRUE(IsProblem(refused, 503, "overloaded"));
    EXPECT_TRUE(refused.Has("Retry-After"));
    EXPECT_EQ(refused.Header("Connection"), "close");
    EXPECT_TRUE(sixth.EndsWithin(kSoon));
  }
  // Those that are in stay in, and who leaves makes room.
  EXPECT_EQ(clients.front().Call("GET", "/keys/sixth").status, 404);
  clients.pop_back();
  for (int i = 0; i < 100; ++i) {
    HttpClient next = Connect(options);
    if (next.Call("GET", "/livez").status == 200) return;
    std::this_thread::sleep_for(milliseconds(20));
  }
  FAIL() << "nobody gets in";
}

TEST_P(LimitsTest, MaxInflightBytes) {
  const std::vector<std::string> options = {"--http-max-inflight-bytes", "1MiB", "--http-max-body-bytes", "1MiB",
                                            "--limits-max-value-bytes",  "1MiB"};
  const std::string large(700 << 10, 'x');
  const std::string whole = RequestText("PUT", "/keys/inflight", {{"Prefer", "return=minimal"}}, large);
  const std::string chunked =
      "PUT /keys/inflight HTTP/1.1\r\nHost: x\r\nPrefer: return=minimal\r\nTransfer-Encoding: chunked\r\n\r\n" +
      fmt::format("{:x}\r\n", large.size()) + large + "\r\n0\r\n\r\n";
  for (const std::string& request : {whole, chunked}) {
    HttpClient first = Connect(options);
    first.Send(request.substr(0, request.size() - 1));
    first.ReadRaw(milliseconds(100));  // until it has arrived
    for (const std::string& other : {whole, chunked}) {
      HttpClient second = Connect(options);
      second.Send(other);
      const HttpAnswer refused = second.Read();
      EXPECT_TRUE(IsProblem(refused, 503, "overloaded"));
      EXPECT_TRUE(refused.Has("Retry-After"));
    }
    // What is small needs none of it.
    HttpClient small = Connect(options);
    EXPECT_EQ(small.Call("PUT", "/keys/inflight", {}, "x").status, 200);
    first.Send(request.substr(request.size() - 1));
    EXPECT_EQ(first.Read().status, 204);
    HttpClient again = Connect(options);
    again.Send(request);
    EXPECT_EQ(again.Read().status, 204);
  }
}

KVARTS_ON_EVERY_ENGINE(LimitsTest);

}  // namespace
}  // namespace kvarts::test
