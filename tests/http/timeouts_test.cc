// Clients that are slow: each is given its time and no more, and nobody else waits for it. The engine plays no part.
#include <thread>

#include "http/http_fixture.h"
#include "support/eventually.h"

namespace kvarts::test {
namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

// The server looks at its clock every 250 ms, and the machine may be busy.
constexpr milliseconds kCoarse(1'500);
const std::vector<std::string> kShort = {"--http-idle-timeout",    "400ms", "--http-head-timeout",  "600ms",
                                         "--http-request-timeout", "800ms", "--http-write-timeout", "700ms"};

class TimeoutsTest : public HttpTest {
 protected:
  // How long the server keeps the connection, at most five seconds. `feed` is called every 50 ms.
  static milliseconds Lasts(
      HttpClient& client, const std::function<void()>& feed = [] {}) {
    const auto begin = Steady::now();
    while (Steady::now() < begin + milliseconds(5'000)) {
      if (client.EndsWithin(milliseconds(50))) break;
      feed();
    }
    return std::chrono::duration_cast<milliseconds>(Steady::now() - begin);
  }
  static void ExpectAbout(milliseconds is, milliseconds timeout) {
    EXPECT_GE(is, timeout - milliseconds(60));
    EXPECT_LE(is, timeout + kCoarse);
  }
};

TEST_P(TimeoutsTest, AnIdleConnectionIsClosed) {
  HttpClient client = Connect(kShort);
  EXPECT_EQ(client.Call("GET", "/livez").status, 200);
  ExpectAbout(Lasts(client), milliseconds(400));
}

TEST_P(TimeoutsTest, AConnectionThatSaysNothingIsClosed) {
  HttpClient client = Connect(kShort);
  ExpectAbout(Lasts(client), milliseconds(600));
}

TEST_P(TimeoutsTest, RequestsKeepAConnectionOpen) {
  HttpClient client = Connect(kShort);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(client.Call("GET", "/livez").status, 200) << i;
    std::this_thread::sleep_for(milliseconds(300));
  }
}

TEST_P(TimeoutsTest, AHeadGetsNoMoreTimeWithEveryByte) {
  HttpClient client = Connect(kShort);
  client.Send("GET /livez HTTP/1.1\r\n");
  ExpectAbout(Lasts(client, [&client] { client.Send("X: y\r\n"); }), milliseconds(600));
}

TEST_P(TimeoutsTest, AHeadBehindAWriteHasItsTimeToo) {
  HttpClient client = Connect(kShort);
  const std::string put = RequestText("PUT", "/keys/timeouts/a", {}, "x");
  // Begun late, so that the first head has begun when the second does.
  client.Send(put.substr(0, 5));
  std::this_thread::sleep_for(milliseconds(50));
  client.Send(put.substr(5) + "GET /li");
  EXPECT_EQ(client.Read().status, 200);
  ExpectAbout(Lasts(client), milliseconds(600));
}

TEST_P(TimeoutsTest, HeadsThatNeverEndOnABoundaryAreServedAllTheSame) {
  HttpClient client = Connect(kShort);
  const std::string get = RequestText("GET", "/livez");
  client.Send(get.substr(0, 10));
  for (int i = 0; i < 15; ++i) {
    std::this_thread::sleep_for(milliseconds(100));
    client.Send(get.substr(10) + get.substr(0, 10));
    ASSERT_EQ(client.Read().status, 200) << i;
  }
}

TEST_P(TimeoutsTest, ABodyHasItsTime) {
  HttpClient client = Connect(kShort);
  client.Send("PUT /keys/timeouts/b HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n");
  ExpectAbout(Lasts(client, [&client] { client.Send("x"); }), milliseconds(800));
  HttpClient chunked = Connect(kShort);
  chunked.Send("PUT /keys/timeouts/b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  ExpectAbout(Lasts(chunked, [&chunked] { chunked.Send("1\r\nx\r\n"); }), milliseconds(800));
  EXPECT_EQ(Connect(kShort).Call("GET", "/keys/timeouts/b").status, 404);
}

TEST_P(TimeoutsTest, WhoTakesNothingOfAnAnswerIsCutOffAndWhoTakesItSlowlyIsNot) {
  const std::string value(15 << 20, 'x');
  // It has little time for that, too.
  EXPECT_TRUE(Eventually([&] {
    return Connect(kShort).Call("PUT", "/keys/timeouts/large", {{"Prefer", "return=minimal"}}, value).status == 204;
  }));
  const std::string get = RequestText("GET", "/keys/timeouts/large", {{"Accept", "application/octet-stream"}});
  HttpClient never = Connect(kShort);
  never.Send(get);
  std::this_thread::sleep_for(milliseconds(700) + kCoarse);
  EXPECT_LT(never.ReadRaw(milliseconds(500)).size(), value.size());

  HttpClient slowly = Connect(kShort);
  slowly.Send(get);
  size_t got = 0;
  const auto begin = Steady::now();
  while (got < value.size() && Steady::now() < begin + milliseconds(20'000)) {
    const std::string part = slowly.ReadSome(1 << 20);
    if (part.empty()) break;
    got += part.size();
    std::this_thread::sleep_for(milliseconds(150));
  }
  EXPECT_GE(got, value.size());
  EXPECT_GE(Steady::now() - begin, milliseconds(1'400));
}

INSTANTIATE_TEST_SUITE_P(On, TimeoutsTest, ::testing::Values(EngineKinds().front()), EngineName);

}  // namespace
}  // namespace kvarts::test
