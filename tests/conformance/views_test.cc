// Views: consistent, stable read points, limited in number and age.
#include <thread>

#include "conformance/conformance.h"

namespace kvarts::test {
namespace {

class ViewsTest : public EngineTest {};
KVARTS_ON_EVERY_ENGINE(ViewsTest);

TEST_P(ViewsTest, AnEmptyStoreShowsNothing) {
  const auto view = NewView();
  EXPECT_EQ(Value(*view, "a"), "absent");
  EXPECT_EQ(ShownScan(*view), "");
}

TEST_P(ViewsTest, ShowsWhatWasAcknowledgedBeforeItWasOpened) {
  durability_ = Durability::kNone;
  for (int i = 0; i < 100; ++i) {
    const Version version = Put("a", std::to_string(i));
    const auto view = NewView();
    EXPECT_EQ(Value(*view, "a"), std::to_string(i));
    EXPECT_GE(view->version(), version);
    EXPECT_EQ(Value("a"), std::to_string(i));
  }
}

TEST_P(ViewsTest, DoesNotChangeAfterItWasOpened) {
  Put("a", "1");
  Put("b", "2");
  Must({PutCounter("n", 5)});
  const auto view = NewView();
  const auto before = Entries(*view);
  Put("a", "other");
  Erase("b");
  Put("c", "new");
  Add("n", 1);
  Must({Mutation::EraseRange("", "")});
  Put("a", "again");
  ASSERT_TRUE(engine().Compact(KeyRange::All()));
  EXPECT_EQ(Entries(*view), before);
  EXPECT_EQ(Value(*view, "a"), "1");
  EXPECT_EQ(Value(*view, "b"), "2");
  EXPECT_EQ(Value(*view, "c"), "absent");
  EXPECT_EQ(Find(*view, "n")->value, CounterValue(5));
  EXPECT_EQ(Contents(), "a=again");
}

TEST_P(ViewsTest, EachShowsItsOwnPast) {
  std::vector<std::unique_ptr<View>> views;
  for (int i = 0; i < 20; ++i) {
    Must({Mutation::Put("a", std::to_string(i)), Mutation::Put("k" + std::to_string(i), "")});
    views.push_back(NewView());
  }
  for (int i = 19; i >= 0; i -= 2) views[i].reset();  // what is left stays whole when others close
  ASSERT_TRUE(engine().Compact(KeyRange::All()));
  Put("a", "end");
  for (int i = 0; i < 20; i += 2) {
    EXPECT_EQ(Value(*views[i], "a"), std::to_string(i));
    ScanRequest request;
    request.range = KeyRange::Prefix("k");
    EXPECT_EQ(Entries(*views[i], request).size(), static_cast<size_t>(i + 1));
  }
}

TEST_P(ViewsTest, ShowsCommitsWhole) {
  for (int i = 0; i < 50; ++i) {
    const std::string n = std::to_string(i);
    const Version version = Must({Mutation::Put("x", n), Mutation::Put("y", n)});
    const auto view = NewView();
    const auto x = Find(*view, "x");
    const auto y = Find(*view, "y");
    EXPECT_EQ(x->value, n);
    EXPECT_EQ(y->value, n);
    EXPECT_EQ(x->header.version, version);
    EXPECT_EQ(y->header.version, version);
  }
}

TEST_P(ViewsTest, VersionLiesBetweenTheCommitsThatItShowsAndThoseThatItDoesNot) {
  EXPECT_GE(NewView()->version(), engine().LastVersion());
  const Version first = Put("a", "1");
  const auto view = NewView();
  EXPECT_GE(view->version(), first);
  EXPECT_GE(view->version(), engine().LastVersion());
  const Version second = Put("a", "2");
  EXPECT_LT(view->version(), second);
  EXPECT_GE(NewView()->version(), second);
}

TEST_P(ViewsTest, TimeIsTheClocksButNeverBeforeItsVersion) {
  durability_ = Durability::kNone;
  EXPECT_GE(NewView()->time(), clock().Now());
  Wait(Duration::Seconds(5));
  const auto view = NewView();
  EXPECT_EQ(view->time(), clock().Now());
  EXPECT_EQ(engine().Now(), clock().Now());
  Wait(Duration::Seconds(5));
  EXPECT_LT(view->time(), clock().Now());
  // More commits than fit into a microsecond, on a clock that stands.
  Version last;
  for (int i = 0; i < 3000; ++i) last = Put("a", "");
  EXPECT_GT(last.time(), clock().Now());
  EXPECT_GE(NewView()->time(), last.time());
  EXPECT_GE(engine().Now(), last.time());
}

TEST_P(ViewsTest, TimeNeverGoesBack) {
  durability_ = Durability::kNone;
  Timestamp last{};
  for (int i = 0; i < 3000; ++i) {
    if (i % 3 == 0) Put("a", "");
    if (i % 500 == 0) Wait(Duration::Micros(2));
    const Timestamp time = NewView()->time();
    EXPECT_GE(time, last);
    last = time;
  }
}

TEST_P(ViewsTest, AreLimitedInNumber) {
  Limits limits;
  limits.max_views = 3;
  Open(limits);
  auto a = NewView();
  const auto b = NewView();
  const auto c = NewView();
  const auto refused = engine().OpenView();
  EXPECT_EQ(CodeOf(refused), "overloaded");
  EXPECT_EQ(refused.error().field("limit"), "max_views");
  Put("k", "v");  // commits and gets need no view of the caller's
  EXPECT_EQ(Value("k"), "v");
  EXPECT_EQ(Value(*b, "k"), "absent");
  a.reset();
  const auto d = NewView();
  EXPECT_EQ(Value(*d, "k"), "v");
  EXPECT_EQ(CodeOf(engine().OpenView()), "overloaded");
}

TEST_P(ViewsTest, CloseByThemselvesAtTheirAge) {
  Limits limits;
  limits.max_view_age = Duration::Seconds(10);
  Open(limits);
  Put("k", "v");
  const auto view = NewView();
  Wait(Duration::Micros(9'999'999));
  EXPECT_EQ(Value(*view, "k"), "v");
  const auto younger = NewView();
  Wait(Duration::Micros(1));
  EXPECT_EQ(Value(*view, "k"), "v");
  Wait(Duration::Micros(1));
  EXPECT_EQ(CodeOf(view->GetOne("k")), "unavailable");
  EXPECT_EQ(CodeOf(view->Scan({})), "unavailable");
  EXPECT_EQ(view->GetOne("k").error().field("limit"), "max_view_age");
  EXPECT_EQ(Value(*younger, "k"), "v");
  EXPECT_EQ(Value("k"), "v");
}

TEST_P(ViewsTest, AgeIsCountedFromTheOpeningOfEach) {
  Limits limits;
  limits.max_view_age = Duration::Seconds(1);
  Open(limits);
  for (int i = 0; i < 5; ++i) {
    const auto view = NewView();
    Wait(Duration::Seconds(1));
    EXPECT_TRUE(view->GetOne("k"));
  }
}

TEST_P(ViewsTest, MayBeReadFromAnotherThreadThanTheirOpeners) {
  Put("k", "v");
  auto view = NewView();
  std::thread([&] {
    EXPECT_EQ(Value(*view, "k"), "v");
    view.reset();
  }).join();
}

}  // namespace
}  // namespace kvarts::test
