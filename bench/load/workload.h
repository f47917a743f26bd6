// What is asked for, one operation after the other: gets and puts of chosen keys in a given proportion, or every key
// once in order to fill a store. Everything follows from the seed. For one thread: each has a workload of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "support/load.h"

namespace kvarts::load {

enum class OperationKind : uint8_t {
  kGet,
  kPut,
  kFill,  // puts several keys at once
  kPath,  // asks for something that is no key
};

struct Operation {
  OperationKind kind = OperationKind::kGet;
  uint64_t key = 0;    // its number; of a fill: that of the first
  uint64_t count = 1;  // keys of a fill
};

struct WorkloadSettings {
  uint64_t keys = 1'000'000;
  bool zipfian = true;    // otherwise all keys alike
  double skew = 0.99;     // of zipfian
  bool scattered = true;  // hot keys lie anywhere; otherwise the lowest are the hottest
  uint64_t seed = 1;
  // Weights. Both zero: a fixed path is asked for.
  uint32_t gets = 100;
  uint32_t puts = 0;
  uint64_t fill_batch = 0;  // zero: no fill
};

// Chooses key numbers below `keys`.
class KeyChooser {
 public:
  explicit KeyChooser(const WorkloadSettings& settings);
  uint64_t operator()(std::mt19937_64& random) const;

 private:
  uint64_t keys_;
  bool scattered_;
  std::optional<bench::Zipfian> zipfian_;
  bench::Scatter scatter_;
};

class Workload {
 public:
  // `thread` of `threads`: they share a fill, and are differently seeded.
  Workload(const WorkloadSettings& settings, const KeyChooser& chooser, uint64_t thread, uint64_t threads);
  // Nothing when the fill is done.
  std::optional<Operation> Next();

 private:
  const WorkloadSettings settings_;
  const KeyChooser& chooser_;
  std::mt19937_64 random_;
  uint64_t next_fill_;  // the key at which this thread's next batch begins
  uint64_t fill_step_;
};

// The key of that number, as bench::KeyOf makes it, and a value for it: text that needs no escaping and compresses to
// about a half.
void AppendKey(uint64_t number, std::string* out);
void AppendValue(uint64_t number, size_t bytes, std::string* out);

}  // namespace kvarts::load
