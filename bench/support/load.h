// What the benchmarks work on: keys of 22 bytes, values of any size that compress to about a half, and the order in
// which keys are used. Everything follows from a seed, so contenders see the same load.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace kvarts::bench {

constexpr size_t kKeyBytes = 22;

// Key number `n`: byte order is number order.
std::string KeyOf(uint64_t n);
// A value for key number `n`; `round` makes another one.
std::string ValueOf(uint64_t n, size_t bytes, uint64_t round = 0);

// Ranks from 0 (the hottest) to n - 1, with the given skew.
class Zipfian {
 public:
  Zipfian(uint64_t n, double skew);
  uint64_t operator()(std::mt19937_64& random) const;

 private:
  double n_, theta_, alpha_, zeta_, eta_;
};

// Spreads ranks over the key numbers 0 to n - 1: a permutation, so that hot keys are not neighbours.
class Scatter {
 public:
  explicit Scatter(uint64_t n);
  uint64_t operator()(uint64_t rank) const;

 private:
  uint64_t n_;
  uint64_t step_;
};

// All numbers from 0 to n - 1 in random order.
std::vector<uint32_t> Shuffled(uint64_t n, uint64_t seed);

}  // namespace kvarts::bench
