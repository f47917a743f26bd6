#include "base/digits.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <random>
#include <string>

namespace kvarts {
namespace {

std::string Written(uint64_t number) {
  std::array<char, kDigitsRoom> room;
  return {room.data(), WriteDigits(room.data(), number)};
}

TEST(DigitsTest, NumbersAroundEachPowerOfTen) {
  EXPECT_EQ(Written(0), "0");
  for (uint64_t power = 1;; power *= 10) {
    for (const uint64_t number : {power - 1, power, power + 1, power * 9}) {
      EXPECT_EQ(Written(number), std::to_string(number));
    }
    if (power > std::numeric_limits<uint64_t>::max() / 10) break;
  }
  EXPECT_EQ(Written(std::numeric_limits<uint64_t>::max()), "18446744073709551615");
}

// Every lane of eight digits is made of lanes of four.
TEST(DigitsTest, AllNumbersOfFourDigitsInEachPlace) {
  for (uint64_t number = 0; number < 10000; ++number) {
    for (const uint64_t place : {uint64_t{1}, uint64_t{10'000}, uint64_t{100'000'000}, uint64_t{1'000'000'000'000}}) {
      ASSERT_EQ(Written(number * place), std::to_string(number * place));
    }
  }
}

TEST(DigitsTest, NumbersOfEveryLength) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const uint64_t number = random() >> (random() % 64);
    ASSERT_EQ(Written(number), std::to_string(number));
  }
}

}  // namespace
}  // namespace kvarts
