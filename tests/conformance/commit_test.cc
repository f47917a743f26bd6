// Commits: every precondition, the order of mutations, all or nothing, version stamps. Limits are in limits_test.cc.
#include "conformance/conformance.h"

namespace kvarts::test {
namespace {

class CommitTest : public EngineTest {};
KVARTS_ON_EVERY_ENGINE(CommitTest);

TEST_P(CommitTest, AbsentHoldsWhileThereIsNoValue) {
  EXPECT_EQ(Holds({Absent("a")}), "ok");
  Put("a", "1");
  EXPECT_EQ(Holds({Absent("a")}), "precondition_failed");
  Erase("a");
  EXPECT_EQ(Holds({Absent("a")}), "ok");
}

TEST_P(CommitTest, PresentHoldsWhileThereIsAValue) {
  EXPECT_EQ(Holds({Present("a")}), "precondition_failed");
  Put("a", "");
  EXPECT_EQ(Holds({Present("a")}), "ok");
  Must({Mutation::EraseRange("a", "b")});
  EXPECT_EQ(Holds({Present("a")}), "precondition_failed");
  Add("a", 0);
  EXPECT_EQ(Holds({Present("a")}), "ok");
}

TEST_P(CommitTest, VersionIsHoldsForExactlyTheCurrentVersion) {
  const Version first = Put("a", "1");
  EXPECT_EQ(Holds({VersionIs("a", first)}), "ok");
  EXPECT_EQ(Holds({VersionIs("a", first.Next())}), "precondition_failed");
  EXPECT_EQ(Holds({VersionIs("a", Version{first.stamp - 1})}), "precondition_failed");
  const Version second = Put("a", "1");
  EXPECT_EQ(Holds({VersionIs("a", first)}), "precondition_failed");
  EXPECT_EQ(Holds({VersionIs("a", second)}), "ok");
  const Version added = Add("n", 1);
  EXPECT_EQ(Holds({VersionIs("n", added)}), "ok");
  Add("n", 0);
  EXPECT_EQ(Holds({VersionIs("n", added)}), "precondition_failed");
}

TEST_P(CommitTest, VersionIsNeverHoldsForAnAbsentKey) {
  EXPECT_EQ(Holds({VersionIs("a", kNoVersion)}), "precondition_failed");
  const Version version = Put("a", "1");
  Erase("a");
  EXPECT_EQ(Holds({VersionIs("a", version)}), "precondition_failed");
  EXPECT_EQ(Holds({VersionIs("a", kNoVersion)}), "precondition_failed");
}

TEST_P(CommitTest, RangeUnchangedFailsAfterEveryKindOfWriteInTheRange) {
  Must({Mutation::Put("c", "1"), PutCounter("d", 1)});
  const std::vector<Mutation> writes = {Mutation::Put("c", "1"),
                                        Mutation::Put("b", "first of the range"),
                                        Mutation::Put(Bytes("d\xff\xff"), "last of the range"),
                                        Mutation::Erase("c"),
                                        Mutation::Erase("cc"),  // was not there
                                        Mutation::Add("d", 0),
                                        Mutation::EraseRange("c", "d"),
                                        Mutation::EraseRange("", "bb"),
                                        Mutation::EraseRange("dd", ""),
                                        Mutation::EraseRange("c1", "c2")};  // held nothing
  for (const Mutation& write : writes) {
    const Version since = NewView()->version();
    EXPECT_EQ(Holds({RangeUnchanged("b", "e", since)}), "ok");
    const Version written = Must({write});
    EXPECT_EQ(Holds({RangeUnchanged("b", "e", since)}), "precondition_failed")
        << static_cast<int>(write.op) << " " << write.key;
    EXPECT_EQ(Holds({RangeUnchanged("b", "e", written)}), "ok");
  }
}

TEST_P(CommitTest, RangeUnchangedDoesNotSeeWhatLiesOutside) {
  const Version since = Must({Mutation::Put("b", "1"), Mutation::Put("c", "1")});
  Must({Mutation::Put("a", ""), Mutation::Put(Bytes("a\xff"), ""), Mutation::Put("e", ""), Mutation::Erase("f"),
        Mutation::EraseRange("", "b"), Mutation::EraseRange("e", "")});
  EXPECT_EQ(Holds({RangeUnchanged("b", "e", since)}), "ok");
  EXPECT_EQ(Holds({RangeUnchanged("", "e", since)}), "precondition_failed");
  EXPECT_EQ(Holds({RangeUnchanged("b", Bytes("e\0", 2), since)}), "precondition_failed");
}

TEST_P(CommitTest, RangeUnchangedWithoutBounds) {
  const Version since = Put("m", "");
  EXPECT_EQ(CodeOf(Try({}, {RangeUnchanged("", "", since)})), "ok");
  EXPECT_EQ(CodeOf(Try({}, {RangeUnchanged("n", "", since)})), "ok");
  Put("\xff\xff", "");
  EXPECT_EQ(Holds({RangeUnchanged("", "", since)}), "precondition_failed");
  EXPECT_EQ(Holds({RangeUnchanged("n", "", since)}), "precondition_failed");
  EXPECT_EQ(Holds({RangeUnchanged("", "n", since)}), "ok");
}

TEST_P(CommitTest, WhatWasReadFailsAsConflict) {
  const Version version = Put("a", "1");
  EXPECT_EQ(Holds({FromRead(VersionIs("a", version))}), "ok");
  Put("a", "2");
  EXPECT_EQ(Holds({FromRead(VersionIs("a", version))}), "conflict");
  EXPECT_EQ(Holds({FromRead(Absent("a"))}), "conflict");
  EXPECT_EQ(Holds({FromRead(Present("b"))}), "conflict");
  EXPECT_EQ(Holds({FromRead(RangeUnchanged("a", "b", version))}), "conflict");
}

TEST_P(CommitTest, WhatWasReadAtAViewIsJudgedByWhatHappenedSince) {
  const Version version = Put("a", "1");
  const Version seen_at = NewView()->version();
  const auto seen = [&](Precondition precondition) {
    precondition.seen_at = seen_at;
    return FromRead(precondition);
  };
  EXPECT_EQ(Holds({seen(VersionIs("a", version))}), "ok");
  EXPECT_EQ(Holds({seen(Absent("b"))}), "ok");
  EXPECT_EQ(Holds({seen(Present("a"))}), "ok");
  Put("c", "");
  EXPECT_EQ(Holds({seen(VersionIs("a", version)), seen(Absent("b"))}), "ok");
  Put("a", "2");
  EXPECT_EQ(Holds({seen(VersionIs("a", version))}), "conflict");
  EXPECT_EQ(Holds({seen(Present("a"))}), "ok");
  Put("b", "");
  EXPECT_EQ(Holds({seen(Absent("b"))}), "conflict");
  Erase("b");
  EXPECT_EQ(Holds({seen(Absent("b"))}), "ok");
  Must({Mutation::EraseRange("", "")});
  EXPECT_EQ(Holds({seen(Present("a"))}), "conflict");
}

TEST_P(CommitTest, AFailedPreconditionSaysWhatIsThere) {
  const Version version = Put(Bytes("k\0", 2), "1");
  const auto failed = Try({Mutation::Put("x", "")}, {Absent(Bytes("k\0", 2))});
  ASSERT_EQ(CodeOf(failed), "precondition_failed");
  EXPECT_EQ(failed.error().field("key"), "k\\x00");
  EXPECT_EQ(failed.error().field("version"), version.ToString());
  const auto missing = Try({Mutation::Put("x", "")}, {Present("gone")});
  ASSERT_EQ(CodeOf(missing), "precondition_failed");
  EXPECT_EQ(missing.error().field("key"), "gone");
  EXPECT_EQ(missing.error().field("version"), "absent");
}

TEST_P(CommitTest, OfSeveralFailuresTheFirstStatedIsNamed) {
  Put("b", "");
  Put("c", "");
  const auto failed = Try({Mutation::Put("x", "")}, {Absent("a"), Absent("b"), Absent("c"), Present("d")});
  ASSERT_EQ(CodeOf(failed), "precondition_failed");
  EXPECT_EQ(failed.error().field("key"), "b");
}

TEST_P(CommitTest, AStaleReadMakesEveryOtherFailureVoid) {
  Put("a", "");
  EXPECT_EQ(Holds({Absent("a"), FromRead(Absent("a"))}), "conflict");
  EXPECT_EQ(Holds({FromRead(Absent("a")), Absent("a")}), "conflict");
  EXPECT_EQ(Holds({FromRead(Present("a")), Absent("a")}), "precondition_failed");
}

TEST_P(CommitTest, PreconditionsAreCheckedBeforeItsOwnMutations) {
  EXPECT_TRUE(Try({Mutation::Put("a", "1")}, {Absent("a")}));
  EXPECT_TRUE(Try({Mutation::Erase("a")}, {Present("a")}));
  EXPECT_EQ(CodeOf(Try({Mutation::Put("a", "1")}, {Present("a")})), "precondition_failed");
}

TEST_P(CommitTest, AFailedPreconditionLeavesNothingBehind) {
  Must({Mutation::Put("a", "1"), PutCounter("n", 1)});
  const Version before = engine().LastVersion();
  const std::vector<Mutation> mutations = {Mutation::Put("a", "2"), Mutation::Put("b", "2"), Mutation::Add("n", 1),
                                           Mutation::EraseRange("", "")};
  EXPECT_EQ(CodeOf(Try(mutations, {Present("a"), Present("n"), Absent("n")})), "precondition_failed");
  EXPECT_EQ(engine().LastVersion(), before);
  EXPECT_EQ(Value("a"), "1");
  EXPECT_EQ(Value("b"), "absent");
  EXPECT_EQ(Number("n"), 1);
  EXPECT_EQ(Holds({RangeUnchanged("", "", before)}), "ok");
}

TEST_P(CommitTest, MutationsApplyInTheirOrder) {
  Put("a", "0");
  Must({Mutation::Put("a", "1"), Mutation::Put("a", "2")});
  EXPECT_EQ(Value("a"), "2");
  Must({Mutation::Put("a", "3"), Mutation::Erase("a")});
  EXPECT_EQ(Value("a"), "absent");
  Must({Mutation::Erase("a"), Mutation::Put("a", "4")});
  EXPECT_EQ(Value("a"), "4");
  Must({Mutation::Put("a", "5"), Mutation::Put("b", "5"), Mutation::EraseRange("a", "c"), Mutation::Put("b", "6")});
  EXPECT_EQ(Contents(), "b=6");
  Must({Mutation::EraseRange("", ""), Mutation::Put("a", "7"), Mutation::EraseRange("b", "")});
  EXPECT_EQ(Contents(), "a=7");
}

TEST_P(CommitTest, EverythingInItHasItsVersion) {
  const Version version =
      Must({Mutation::Put("a", ""), Mutation::Add("n", 1), Mutation::Put("b", "first"), Mutation::Put("b", "second")});
  for (const char* key : {"a", "b", "n"}) EXPECT_EQ(Find(key)->header.version, version) << key;
}

TEST_P(CommitTest, WithoutMutationsOnlyAsks) {
  const Version version = Put("a", "1");
  EXPECT_EQ(Must({}, {VersionIs("a", version)}), version);
  EXPECT_EQ(CodeOf(Try({}, {Absent("a")})), "precondition_failed");
  EXPECT_EQ(Must({}), version);
  EXPECT_EQ(engine().LastVersion(), version);
  EXPECT_EQ(Find("a")->header.version, version);
}

TEST_P(CommitTest, TheVersionIsStampedIntoTheKey) {
  Mutation put = Mutation::Put("log/........!", "v");
  put.key_stamp = 4;
  const Version version = Must({put});
  Bytes key = "log/";
  AppendBig(&key, version.stamp);
  key += "!";
  EXPECT_EQ(Value(key), "v");
  EXPECT_EQ(Value("log/........!"), "absent");
  EXPECT_EQ(NewView()->Scan({})->size(), 1u);
}

TEST_P(CommitTest, TheVersionIsStampedIntoTheValue) {
  Mutation put = Mutation::Put("a", "head........tail");
  put.value_stamp = 4;
  const Version version = Must({put});
  Bytes value = "head";
  AppendBig(&value, version.stamp);
  value += "tail";
  EXPECT_EQ(Value("a"), value);
}

TEST_P(CommitTest, StampsReachBothEndsOfKeyAndValue) {
  Mutation put = Mutation::Put("kkkkkkkk", "..vvvvvvvv");
  put.key_stamp = 0;
  put.value_stamp = 2;
  const Version version = Must({put});
  Bytes stamp;
  AppendBig(&stamp, version.stamp);
  EXPECT_EQ(Value(stamp), ".." + stamp);
}

TEST_P(CommitTest, StampedKeysAreInCommitOrder) {
  durability_ = Durability::kNone;
  std::vector<std::string> expected;
  for (int i = 0; i < 100; ++i) {
    Mutation put = Mutation::Put("log/........", std::to_string(i));
    put.key_stamp = 4;
    Must({put});
    expected.push_back(std::to_string(i));
  }
  std::vector<std::string> values;
  for (const Found& entry : Entries(*NewView())) values.push_back(entry.value);
  EXPECT_EQ(values, expected);
}

TEST_P(CommitTest, AStampedEraseAndAddWorkOnTheStampedKey) {
  Mutation put = Mutation::Put("log/........", "v");
  Mutation erase = Mutation::Erase("log/........");
  Mutation add = Mutation::Add("cnt/........", 3);
  for (Mutation* mutation : {&put, &erase, &add}) mutation->key_stamp = 4;
  const Version version = Must({put, erase, add});
  Bytes key = "cnt/";
  AppendBig(&key, version.stamp);
  EXPECT_EQ(Number(key), 3);
  EXPECT_EQ(Entries(*NewView()).size(), 1u);
}

TEST_P(CommitTest, OneInABatchFailsAlone) {
  Put("a", "");
  std::vector<std::unique_ptr<TestSubmission>> batch;
  const auto add = [&](std::vector<Mutation> mutations, std::vector<Precondition> preconditions) {
    batch.push_back(std::make_unique<TestSubmission>(MakeCommit(std::move(mutations), std::move(preconditions))));
  };
  add({Mutation::Put("b", "1")}, {Absent("b")});
  add({Mutation::Put("c", "1")}, {Absent("b")});  // the one before it wrote b
  add({Mutation::Put("d", "1")}, {Present("b"), Absent("c")});
  add({Mutation::Put("", "1")}, {});
  add({Mutation::Erase("a")}, {Present("d")});
  const auto tickets = SubmitTogether(engine(), std::move(batch));
  std::string codes;
  for (const auto& ticket : tickets) codes += CodeOf(ticket->Outcome()) + " ";
  EXPECT_EQ(codes, "ok precondition_failed ok invalid_argument ok ");
  EXPECT_EQ(Contents(), "b=1 d=1");
}

TEST_P(CommitTest, EveryDurabilityUpToTheStrongestIsTaken) {
  const Durability strongest = engine().strongest();
  for (const Durability durability :
       {Durability::kNone, Durability::kInterval, Durability::kSync, Durability::kQuorum, Durability::kApplied}) {
    Commit commit = MakeCommit({Mutation::Put(DurabilityName(durability), "")});
    commit.durability = durability;
    const auto outcome = CommitAndWait(engine(), std::move(commit));
    EXPECT_EQ(CodeOf(outcome), durability <= strongest ? "ok" : "invalid_argument") << DurabilityName(durability);
    EXPECT_EQ(Find(DurabilityName(durability)).has_value(), durability <= strongest);
  }
  EXPECT_TRUE(engine().Sync());
}

TEST_P(CommitTest, AWriteIsReadableWhateverItsDurability) {
  for (const Durability durability : {Durability::kNone, Durability::kSync, Durability::kInterval, Durability::kNone}) {
    Commit commit = MakeCommit({Mutation::Put("a", DurabilityName(durability))});
    commit.durability = durability;
    ASSERT_TRUE(CommitAndWait(engine(), std::move(commit)));
    EXPECT_EQ(Value("a"), DurabilityName(durability));
    EXPECT_EQ(Value(*NewView(), "a"), DurabilityName(durability));
  }
}

}  // namespace
}  // namespace kvarts::test
