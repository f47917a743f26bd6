// Workload profiles: they change how a range is stored, and nothing that a reader or writer can see. Also what an
// engine says about itself.
#include "conformance/conformance.h"

namespace kvarts::test {
namespace {

class ProfileTest : public EngineTest {
 protected:
  std::string Assign(BytesView start, BytesView end, Profile profile) {
    return CodeOf(engine().AssignProfile({Bytes(start), Bytes(end)}, profile));
  }
};
KVARTS_ON_EVERY_ENGINE(ProfileTest);

TEST_P(ProfileTest, IsChosenWhileTheRangeIsEmpty) {
  Put("b", "");
  EXPECT_EQ(Assign("a", "c", Profile::kIngest), "precondition_failed");
  EXPECT_EQ(Assign("b", "", Profile::kIngest), "precondition_failed");
  EXPECT_EQ(Assign("c", "d", Profile::kIngest), "ok");
  EXPECT_EQ(Assign("a", "b", Profile::kWindow), "ok");
  EXPECT_EQ(Value("b"), "");
}

TEST_P(ProfileTest, MayBeChosenAgainButNotChanged) {
  EXPECT_EQ(Assign("a", "c", Profile::kIngest), "ok");
  EXPECT_EQ(Assign("a", "c", Profile::kIngest), "ok");
  EXPECT_EQ(Assign("a", "c", Profile::kWindow), "invalid_argument");
  Put("b", "");
  EXPECT_EQ(Assign("a", "c", Profile::kIngest), "ok");
  EXPECT_EQ(Assign("a", "c", Profile::kLookup), "invalid_argument");
}

TEST_P(ProfileTest, RangesDoNotOverlap) {
  EXPECT_EQ(Assign("b", "d", Profile::kIngest), "ok");
  EXPECT_EQ(Assign("a", "c", Profile::kWindow), "invalid_argument");
  EXPECT_EQ(Assign("c", "", Profile::kWindow), "invalid_argument");
  EXPECT_EQ(Assign("", "", Profile::kWindow), "invalid_argument");
  EXPECT_EQ(Assign("c", "cc", Profile::kWindow), "invalid_argument");
  EXPECT_EQ(Assign("d", "e", Profile::kWindow), "ok");
  EXPECT_EQ(Assign("", "b", Profile::kWindow), "ok");
}

TEST_P(ProfileTest, AnEmptyRangeIsRefused) {
  EXPECT_EQ(Assign("b", "a", Profile::kIngest), "invalid_argument");
  EXPECT_EQ(Assign("b", "b", Profile::kIngest), "invalid_argument");
}

TEST_P(ProfileTest, ReadersSeeOneOrderedKeyspace) {
  ASSERT_EQ(Assign("c", "e", Profile::kIngest), "ok");
  ASSERT_EQ(Assign("g", "h", Profile::kWindow), "ok");
  std::vector<Mutation> puts;
  std::vector<Bytes> keys;
  for (char c = 'a'; c <= 'k'; ++c) {
    for (const char* rest : {"", "1", "2"}) {
      keys.push_back(c + std::string(rest));
      puts.push_back(Mutation::Put(keys.back(), keys.back()));
    }
  }
  Must(std::move(puts));  // one commit over all of them
  const auto view = NewView();
  for (const Bytes& key : keys) EXPECT_EQ(Value(*view, key), key);
  std::vector<Bytes> backwards(keys.rbegin(), keys.rend());
  for (size_t entries = 1; entries < keys.size() + 2; ++entries) {
    ScanRequest request;
    request.max_entries = entries;
    EXPECT_EQ(KeysOf(Entries(*view, request)), keys);
    request.reverse = true;
    EXPECT_EQ(KeysOf(Entries(*view, request)), backwards);
  }
  for (const auto& [start, end] : {std::pair{"d", "g"}, {"b1", "g1"}, {"e", "g"}, {"g2", "z"}}) {
    std::vector<Bytes> expected;
    for (const Bytes& key : keys) {
      if (key >= start && key < end) expected.push_back(key);
    }
    ScanRequest request;
    request.range = {start, end};
    EXPECT_EQ(KeysOf(Entries(*view, request)), expected);
    request.reverse = true;
    request.max_entries = 2;
    std::reverse(expected.begin(), expected.end());
    EXPECT_EQ(KeysOf(Entries(*view, request)), expected);
  }
}

TEST_P(ProfileTest, EveryContractHoldsInEveryProfile) {
  ASSERT_EQ(Assign("i", "j", Profile::kIngest), "ok");
  ASSERT_EQ(Assign("w", "x", Profile::kWindow), "ok");
  for (const std::string p : {"a", "i", "w"}) {
    const Version version = Must({Mutation::Put(p + "1", "1"), Mutation::Put(p + "2", "2"),
                                  Mutation::Put(p + "3", "3", In(Duration::Seconds(1)))});
    Must({Mutation::Add(p + "n", 5), Mutation::Erase(p + "1")}, {VersionIs(p + "1", version)});
    const auto view = NewView();
    EXPECT_EQ(Holds({Absent(p + "2")}), "precondition_failed");
    EXPECT_EQ(Holds({RangeUnchanged(p, p + "z", version)}), "precondition_failed");
    EXPECT_EQ(Holds({RangeUnchanged(p, p + "z", view->version())}), "ok");
    Add(p + "n", 1);
    EXPECT_EQ(Number(p + "n"), 6);
    Wait(Duration::Seconds(1));
    EXPECT_EQ(Value(p + "3"), "absent");
    Must({Mutation::EraseRange(p, p + "3")});
    ASSERT_TRUE(engine().Compact(KeyRange::Prefix(p)));
    EXPECT_EQ(Value(p + "2"), "absent");
    EXPECT_EQ(Number(p + "n"), 6);
    EXPECT_EQ(Value(*view, p + "2"), "2");
    EXPECT_EQ(Value(*view, p + "3"), "3");
  }
}

TEST_P(ProfileTest, ARangeEraseGoesAcrossThem) {
  ASSERT_EQ(Assign("c", "e", Profile::kIngest), "ok");
  ASSERT_EQ(Assign("g", "", Profile::kWindow), "ok");
  for (const char* key : {"a", "b", "c", "d", "e", "f", "g", "h"}) Put(key, "");
  const auto view = NewView();
  Mutation erase = Mutation::EraseRange("b", "h");
  erase.reclaim = true;
  Must({erase});
  EXPECT_EQ(Contents(), "a= h=");
  EXPECT_EQ(Entries(*view).size(), 8u);
  Must({Mutation::EraseRange("", "")});
  EXPECT_EQ(Contents(), "");
  EXPECT_EQ(Entries(*view).size(), 8u);
}

TEST_P(ProfileTest, AViewKeepsShowingWhatWasThereBefore) {
  Put("b", "old");
  const auto view = NewView();
  Erase("b");
  // Whether the range counts as empty while a view still sees a key in it is the engine's choice.
  const std::string code = Assign("a", "c", Profile::kWindow);
  EXPECT_TRUE(code == "ok" || code == "precondition_failed") << code;
  EXPECT_EQ(Value(*view, "b"), "old");
  EXPECT_EQ(ShownScan(*view), "b=old");
  Put("b", "new");
  EXPECT_EQ(Value(*view, "b"), "old");
  EXPECT_EQ(Value("b"), "new");
  EXPECT_EQ(Contents(), "b=new");
}

TEST_P(ProfileTest, NamesAndTextsAgree) {
  for (const Profile profile : {Profile::kLookup, Profile::kIngest, Profile::kWindow}) {
    EXPECT_EQ(ParseProfile(ProfileName(profile)), profile);
  }
  EXPECT_FALSE(ParseProfile("other"));
}

TEST_P(ProfileTest, TheEngineSaysWhatItIs) {
  EXPECT_EQ(engine().capabilities().name, GetParam().name);
  EXPECT_TRUE(engine().health().writable);
  EXPECT_EQ(engine().health().reason, "");
  EXPECT_TRUE(engine().VerifyFiles().empty());
  EXPECT_TRUE(engine().Sync());
}

TEST_P(ProfileTest, StatsCountCommitsAndViews) {
  const auto before = engine().Stats();
  ASSERT_TRUE(before);
  Put("a", "12345");
  Put("b", "12345");
  EXPECT_FALSE(Try({Mutation::Put("c", "")}, {Present("c")}));
  const auto view = NewView();
  Wait(Duration::Millis(1500));
  const auto second = NewView();
  const auto after = engine().Stats();
  ASSERT_TRUE(after);
  EXPECT_EQ(after->commits - before->commits, 2u);
  EXPECT_EQ(after->user_bytes_written - before->user_bytes_written, 12u);
  EXPECT_EQ(after->open_views, 2u);
  EXPECT_EQ(after->oldest_view_age_ms, 1500u);
}

}  // namespace
}  // namespace kvarts::test
