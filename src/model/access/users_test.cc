// Users on every engine: made, changed and removed, and what the table knows of it.
#include "model/access/users.h"

#include <gtest/gtest.h>

#include <thread>

#include "model/access/user.h"
#include "support/stores.h"

namespace kvarts::test {
namespace {

class UsersTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    users_ = Users::Open(store()).value();
  }
  void TearDown() override {
    users_.reset();
    StoreTest::TearDown();
  }
  void RestartAll() {
    users_.reset();
    Restart();
    users_ = Users::Open(store()).value();
  }

  static UserRecord Named(std::string_view name, std::string_view rule = "-@all") {
    UserRecord user;
    user.name = name;
    user.id = "12345678";
    user.flags = UserRecord::kOn;
    user.selectors.emplace_back().commands.emplace_back(rule);
    return user;
  }
  void Put(const UserRecord& user) {
    MustRun([&](Txn& txn) { return PutUser(txn, user); });
  }
  bool Erase(BytesView name) {
    return store().Run([&](Txn& txn) { return EraseUser(txn, name); }).value();
  }
  // "ada:+get", one behind the other.
  std::string All() const {
    std::string text;
    for (const auto& user : users_->All()) {
      text.append(user->name)
          .append(":")
          .append(user->selectors[0].commands.empty() ? "" : user->selectors[0].commands[0]);
      text.append(" ");
    }
    return text;
  }

  std::unique_ptr<Users> users_;
};
KVARTS_ON_EVERY_ENGINE(UsersTest);

TEST_P(UsersTest, AreKnownBeforeTheirChangeIsAnswered) {
  EXPECT_EQ(All(), "");
  const uint64_t first = users_->generation();
  Put(Named("bob"));
  Put(Named("ada", "+get"));
  EXPECT_EQ(All(), "ada:+get bob:-@all ");
  EXPECT_GT(users_->generation(), first);
  Put(Named("ada", "+set"));
  EXPECT_EQ(users_->Find("ada")->selectors[0].commands[0], "+set");
  EXPECT_EQ(users_->Find("eve"), nullptr);
  EXPECT_TRUE(Erase("bob"));
  EXPECT_FALSE(Erase("bob"));
  EXPECT_EQ(All(), "ada:+set ");
}

TEST_P(UsersTest, OutliveTheProcess) {
  if (!GetParam().persistent) GTEST_SKIP() << "nothing does";
  Put(Named("ada", "+get"));
  Put(Named(""));
  RestartAll();
  EXPECT_EQ(All(), ":-@all ada:+get ");
}

TEST_P(UsersTest, WhoeverWantsToIsToldOfChanges) {
  std::atomic<int> told = 0;
  users_->TellOfChanges([&] { ++told; });
  Put(Named("ada"));
  EXPECT_GT(told, 0);
  users_->TellOfChanges(nullptr);
  const int before = told;
  Put(Named("bob"));
  EXPECT_EQ(told, before);
}

TEST_P(UsersTest, ADamagedOneIsNobody) {
  Put(Named("ada", "+@all"));
  MustRun([&](Txn& txn) -> Status {
    txn.Put(UserKeyOfName("ada"), "damaged");
    txn.Put(UserKeyOfName("default"), "");
    return {};
  });
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(All(), "ada: default: ");
    EXPECT_FALSE(users_->Find("ada")->Is(UserRecord::kOn));
    EXPECT_TRUE(users_->Find("ada")->passwords.empty());
    if (!GetParam().persistent) break;
    RestartAll();
  }
  EXPECT_FALSE(store().Run([&](Txn& txn) { return GetUser(txn, "ada"); }).has_value());
  EXPECT_TRUE(Erase("ada")) << "it can be removed";
  EXPECT_EQ(All(), "default: ");
}

TEST_P(UsersTest, ThereMayBeSoManyAndNoMore) {
  MustRun(
      [&](Txn& txn) -> Status {
        for (size_t i = 0; i < kMaxUsers; ++i) txn.Put(UserKeyOfName("u" + std::to_string(i)), *Named("").Encode());
        return {};
      },
      Quick());
  const auto put = [&](const UserRecord& user) {
    return store().RunBody([&](Txn& txn) { return PutUser(txn, user); }, Quick());
  };
  EXPECT_EQ(users_->All().size(), kMaxUsers);
  const auto refused = put(Named("ada"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), ErrorCode::kTooLarge);
  EXPECT_TRUE(put(Named("u7", "+get")).has_value()) << "one that is there may change";
  EXPECT_TRUE(Erase("u8"));
  EXPECT_TRUE(put(Named("ada")).has_value());
}

TEST_P(UsersTest, ANameThatIsTooLongIsNobodys) {
  const std::string longest(UserRecord::kMaxNameBytes, 'x');
  Put(Named(longest));
  EXPECT_NE(users_->Find(longest), nullptr);
  EXPECT_FALSE(Erase(longest + "x"));
  EXPECT_FALSE(store().Run([&](Txn& txn) { return GetUser(txn, longest + "x"); })->has_value());
}

// Of one who is changed again and again nobody sees an old state once a newer one was seen.
TEST_P(UsersTest, ChangesAreSeenInTheirOrder) {
  constexpr int kChanges = 50;
  std::jthread writer([&] {
    for (int i = 1; i <= kChanges; ++i) Put(Named("ada", std::to_string(i)));
  });
  for (int last = 0; last < kChanges;) {
    const auto user = users_->Find("ada");
    const int now = user == nullptr ? 0 : std::stoi(user->selectors[0].commands[0]);
    ASSERT_GE(now, last);
    last = now;
  }
}

}  // namespace
}  // namespace kvarts::test
