// Limits of a commit, each just below, at and above; and what is malformed. What is refused has written nothing.
#include "conformance/conformance.h"

namespace kvarts::test {
namespace {

class LimitsTest : public EngineTest {
 protected:
  void SetUp() override {
    Limits limits;
    limits.max_key_bytes = 100;
    limits.max_value_bytes = 1000;
    limits.max_commit_operations = 10;
    limits.max_commit_bytes = 3000;
    Open(limits);
  }
  // The code of an outcome, after looking that a refusal left nothing.
  std::string Code(std::vector<Mutation> mutations, std::vector<Precondition> preconditions = {}) {
    const Version before = engine().LastVersion();
    const std::string contents = Contents();
    const auto outcome = Try(std::move(mutations), std::move(preconditions));
    if (!outcome) {
      EXPECT_EQ(engine().LastVersion(), before);
      EXPECT_EQ(Contents(), contents);
      limit_ = outcome.error().field("limit");
    }
    return CodeOf(outcome);
  }
  std::string limit_;  // that the last refusal named
};
KVARTS_ON_EVERY_ENGINE(LimitsTest);

constexpr size_t kLongestKey = 100 + Limits::kKeyAllowance;

TEST_P(LimitsTest, AKeyMayBeAsLongAsItsLimitAndTheAllowance) {
  for (const auto op : {&Mutation::Erase, +[](BytesView key) { return Mutation::Add(key, 1); },
                        +[](BytesView key) { return Mutation::Put(key, ""); }}) {
    EXPECT_EQ(Code({op(Bytes(kLongestKey - 1, 'k'))}), "ok");
    EXPECT_EQ(Code({op(Bytes(kLongestKey, 'k'))}), "ok");
    EXPECT_EQ(Code({op(Bytes(kLongestKey + 1, 'k'))}), "too_large");
    EXPECT_EQ(limit_, "max_key_bytes");
  }
  EXPECT_EQ(Code({}, {Present(Bytes(kLongestKey, 'k'))}), "ok");
  EXPECT_EQ(Code({}, {Absent(Bytes(kLongestKey + 1, 'k'))}), "too_large");
}

TEST_P(LimitsTest, AKeyIsNotEmpty) {
  EXPECT_EQ(Code({Mutation::Put("", "v")}), "invalid_argument");
  EXPECT_EQ(Code({Mutation::Erase("")}), "invalid_argument");
  EXPECT_EQ(Code({Mutation::Add("", 1)}), "invalid_argument");
  EXPECT_EQ(Code({}, {Absent("")}), "invalid_argument");
  EXPECT_EQ(Code({Mutation::EraseRange("", "")}), "ok");
}

TEST_P(LimitsTest, AValueMayBeAsLargeAsItsLimit) {
  EXPECT_EQ(Code({Mutation::Put("a", Bytes(999, 'v'))}), "ok");
  EXPECT_EQ(Code({Mutation::Put("b", Bytes(1000, 'v'))}), "ok");
  EXPECT_EQ(Code({Mutation::Put("c", Bytes(1001, 'v'))}), "too_large");
  EXPECT_EQ(limit_, "max_value_bytes");
}

TEST_P(LimitsTest, ACommitMayHaveSoManyOperations) {
  const auto code = [&](size_t mutations, size_t preconditions) {
    std::vector<Precondition> asked(preconditions, Absent("missing"));
    return Code(std::vector<Mutation>(mutations, Mutation::Put("a", "")), std::move(asked));
  };
  EXPECT_EQ(code(9, 0), "ok");
  EXPECT_EQ(code(10, 0), "ok");
  EXPECT_EQ(code(11, 0), "too_large");
  EXPECT_EQ(limit_, "max_commit_operations");
  EXPECT_EQ(code(5, 5), "ok");
  EXPECT_EQ(code(5, 6), "too_large");
}

TEST_P(LimitsTest, ACommitMayHaveSoManyBytes) {
  const auto code = [&](size_t bytes) {
    std::vector<Mutation> puts;
    for (const char* key : {"a", "b", "c"}) puts.push_back(Mutation::Put(key, Bytes(990, 'v')));
    const size_t rest = bytes - 3 * 991;
    puts.push_back(Mutation::EraseRange(Bytes(1, 'x'), Bytes(rest - 1, 'y')));
    return Code(std::move(puts));
  };
  EXPECT_EQ(code(2999), "ok");
  EXPECT_EQ(code(3000), "ok");
  EXPECT_EQ(code(3001), "too_large");
  EXPECT_EQ(limit_, "max_commit_bytes");
}

TEST_P(LimitsTest, OneBadMutationRefusesTheWholeCommit) {
  Put("a", "1");
  EXPECT_EQ(Code({Mutation::Put("a", "2"), Mutation::EraseRange("", ""), Mutation::Put("", "")}), "invalid_argument");
  EXPECT_EQ(Value("a"), "1");
}

TEST_P(LimitsTest, ARangeStartsBeforeItEnds) {
  EXPECT_EQ(Code({Mutation::EraseRange("b", "a")}), "invalid_argument");
  EXPECT_EQ(Code({Mutation::EraseRange("a", "a")}), "invalid_argument");
  EXPECT_EQ(Code({}, {RangeUnchanged("b", "a", kNoVersion)}), "invalid_argument");
  EXPECT_EQ(Code({Mutation::EraseRange("a", Bytes("a\0", 2))}), "ok");
}

TEST_P(LimitsTest, AStampLiesWithinItsKeyOrValue) {
  const auto code = [&](size_t key_size, uint32_t key_stamp, size_t value_size, uint32_t value_stamp) {
    Mutation put = Mutation::Put(Bytes(key_size, 'k'), Bytes(value_size, 'v'));
    put.key_stamp = key_stamp;
    put.value_stamp = value_stamp;
    return Code({put});
  };
  constexpr uint32_t kNone = Mutation::kNoStamp;
  EXPECT_EQ(code(10, 2, 0, kNone), "ok");
  EXPECT_EQ(code(10, 3, 0, kNone), "invalid_argument");
  EXPECT_EQ(code(7, 0, 0, kNone), "invalid_argument");
  EXPECT_EQ(code(10, kNone - 1, 0, kNone), "invalid_argument");
  EXPECT_EQ(code(1, kNone, 8, 0), "ok");
  EXPECT_EQ(code(1, kNone, 8, 1), "invalid_argument");
  EXPECT_EQ(code(1, kNone, 0, 0), "invalid_argument");
}

TEST_P(LimitsTest, ACounterHasEightBytes) {
  for (const size_t size : {0u, 7u, 9u}) {
    Mutation put = Mutation::Put("n", Bytes(size, '\0'));
    put.kind = ValueKind::kCounter;
    EXPECT_EQ(Code({put}), "invalid_argument") << size;
  }
  EXPECT_EQ(Code({PutCounter("n", 1)}), "ok");
}

TEST_P(LimitsTest, AnExpiryLiesInTheTimeThatVersionsCanCarry) {
  EXPECT_EQ(Code({Mutation::Put("a", "", kLastTimestamp)}), "ok");
  EXPECT_EQ(Code({Mutation::Put("a", "", {kLastTimestamp.micros + 1})}), "invalid_argument");
  EXPECT_EQ(Code({Mutation::Put("a", "", {kNever.micros - 1})}), "invalid_argument");
  EXPECT_EQ(Code({Mutation::Put("a", "", kNever)}), "ok");
  // What a negative time to live turns into, if nobody looks.
  EXPECT_EQ(Code({Mutation::Put("a", "", {static_cast<uint64_t>(-1'000'000)})}), "invalid_argument");
}

TEST_P(LimitsTest, WhatABodyMakesIsHeldAgainstThemToo) {
  Put("a", "1");
  const auto outcome = SubmitOne(engine(), RunFirst([](View&, Commit* commit) -> Status {
                                   commit->mutations = {Mutation::Put("a", "2"), Mutation::Put("b", Bytes(1001, 'v'))};
                                   return {};
                                 }))
                           ->Outcome();
  EXPECT_EQ(CodeOf(outcome), "too_large");
  EXPECT_EQ(Contents(), "a=1");
}

TEST_P(LimitsTest, TheDefaultsAreTheDocumentedOnes) {
  const Limits limits;
  EXPECT_EQ(limits.max_key_bytes, 8u << 10);
  EXPECT_EQ(limits.max_value_bytes, 16u << 20);
  Open(limits);
  EXPECT_EQ(Code({Mutation::Put(Bytes((8 << 10) + Limits::kKeyAllowance, 'k'), "")}), "ok");
  EXPECT_EQ(Code({Mutation::Put(Bytes((8 << 10) + Limits::kKeyAllowance + 1, 'k'), "")}), "too_large");
}

}  // namespace
}  // namespace kvarts::test
