// Many requests on one connection before the first answer: answers come in order, a connection sees its own writes, and
// one that fails is its own.
#include "http/http_fixture.h"

namespace kvarts::test {
namespace {

using std::chrono::milliseconds;

class PipelineTest : public HttpTest {};

TEST_P(PipelineTest, AnswersComeInTheOrderOfTheRequests) {
  constexpr int kRequests = 500;
  std::string text;
  for (int i = 0; i < kRequests; ++i)
    text += RequestText("PUT", "/keys/pipeline/order/" + std::to_string(i), {}, std::to_string(i));
  for (int i = 0; i < kRequests; ++i) text += RequestText("GET", "/keys/pipeline/order/" + std::to_string(i));
  for (const size_t part : {text.size(), size_t{1'000}, size_t{97}}) {
    HttpClient client = Connect();
    ASSERT_TRUE(client.SendInParts(text, part));
    for (int i = 0; i < kRequests * 2; ++i) {
      const HttpAnswer answer = client.Read();
      ASSERT_EQ(answer.status, 200) << i;
      EXPECT_EQ(JsonValue::Parse(answer.body)["key"].text(), "pipeline/order/" + std::to_string(i % kRequests));
    }
  }
}

TEST_P(PipelineTest, AConnectionSeesItsOwnEarlierWrites) {
  HttpClient client = Connect();
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text += RequestText("PUT", "/keys/pipeline/own", {}, std::to_string(i));
    text += RequestText("GET", "/keys/pipeline/own", {{"Accept", "application/octet-stream"}});
    text += RequestText("GET", "/keys?prefix=pipeline/own");
  }
  ASSERT_TRUE(client.Send(text));
  for (int i = 0; i < 100; ++i) {
    const std::string expected = std::to_string(i);
    EXPECT_EQ(JsonValue::Parse(client.Read().body)["value"].text(), expected);
    EXPECT_EQ(client.Read().body, expected);
    EXPECT_EQ(JsonValue::Parse(client.Read().body)["items"].at(0)["value"].text(), expected);
  }
}

TEST_P(PipelineTest, WritesOfOneConnectionKeepTheirOrder) {
  HttpClient client = Connect();
  std::string text = RequestText("DELETE", "/keys/pipeline/text");
  for (int i = 0; i < 200; ++i) {
    text += RequestText("PATCH", "/keys/pipeline/text", {{"Content-Type", "application/json"}},
                        R"({"append":")" + std::to_string(i % 10) + R"("})");
  }
  ASSERT_TRUE(client.Send(text));
  client.Read();
  std::string expected;
  int64_t version = 0;
  for (int i = 0; i < 200; ++i) {
    expected += std::to_string(i % 10);
    const JsonValue item = JsonValue::Parse(client.Read().body);
    EXPECT_EQ(item["value"].text(), expected);
    EXPECT_GT(item["version"].number(), version);
    version = item["version"].number();
  }
}

TEST_P(PipelineTest, OneFailingWriteIsItsOwn) {
  HttpClient client = Connect();
  client.Call("DELETE", "/keys/pipeline/a");
  const HttpHeaders json = {{"Content-Type", "application/json"}};
  client.Send(RequestText("PUT", "/keys/pipeline/a", {}, "1") +                              //
              RequestText("PUT", "/keys/pipeline/a", {{"If-None-Match", "*"}}, "2") +        // 412
              RequestText("PUT", "/keys/pipeline/b", {}, "3") +                              //
              RequestText("PUT", "/keys/pipeline/c", json, "{") +                            // 400
              RequestText("PATCH", "/keys/pipeline/a", json, R"({"increment":1})") +         //
              RequestText("PUT", "/keys/%zz", {}, "4") +                                     // 400
              RequestText("PUT", "/keys/pipeline/d", {{"Content-Encoding", "gzip"}}, "4") +  // 415
              RequestText("DELETE", "/keys/pipeline/none") +                                 // 404
              RequestText("PUT", "/nowhere", {}, "5") +                                      // 404
              RequestText("GET", "/keys/pipeline/a", {{"Accept", "application/octet-stream"}}));
  for (const int status : {200, 412, 200, 400, 200, 400, 415, 404, 404, 200}) {
    const HttpAnswer answer = client.Read();
    EXPECT_EQ(answer.status, status) << answer.body;
    EXPECT_TRUE(answer.status != 412 || !JsonValue::Parse(answer.body)["version"].is_null());
  }
  EXPECT_EQ(client.Call("GET", "/keys/pipeline/a", {{"Accept", "application/octet-stream"}}).body, "2");
  EXPECT_EQ(client.Call("GET", "/keys/pipeline/c").status, 404);
}

TEST_P(PipelineTest, MalformedRequestsEndItOnlyAfterTheAnswersBefore) {
  HttpClient client = Connect();
  client.Send(RequestText("PUT", "/keys/pipeline/x", {}, "1") + RequestText("GET", "/keys/pipeline/x") +
              RequestText("PUT", "/keys/pipeline/x", {}, "2") + "GET /a b HTTP/1.1\r\n\r\n" +
              RequestText("PUT", "/keys/pipeline/x", {}, "3"));
  for (const int status : {200, 200, 200, 400}) EXPECT_EQ(client.Read().status, status);
  EXPECT_TRUE(client.EndsWithin(milliseconds(5'000)));
  EXPECT_EQ(RawValueOf("/keys/pipeline/x"), R"("2")");
}

TEST_P(PipelineTest, AnswersDoNotWaitForABodyThatIsLate) {
  HttpClient client = Connect();
  const std::string put = RequestText("PUT", "/keys/pipeline/late", {}, "late");
  client.Send(RequestText("GET", "/livez") + put.substr(0, put.size() - 2));
  client.set_patience(milliseconds(5'000));
  EXPECT_EQ(client.Read().body, "alive\n");
  client.Send(put.substr(put.size() - 2));
  EXPECT_EQ(client.Read().status, 200);
}

TEST_P(PipelineTest, HeadsAmongOthersHaveNoBody) {
  HttpClient client = Connect();
  client.Send(RequestText("PUT", "/keys/pipeline/head", {}, "1") + RequestText("HEAD", "/keys/pipeline/head") +
              RequestText("HEAD", "/keys?prefix=pipeline/head", {{"Accept", "application/x-ndjson"}}) +
              RequestText("GET", "/keys/pipeline/head", {{"If-None-Match", "*"}}) + RequestText("HEAD", "/none") +
              RequestText("GET", "/livez"));
  EXPECT_EQ(client.Read().status, 200);
  EXPECT_EQ(client.Read("HEAD").status, 200);
  EXPECT_EQ(client.Read("HEAD").status, 200);
  EXPECT_EQ(client.Read().status, 304);
  EXPECT_EQ(client.Read("HEAD").status, 404);
  EXPECT_EQ(client.Read().body, "alive\n");
}

TEST_P(PipelineTest, LargeBodiesAndSmallOnesMix) {
  HttpClient client = Connect();
  const std::string large(300'000, 'l');
  std::string text;
  for (int i = 0; i < 10; ++i) {
    text += RequestText("PUT", "/keys/pipeline/small", {}, "s");
    text += RequestText("PUT", "/keys/pipeline/large", {{"Prefer", "return=minimal"}}, large);
  }
  ASSERT_TRUE(client.Send(text + RequestText("GET", "/keys/pipeline/large", {{"Accept", "application/octet-stream"}})));
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(client.Read().status, 200);
    EXPECT_EQ(client.Read().status, 204);
  }
  EXPECT_TRUE(client.Read().body == large);
}

KVARTS_ON_EVERY_ENGINE(PipelineTest);

}  // namespace
}  // namespace kvarts::test
