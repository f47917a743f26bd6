#include "cli/event_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kvarts::cli {
namespace {

using testing::ElementsAre;

constexpr std::string_view kTwo =
    ": heartbeat\n\nid: 7.0\nevent: put\ndata: {\"key\":\"a\"}\n\r\n: x\nid:8.1\r\nevent:delete\r\ndata:one\r\ndata: "
    "two\r\n\r\n";

std::vector<std::string> Read(std::string_view bytes, size_t piece, size_t limit = 1000) {
  EventStream stream(limit);
  std::vector<std::string> events;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    const Status fed = stream.Feed(bytes.substr(at, piece), [&](const StreamEvent& event) {
      events.push_back(event.id + "|" + event.name + "|" + event.data);
      return true;
    });
    if (!fed.has_value()) events.emplace_back(fed.error().text());
    if (!fed.has_value()) break;
  }
  return events;
}

TEST(EventStream, EventsComeWholeHoweverTheBytesAreCut) {
  for (size_t piece = 1; piece <= kTwo.size(); ++piece) {
    EXPECT_THAT(Read(kTwo, piece), ElementsAre("7.0|put|{\"key\":\"a\"}", "8.1|delete|one\ntwo")) << piece;
  }
}

TEST(EventStream, WhatIsNotWholeIsNoEventAndNoPlaceToGoOn) {
  EventStream stream(1000);
  const auto refuse = [](const StreamEvent&) { return false; };
  ASSERT_TRUE(stream.Feed("id: 5.0\n\nid: 6.0\nevent: put\ndata: x\n", refuse));
  EXPECT_EQ(stream.last_id(), "5.0");
  ASSERT_TRUE(stream.Feed("\n", refuse));
  EXPECT_EQ(stream.last_id(), "6.0");
}

TEST(EventStream, EndsWhenItIsToldTo) {
  EventStream stream(1000);
  int seen = 0;
  ASSERT_TRUE(stream.Feed("data: 1\n\ndata: 2\n\n", [&](const StreamEvent&) { return ++seen < 1; }));
  EXPECT_EQ(seen, 1);
}

TEST(EventStream, AnEventHasALimit) {
  EXPECT_THAT(Read("data: 1234\n\n", 3, 10), ElementsAre("||1234"));
  EXPECT_THAT(Read("data: 12345\n\n", 3, 10), ElementsAre("an event is too long"));
  EXPECT_THAT(Read("data: 12345\ndata: 12345\n\n", 1, 14), ElementsAre("an event is too long"));
}

TEST(EventStream, FieldsThatAreNotKnownAreSkipped) {
  EXPECT_THAT(Read("retry: 10\nnonsense\nid\ndata\n\n", 4), ElementsAre("||"));
}

}  // namespace
}  // namespace kvarts::cli
