// Views that are too many or too old, and what compaction may drop while they are open.
#include <fmt/format.h>

#include "fault_test_base.h"

namespace kvarts::test {
namespace {

class ViewTest : public FaultTest {
 protected:
  void SetUp() override { options.limits.max_view_age = Duration::Seconds(10); }

  Timestamp In(Duration ahead) { return {clock().Now().micros + static_cast<uint64_t>(ahead.micros)}; }
  std::unique_ptr<View> NewView() {
    auto view = engine().OpenView();
    EXPECT_TRUE(view) << view.error();
    return view ? *std::move(view) : nullptr;
  }
  // Time passes, and the store notices: a commit says how late it is.
  void Wait(Duration by) {
    clock().Advance(by);
    Put("~tick", "");
  }
  std::string Stored(BytesView key) { return Value(key, {.expired_too = true, .cost = nullptr}); }
  void Compact() { ASSERT_TRUE(engine().Compact(KeyRange::All())); }
};

TEST_F(ViewTest, TooManyAreRefusedAndOneThatIsClosedMakesRoom) {
  options.limits.max_views = 3;
  Open();
  std::vector<std::unique_ptr<View>> views;
  for (int i = 0; i < 3; ++i) views.push_back(NewView());
  const auto refused = engine().OpenView();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kOverloaded);
  EXPECT_EQ(refused.error().field("limit"), "max_views");
  // Neither commits nor single reads need one.
  Put("key", "value");
  EXPECT_EQ(Value("key"), "value");
  views.pop_back();
  EXPECT_TRUE(engine().OpenView());
}

TEST_F(ViewTest, TooOldIsUnavailable) {
  Open();
  Put("key", "value");
  const auto view = NewView();
  clock().Advance(Duration::Seconds(11));
  EXPECT_EQ(CodeOf(view->GetOne("key")), "unavailable");
  EXPECT_EQ(CodeOf(view->Scan({})), "unavailable");
  EXPECT_EQ(Value("key"), "value");
}

TEST_F(ViewTest, TooOldDoesNotCountAndLetsGoOfWhatItHeld) {
  options.limits.max_views = 1;
  Open();
  Put("key", "value", In(Duration::Seconds(5)));
  const auto leaked = NewView();
  Wait(Duration::Seconds(20));
  WaitUntil([&] { return engine().OpenView().has_value(); });
  WaitUntil([&] { return engine().Stats()->open_views == 0; });
  Compact();
  EXPECT_EQ(Stored("key"), "absent");
}

TEST_F(ViewTest, ExpiredValuesAreDroppedByCompaction) {
  options.blob_min_bytes = 1000;
  Open();
  ASSERT_TRUE(Commit({Mutation::Put("small", "value", In(Duration::Seconds(5))),
                      Mutation::Put("large", std::string(5000, 'L'), In(Duration::Seconds(5))),
                      Mutation::Put("later", "value", In(Duration::Seconds(500))),
                      Owned(Mutation::Put("owned", "value", In(Duration::Seconds(5)))),
                      Owned(Mutation::Put("owned large", std::string(5000, 'L'), In(Duration::Seconds(5)))),
                      PutCounter("counter", 5, In(Duration::Seconds(5))),
                      Owned(PutCounter("owned counter", 5, In(Duration::Seconds(5))))}));
  Compact();
  EXPECT_EQ(Stored("small"), "value");
  Wait(Duration::Seconds(6));
  for (const char* key : {"small", "large", "owned", "owned large", "counter", "owned counter"}) {
    EXPECT_EQ(Value(key), "absent") << key;
  }
  Compact();
  EXPECT_EQ(Stored("small"), "absent");
  EXPECT_EQ(Stored("large"), "absent");
  EXPECT_EQ(Stored("later"), "value");
  for (int i = 0; i < 3; ++i) Compact();
  EXPECT_EQ(Stored("owned"), "value");
  EXPECT_EQ(Stored("owned large"), std::string(5000, 'L'));
  EXPECT_EQ(Stored("owned counter"), CounterValue(5));
  // Counters take another way, because adds may rest on them.
  WaitUntil([&] { return Stored("counter") == "absent"; });
}

TEST_F(ViewTest, ExpiredValuesStayWhileAViewIsOlderThanTheirExpiry) {
  Open();
  Put("key", "value", In(Duration::Seconds(5)));
  ASSERT_TRUE(Commit({PutCounter("counter", 5, In(Duration::Seconds(5)))}));
  auto view = NewView();
  Wait(Duration::Seconds(6));
  for (int i = 0; i < 3; ++i) Compact();
  EXPECT_EQ(Stored("key"), "value");
  const auto record = view->GetOne("key");
  ASSERT_TRUE(record && *record);
  EXPECT_EQ((*record)->value, "value");
  EXPECT_TRUE(*view->GetOne("counter"));
  EXPECT_EQ(view->Scan({})->size(), 2u);
  view.reset();
  Compact();
  EXPECT_EQ(Stored("key"), "absent");
}

TEST_F(ViewTest, AViewThatIsYoungerThanTheExpiryKeepsNothing) {
  Open();
  Put("key", "value", In(Duration::Seconds(5)));
  Wait(Duration::Seconds(6));
  const auto view = NewView();
  Compact();
  EXPECT_EQ(Stored("key"), "absent");
}

TEST_F(ViewTest, AnErasedOrReplacedValueStaysForAnOlderView) {
  Open();
  Put("erased", "1");
  Put("replaced", "1");
  Put("range/1", "1");
  const auto view = NewView();
  ASSERT_TRUE(
      Commit({Mutation::Erase("erased"), Mutation::Put("replaced", "2"), Mutation::EraseRange("range/", "range0")}));
  for (int i = 0; i < 3; ++i) Compact();
  EXPECT_EQ(ShownScan(*view), "erased=1 range/1=1 replaced=1");
  EXPECT_EQ(Contents(), "replaced=2");
}

TEST_F(ViewTest, AnExpiredCounterThatIsAddedToLivesOn) {
  Open();
  ASSERT_TRUE(Commit({PutCounter("counter", 5, In(Duration::Seconds(5)))}));
  Compact();
  Wait(Duration::Seconds(6));
  ASSERT_TRUE(Commit({Mutation::Add("counter", 7)}));
  for (int i = 0; i < 3; ++i) Compact();
  EXPECT_EQ(Value("counter"), CounterValue(7));
  Open();
  Compact();
  EXPECT_EQ(Value("counter"), CounterValue(7));
}

}  // namespace
}  // namespace kvarts::test
