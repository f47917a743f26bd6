#include "protocol/resp/tracking_table.h"

#include <gtest/gtest.h>

#include <random>

namespace kvarts::resp {
namespace {

using Clients = std::vector<TrackingTable::Client>;

bool Nobody(TrackingTable::Client) { return false; }

class TrackingTableTest : public ::testing::Test {
 protected:
  Clients ByPrefix(BytesView key) const {
    Clients found;
    table_.FindByPrefix(key, &found);
    return found;
  }

  std::set<TrackingTable::Client> gone_;
  TrackingTable table_{[this](TrackingTable::Client client) { return !gone_.contains(client); }};
};

TEST_F(TrackingTableTest, WhoHasReadAKeyIsToldOnce) {
  table_.Remember("a", 2);
  table_.Remember("a", 1);
  table_.Remember("a", 2);
  table_.Remember("b", 1);
  EXPECT_EQ(table_.keys(), 2u);
  EXPECT_EQ(table_.items(), 3u);
  EXPECT_EQ(table_.Take("a", Nobody), (Clients{1, 2}));
  EXPECT_EQ(table_.Take("a", Nobody), Clients());
  EXPECT_EQ(table_.Take("c", Nobody), Clients());
  EXPECT_EQ(table_.keys(), 1u);
  EXPECT_EQ(table_.items(), 1u);
}

TEST_F(TrackingTableTest, WhoStaysIsToldAgain) {
  table_.Remember("a", 1);
  table_.Remember("a", 2);
  const auto second = [](TrackingTable::Client client) { return client == 2; };
  EXPECT_EQ(table_.Take("a", second), (Clients{1, 2}));
  EXPECT_EQ(table_.items(), 1u);
  EXPECT_EQ(table_.Take("a", second), (Clients{2}));
  table_.Forget("a", 2);
  table_.Forget("a", 2);
  EXPECT_EQ(table_.keys(), 0u);
  EXPECT_EQ(table_.items(), 0u);
}

TEST_F(TrackingTableTest, WhatIsTooMuchIsTakenByChance) {
  for (int i = 0; i < 100; ++i) table_.Remember("k" + std::to_string(i), 1);
  EXPECT_FALSE(table_.TakeExcess(101));
  EXPECT_FALSE(table_.TakeExcess(100));
  std::set<Bytes> taken;
  while (auto excess = table_.TakeExcess(40)) {
    EXPECT_EQ(excess->clients, (Clients{1}));
    EXPECT_TRUE(taken.insert(excess->key).second);
  }
  EXPECT_EQ(taken.size(), 60u);
  EXPECT_EQ(table_.keys(), 40u);
  EXPECT_EQ(table_.items(), 40u);
  for (int i = 0; i < 100; ++i) {
    const Bytes key = "k" + std::to_string(i);
    EXPECT_EQ(table_.Take(key, Nobody).size(), taken.contains(key) ? 0u : 1u);
  }
}

// A key that never changes, and that many have read who are not there any more.
TEST_F(TrackingTableTest, ThoseWhoHaveGoneAreForgotten) {
  for (TrackingTable::Client client = 0; client < 10'000; ++client) {
    table_.Remember("a", client);
    if (client >= 5) gone_.insert(client);
  }
  EXPECT_LT(table_.items(), 40u);
  const Clients left = table_.Take("a", Nobody);
  EXPECT_EQ((Clients{left.begin(), left.begin() + 5}), (Clients{0, 1, 2, 3, 4}));
  EXPECT_EQ(table_.items(), 0u);
}

TEST_F(TrackingTableTest, PrefixesAreFoundByTheKeysThatBeginSo) {
  table_.AddPrefix("user:", 1);
  table_.AddPrefix("user:1", 2);
  table_.AddPrefix("", 3);
  table_.AddPrefix("item:", 1);
  table_.AddPrefix("user:", 4);
  EXPECT_EQ(table_.prefixes(), 4u);
  EXPECT_EQ(ByPrefix("user:10"), (Clients{3, 1, 4, 2}));
  EXPECT_EQ(ByPrefix("user:"), (Clients{3, 1, 4}));
  EXPECT_EQ(ByPrefix("item:9"), (Clients{3, 1}));
  EXPECT_EQ(ByPrefix(""), (Clients{3}));
  table_.RemovePrefix("", 3);
  table_.RemovePrefix("user:", 1);
  table_.RemovePrefix("none", 1);
  EXPECT_EQ(ByPrefix("user:10"), (Clients{4, 2}));
  EXPECT_EQ(table_.prefixes(), 3u);
}

// Against a map that does it plainly.
TEST_F(TrackingTableTest, RemembersWhatAMapDoes) {
  std::mt19937 random(1);
  std::map<Bytes, std::set<TrackingTable::Client>> plain;
  for (int i = 0; i < 100'000; ++i) {
    const Bytes key = "k" + std::to_string(random() % 50);
    const TrackingTable::Client client = random() % 10;
    switch (random() % 8) {
      case 0: {
        const Clients taken = table_.Take(key, Nobody);
        EXPECT_EQ(std::set(taken.begin(), taken.end()), plain[key]);
        plain.erase(key);
        break;
      }
      case 1:
        table_.Forget(key, client);
        plain[key].erase(client);
        break;
      case 2:
        if (const auto excess = table_.TakeExcess(30)) {
          EXPECT_EQ(std::set(excess->clients.begin(), excess->clients.end()), plain[excess->key]);
          plain.erase(excess->key);
        }
        break;
      default:
        table_.Remember(key, client);
        plain[key].insert(client);
    }
    size_t items = 0;
    size_t keys = 0;
    for (const auto& [name, clients] : plain) {
      items += clients.size();
      keys += clients.empty() ? 0 : 1;
    }
    ASSERT_EQ(table_.items(), items);
    ASSERT_EQ(table_.keys(), keys);
  }
}

}  // namespace
}  // namespace kvarts::resp
