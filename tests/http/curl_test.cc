// The everyday surface, as a person with curl meets it.
#include "http/http_fixture.h"

namespace kvarts::test {
namespace {

class CurlTest : public HttpTest {
 protected:
  std::string Url(const std::string& target) { return "http://" + Server().address() + target; }
};

TEST_P(CurlTest, WritesReadsAndDeletesAKey) {
  const HttpAnswer put = Curl({"-X", "PUT", Url("/keys/curl/1"), "-d", R"({"value": "Ada", "ttl": 3600})"});
  EXPECT_EQ(put.status, 200);
  const JsonValue written = JsonValue::Parse(put.body);
  EXPECT_EQ(written["key"].text(), "curl/1");
  EXPECT_EQ(written["value"].raw(), R"("Ada")");
  EXPECT_FALSE(written["expiry"].is_null());
  EXPECT_EQ(put.Header("ETag"), '"' + written["version"].text() + '"');

  const HttpAnswer get = Curl({Url("/keys/curl/1")});
  EXPECT_EQ(get.status, 200);
  EXPECT_EQ(get.body, put.body);
  EXPECT_EQ(get.Header("ETag"), put.Header("ETag"));

  const HttpAnswer gone = Curl({"-X", "DELETE", Url("/keys/curl/1")});
  EXPECT_EQ(gone.status, 200);
  EXPECT_GT(JsonValue::Parse(gone.body)["version"].number(), written["version"].number());
  EXPECT_TRUE(IsProblem(Curl({Url("/keys/curl/1")}), 404, "not_found"));
  EXPECT_TRUE(IsProblem(Curl({"-X", "DELETE", Url("/keys/curl/1")}), 404, "not_found"));
}

TEST_P(CurlTest, TakesAFileAndGivesItBack) {
  std::string bytes;
  for (int i = 0; i < 300'000; ++i) bytes.push_back(static_cast<char>(i * 7 + i / 256));
  EXPECT_EQ(Curl({"-T", "-", Url("/keys/curl/file")}, bytes).status, 200);  // chunked, with Expect: 100-continue
  EXPECT_TRUE(Curl({"-H", "Accept: application/octet-stream", Url("/keys/curl/file")}).body == bytes);
  EXPECT_EQ(
      Curl({"-X", "PUT", "--data-binary", "@-", "-H", "Content-Type: image/png", Url("/keys/curl/png")}, bytes).status,
      200);
  const HttpAnswer back = Curl({"-H", "Accept: application/octet-stream", Url("/keys/curl/png")});
  EXPECT_TRUE(back.body == bytes);
  EXPECT_EQ(back.Header("Content-Type"), "image/png");
}

TEST_P(CurlTest, ListsAndCommits) {
  const HttpAnswer commit = Curl({Url("/commit"), "-d",
                                  R"({"mutations": [{"op": "put", "key": "curl/list/b", "value": 2},
                                                    {"op": "put", "key": "curl/list/a", "value": 1}]})"});
  EXPECT_EQ(commit.status, 200);
  const JsonValue page = JsonValue::Parse(Curl({Url("/keys?prefix=curl/list/")}).body);
  ASSERT_EQ(page["items"].size(), 2U);
  EXPECT_EQ(page["items"].at(0)["key"].text(), "curl/list/a");
  EXPECT_EQ(page["items"].at(1)["value"].raw(), "2");
  EXPECT_TRUE(page["cursor"].is_null());
}

TEST_P(CurlTest, GetsCompressedAnswersWhenItAsks) {
  const std::string value(50'000, 'x');
  EXPECT_EQ(Curl({"-X", "PUT", "--data-binary", "@-", "-H", "Content-Type:", Url("/keys/curl/large")}, value).status,
            200);
  const HttpAnswer packed = Curl({"--compressed", "-H", "Accept: application/octet-stream", Url("/keys/curl/large")});
  EXPECT_EQ(packed.Header("Content-Encoding"), "gzip");
  EXPECT_LT(std::stoul(packed.Header("Content-Length")), 2'000U);
  EXPECT_TRUE(packed.body == value);
  EXPECT_FALSE(Curl({"-H", "Accept: application/octet-stream", Url("/keys/curl/large")}).Has("Content-Encoding"));
}

TEST_P(CurlTest, HeadAndOptions) {
  Curl({"-X", "PUT", Url("/keys/curl/head"), "-d", R"({"value": [1, 2]})"});
  const HttpAnswer head = Curl({"-I", Url("/keys/curl/head")});
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.body, "");
  const HttpAnswer options = Curl({"-X", "OPTIONS", Url("/keys/curl/head")});
  EXPECT_EQ(options.status, 204);
  for (const char* method : {"GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"}) {
    EXPECT_NE(options.Header("Allow").find(method), std::string::npos) << method;
  }
}

TEST_P(CurlTest, SpeaksTheOldVersionToo) {
  Curl({"-X", "PUT", Url("/keys/curl/old/1"), "-d", R"({"value": 1})"});
  const HttpAnswer get = Curl({"-0", Url("/keys/curl/old/1")});
  EXPECT_EQ(get.status, 200);
  EXPECT_EQ(JsonValue::Parse(get.body)["value"].raw(), "1");
  // An answer whose length nobody knows ends with the connection.
  const HttpAnswer lines = Curl({"-0", "-H", "Accept: application/x-ndjson", Url("/keys?prefix=curl/old/")});
  EXPECT_EQ(lines.status, 200);
  EXPECT_NE(lines.body.find(R"("end":true)"), std::string::npos);
  const HttpAnswer kept =
      Curl({"-0", "-H", "Connection: keep-alive", "-H", "Accept: application/x-ndjson", Url("/keys?prefix=curl/old/")});
  EXPECT_EQ(kept.body, lines.body);
}

TEST_P(CurlTest, LivesAndIsReady) {
  EXPECT_EQ(Curl({Url("/livez")}).body, "alive\n");
  EXPECT_EQ(Curl({Url("/readyz")}).body, "ready\n");
}

KVARTS_ON_EVERY_ENGINE(CurlTest);

}  // namespace
}  // namespace kvarts::test
