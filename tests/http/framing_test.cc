// Requests that are malformed, ambiguous, cut off or oddly paced: each costs its own connection at most, and what a
// neighbour on the way might read differently is never carried out.
#include <thread>

#include "http/http_fixture.h"

namespace kvarts::test {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSoon(5'000);

class FramingTest : public HttpTest {
 protected:
  // Sends the bytes on a connection of their own: the first answer, and that the connection ends after it.
  HttpAnswer Refusal(std::string_view bytes) {
    HttpClient client = Connect();
    client.Send(bytes);
    HttpAnswer answer = client.Read();
    EXPECT_TRUE(client.EndsWithin(kSoon)) << bytes;
    return answer;
  }
  void TearDown() override {
    // Whatever was sent, others are served.
    EXPECT_EQ(Get("/livez").status, 200);
  }
};

TEST_P(FramingTest, SmugglingIsRefused) {
  // Each of these hides a second request from one of two readers. It must not be carried out.
  const std::string hidden = "PUT /keys/framing/smuggled HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx";
  const std::string put = "PUT /keys/framing/outer HTTP/1.1\r\nHost: x\r\n";
  const std::string length = "Content-Length: " + std::to_string(hidden.size()) + "\r\n";
  for (const std::string& head : std::initializer_list<std::string>{
           "Content-Length: 0\r\n" + length,
           length + "Content-Length: 0\r\n",
           length + length,
           "Content-Length: 0, " + std::to_string(hidden.size()) + "\r\n",
           "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n",
           "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
           "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
           "Transfer-Encoding: identity, chunked\r\n",
           "Transfer-Encoding: xchunked\r\n",
           "Transfer-Encoding: chunked, identity\r\n",
           "Transfer-Encoding : chunked\r\n",
           "Transfer-Encoding:\x0b"
           "chunked\r\n",
           " Transfer-Encoding: chunked\r\n",
           "X: y\r\n Transfer-Encoding: chunked\r\n",
           "X: y\r\n\tContent-Length: 5\r\n",
           "X: y\nTransfer-Encoding: chunked\r\n",
           "X: y\rTransfer-Encoding: chunked\r\n",
           "X: \x01\r\n",
           "Content-Length: +5\r\n",
           "Content-Length: -1\r\n",
           "Content-Length: 0x5\r\n",
           "Content-Length: 5 5\r\n",
           "Content-Length: 18446744073709551616\r\n",
           "Content-Length:\r\n",
           "Content_Length : 5\r\n",
           "Host: y\r\nContent-Length: 0\r\n",
       }) {
    const HttpAnswer answer = Refusal(put + head + "\r\n" + "0\r\n\r\n" + hidden);
    EXPECT_EQ(answer.Header("Connection"), "close") << head;
    EXPECT_TRUE(answer.status == 400 || answer.status == 501) << head << answer.status;
    EXPECT_EQ(answer.Header("Content-Type"), "application/problem+json") << head;
  }
  EXPECT_EQ(Get("/keys/framing/smuggled").status, 404);
  EXPECT_EQ(Get("/keys/framing/outer").status, 404);
}

TEST_P(FramingTest, OldVersionHasNoChunks) {
  EXPECT_EQ(Refusal("PUT /keys/framing/old HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n").status,
            400);
  EXPECT_EQ(Get("/keys/framing/old").status, 404);
}

TEST_P(FramingTest, MalformedHeadsAreAnsweredAndEnd) {
  for (const std::string& head : std::initializer_list<std::string>{
           "GET /livez HTTP/1.1\r\n\r\n",                          // no Host
           "GET /livez HTTP/1.1\nHost: x\n\n",                     // bare LF
           "GET /livez HTTP/1.1\r\nHost: x\n\r\n",                 // one of them
           "GET /livez\r\nHost: x\r\n\r\n",                        // HTTP/0.9
           "GET /livez  HTTP/1.1\r\nHost: x\r\n\r\n",              // two spaces
           "GET /livez HTTP/1.1 \r\nHost: x\r\n\r\n",              // one at the end
           "GET /li vez HTTP/1.1\r\nHost: x\r\n\r\n",              // one within
           "GET /livez#a HTTP/1.1\r\nHost: x\r\n\r\n",             // a fragment
           "GET * HTTP/1.1\r\nHost: x\r\n\r\n",                    // only OPTIONS may
           "GET http://user@x/livez HTTP/1.1\r\nHost: x\r\n\r\n",  // a user
           "GET /livez HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",    // twice
           "GET /livez HTTP/1.1\r\nHost: a b\r\n\r\n",             // no host
           "GET /livez HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n",        // no name
           "GET /livez HTTP/1.1\r\nHost: x\r\nName\r\n\r\n",       // no colon
           "GET /livez HTTP/1.1\r\nHost: x\r\nA: \x7f\r\n\r\n",    // a control character
           std::string("GET /li\0vez HTTP/1.1\r\nHost: x\r\n\r\n", 33),
       }) {
    EXPECT_TRUE(IsProblem(Refusal(head), 400, "malformed_request")) << head;
  }
  EXPECT_TRUE(IsProblem(Refusal("GET /livez HTTP/2.0\r\nHost: x\r\n\r\n"), 505, "malformed_request"));
  EXPECT_TRUE(IsProblem(Refusal("GET /livez HTTP/1.2\r\nHost: x\r\n\r\n"), 505, "malformed_request"));
  EXPECT_TRUE(IsProblem(Refusal("CONNECT /x HTTP/1.1\r\nHost: x\r\n\r\n"), 501, "malformed_request"));
  EXPECT_TRUE(
      IsProblem(Refusal("GET /livez HTTP/1.1\r\nHost: x\r\nExpect: 200-maybe\r\n\r\n"), 417, "malformed_request"));
}

// Words are taken for a line of Redis' protocol; what cannot be one either is cut off.
TEST_P(FramingTest, WhatIsNoProtocolIsCutOff) {
  for (const std::string& bytes :
       std::initializer_list<std::string>{std::string("\x16\x03\x01\x02\x00\x01", 6), std::string(100, '\0'),
                                          "\x7f"
                                          "ELF",
                                          "{\"a\": 1}"}) {
    HttpClient client = Connect();
    client.Send(bytes);
    EXPECT_TRUE(client.EndsWithin(kSoon)) << bytes.substr(0, 20);
  }
}

TEST_P(FramingTest, OddButGoodRequestsAreServed) {
  HttpClient client = Connect();
  for (const char* text : {
           "\r\nGET /livez HTTP/1.1\r\nHost: x\r\n\r\n",
           "GET /livez HTTP/1.1\r\nhOST:x\r\n\r\n",
           "GET /livez HTTP/1.1\r\nHost:   x  \t\r\nA:\r\nB: \x80\xff\t!\r\n\r\n",
           "GET http://x/livez HTTP/1.1\r\nHost: y\r\n\r\n",
           "GET HTTP://x:80/livez HTTP/1.1\r\nHost:\r\n\r\n",
           "GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
           "GET /livez HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nT: x\r\n\r\n",
           "GET /livez HTTP/1.1\r\nHost: x\r\nConnection: upgrade, keep-alive\r\nUpgrade: h2c\r\n\r\n",
           "GET /livez HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
       }) {
    client.Send(text);
    EXPECT_EQ(client.Read().body, "alive\n") << text;
  }
  client.Send("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.Read().status, 204);
}

TEST_P(FramingTest, TheConnectionEndsWhenTheClientAsks) {
  for (const char* text :
       {"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "GET /livez HTTP/1.0\r\n\r\n",
        "GET /livez HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n",
        "PUT /keys/framing/last HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx"}) {
    HttpClient client = Connect();
    // What follows is not carried out.
    client.Send(std::string(text) + "PUT /keys/framing/after HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx");
    EXPECT_EQ(client.Read().status, 200) << text;
    EXPECT_TRUE(client.EndsWithin(kSoon)) << text;
  }
  EXPECT_EQ(Get("/keys/framing/after").status, 404);
}

TEST_P(FramingTest, ErrorsLeaveTheConnectionUsable) {
  HttpClient client = Connect();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(client.Call("GET", "/nowhere").status, 404);
    EXPECT_EQ(client.Call("GET", "/keys/framing/none").status, 404);
    EXPECT_EQ(client.Call("PUT", "/keys/%zz", {}, "x").status, 400);
    EXPECT_EQ(client.Call("PUT", "/keys/a", {{"Content-Type", "application/json"}}, "{").status, 400);
    EXPECT_EQ(client.Call("POST", "/keys", {}, "x").status, 405);
    EXPECT_EQ(client.Call("BREW", "/keys").status, 405);
    EXPECT_EQ(client.Call("GET", "/keys?limit=0").status, 400);
    EXPECT_EQ(client.Call("GET", "/livez").status, 200);
  }
}

TEST_P(FramingTest, ARequestMayArriveByteByByte) {
  HttpClient client = Connect();
  const std::string put = "\r\n" + RequestText("PUT", "/keys/framing/slow", {{"X", std::string(100, 'y')}}, "slowly");
  ASSERT_TRUE(client.SendInParts(put + put, 1));
  EXPECT_EQ(client.Read().status, 200);
  EXPECT_EQ(client.Read().status, 200);
  client.SendInParts("\r\nGET /keys/framing/slow HTTP/1.1\r\nHost: x\r\nAccept: application/octet-stream\r\n\r\n", 1);
  EXPECT_EQ(client.Read().body, "slowly");
}

TEST_P(FramingTest, ChunksMayBeSplitAnywhere) {
  std::string chunks;
  std::string body;
  for (int size : {1, 2, 15, 16, 255, 300}) {
    char text[16];
    std::snprintf(text, sizeof(text), size % 2 == 0 ? "%x" : "0%X;ext=\"1\"", static_cast<unsigned>(size));
    const std::string data(static_cast<size_t>(size), static_cast<char>('a' + size % 26));
    chunks += text + ("\r\n" + data) + "\r\n";
    body += data;
  }
  chunks += "0\r\nTrailer: dropped\r\n\r\n";
  const std::string head = "PUT /keys/framing/chunks HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  HttpClient client = Connect();
  for (const size_t part : {1, 2, 3, 7, 64, 10'000}) {
    ASSERT_TRUE(client.SendInParts(head + chunks, part));
    ASSERT_EQ(client.Read().status, 200) << part;
    EXPECT_EQ(client.Call("GET", "/keys/framing/chunks", {{"Accept", "application/octet-stream"}}).body, body);
  }
  // Everywhere in two.
  for (size_t at = head.size(); at < head.size() + 60; ++at) {
    ASSERT_TRUE(client.SendInParts((head + chunks).substr(0, at), 10'000));
    ASSERT_TRUE(client.Send((head + chunks).substr(at) + RequestText("GET", "/livez")));
    ASSERT_EQ(client.Read().status, 200) << at;
    ASSERT_EQ(client.Read().body, "alive\n") << at;
  }
}

TEST_P(FramingTest, MalformedChunksEndTheConnectionWithoutAWrite) {
  const std::string head = "PUT /keys/framing/bad HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const char* chunks :
       {"x\r\n", "-1\r\nx\r\n0\r\n\r\n", "1\nx\r\n0\r\n\r\n", "1\r\nxy\r\n0\r\n\r\n", "1 \r\nx\r\n0\r\n\r\n",
        "\r\n1\r\nx\r\n0\r\n\r\n", "1\r\nx\n0\r\n\r\n", "0x1\r\nx\r\n0\r\n\r\n", "10000000000000000\r\nx",
        "1;\x01\r\nx\r\n0\r\n\r\n", "0\r\nbad trailer\r\n\r\n", "1\r\nx\r\n0\r\n folded\r\n\r\n"}) {
    EXPECT_TRUE(IsProblem(Refusal(head + chunks), 400, "malformed_request")) << chunks;
  }
  EXPECT_TRUE(IsProblem(Refusal(head + "fffffffffffffff\r\nx"), 413, "too_large"));
  EXPECT_TRUE(
      IsProblem(Refusal(head + "1;" + std::string(10'000, 'e') + "\r\nx\r\n0\r\n\r\n"), 400, "malformed_request"));
  EXPECT_TRUE(IsProblem(Refusal(head + "0\r\n" + std::string(10'000, 't') + ": x\r\n\r\n"), 431, "too_large"));
  EXPECT_EQ(Get("/keys/framing/bad").status, 404);
}

TEST_P(FramingTest, AClientThatWaitsIsToldToContinue) {
  HttpClient client = Connect();
  for (const char* framing : {"Content-Length: 2", "Transfer-Encoding: chunked"}) {
    client.Send(std::string("PUT /keys/framing/continue HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n") + framing +
                "\r\n\r\n");
    EXPECT_EQ(client.Read().status, 100);
    client.Send(framing[0] == 'C' ? "ok" : "2\r\nok\r\n0\r\n\r\n");
    EXPECT_EQ(client.Read().status, 200);
  }
  // One that would be refused anyway hears it before it sends.
  client.Send(
      "PUT /keys/framing/continue HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 999999999\r\n\r\n");
  EXPECT_TRUE(IsProblem(client.Read(), 413, "too_large"));
  EXPECT_TRUE(client.EndsWithin(kSoon));
}

TEST_P(FramingTest, AHalfClosedConnectionGetsItsAnswers) {
  for (const size_t part : {1, 100'000}) {
    HttpClient client = Connect();
    client.SendInParts(RequestText("PUT", "/keys/framing/half", {}, "x") + RequestText("GET", "/keys/framing/half"),
                       part);
    client.EndInput();
    EXPECT_EQ(client.Read().status, 200);
    EXPECT_EQ(client.Read().status, 200);
    EXPECT_TRUE(client.EndsWithin(kSoon));
  }
}

TEST_P(FramingTest, WhatIsCutOffIsNotCarriedOut) {
  const std::string put = RequestText("PUT", "/keys/framing/cut", {}, std::string(1'000, 'x'));
  const std::string chunked =
      "PUT /keys/framing/cut HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n";
  for (const std::string& whole : {put, chunked}) {
    for (const size_t size : {size_t{1}, whole.size() / 2, whole.size() - 1}) {
      HttpClient ended = Connect();
      ended.Send(whole.substr(0, size));
      ended.EndInput();
      EXPECT_TRUE(ended.EndsWithin(kSoon)) << size;
      HttpClient reset = Connect();
      reset.Send(whole.substr(0, size));
      reset.Reset();
    }
  }
  EXPECT_EQ(Get("/keys/framing/cut").status, 404);
}

TEST_P(FramingTest, AnAnswerThatNobodyReadsCostsOnlyItsConnection) {
  const std::string value(4 << 20, 'v');
  PutRaw("/keys/framing/large", value);
  {
    std::vector<HttpClient> clients;
    for (int i = 0; i < 20; ++i) {
      clients.push_back(Connect());
      clients.back().Send(RequestText("GET", "/keys/framing/large", {{"Accept", "application/octet-stream"}}));
    }
    EXPECT_EQ(Get("/livez").status, 200);
    EXPECT_TRUE(clients.front().Read().body == value);
    for (int i = 1; i < 10; ++i) clients[static_cast<size_t>(i)].Reset();
  }
  EXPECT_TRUE(Get("/keys/framing/large", {{"Accept", "application/octet-stream"}}).body == value);
}

KVARTS_ON_EVERY_ENGINE(FramingTest);

}  // namespace
}  // namespace kvarts::test
