// Secrets are made once, and everybody is given the same.
#include "core/secret.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "core/keyspace.h"
#include "support/stores.h"

namespace kvarts::test {
namespace {

class SecretTest : public StoreTest {
 protected:
  Bytes Secret(std::string_view name) {
    const auto secret = StoreSecret(store(), name);
    EXPECT_TRUE(secret.has_value()) << secret.error();
    return secret.value_or(Bytes());
  }
};

TEST_P(SecretTest, IsMadeOnceAndStays) {
  const Bytes secret = Secret(kCursorSecret);
  EXPECT_EQ(secret.size(), kSecretBytes);
  EXPECT_EQ(Secret(kCursorSecret), secret);
  Wait(Duration::Seconds(1'000'000'000));
  EXPECT_EQ(Secret(kCursorSecret), secret);
  Restart();
  EXPECT_EQ(Secret(kCursorSecret), secret);
}

TEST_P(SecretTest, EachUseHasItsOwn) {
  EXPECT_NE(Secret("cursor"), Secret("session"));
  EXPECT_NE(Secret("cursor"), Secret(""));
}

TEST_P(SecretTest, AnotherStoreHasAnother) {
  const Bytes secret = Secret(kCursorSecret);
  OpenWith({});
  EXPECT_NE(Secret(kCursorSecret), secret);
}

TEST_P(SecretTest, WhoeverAsksAtOnceIsGivenTheSame) {
  for (int round = 0; round < 10; ++round) {
    std::vector<Bytes> secrets(4);
    std::vector<std::thread> threads;
    for (Bytes& secret : secrets) {
      threads.emplace_back([&, name = std::to_string(round)] { secret = Secret(name); });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_THAT(secrets, testing::Each(secrets[0]));
    EXPECT_EQ(Secret(std::to_string(round)), secrets[0]);
  }
}

TEST_P(SecretTest, ADamagedOneIsSaidToBe) {
  for (const Bytes& damaged : {Bytes(), Bytes(31, 'x'), Bytes(33, 'x')}) {
    MustRun(Putting(SecretKey("a"), damaged));
    const auto secret = StoreSecret(store(), "a");
    ASSERT_FALSE(secret.has_value());
    EXPECT_EQ(secret.error().code(), ErrorCode::kCorruption);
  }
}

KVARTS_ON_EVERY_ENGINE(SecretTest);

TEST(SecretKeyTest, SecretsAreToldFromEverythingElse) {
  EXPECT_EQ(DescribeKey(SecretKey("cursor")), "settings: (1, \"secret\", \"cursor\")");
  EXPECT_TRUE(IsSecret(SecretKey("cursor")));
  EXPECT_TRUE(IsSecret(SecretKey("")));
  KeyBuffer feed;
  BeginKey(&feed, Space::kSettings).Text("feed").Uint(3);
  KeyBuffer near;
  BeginKey(&near, Space::kSettings).Text("secrets").Text("a");
  const KeyBuffer user = UserKey("secret");
  for (const BytesView other : {feed.view(), near.view(), user.view(), BytesView()}) {
    EXPECT_FALSE(IsSecret(other)) << DescribeKey(other);
  }
}

}  // namespace
}  // namespace kvarts::test
