#include "base/space_saving.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

namespace kvarts {
namespace {

// Few hash values, so that places in the table are fought over.
SpaceSaving::Key KeyOf(const std::string& text) {
  const uint64_t number = static_cast<uint64_t>(text.back()) % 7;
  return {number << 32 | number % 3, static_cast<uint32_t>(text.size()), text};
}

const SpaceSaving::Entry* Find(const SpaceSaving& table, const std::string& key) {
  for (const SpaceSaving::Entry& entry : table.entries()) {
    if (entry.start == key) return &entry;
  }
  return nullptr;
}

TEST(SpaceSavingTest, CountsExactlyWhileThereIsRoom) {
  SpaceSaving table(4);
  for (const char* key : {"a", "b", "a", "c", "a", "b"}) table.Add(KeyOf(key), 1, 10);
  EXPECT_EQ(table.Floor(), 0);
  EXPECT_EQ(Find(table, "a")->weight, 3);
  EXPECT_EQ(Find(table, "b")->weight, 2);
  EXPECT_EQ(Find(table, "c")->weight, 1);
  EXPECT_EQ(Find(table, "a")->bytes, 30);
  EXPECT_EQ(Find(table, "a")->error, 0);
}

TEST(SpaceSavingTest, ANewKeyTakesThePlaceOfTheLightest) {
  SpaceSaving table(2);
  table.Add(KeyOf("a"), 5, 0);
  table.Add(KeyOf("b"), 3, 0);
  table.Add(KeyOf("c"), 1, 0);
  EXPECT_EQ(Find(table, "b"), nullptr);
  EXPECT_EQ(Find(table, "c")->weight, 1);
  EXPECT_EQ(Find(table, "c")->error, 3);
  EXPECT_EQ(table.Floor(), 4);
}

TEST(SpaceSavingTest, KeysWithTheSameHashAreToldApart) {
  SpaceSaving table(8);
  table.Add({1, 1, "a"}, 1, 0);
  table.Add({1, 1, "b"}, 2, 0);
  table.Add({1, 9, "b"}, 4, 0);
  EXPECT_EQ(table.size(), 3u);
}

RC_GTEST_PROP(SpaceSavingProperties, TheTruthLiesWithinTheBounds, ()) {
  const auto capacity = *rc::gen::inRange<uint32_t>(1, 20);
  const auto stream = *rc::gen::container<std::vector<std::pair<uint8_t, uint8_t>>>(
      rc::gen::pair(rc::gen::inRange<uint8_t>(0, 40), rc::gen::inRange<uint8_t>(1, 9)));
  SpaceSaving table(capacity);
  std::map<std::string, double> exact;
  double total = 0;
  for (const auto& [number, weight] : stream) {
    const std::string key = "key" + std::to_string(number);
    table.Add(KeyOf(key), weight, 0);
    exact[key] += weight;
    total += weight;
  }
  RC_ASSERT(table.size() == std::min<size_t>(capacity, exact.size()));
  for (const auto& [key, weight] : exact) {
    const SpaceSaving::Entry* entry = Find(table, key);
    if (entry == nullptr) {
      RC_ASSERT(weight <= table.Floor());
    } else {
      RC_ASSERT(entry->weight <= weight);
      RC_ASSERT(weight <= entry->weight + entry->error);
    }
    if (weight > total / capacity) RC_ASSERT(entry != nullptr);
  }
}

TEST(SpaceSavingTest, ScalingKeepsTheOrder) {
  SpaceSaving table(3);
  for (int i = 0; i < 3; ++i) table.Add(KeyOf(std::string(1, static_cast<char>('a' + i))), i + 1, 8);
  table.Scale(0.5);
  table.Add(KeyOf("d"), 0.25, 0);
  EXPECT_EQ(Find(table, "a"), nullptr);
  EXPECT_EQ(Find(table, "d")->error, 0.5);
  EXPECT_EQ(Find(table, "c")->weight, 1.5);
  EXPECT_EQ(Find(table, "c")->bytes, 4);
}

}  // namespace
}  // namespace kvarts
