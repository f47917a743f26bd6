// Watches: what is sent, in which order, from where on; and what they cost others.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "http/event_reader.h"
#include "http/http_fixture.h"
#include "support/eventually.h"
#include "support/postgres_database.h"

namespace kvarts::test {
namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

constexpr milliseconds kSoon(5'000);

class WatchTest : public HttpTest {
 protected:
  // Namespaces are in the way of other tests' keys.
  WatchTest() : HttpTest({"--watch-heartbeat", "13s"}) {}

  // A namespace of everything under NAME/; its keys are gone at the next call.
  void DeclareFeed(const std::string& name) {
    const HttpAnswer declared =
        PutJson("/namespaces/" + name, fmt::format(R"({{"grammar":"{}/<id:path>","feed":true}})", name));
    ASSERT_EQ(declared.status, 200) << declared.body;
  }
  std::string VersionOfPut(const std::string& key, const std::string& value = "x") {
    return JsonValue::Parse(PutRaw("/keys/" + key, value).body)["version"].text();
  }
  EventReader Watching(const std::string& query, HttpHeaders headers = {}) {
    return EventReader(Server().address(), "/watch?" + query, std::move(headers));
  }
  JsonValue Poll(const std::string& query) {
    const HttpAnswer answer = Get("/watch?" + query);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return JsonValue::Parse(answer.body);
  }
  // Everything that a feed has since a place, page by page.
  std::vector<std::string> PollAll(const std::string& prefix, std::string since) {
    std::vector<std::string> all;
    while (true) {
      const JsonValue page = Poll(fmt::format("prefix={}&since={}&wait=0", prefix, since));
      since = page["next"].text();
      if (page["changes"].size() == 0) return all;
      for (const JsonValue& change : page["changes"].elements()) all.push_back(change.raw());
    }
  }
  void WatchConcurrentWriters(const std::string& prefix, bool fed);
};

TEST_P(WatchTest, APollTellsWhatTheFeedCost) {
  DeclareFeed("costly");
  const std::string before = VersionOfPut("costly/0");
  VersionOfPut("costly/1");
  VersionOfPut("costly/2");
  const HttpHeaders ask = {{"Kvarts-Cost", "1"}};
  const std::string cost = Get("/watch?prefix=costly/&wait=5&since=" + before, ask).Header("Kvarts-Cost");
  EXPECT_TRUE(cost.starts_with("keys=2,")) << cost;
  HttpClient client(Server().address());
  client.Send(RequestText("GET", "/watch?prefix=costly/", {{"Kvarts-Cost", "1"}, {"Accept", "text/event-stream"}}));
  const std::string head = client.ReadSome(4096);
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200")) << head;
  EXPECT_EQ(head.find("Kvarts-Cost"), std::string::npos) << "nobody knows what a stream will cost";
}

void WatchTest::WatchConcurrentWriters(const std::string& prefix, bool fed) {
  constexpr int kWriters = 4;
  constexpr int kEach = 50;
  EventReader reader = Watching("prefix=" + prefix);
  ASSERT_EQ(reader.status(), 200);
  std::vector<std::vector<std::pair<int64_t, std::string>>> written(kWriters);
  std::vector<std::thread> threads;
  for (int i = 0; i < kWriters; ++i) {
    threads.emplace_back([&, i, address = Server().address()] {
      HttpClient client(address);
      for (int n = 0; n < kEach; ++n) {
        const std::string value = fmt::format("{}-{}", i, n);
        const HttpAnswer put = client.Call("PUT", fmt::format("/keys/{}{}", prefix, n % 3), {}, value);
        written[static_cast<size_t>(i)].emplace_back(JsonValue::Parse(put.body)["version"].number(), value);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<std::pair<int64_t, std::string>> all;
  for (const auto& part : written) all.insert(all.end(), part.begin(), part.end());
  std::ranges::sort(all);
  const std::vector<WatchEvent> events = reader.Take(all.size());
  ASSERT_EQ(events.size(), all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(events[i].json()["version"].number(), all[i].first) << i;
    EXPECT_EQ(events[i].json()["value"].text(), all[i].second) << i;
    // An id is a promise that it can be resumed from.
    EXPECT_EQ(events[i].id, fed ? std::to_string(all[i].first) + ".0" : "");
    EXPECT_EQ(events[i].event, "put");
  }
  EXPECT_FALSE(reader.Next(milliseconds(50)).has_value());
}

TEST_P(WatchTest, EventsComeInTheOrderOfCommits) {
  WatchConcurrentWriters("order/", false);
  DeclareFeed("order-fed");
  WatchConcurrentWriters("order-fed/", true);
}

TEST_P(WatchTest, EveryKindOfChangeIsToldWithAndWithoutAFeed) {
  DeclareFeed("kinds-fed");
  for (const std::string prefix : {"kinds/", "kinds-fed/"}) {
    EventReader reader = Watching("prefix=" + prefix);
    EXPECT_EQ(PutJson("/keys/" + prefix + "a", R"({"value":{"n":1.0},"ttl":1000})").status, 200);
    EXPECT_EQ(Post("/commit", fmt::format(R"({{"mutations":[{{"op":"put","key":"{0}b","value":"x"}},
        {{"op":"add","key":"{0}n","by":5}},{{"op":"delete","key":"{0}a"}}]}})",
                                          prefix))
                  .status,
              200);
    EXPECT_EQ(Call("DELETE", "/keys?prefix=" + prefix).status, 200);
    const std::vector<WatchEvent> events = reader.Take(5);
    ASSERT_EQ(events.size(), 5U) << prefix;
    EXPECT_EQ(events[0].event, "put");
    EXPECT_EQ(events[0].json()["value"].raw(), R"({"n":1.0})");
    EXPECT_TRUE(events[0].json()["expiry"].text().starts_with("20"));
    const std::string version = events[1].json()["version"].text();
    // In the order of the commit, as parts of one version.
    const std::vector<std::string> expected = {"put", "add", "delete"};
    for (size_t i = 0; i < 3; ++i) {
      const WatchEvent& event = events[i + 1];
      EXPECT_EQ(event.id, prefix == "kinds/" ? "" : fmt::format("{}.{}", version, i)) << prefix;
      EXPECT_EQ(event.event, expected[i]) << prefix;
      EXPECT_EQ(event.json()["op"].text(), expected[i]);
      EXPECT_EQ(event.json()["version"].text(), version);
    }
    EXPECT_EQ(events[1].json()["value"].text(), "x");
    EXPECT_EQ(events[2].key(), prefix + "n");
    // A feed has what it came to.
    EXPECT_EQ(events[2].json()[prefix == "kinds/" ? "by" : "value"].raw(), "5") << prefix << events[2].data;
    EXPECT_EQ(events[3].key(), prefix + "a");
    EXPECT_EQ(events[4].event, "delete_range");
    EXPECT_EQ(events[4].json()["start"].text(), prefix);
    EXPECT_EQ(events[4].json()["end"].text(), prefix.substr(0, prefix.size() - 1) + "0");
  }
}

TEST_P(WatchTest, AWatchIsOfItsRangeAlone) {
  EventReader prefix = Watching("prefix=own/a/");
  EventReader range = Watching("start=own/b&end=own/d");
  for (const char* key : {"own/a", "own/a/", "own/a/1", "own/a0", "own/b", "own/c", "own/d", "own"}) VersionOfPut(key);
  VersionOfPut("own/a/last");
  VersionOfPut("own/c-last");
  const auto keys = [](EventReader& reader, const std::string& last) {
    std::string seen;
    while (const auto event = reader.Next()) {
      seen += event->key() + " ";
      if (event->key() == last) break;
    }
    return seen;
  };
  EXPECT_EQ(keys(prefix, "own/a/last"), "own/a/ own/a/1 own/a/last ");
  EXPECT_EQ(keys(range, "own/c-last"), "own/b own/c own/c-last ");
  // Bytes that are no text come as base64.
  EventReader binary = Watching("prefix=%FF");
  PutRaw("/keys/%FF%00", std::string("\xff\x00", 2));
  const auto event = binary.Next();
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->json()["key_base64"].text(), "/wA=");
  EXPECT_EQ(event->json()["value_base64"].text(), "/wA=");
}

TEST_P(WatchTest, AFeedGoesOnExactlyBehindAnyPlace) {
  DeclareFeed("resume");
  const std::string before = VersionOfPut("resume/first");
  EventReader reader = Watching("prefix=resume/");
  for (int i = 0; i < 5; ++i) {
    VersionOfPut(fmt::format("resume/{}", i));
    Post("/commit", fmt::format(R"({{"mutations":[{{"op":"put","key":"resume/x","value":{0}}},
        {{"op":"put","key":"resume/y","value":{0}}},{{"op":"add","key":"resume/n{0}","by":1}}]}})",
                                i));
  }
  const std::vector<WatchEvent> all = reader.Take(20);
  ASSERT_EQ(all.size(), 20U);
  std::vector<std::string> data;
  for (const WatchEvent& event : all) data.push_back(event.data);
  EXPECT_EQ(PollAll("resume/", before), data);
  for (size_t i = 0; i < all.size(); ++i) {
    const std::vector<std::string> rest(data.begin() + static_cast<ptrdiff_t>(i) + 1, data.end());
    EXPECT_EQ(PollAll("resume/", all[i].id), rest) << all[i].id;
    if (rest.empty()) break;
    // As browsers do; what they say goes before what the address says.
    EventReader again = Watching("prefix=resume/&since=0", {{"Last-Event-ID", all[i].id}});
    const std::vector<WatchEvent> events = again.Take(rest.size());
    ASSERT_EQ(events.size(), rest.size());
    for (size_t n = 0; n < rest.size(); ++n) {
      EXPECT_EQ(events[n].data, rest[n]);
      EXPECT_EQ(events[n].id, all[i + 1 + n].id);
    }
  }
  // A version alone stands for all of its commit.
  EXPECT_EQ(PollAll("resume/", all[1].json()["version"].text()).size(), 16U);
}

TEST_P(WatchTest, APollThatFoundNothingSaysWhereToGoOn) {
  DeclareFeed("next");
  const JsonValue now = Poll("prefix=next/&wait=0");
  EXPECT_EQ(now["changes"].size(), 0U);
  const std::string version = VersionOfPut("next/1");
  const JsonValue one = Poll("prefix=next/&wait=0&since=" + now["next"].text());
  ASSERT_EQ(one["changes"].size(), 1U);
  EXPECT_EQ(one["changes"].at(0)["version"].text(), version);
  EXPECT_EQ(Poll("prefix=next/&wait=0&since=" + one["next"].text())["changes"].size(), 0U);
}

TEST_P(WatchTest, ManyChangesComeInPagesEachOnce) {
  DeclareFeed("pages");
  const std::string before = VersionOfPut("pages/first");
  constexpr int kCommits = 5;
  constexpr int kEach = 300;
  for (int i = 0; i < kCommits; ++i) {
    std::string mutations;
    for (int n = 0; n < kEach; ++n) {
      mutations += fmt::format(R"({}{{"op":"put","key":"pages/{:06}","value":1}})", n == 0 ? "" : ",", i * kEach + n);
    }
    ASSERT_EQ(Post("/commit", R"({"mutations":[)" + mutations + "]}").status, 200);
  }
  const std::vector<std::string> polled = PollAll("pages/", before);
  EventReader reader = Watching("prefix=pages/&since=" + before);
  const std::vector<WatchEvent> events = reader.Take(kCommits * kEach);
  ASSERT_EQ(events.size(), size_t{kCommits * kEach});
  ASSERT_EQ(polled.size(), events.size());
  for (size_t i = 0; i < events.size(); ++i) {
    ASSERT_EQ(events[i].key(), fmt::format("pages/{:06}", i));
    ASSERT_EQ(events[i].data, polled[i]);
  }
  // A part of the region is found among the rest of its feed.
  EXPECT_EQ(PollAll("pages/0014", before).size(), 100U);
  EXPECT_EQ(PollAll("pages/001499", before).size(), 1U);
}

TEST_P(WatchTest, BeforeShowsWhatWasThere) {
  DeclareFeed("before");
  const std::string since = VersionOfPut("before/first");
  const std::string one = VersionOfPut("before/a", "one");
  VersionOfPut("before/a", "two");
  Call("DELETE", "/keys/before/a");
  const JsonValue changes = Poll("prefix=before/&before=true&wait=0&since=" + since)["changes"];
  ASSERT_EQ(changes.size(), 3U);
  EXPECT_FALSE(changes.at(0).Has("before"));
  EXPECT_EQ(changes.at(1)["value"].text(), "two");
  EXPECT_EQ(changes.at(1)["before"]["value"].text(), "one");
  EXPECT_EQ(changes.at(1)["before"]["version"].text(), one);
  EXPECT_EQ(changes.at(2)["op"].text(), "delete");
  EXPECT_EQ(changes.at(2)["before"]["value"].text(), "two");
  const JsonValue without = Poll("prefix=before/&wait=0&since=" + since)["changes"];
  for (const JsonValue& change : without.elements()) EXPECT_FALSE(change.Has("before"));
}

TEST_P(WatchTest, AFeedTellsWhoAndWhy) {
  DeclareFeed("trace");
  const std::string since = VersionOfPut("trace/first");
  PutRaw("/keys/trace/1", "x", {{"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}});
  const JsonValue changes = Poll("prefix=trace/&wait=0&since=" + since)["changes"];
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes.at(0)["trace"].text(), "0af7651916cd43dd8448eb211c80319c");
}

TEST_P(WatchTest, ARangeDeletionConcernsEveryWatchThatItMeets) {
  DeclareFeed("meets");
  EventReader part = Watching("prefix=meets/a/");
  EventReader other = Watching("prefix=meets/b/");
  EventReader live = Watching("prefix=meet");
  VersionOfPut("meets/a/1");
  EXPECT_EQ(Call("DELETE", "/keys?start=meets/a/5&end=meets/a/7").status, 200);
  EXPECT_EQ(Call("DELETE", "/keys?prefix=meets/").status, 200);
  ASSERT_EQ(part.Take(3).size(), 3U);
  const auto event = other.Next();
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->event, "delete_range");
  // As far as it concerns this one.
  EXPECT_EQ(event->json()["start"].text(), "meets/b/");
  EXPECT_EQ(event->json()["end"].text(), "meets/b0");
  EXPECT_EQ(live.Take(3).size(), 3U);
}

TEST_P(WatchTest, WithoutAFeedThereIsNoPast) {
  VersionOfPut("past/1");
  for (const char* query : {"prefix=past/&since=0", "prefix=past/&since=1.0", "since=0", "start=past/&since=5"}) {
    const HttpAnswer refused = Get(std::string("/watch?wait=0&") + query);
    EXPECT_TRUE(IsProblem(refused, 400, "invalid_argument")) << query;
    EXPECT_NE(refused.body.find("no feed keeps the changes of this range"), std::string::npos) << refused.body;
    EXPECT_EQ(Watching(query).status(), 400) << query;
  }
  // A browser cannot help sending what it was told once.
  EXPECT_EQ(Watching("prefix=past/", {{"Last-Event-ID", "5.0"}}).status(), 200);
  EXPECT_TRUE(Poll("prefix=past/&wait=0")["next"].is_null());
  // A range that is larger than the region of a feed is not covered by it.
  DeclareFeed("covered");
  EXPECT_EQ(Get("/watch?wait=0&prefix=covere&since=0").status, 400);
  EXPECT_EQ(Get("/watch?wait=0&prefix=covered/&since=0").status, 200);
  for (const char* place :
       {"", "x", "1.", ".1", "1.x", "-1", "1.2.3", "1.18446744073709551615", "99999999999999999999"}) {
    EXPECT_TRUE(IsProblem(Get(std::string("/watch?wait=0&prefix=covered/&since=") + place), 400, "invalid_argument"))
        << place;
  }
}

TEST_P(WatchTest, APollWaitsAsLongAsItIsToldAndNoLonger) {
  DeclareFeed("poll-fed");
  for (const char* prefix : {"poll/", "poll-fed/"}) {
    const std::string target = fmt::format("/watch?prefix={}", prefix);
    auto begin = Steady::now();
    EXPECT_EQ(Poll(fmt::format("prefix={}&wait=1", prefix))["changes"].size(), 0U);
    EXPECT_GE(Steady::now() - begin, milliseconds(990));
    EXPECT_LT(Steady::now() - begin, milliseconds(3'000));
    HttpClient client(Server().address());
    client.Send(RequestText("GET", target + "&wait=60"));
    std::this_thread::sleep_for(milliseconds(100));
    begin = Steady::now();
    VersionOfPut(std::string(prefix) + "1");
    EXPECT_EQ(JsonValue::Parse(client.Read().body)["changes"].size(), 1U);
    EXPECT_LT(Steady::now() - begin, kSoon);
  }
  for (const char* wait : {"301", "-1", "x", "1.5", ""}) {
    EXPECT_TRUE(IsProblem(Get(std::string("/watch?wait=") + wait), 400, "invalid_argument")) << wait;
  }
  EXPECT_TRUE(IsProblem(Get("/watch?prefix=a&start=b"), 400, "invalid_argument"));
  EXPECT_TRUE(IsProblem(Get("/watch?prefixes=a"), 400, "invalid_argument"));
  EXPECT_EQ(Get("/watch?wait=0", {{"Accept", "text/html"}}).status / 100, 4);
}

TEST_P(WatchTest, HeadTellsTheFormAndWatchesNothing) {
  HttpClient client(Server().address());
  const HttpAnswer events = client.Call("HEAD", "/watch?prefix=a", {{"Accept", "text/event-stream"}});
  EXPECT_EQ(events.status, 200);
  EXPECT_EQ(events.Header("Content-Type"), "text/event-stream");
  EXPECT_EQ(client.Call("GET", "/livez").status, 200);
  const HttpAnswer poll = client.Call("HEAD", "/watch?prefix=a&wait=60");
  EXPECT_EQ(poll.status, 200);
  EXPECT_EQ(poll.Header("Content-Type"), "application/json");
  EXPECT_EQ(client.Call("GET", "/livez").status, 200);
  EXPECT_EQ(client.Call("HEAD", "/watch?prefix=a&since=0").status, 400);
}

TEST_P(WatchTest, ABeatShowsThatTheServerIsThere) {
  const std::vector<std::string> options = {"--watch-heartbeat", "100ms"};
  DeclareFeed("beat");
  EventReader reader(Server(options).address(), "/watch?prefix=beat/");
  const size_t before = reader.comments();
  EXPECT_FALSE(reader.Next(milliseconds(1'000)).has_value());
  EXPECT_GE(reader.comments() - before, 3U);
  EXPECT_LE(reader.comments() - before, 20U);
  // A poll is not ended by one.
  HttpClient client(Server(options).address());
  const auto begin = Steady::now();
  EXPECT_EQ(client.Call("GET", "/watch?prefix=beat/&wait=1").status, 200);
  EXPECT_GE(Steady::now() - begin, milliseconds(990));
}

TEST_P(WatchTest, WhoDoesNotReadLosesChangesAndCostsNobodyElse) {
  KVARTS_LONG_WHERE_SHARED();
  const std::vector<std::string> options = {"--watch-max-backlog", "50", "--watch-heartbeat", "100ms"};
  const std::string address = Server(options).address();
  EventReader slow(address, "/watch?prefix=slow/");
  ASSERT_EQ(slow.status(), 200);
  EventReader quick(address, "/watch?prefix=slow/");
  HttpClient client(address);
  const std::string value(128 << 10, 'x');
  constexpr int kWrites = 250;  // more than any buffer of the system between them takes
  const HttpHeaders minimal = {{"Prefer", "return=minimal"}, {"Kvarts-Durability", "none"}};
  for (int i = 0; i < kWrites; ++i) {
    ASSERT_EQ(client.Call("PUT", fmt::format("/keys/slow/{:04}", i), minimal, value).status, 204);
    const auto event = quick.Next();
    ASSERT_TRUE(event.has_value()) << i;
    EXPECT_EQ(event->key(), fmt::format("slow/{:04}", i));
  }
  // What it gets is whole up to where it was lost, and then it is told so.
  int seen = 0;
  std::string last;
  while (const auto event = slow.Next()) {
    last = event->event;
    if (last == "lost") break;
    ASSERT_EQ(event->key(), fmt::format("slow/{:04}", seen));
    ++seen;
  }
  EXPECT_EQ(last, "lost");
  EXPECT_LT(seen, kWrites);
  EXPECT_TRUE(slow.EndsWithin(kSoon));
  EXPECT_TRUE(slow.ended_well());
}

TEST_P(WatchTest, WhoTakesNothingAtAllIsCutOff) {
  const std::vector<std::string> options = {"--http-write-timeout", "500ms", "--watch-max-watchers", "1"};
  const std::string address = Server(options).address();
  HttpClient client(address);
  EventReader slow(address, "/watch?prefix=cut/");
  ASSERT_EQ(slow.status(), 200);
  EXPECT_EQ(client.Call("GET", "/watch?prefix=cut/&wait=0").status, 503);
  const std::string value(1 << 20, 'x');
  for (int i = 0; i < 30; ++i) {
    client.Call("PUT", "/keys/cut/1", {{"Prefer", "return=minimal"}, {"Kvarts-Durability", "none"}}, value);
  }
  // Its place is free again, though it has not said a word.
  const auto give_up = Steady::now() + kSoon;
  int status = 503;
  while (status == 503 && Steady::now() < give_up) {
    std::this_thread::sleep_for(milliseconds(20));
    status = client.Call("GET", "/watch?prefix=cut/&wait=0").status;
  }
  EXPECT_EQ(status, 200);
}

TEST_P(WatchTest, MaxWatchers) {
  const std::vector<std::string> options = {"--watch-max-watchers", "3", "--watch-heartbeat", "100ms"};
  const std::string address = Server(options).address();
  std::vector<std::unique_ptr<EventReader>> watches;
  for (int i = 0; i < 2; ++i) watches.push_back(std::make_unique<EventReader>(address, "/watch?prefix=max/"));
  HttpClient poll(address);
  poll.Send(RequestText("GET", "/watch?prefix=max/&wait=60"));
  std::this_thread::sleep_for(milliseconds(50));
  const auto refused = [&] {
    HttpClient client(address);
    return client.Call("GET", "/watch?prefix=max/&wait=0");
  };
  for (const auto& watch : watches) EXPECT_EQ(watch->status(), 200);
  const HttpAnswer answer = refused();
  EXPECT_TRUE(IsProblem(answer, 503, "overloaded"));
  EXPECT_TRUE(answer.Has("Retry-After"));
  EXPECT_EQ(JsonValue::Parse(answer.body)["limit"].text(), "max_watchers");
  EXPECT_EQ(EventReader(address, "/watch?prefix=max/").status(), 503);
  // Those who leave without a word are noticed with the next beat.
  const auto admitted_soon = [&] {
    const auto give_up = Steady::now() + kSoon;
    while (Steady::now() < give_up) {
      if (refused().status == 200) return true;
      std::this_thread::sleep_for(milliseconds(20));
    }
    return false;
  };
  watches.front()->client().Reset();
  EXPECT_TRUE(admitted_soon());
  watches.push_back(std::make_unique<EventReader>(address, "/watch?prefix=max/"));
  EXPECT_EQ(watches.back()->status(), 200);
  EXPECT_EQ(refused().status, 503);
  watches.pop_back();  // by an orderly end
  EXPECT_TRUE(admitted_soon());
  poll.Reset();
  EXPECT_EQ(watches.back()->comments() > 0, true);
  EventReader in_its_place(address, "/watch?prefix=max/");
  EXPECT_EQ(in_its_place.status(), 200);
  const std::vector<std::string> none = {"--watch-max-watchers", "0"};
  EXPECT_EQ(EventReader(Server(none).address(), "/watch?prefix=max/").status(), 503);
}

// A watch that waits is nobody's worker's business, also when what it waits for is long in coming.
TEST_P(WatchTest, MoreWatchesThanWorkersLeaveThemToOthers) {
  const TempDir dir;
  const ServerProcess server({"--engine", GetParam().name, "--data", dir / "data", "--worker-threads", "1",
                              "--http-request-timeout", "5s", "--watch-heartbeat", "13s"});
  HttpClient client(server.address());
  ASSERT_EQ(client
                .Call("PUT", "/namespaces/many", {{"Content-Type", "application/json"}},
                      R"({"grammar":"many/<id:path>","feed":true})")
                .status,
            200);
  std::shared_ptr<void> open;
  if (GetParam().shared) open = DatabaseFor(dir / "data").HoldCommit();
  ASSERT_EQ(client.Call("PUT", "/keys/many/0", {}, "x").status, 200);
  std::vector<std::unique_ptr<HttpClient>> watches;
  for (int i = 0; i < 100; ++i) {
    watches.push_back(std::make_unique<HttpClient>(server.address()));
    watches.back()->Send(i % 2 == 0 ? RequestText("GET", "/watch?wait=300&prefix=many/")
                                    : RequestText("GET", "/watch?prefix=many/", {{"Accept", "text/event-stream"}}));
  }
  const auto asked = [&](const char* target) {
    const HttpAnswer answer = client.Call("GET", target);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.body;
  };
  // One has looked for the first time, and the others are about to.
  EXPECT_TRUE(watches[1]->ReadSome(4096).starts_with("HTTP/1.1 200"));
  for (int i = 0; i < 5; ++i) asked("/keys?prefix=many/");
  EXPECT_TRUE(Eventually([&] { return asked("/metrics").find("\nkvarts_watchers 100\n") != std::string::npos; }));
  for (int i = 0; i < 5; ++i) asked("/keys?prefix=many/");
  // And who waited is told.
  open.reset();
  ASSERT_EQ(client.Call("PUT", "/keys/many/0", {}, "x").status, 200);
  EXPECT_EQ(JsonValue::Parse(watches.front()->Read().body)["changes"].elements().at(0)["key"].text(), "many/0");
}

TEST_P(WatchTest, WatchesDoNotKeepAServerFromStopping) {
  ServerProcess server({"--engine", GetParam().name});
  std::vector<std::unique_ptr<EventReader>> watches;
  for (int i = 0; i < 3; ++i) watches.push_back(std::make_unique<EventReader>(server.address(), "/watch?prefix=a"));
  HttpClient poll(server.address());
  poll.Send(RequestText("GET", "/watch?prefix=a&wait=60"));
  std::this_thread::sleep_for(milliseconds(50));
  const auto begin = Steady::now();
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
  EXPECT_LT(Steady::now() - begin, kSoon);
  for (const auto& watch : watches) EXPECT_TRUE(watch->EndsWithin(kSoon));
  EXPECT_TRUE(poll.EndsWithin(kSoon));
}

TEST_P(WatchTest, WatchesThatComeAndGoWhileOthersWrite) {
  std::atomic<bool> stop = false;
  std::thread writer([&, address = Server().address()] {
    HttpClient client(address);
    for (int i = 0; !stop; ++i) {
      client.Call("PUT", fmt::format("/keys/churn/{}", i % 10), {{"Kvarts-Durability", "none"}}, "x");
    }
  });
  for (int i = 0; i < 40; ++i) {
    EventReader reader = Watching("prefix=churn/");
    int64_t version = 0;
    for (const WatchEvent& event : reader.Take(static_cast<size_t>(i % 5))) {
      EXPECT_GT(event.json()["version"].number(), version);
      version = event.json()["version"].number();
    }
    if (i % 2 == 0) reader.client().Reset();
  }
  stop = true;
  writer.join();
  EXPECT_EQ(Get("/livez").status, 200);
}

KVARTS_ON_EVERY_ENGINE(WatchTest);

class WatchProcessesTest : public HttpTest {};

// Without a feed, too: whoever has read that it is watching misses nothing, whichever process takes the write.
TEST_P(WatchProcessesTest, AWatchOfOneProcessIsToldWhatOthersCommit) {
  const TempDir dir;
  const std::vector<std::string> options = {"--engine", GetParam().name, "--data", dir / "data"};
  ServerProcess one(options);
  ServerProcess two(options);
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (const ServerProcess* server : {&one, &two}) clients.push_back(std::make_unique<HttpClient>(server->address()));
  const auto put = [&](size_t client, const std::string& key, const std::string& value) {
    return JsonValue::Parse(clients[client]->Call("PUT", "/keys/" + key, {}, value).body)["version"].text();
  };
  for (int round = 0; round < 10; ++round) {
    const std::string prefix = fmt::format("both/{}/", round);
    EventReader reader(one.address(), "/watch?prefix=" + prefix);
    ASSERT_EQ(reader.status(), 200);
    std::vector<std::string> versions;
    for (size_t i = 0; i < 10; ++i) versions.push_back(put((i + 1) % 2, prefix + "k", std::to_string(i)));
    const std::vector<WatchEvent> events = reader.Take(versions.size());
    ASSERT_EQ(events.size(), versions.size());
    for (size_t i = 0; i < events.size(); ++i) {
      EXPECT_EQ(events[i].json()["version"].text(), versions[i]);
      EXPECT_EQ(events[i].json()["value"].text(), std::to_string(i));
    }
  }
  HttpClient poll(one.address());
  poll.Send(RequestText("GET", "/watch?prefix=both/&wait=60"));
  std::this_thread::sleep_for(milliseconds(1'000));
  put(1, "both/poll", "x");
  EXPECT_EQ(JsonValue::Parse(poll.Read().body)["changes"].size(), 1U);
}

KVARTS_ON_ENGINES_WITH(WatchProcessesTest, shared);

class WatchRestartTest : public HttpTest {};

TEST_P(WatchRestartTest, PlacesHoldAcrossARestart) {
  const TempDir dir;
  const auto start = [&] {
    return std::make_unique<ServerProcess>(
        std::vector<std::string>{"--engine", GetParam().name, "--data", dir / "data"});
  };
  auto server = start();
  std::vector<WatchEvent> before;
  {
    HttpClient client(server->address());
    ASSERT_EQ(client.Call("PUT", "/namespaces/kept", {}, R"({"grammar":"kept/<id>","feed":true})").status, 200);
    EventReader reader(server->address(), "/watch?prefix=kept/");
    for (int i = 0; i < 20; ++i) client.Call("PUT", fmt::format("/keys/kept/{}", i), {}, "x");
    before = reader.Take(20);
    ASSERT_EQ(before.size(), 20U);
  }
  server->Signal(SIGTERM);
  EXPECT_EQ(server->Wait(), 0);
  server = start();
  HttpClient client(server->address());
  const std::string after = JsonValue::Parse(client.Call("PUT", "/keys/kept/new", {}, "x").body)["version"].text();
  for (const size_t at : {0U, 7U, 19U}) {
    EventReader reader(server->address(), "/watch?prefix=kept/", {{"Last-Event-ID", before[at].id}});
    const std::vector<WatchEvent> events = reader.Take(20 - at);
    ASSERT_EQ(events.size(), 20 - at);
    for (size_t i = 0; i + 1 < events.size(); ++i) {
      EXPECT_EQ(events[i].id, before[at + 1 + i].id);
      EXPECT_EQ(events[i].data, before[at + 1 + i].data);
    }
    EXPECT_EQ(events.back().json()["version"].text(), after);
  }
}

KVARTS_ON_ENGINES_WITH(WatchRestartTest, persistent);

}  // namespace
}  // namespace kvarts::test
