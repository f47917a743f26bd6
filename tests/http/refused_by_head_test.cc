// Requests that their head alone refuses are answered before their body is there, so that nobody can have the server
// keep what it will not take.
#include <fmt/format.h>

#include "http/access_fixture.h"

namespace kvarts::test {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSoon(5'000);

class RefusedByHeadTest : public AccessTest {
 protected:
  void SetUp() override {
    Admin();
    reader_ = Make("read").text;
    writer_ = Make("write:prefix=w/").text;
  }

  struct Refused {
    std::string method;
    std::string target;
    std::string token;
    int status;
    std::string type;
  };
  std::vector<Refused> Cases() {
    return {
        {"PUT", "/keys/w/1", "", 401, "unauthenticated"},
        {"PUT", "/keys/w/1", "kvt_nobody_knows", 401, "unauthenticated"},
        {"PUT", "/nowhere", "", 404, "no_such_route"},
        {"POST", "/keys", writer_, 405, "method_not_allowed"},
        {"PUT", "/keys/w/1", reader_, 403, "permission_denied"},
        {"POST", "/commit", reader_, 403, "permission_denied"},
        {"POST", "/keys/get", writer_, 403, "permission_denied"},
        {"POST", "/tokens", writer_, 403, "permission_denied"},
        {"PUT", "/namespaces/x", reader_, 403, "permission_denied"},
    };
  }
  // Up to the empty line.
  static std::string Head(const Refused& refused, const std::string& framing) {
    const std::string token = refused.token.empty() ? "" : "Authorization: Bearer " + refused.token + "\r\n";
    return fmt::format("{} {} HTTP/1.1\r\nHost: x\r\n{}{}\r\n\r\n", refused.method, refused.target, token, framing);
  }

  std::string reader_;
  std::string writer_;
};

// Nobody needs a token for some of these, and none of them takes a body.
TEST_P(RefusedByHeadTest, ALongBodyWhereNoneIsTakenIsNotWaitedFor) {
  for (const char* target : {"/livez", "/readyz", "/openapi.json", "/keys/w/1", "/keys", "/metrics"}) {
    const std::string chunk = "Transfer-Encoding: chunked\r\n\r\n10001\r\n" + std::string(0x10001, 'x');
    for (const std::string& framing :
         {std::string("Content-Length: 65537"), std::string("Content-Length: 60000000"), chunk}) {
      HttpClient client(Address());
      client.set_patience(kSoon);
      client.Send(Head({"GET", target, reader_, 413, "too_large"}, framing));
      EXPECT_TRUE(IsProblem(client.Read(), 413, "too_large")) << target << " " << framing.substr(0, 40);
    }
    HttpClient client(Address());
    client.set_patience(kSoon);
    client.Send(Head({"GET", target, reader_, 0, ""}, "Content-Length: 5") + "abcde");
    EXPECT_NE(client.Read().status, 413) << target;
  }
}

TEST_P(RefusedByHeadTest, ABodyThatIsLongOrOfUnknownLengthIsNotWaitedFor) {
  for (const Refused& refused : Cases()) {
    for (const char* framing :
         {"Content-Length: 65537", "Content-Length: 50000000", "Transfer-Encoding: chunked",
          "Expect: 100-continue\r\nContent-Length: 1", "Expect: 100-continue\r\nTransfer-Encoding: chunked"}) {
      HttpClient client(Address());
      client.set_patience(kSoon);
      client.Send(Head(refused, framing));
      const HttpAnswer answer = client.Read();
      EXPECT_TRUE(IsProblem(answer, refused.status, refused.type)) << refused.target << " " << framing;
      EXPECT_EQ(answer.Header("Connection"), "close");
      EXPECT_TRUE(client.EndsWithin(kSoon)) << framing;
    }
  }
}

TEST_P(RefusedByHeadTest, AShortBodyIsDroppedAndTheConnectionGoesOn) {
  for (const Refused& refused : Cases()) {
    for (const size_t length : {1U, 1'000U, 65'536U}) {
      HttpClient client(Address());
      client.set_patience(kSoon);
      client.Send(Head(refused, fmt::format("Content-Length: {}", length)));
      const HttpAnswer answer = client.Read();
      EXPECT_TRUE(IsProblem(answer, refused.status, refused.type)) << refused.target << " " << length;
      EXPECT_FALSE(answer.Has("Connection"));
      // It looks like a request, but is none.
      std::string body = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";
      body.resize(length, '\n');
      client.SendInParts(body.substr(0, length / 2), 10'000);
      client.SendInParts(body.substr(length / 2) + RequestText("GET", "/livez"), 10'000);
      EXPECT_EQ(client.Read().body, "alive\n");
      EXPECT_EQ(client.ReadRaw(milliseconds(20)), "");
    }
  }
}

TEST_P(RefusedByHeadTest, TheAnswerIsTheSameWhenTheBodyIsThereAlready) {
  for (const Refused& refused : Cases()) {
    HttpClient client(Address());
    client.Send(Head(refused, "Content-Length: 4") + "body" + RequestText("GET", "/livez"));
    EXPECT_TRUE(IsProblem(client.Read(), refused.status, refused.type)) << refused.target;
    EXPECT_EQ(client.Read().body, "alive\n");
  }
}

TEST_P(RefusedByHeadTest, AnswersStayInOrderBehindWrites) {
  HttpClient client(Address());
  const HttpHeaders bearing = Bearing(writer_);
  client.Send(RequestText("PUT", "/keys/w/2", bearing, "1") +
              Head({"PUT", "/keys/w/3", "", 401, ""}, "Content-Length: 10") + "12345");
  EXPECT_EQ(client.Read().status, 200);
  EXPECT_EQ(client.Read().status, 401);
  client.Send("67890" + RequestText("PUT", "/keys/w/2", bearing, "2"));
  EXPECT_EQ(client.Read().status, 200);
}

TEST_P(RefusedByHeadTest, TheRightToDoSomethingIsEnoughForTheBodyToBeRead) {
  HttpClient client(Address());
  client.Send(Head({"PUT", "/keys/elsewhere", writer_, 0, ""}, "Expect: 100-continue\r\nContent-Length: 1"));
  EXPECT_EQ(client.Read().status, 100);
  client.Send("x");
  EXPECT_EQ(client.Read().status, 403);
}

TEST_P(RefusedByHeadTest, ABodyThatIsEncodedIsRefusedBeforeItIsSent) {
  HttpClient client(Address());
  client.Send(Head({"PUT", "/keys/w/1", writer_, 0, ""}, "Content-Encoding: gzip\r\nContent-Length: 50000000"));
  EXPECT_TRUE(IsProblem(client.Read(), 415, "unsupported_media_type"));
  EXPECT_TRUE(client.EndsWithin(kSoon));
}

KVARTS_ON_EVERY_ENGINE(RefusedByHeadTest);

}  // namespace
}  // namespace kvarts::test
