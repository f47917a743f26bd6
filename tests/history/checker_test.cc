// The checker of histories itself, on histories made by hand: each wrong in one way, next to one that is right.
#include <gtest/gtest.h>

#include "history/history.h"
#include "support/commits.h"

namespace kvarts::test {
namespace {

CommitEvent At(Version version, int64_t began, int64_t ended, Commit commit) {
  return {{began, ended}, version, std::move(commit.preconditions), std::move(commit.mutations)};
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
  view.scanned = KeyRange::All();
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
  ReadEvent view = Got(16, 17, {{"a", Stored(20, "2")}});
  view.at = Version{20};
  view.scanned = KeyRange::All();
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

}  // namespace
}  // namespace kvarts::test
