// Users of several processes on the same data.
#include "model/access/user.h"
#include "model/access/users.h"
#include "support/failing_reads.h"
#include "support/processes.h"

namespace kvarts::test {
namespace {

class SharedUsersTest : public ProcessesTest {
 protected:
  static void Put(Store& store, std::string_view name, std::string_view rule) {
    UserRecord user;
    user.name = name;
    user.id = "12345678";
    user.selectors.emplace_back().commands.emplace_back(rule);
    const auto put = store.RunBody([&](Txn& txn) { return PutUser(txn, user); });
    ASSERT_TRUE(put) << put.error();
  }
  static bool Knows(const Users& users, std::string_view name, std::string_view rule) {
    const auto user = users.Find(name);
    return user != nullptr && user->selectors[0].commands[0] == rule;
  }
};
KVARTS_ON_ENGINES_WITH(SharedUsersTest, shared);

TEST_P(SharedUsersTest, WhatOneChangesOthersHearOfSoon) {
  Store& a = Begin();
  Store& b = Begin();
  const auto of_a = Users::Open(a);
  const auto of_b = Users::Open(b);
  ASSERT_TRUE(of_a && of_b);
  for (int round = 0; round < 5; ++round) {
    const std::string rule = std::to_string(round);
    Put(round % 2 == 0 ? a : b, "ada", rule);
    EXPECT_TRUE(Knows(round % 2 == 0 ? **of_a : **of_b, "ada", rule));
    EXPECT_TRUE(Eventually([&] { return Knows(**of_a, "ada", rule) && Knows(**of_b, "ada", rule); }));
  }
  ASSERT_TRUE(a.Run([&](Txn& txn) { return EraseUser(txn, "ada"); }));
  EXPECT_EQ((*of_a)->Find("ada"), nullptr);
  EXPECT_TRUE(Eventually([&] { return (*of_b)->Find("ada") == nullptr; }));
}

// Nothing else changes that would have them read again.
TEST_P(SharedUsersTest, WhatCouldNotBeReadAtOnceIsReadLater) {
  Store& a = Begin();
  FailingReads* reads = nullptr;
  Store& b = Begin([&](std::unique_ptr<Engine> inner) {
    auto failing = std::make_unique<FailingReads>(std::move(inner));
    reads = failing.get();
    return failing;
  });
  const auto of_b = Users::Open(b);
  ASSERT_TRUE(of_b);
  Put(a, "ada", "1");
  EXPECT_TRUE(Eventually([&] { return Knows(**of_b, "ada", "1"); }));
  reads->FailNext(4);
  Put(a, "ada", "2");
  EXPECT_TRUE(Eventually([&] { return Knows(**of_b, "ada", "2"); }));
  EXPECT_EQ(reads->failing(), 0);
}

}  // namespace
}  // namespace kvarts::test
