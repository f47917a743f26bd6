#include "load/workload.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

namespace kvarts::load {
namespace {

constexpr uint64_t kKeys = 10'000;
constexpr int kDraws = 200'000;

std::map<uint64_t, int> Draw(const WorkloadSettings& settings) {
  const KeyChooser chooser(settings);
  std::mt19937_64 random(settings.seed);
  std::map<uint64_t, int> drawn;
  for (int i = 0; i < kDraws; ++i) ++drawn[chooser(random)];
  return drawn;
}

std::vector<uint64_t> KeysOf(const WorkloadSettings& settings, uint64_t thread) {
  const KeyChooser chooser(settings);
  Workload workload(settings, chooser, thread, 2);
  std::vector<uint64_t> keys;
  for (int i = 0; i < 100; ++i) keys.push_back(workload.Next()->key);
  return keys;
}

TEST(KeyChooser, ZipfianFallsAsItsSkewSays) {
  const auto drawn = Draw({.keys = kKeys, .scattered = false});
  double zeta = 0;
  for (uint64_t i = 1; i <= kKeys; ++i) zeta += 1 / std::pow(static_cast<double>(i), 0.99);
  for (const uint64_t rank : {0, 1, 10, 100}) {
    const double expected = kDraws / std::pow(static_cast<double>(rank) + 1, 0.99) / zeta;
    EXPECT_NEAR(drawn.at(rank), expected, expected / 4) << rank;
  }
  EXPECT_LT(drawn.rbegin()->first, kKeys);
}

TEST(KeyChooser, ScatteredHotKeysAreOthersAndAsHot) {
  const auto in_order = Draw({.keys = kKeys, .scattered = false});
  const auto scattered = Draw({.keys = kKeys});
  std::multiset<int> counts;
  std::multiset<int> scattered_counts;
  for (const auto& [key, count] : in_order) counts.insert(count);
  for (const auto& [key, count] : scattered) scattered_counts.insert(count);
  EXPECT_EQ(counts, scattered_counts);
  EXPECT_NE(in_order, scattered);
  EXPECT_LT(scattered.rbegin()->first, kKeys);
}

TEST(KeyChooser, UniformTreatsAllAlike) {
  const auto drawn = Draw({.keys = 100, .zipfian = false});
  ASSERT_EQ(drawn.size(), 100U);
  for (const auto& [key, count] : drawn) EXPECT_NEAR(count, kDraws / 100, kDraws / 500) << key;
}

TEST(KeyChooser, OneKeyIsAlwaysThatOne) {
  EXPECT_EQ(Draw({.keys = 1}).size(), 1U);
  EXPECT_EQ(Draw({.keys = 2}).size(), 2U);
}

TEST(Workload, FollowsFromItsSeed) {
  const WorkloadSettings settings = {.keys = kKeys, .seed = 5};
  EXPECT_EQ(KeysOf(settings, 0), KeysOf(settings, 0));
  EXPECT_NE(KeysOf(settings, 0), KeysOf(settings, 1));
  EXPECT_NE(KeysOf(settings, 0), KeysOf({.keys = kKeys, .seed = 6}, 0));
}

TEST(Workload, MixesByWeight) {
  const WorkloadSettings settings = {.keys = kKeys, .gets = 90, .puts = 10};
  const KeyChooser chooser(settings);
  Workload workload(settings, chooser, 0, 1);
  int puts = 0;
  for (int i = 0; i < 10'000; ++i) puts += workload.Next()->kind == OperationKind::kPut ? 1 : 0;
  EXPECT_NEAR(puts, 1000, 150);
}

TEST(Workload, ThreadsFillEveryKeyOnce) {
  const WorkloadSettings settings = {.keys = 2501, .fill_batch = 100};
  const KeyChooser chooser(settings);
  std::vector<int> filled(settings.keys);
  for (uint64_t thread = 0; thread < 3; ++thread) {
    Workload workload(settings, chooser, thread, 3);
    while (const auto operation = workload.Next()) {
      for (uint64_t i = 0; i < operation->count; ++i) ++filled.at(operation->key + i);
    }
  }
  for (const int times : filled) ASSERT_EQ(times, 1);
}

TEST(Workload, KeysAreThoseOfTheOtherBenchmarks) {
  for (const uint64_t number : {uint64_t{0}, uint64_t{9}, uint64_t{1'234'567}, uint64_t{99'999'999'999'999'999}}) {
    std::string key;
    AppendKey(number, &key);
    EXPECT_EQ(key, bench::KeyOf(number));
  }
}

TEST(Workload, ValuesNeedNoEscapingAndDiffer) {
  std::set<std::string> values;
  for (uint64_t number = 0; number < 100; ++number) {
    std::string value;
    AppendValue(number, 100, &value);
    EXPECT_EQ(value.size(), 100U);
    for (const char c : value) EXPECT_TRUE(std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_');
    values.insert(value);
  }
  EXPECT_EQ(values.size(), 100U);
}

}  // namespace
}  // namespace kvarts::load
