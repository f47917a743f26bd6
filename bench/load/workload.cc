#include "load/workload.h"

#include <algorithm>

namespace kvarts::load {

KeyChooser::KeyChooser(const WorkloadSettings& settings)
    : keys_(std::max<uint64_t>(settings.keys, 1)), scattered_(settings.scattered), scatter_(keys_) {
  if (settings.zipfian && keys_ > 1) zipfian_.emplace(keys_, settings.skew);
}

uint64_t KeyChooser::operator()(std::mt19937_64& random) const {
  if (!zipfian_.has_value()) return std::uniform_int_distribution<uint64_t>(0, keys_ - 1)(random);
  const uint64_t rank = (*zipfian_)(random);
  return scattered_ ? scatter_(rank) : rank;
}

Workload::Workload(const WorkloadSettings& settings, const KeyChooser& chooser, uint64_t thread, uint64_t threads)
    : settings_(settings),
      chooser_(chooser),
      random_(settings.seed + thread * 0x9e3779b97f4a7c15),
      next_fill_(thread * settings.fill_batch),
      fill_step_(threads * settings.fill_batch) {}

std::optional<Operation> Workload::Next() {
  if (settings_.fill_batch != 0) {
    if (next_fill_ >= settings_.keys) return {};
    const uint64_t first = next_fill_;
    next_fill_ += fill_step_;
    return Operation{OperationKind::kFill, first, std::min(settings_.fill_batch, settings_.keys - first)};
  }
  const uint32_t all = settings_.gets + settings_.puts;
  if (all == 0) return Operation{OperationKind::kPath};
  const bool get = settings_.puts == 0 || random_() % all < settings_.gets;
  return Operation{get ? OperationKind::kGet : OperationKind::kPut, chooser_(random_)};
}

void AppendKey(uint64_t number, std::string* out) {
  constexpr std::string_view kZero = "user:00000000000000000";
  static_assert(kZero.size() == bench::kKeyBytes);
  out->append(kZero);
  for (char* digit = out->data() + out->size() - 1; number != 0; --digit, number /= 10) {
    *digit = static_cast<char>('0' + number % 10);
  }
}

void AppendValue(uint64_t number, size_t bytes, std::string* out) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const size_t at = out->size();
  out->append(bytes, 'v');
  uint64_t state = (number + 1) * 0x9e3779b97f4a7c15;
  // Letters have six bits: two thirds of them make half of the bytes incompressible.
  for (size_t i = 0; i < bytes * 2 / 3;) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    for (uint64_t bits = state; i < bytes * 2 / 3 && bits != 0; bits >>= 6) (*out)[at + i++] = kLetters[bits & 63];
  }
}

}  // namespace kvarts::load
