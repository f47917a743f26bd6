#include "support/load.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace kvarts::bench {

std::string KeyOf(uint64_t n) {
  char key[kKeyBytes + 1];
  std::snprintf(key, sizeof(key), "user:%017llu", static_cast<unsigned long long>(n));
  return {key, kKeyBytes};
}

std::string ValueOf(uint64_t n, size_t bytes, uint64_t round) {
  std::string value(bytes, 'v');
  uint64_t state = (n + 1) * 0x9e3779b97f4a7c15 + round;
  for (size_t i = 0; i < bytes / 2; ++i) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    value[i] = static_cast<char>(state);
  }
  return value;
}

// Gray et al., "Quickly generating billion-record synthetic databases".
Zipfian::Zipfian(uint64_t n, double skew)
    : n_(static_cast<double>(n)), theta_(skew), alpha_(1 / (1 - skew)), zeta_(0), eta_(0) {
  for (uint64_t i = 1; i <= n; ++i) zeta_ += 1 / std::pow(static_cast<double>(i), theta_);
  const double zeta_two = 1 + std::pow(0.5, theta_);
  eta_ = (1 - std::pow(2 / n_, 1 - theta_)) / (1 - zeta_two / zeta_);
}

uint64_t Zipfian::operator()(std::mt19937_64& random) const {
  const double u = std::uniform_real_distribution<double>()(random);
  const double uz = u * zeta_;
  if (uz < 1) return 0;
  if (uz < 1 + std::pow(0.5, theta_)) return 1;
  const auto rank = static_cast<uint64_t>(n_ * std::pow(eta_ * u - eta_ + 1, alpha_));
  return std::min(rank, static_cast<uint64_t>(n_) - 1);
}

Scatter::Scatter(uint64_t n) : n_(n), step_(static_cast<uint64_t>(static_cast<double>(n) * 0.6180339887) | 1) {
  while (std::gcd(step_, n_) != 1) step_ += 2;
}

uint64_t Scatter::operator()(uint64_t rank) const {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(rank) * step_ % n_);
}

std::vector<uint32_t> Shuffled(uint64_t n, uint64_t seed) {
  std::vector<uint32_t> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::mt19937_64 random(seed);
  std::shuffle(numbers.begin(), numbers.end(), random);
  return numbers;
}

}  // namespace kvarts::bench
