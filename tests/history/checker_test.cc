// The checker of histories itself, on histories made by hand: each wrong in one way, next to one that is right.
#include <gtest/gtest.h>

#include "history/history.h"
#include "history/workload.h"
#include "support/commits.h"

namespace kvarts::test {
namespace {

CommitEvent At(Version version, int64_t began, int64_t ended, Commit commit) {
  return {{began, ended}, version, std::move(commit.preconditions), std::move(commit.mutations), {}};
}

CommitEvent PutAt(uint64_t stamp, int64_t began, int64_t ended, BytesView key, BytesView value) {
  return At(Version{stamp}, began, ended, MakeCommit({Mutation::Put(key, value)}));
}

Record Stored(uint64_t stamp, BytesView value) {
  Record record;
  record.header.version = Version{stamp};
  record.value = value;
  return record;
}

ReadEvent Got(int64_t began, int64_t ended, std::vector<std::pair<Bytes, std::optional<Record>>> found) {
  ReadEvent read;
  read.when = {began, ended};
  read.found = std::move(found);
  return read;
}

// Two commits one after the other: a=1 at version 10, then a=2 and b=2 at version 20.
History TwoCommits() {
  History history;
  history.commits.push_back(PutAt(10, 0, 5, "a", "1"));
  history.commits.push_back(
      At(Version{20}, 10, 15,
         MakeCommit({Mutation::Put("a", "2"), Mutation::Put("b", "2")}, {FromRead(VersionIs("a", Version{10}))})));
  return history;
}

// Whether exactly one thing is wrong, and is described with these words.
void ExpectWrong(const History& history, const std::string& words) {
  const auto violations = Check(history);
  ASSERT_EQ(violations.size(), 1u) << (violations.empty() ? words : violations[1]);
  EXPECT_NE(violations[0].find(words), std::string::npos) << violations[0];
}

TEST(HistoryCheckTest, AcceptsWhatCouldHaveHappened) {
  History history = TwoCommits();
  history.reads.push_back(Got(6, 8, {{"a", Stored(10, "1")}, {"b", std::nullopt}}));
  // During the second commit both states may be seen.
  history.reads.push_back(Got(11, 12, {{"a", Stored(10, "1")}, {"b", std::nullopt}}));
  history.reads.push_back(Got(12, 14, {{"a", Stored(20, "2")}, {"b", Stored(20, "2")}}));
  history.reads.push_back(Got(16, 17, {{"a", Stored(20, "2")}, {"b", Stored(20, "2")}}));
  ReadEvent view = Got(6, 7, {{"a", Stored(10, "1")}});
  view.at = Version{10};
  view.scans.push_back({KeyRange::All(), {{"a", Stored(10, "1")}}});
  history.reads.push_back(view);
  EXPECT_TRUE(Check(history).empty());
}

TEST(HistoryCheckTest, FindsAStaleRead) {
  History history = TwoCommits();
  history.reads.push_back(Got(16, 17, {{"a", Stored(10, "1")}}));
  ExpectWrong(history, "showed no state there was");
}

TEST(HistoryCheckTest, FindsAReadFromTheFuture) {
  History history = TwoCommits();
  history.reads.push_back(Got(6, 8, {{"a", Stored(20, "2")}}));
  ExpectWrong(history, "showed no state there was");
}

TEST(HistoryCheckTest, FindsATornRead) {
  History history = TwoCommits();
  history.reads.push_back(Got(11, 14, {{"a", Stored(20, "2")}, {"b", std::nullopt}}));
  ExpectWrong(history, "showed no state there was");
}

TEST(HistoryCheckTest, FindsAReadThatGoesBackBehindAnother) {
  History history = TwoCommits();
  history.reads.push_back(Got(11, 12, {{"a", Stored(20, "2")}}));
  history.reads.push_back(Got(13, 14, {{"a", Stored(10, "1")}}));  // the commit is still on its way
  ExpectWrong(history, "showed no state there was");
}

TEST(HistoryCheckTest, FindsALostUpdate) {
  History history = TwoCommits();
  history.commits.push_back(
      At(Version{30}, 12, 18, MakeCommit({Mutation::Put("a", "3")}, {FromRead(VersionIs("a", Version{10}))})));
  ExpectWrong(history, "although its precondition on a did not hold");
}

TEST(HistoryCheckTest, FindsAChangeInARangeThatWasScanned) {
  History history = TwoCommits();
  history.commits.push_back(At(
      Version{30}, 12, 18, MakeCommit({Mutation::Put("c", "3")}, {FromRead(RangeUnchanged("b", "c", Version{10}))})));
  ExpectWrong(history, "although its precondition on b did not hold");
}

TEST(HistoryCheckTest, FindsALostCommit) {
  History history = TwoCommits();
  history.commits.push_back(PutAt(30, 20, 22, "b", "3"));
  history.reads.push_back(Got(23, 24, {{"b", Stored(20, "2")}}));
  ExpectWrong(history, "showed no state there was");
}

TEST(HistoryCheckTest, FindsAVersionGivenTwice) {
  History history = TwoCommits();
  history.commits.push_back(PutAt(20, 11, 16, "c", "3"));
  ExpectWrong(history, "two commits have version 20");
}

TEST(HistoryCheckTest, FindsVersionsAgainstRealTime) {
  History history = TwoCommits();
  history.commits.push_back(PutAt(15, 16, 17, "c", "3"));
  ExpectWrong(history, "commit 15 was submitted after 20 was known");
}

TEST(HistoryCheckTest, FindsACommitOlderThanWhatWasReadBeforeIt) {
  History history = TwoCommits();
  history.reads.push_back(Got(11, 12, {{"b", Stored(20, "2")}}));
  history.commits.push_back(PutAt(15, 13, 14, "c", "3"));
  ExpectWrong(history, "commit 15 was submitted after 20 was known");
}

TEST(HistoryCheckTest, FindsAViewThatShowsAnotherState) {
  History history = TwoCommits();
  ReadEvent view = Got(6, 7, {{"a", Stored(20, "2")}});
  view.at = Version{10};
  history.reads.push_back(view);
  ExpectWrong(history, "showed another state");
}

TEST(HistoryCheckTest, FindsAScanThatLeavesOutAKey) {
  History history = TwoCommits();
  ReadEvent view = Got(16, 17, {});
  view.at = Version{20};
  view.scans.push_back({KeyRange::All(), {{"a", Stored(20, "2")}}});
  history.reads.push_back(view);
  ExpectWrong(history, "showed another state");
}

TEST(HistoryCheckTest, FindsAViewThatIsTooOld) {
  History history = TwoCommits();
  ReadEvent view = Got(16, 17, {{"a", Stored(10, "1")}});
  view.at = Version{10};
  history.reads.push_back(view);
  ExpectWrong(history, "was opened after 20 was known");
}

TEST(HistoryCheckTest, AddsAndRangeErasesAreReplayed) {
  History history;
  history.commits.push_back(At(Version{10}, 0, 1, MakeCommit({Mutation::Add("n", 2), Mutation::Put("x", "1")})));
  history.commits.push_back(At(Version{20}, 2, 3, MakeCommit({Mutation::Add("n", 3), Mutation::EraseRange("x", "")})));
  kvarts::Record sum = Stored(20, CounterValue(5));
  sum.header.kind = ValueKind::kCounter;
  history.reads.push_back(Got(4, 5, {{"n", sum}, {"x", std::nullopt}}));
  EXPECT_TRUE(Check(history).empty());
  history.reads[0].found[0].second->value = CounterValue(8);
  ExpectWrong(history, "showed no state there was");
}

// The check that looks for an order of its own.
void ExpectNoOrder(const History& history, const std::string& words) {
  const auto violations = CheckInAnyOrder(history);
  ASSERT_EQ(violations.size(), 1u) << words;
  EXPECT_NE(violations[0].find(words), std::string::npos) << violations[0];
}

// Two commits of different keys under way at once: a=1 at version 10, and b=1 at version 20.
History TwoAtOnce() {
  History history;
  history.commits.push_back(PutAt(10, 0, 15, "a", "1"));
  history.commits.push_back(PutAt(20, 5, 15, "b", "1"));
  return history;
}

TEST(HistoryOrderTest, CommitsOfDifferentKeysMayBeSeenAgainstTheirVersions) {
  History history = TwoAtOnce();
  history.reads.push_back(Got(8, 9, {{"a", std::nullopt}, {"b", Stored(20, "1")}}));
  EXPECT_TRUE(CheckInAnyOrder(history).empty());
  EXPECT_FALSE(Check(history).empty());
}

TEST(HistoryOrderTest, ButBothReadersSeeOneOrder) {
  History history = TwoAtOnce();
  history.reads.push_back(Got(8, 9, {{"a", std::nullopt}, {"b", Stored(20, "1")}}));
  history.reads.push_back(Got(8, 9, {{"a", Stored(10, "1")}, {"b", std::nullopt}}));
  ExpectNoOrder(history, "a read showed no state there was");
}

TEST(HistoryOrderTest, AcceptsWhatCouldHaveHappened) {
  History history = TwoCommits();
  history.reads.push_back(Got(11, 12, {{"a", Stored(10, "1")}, {"b", std::nullopt}}));
  history.reads.push_back(Got(12, 14, {{"a", Stored(20, "2")}, {"b", Stored(20, "2")}}));
  ReadEvent view = Got(16, 17, {{"a", Stored(20, "2")}});
  view.scans.push_back({KeyRange::All(), {{"a", Stored(20, "2")}, {"b", Stored(20, "2")}}});
  history.reads.push_back(view);
  EXPECT_TRUE(CheckInAnyOrder(history).empty());
}

TEST(HistoryOrderTest, FindsReadsOfNoState) {
  const std::vector<ReadEvent> wrong = {
      Got(16, 17, {{"a", Stored(10, "1")}}),                       // stale
      Got(6, 8, {{"a", Stored(20, "2")}}),                         // from the future
      Got(11, 14, {{"a", Stored(20, "2")}, {"b", std::nullopt}}),  // torn
      Got(11, 14, {{"a", Stored(20, "1")}}),                       // nobody wrote it
      Got(11, 14, {{"c", Stored(20, "1")}}),                       // nor this
  };
  for (const ReadEvent& read : wrong) {
    History history = TwoCommits();
    history.reads.push_back(read);
    ExpectNoOrder(history, "a read showed no state there was");
  }
  History history = TwoCommits();
  history.reads.push_back(Got(11, 12, {{"a", Stored(20, "2")}}));
  history.reads.push_back(Got(13, 14, {{"a", Stored(10, "1")}}));  // the commit is still on its way
  ExpectNoOrder(history, "a read showed no state there was");
}

TEST(HistoryOrderTest, FindsAScanThatLeavesOutAKey) {
  History history = TwoCommits();
  ReadEvent view = Got(16, 17, {});
  view.scans.push_back({KeyRange::All(), {{"a", Stored(20, "2")}}});
  history.reads.push_back(view);
  ExpectNoOrder(history, "a read showed no state there was");
}

TEST(HistoryOrderTest, FindsLostUpdates) {
  History history = TwoCommits();
  history.commits.push_back(
      At(Version{30}, 12, 18, MakeCommit({Mutation::Put("a", "3")}, {FromRead(VersionIs("a", Version{10}))})));
  ExpectNoOrder(history, "commit 30 has no place in any order");
  history = TwoCommits();
  history.commits.push_back(At(Version{30}, 12, 18, MakeCommit({Mutation::Put("b", "3")}, {Absent("b")})));
  ExpectNoOrder(history, "commit 30 has no place in any order");
}

TEST(HistoryOrderTest, FindsAVersionAgainstTheOrderOfItsKey) {
  History history = TwoCommits();
  history.commits.push_back(PutAt(15, 16, 17, "b", "3"));
  ExpectNoOrder(history, "has no place in any order");
}

// Each found the range without what the other put into it.
TEST(HistoryOrderTest, FindsTwoScansThatBothCameFirst) {
  History history;
  history.commits.push_back(PutAt(10, 0, 9, "a", "1"));
  history.commits.push_back(PutAt(20, 0, 9, "b", "1"));
  for (CommitEvent& commit : history.commits) commit.scans.push_back({KeyRange::All(), {}});
  ExpectNoOrder(history, "has no place in any order");
  history.commits[1].scans[0].found.emplace_back("a", Stored(10, "1"));
  EXPECT_TRUE(CheckInAnyOrder(history).empty());
}

CommitEvent MarkedAt(uint64_t stamp, BytesView key, BytesView mark) {
  return At(Version{stamp}, 0, 5, MakeCommit({Mutation::Put(key, "1"), Mutation::Put(mark, "")}));
}

TEST(HistoryMarksTest, TellWhatBecameOfCommits) {
  History history;
  history.commits.push_back(MarkedAt(10, "a", "m1"));
  history.unknown = {MarkedAt(0, "b", "m2"), MarkedAt(0, "c", "m3")};
  history.refused.push_back(MarkedAt(0, "d", "m4"));
  EXPECT_TRUE(Resolve({{{"m1", Version{10}}, {"m2", Version{20}}}, 200}, &history).empty());
  ASSERT_EQ(history.commits.size(), 2u);
  EXPECT_EQ(history.commits[1].version, Version{20});
  EXPECT_EQ(history.commits[1].mutations.size(), 1u);
  // It may have become visible at any time since, up to when its mark was read.
  history.reads.push_back(Got(100, 101, {{"b", std::nullopt}}));
  history.reads.push_back(Got(102, 103, {{"b", Stored(20, "1")}}));
  EXPECT_TRUE(CheckInAnyOrder(history).empty());
  // But what was never made is not seen.
  history.reads.push_back(Got(104, 105, {{"c", Stored(30, "1")}}));
  ExpectNoOrder(history, "a read showed no state there was");
}

TEST(HistoryMarksTest, FindWhatIsLostAndWhatShouldNotBeThere) {
  History history;
  history.commits.push_back(MarkedAt(10, "a", "m1"));
  history.refused.push_back(MarkedAt(0, "b", "m2"));
  EXPECT_EQ(Resolve({{{"m2", Version{20}}}, 200}, &history),
            (std::vector<std::string>{"commit 10 is lost", "m2 was made although it was refused"}));
}

// A commit whose mark is there, and whose other part is not.
TEST(HistoryMarksTest, FindACommitThatIsThereInPart) {
  for (const bool acknowledged : {true, false}) {
    History history;
    (acknowledged ? history.commits : history.unknown).push_back(MarkedAt(acknowledged ? 10 : 0, "a", "m1"));
    EXPECT_TRUE(Resolve({{{"m1", Version{10}}}, 99}, &history).empty());
    ReadEvent last = Got(100, 101, {});
    last.scans.push_back({KeyRange::All(), {{"a", Stored(10, "1")}}});
    history.reads = {last};
    EXPECT_TRUE(CheckInAnyOrder(history).empty());
    history.reads[0].scans[0].found.clear();
    ExpectNoOrder(history, "a read showed no state there was");
  }
}

}  // namespace
}  // namespace kvarts::test
