// Tokens of several processes on the same data.
#include "model/access/token.h"
#include "model/access/tokens.h"
#include "support/failing_reads.h"
#include "support/processes.h"

namespace kvarts::test {
namespace {

class SharedTokensTest : public ProcessesTest {};
KVARTS_ON_ENGINES_WITH(SharedTokensTest, shared);

TEST_P(SharedTokensTest, WhatOneMakesAndRevokesOthersHearOfSoon) {
  Store& a = Begin();
  Store& b = Begin();
  auto of_a = Tokens::Open(a);
  auto of_b = Tokens::Open(b);
  ASSERT_TRUE(of_a && of_b);
  for (int round = 0; round < 5; ++round) {
    const NewToken named{
        .name = "ci" + std::to_string(round), .scopes = {Scope::Everything(Right::kRead)}, .ttl = {}, .limit = {}};
    const auto created = a.Run([&](Txn& txn) { return CreateToken(txn, named); });
    ASSERT_TRUE(created) << created.error();
    EXPECT_TRUE((*of_a)->Check(created->text));
    EXPECT_TRUE(Eventually([&] { return (*of_b)->Check(created->text).has_value(); }));
    const auto checked = (*of_b)->Check(created->text);
    ASSERT_TRUE(checked) << checked.error();
    EXPECT_TRUE((*of_b)->StillHolds(**checked));
    const auto revoked = a.Run([&](Txn& txn) { return RevokeToken(txn, created->info.id); });
    ASSERT_TRUE(revoked) << revoked.error();
    EXPECT_EQ(CodeOf((*of_a)->Check(created->text)), "unauthenticated");
    EXPECT_TRUE(Eventually([&] { return !(*of_b)->Check(created->text).has_value(); }));
    EXPECT_FALSE((*of_b)->StillHolds(**checked));
  }
}

// One that takes long, say: what it reads or is going to write has nothing to do with tokens.
TEST_P(SharedTokensTest, OthersHearOfItWhileSomebodyElseIsCommitting) {
  Store& a = Begin();
  Store& b = Begin();
  auto of_b = Tokens::Open(b);
  ASSERT_TRUE(of_b);
  const auto create = [&](const std::string& name) {
    const NewToken token{.name = name, .scopes = {Scope::Everything(Right::kRead)}, .ttl = {}, .limit = {}};
    const auto created = a.Run([&](Txn& txn) { return CreateToken(txn, token); });
    EXPECT_TRUE(created) << created.error();
    return *created;
  };
  const CreatedToken before = create("before");
  EXPECT_TRUE(Eventually([&] { return (*of_b)->Check(before.text).has_value(); }));
  const std::shared_ptr<void> open = data().HoldCommit();
  const auto revoked = a.Run([&](Txn& txn) { return RevokeToken(txn, before.info.id); });
  ASSERT_TRUE(revoked) << revoked.error();
  EXPECT_TRUE(Eventually([&] { return !(*of_b)->Check(before.text).has_value(); }));
  const CreatedToken meanwhile = create("meanwhile");
  EXPECT_TRUE(Eventually([&] { return (*of_b)->Check(meanwhile.text).has_value(); }));
}

// Nothing else changes that would have them read again.
TEST_P(SharedTokensTest, WhatCouldNotBeReadAtOnceIsReadLater) {
  Store& a = Begin();
  FailingReads* reads = nullptr;
  Store& b = Begin([&](std::unique_ptr<Engine> inner) {
    auto failing = std::make_unique<FailingReads>(std::move(inner));
    reads = failing.get();
    return failing;
  });
  auto of_b = Tokens::Open(b);
  ASSERT_TRUE(of_b);
  const NewToken named{.name = "ci", .scopes = {Scope::Everything(Right::kRead)}, .ttl = {}, .limit = {}};
  const auto created = a.Run([&](Txn& txn) { return CreateToken(txn, named); });
  ASSERT_TRUE(created) << created.error();
  EXPECT_TRUE(Eventually([&] { return (*of_b)->Check(created->text).has_value(); }));
  reads->FailNext(4);
  const auto revoked = a.Run([&](Txn& txn) { return RevokeToken(txn, created->info.id); });
  ASSERT_TRUE(revoked) << revoked.error();
  EXPECT_TRUE(Eventually([&] { return !(*of_b)->Check(created->text).has_value(); }));
  EXPECT_EQ(reads->failing(), 0);
}

}  // namespace
}  // namespace kvarts::test
