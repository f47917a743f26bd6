// Plays the same steps on two engines and finds the first answer in which they differ.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "metamorphic/steps.h"
#include "support/engines.h"

namespace kvarts::test {

struct Divergence {
  size_t step = 0;  // by number, from 0
  std::string expected;
  std::string actual;
};

// Nothing when every answer of `tested` is that of `oracle`.
std::optional<Divergence> Compare(const std::vector<Step>& steps, const EngineKind& oracle, const EngineKind& tested);

// Takes out steps as long as the engines still differ, with at most so many attempts.
std::vector<Step> Shrink(std::vector<Step> steps, const EngineKind& oracle, const EngineKind& tested, int attempts);

// For people: the steps, where they differ, and how to see it again.
std::string Report(uint64_t seed, const std::vector<Step>& steps, const Divergence& divergence,
                   const EngineKind& tested);

}  // namespace kvarts::test
