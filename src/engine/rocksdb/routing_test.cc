#include "engine/rocksdb/routing.h"

#include <gtest/gtest.h>

namespace kvarts {
namespace {

std::shared_ptr<const Routing> Example() {
  const Routing none({});
  return *(*none.With({"m", "p"}, Profile::kIngest))->With({"b", "d"}, Profile::kWindow);
}

TEST(RoutingTest, FindsTheProfileOfAKey) {
  const auto routing = Example();
  EXPECT_EQ(routing->ProfileOf("a"), Profile::kLookup);
  EXPECT_EQ(routing->ProfileOf("b"), Profile::kWindow);
  EXPECT_EQ(routing->ProfileOf("cz"), Profile::kWindow);
  EXPECT_EQ(routing->ProfileOf("d"), Profile::kLookup);
  EXPECT_EQ(routing->ProfileOf("o"), Profile::kIngest);
  EXPECT_EQ(routing->ProfileOf("z"), Profile::kLookup);
}

TEST(RoutingTest, CutsARangeWhereProfilesChange) {
  const auto segments = Example()->Segments({"c", "n"});
  ASSERT_EQ(segments.size(), 3u);
  EXPECT_EQ(segments[0].range, (KeyRange{"c", "d"}));
  EXPECT_EQ(segments[0].profile, Profile::kWindow);
  EXPECT_EQ(segments[1].range, (KeyRange{"d", "m"}));
  EXPECT_EQ(segments[1].profile, Profile::kLookup);
  EXPECT_EQ(segments[2].range, (KeyRange{"m", "n"}));
  EXPECT_EQ(segments[2].profile, Profile::kIngest);
}

TEST(RoutingTest, CutsEverythingWithoutGapsOrOverlaps) {
  const auto segments = Example()->Segments(KeyRange::All());
  ASSERT_EQ(segments.size(), 5u);
  EXPECT_EQ(segments.front().range.start, "");
  EXPECT_EQ(segments.back().range.end, "");
  for (size_t i = 1; i < segments.size(); ++i) EXPECT_EQ(segments[i - 1].range.end, segments[i].range.start);
}

TEST(RoutingTest, AnUnboundedAssignmentEndsTheCut) {
  const auto routing = *Routing({}).With({"m", ""}, Profile::kIngest);
  const auto segments = routing->Segments(KeyRange::All());
  ASSERT_EQ(segments.size(), 2u);
  EXPECT_EQ(segments[1].range, (KeyRange{"m", ""}));
}

TEST(RoutingTest, RefusesWhatOverlaps) {
  for (const KeyRange& range : {KeyRange{"a", "c"}, KeyRange{"c", "c1"}, KeyRange{"", ""}, KeyRange{"o", ""}}) {
    const auto refused = Example()->With(range, Profile::kLookup);
    ASSERT_FALSE(refused.has_value()) << range;
    EXPECT_EQ(refused.error().code(), ErrorCode::kInvalidArgument);
  }
  EXPECT_TRUE(Example()->With({"d", "m"}, Profile::kLookup).has_value());
}

TEST(RoutingTest, ComesBackFromItsBytesAndRefusesOthers) {
  const Bytes bytes = Example()->Encode();
  const auto decoded = Routing::Decode(bytes);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_TRUE((*decoded)->Has({"b", "d"}, Profile::kWindow));
  EXPECT_TRUE((*decoded)->Has({"m", "p"}, Profile::kIngest));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(Routing::Decode(BytesView(bytes).substr(0, size)).has_value()) << size;
  }
  EXPECT_FALSE(Routing::Decode(bytes + "x").has_value());
}

}  // namespace
}  // namespace kvarts
