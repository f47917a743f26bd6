#include "metamorphic/checker.h"

#include <algorithm>

#include "metamorphic/player.h"

namespace kvarts::test {

std::optional<Divergence> Compare(const std::vector<Step>& steps, const EngineKind& oracle, const EngineKind& tested) {
  Player right(oracle);
  Player other(tested);
  for (size_t i = 0; i < steps.size(); ++i) {
    Divergence answers{i, right.Play(steps[i]), other.Play(steps[i])};
    if (answers.expected != answers.actual) return answers;
    // Reopening may cost an engine time that it had reserved. Expiry is compared at equal times.
    const Timestamp now = std::max(right.Now(), other.Now());
    right.MoveTo(now);
    other.MoveTo(now);
  }
  return std::nullopt;
}

std::vector<Step> Shrink(std::vector<Step> steps, const EngineKind& oracle, const EngineKind& tested, int attempts) {
  for (size_t chunk = steps.size() / 2; chunk >= 1; chunk /= 2) {
    for (size_t at = 0; at < steps.size() && attempts > 0; --attempts) {
      std::vector<Step> fewer(steps.begin(), steps.begin() + static_cast<ptrdiff_t>(at));
      const size_t rest = std::min(at + chunk, steps.size());
      fewer.insert(fewer.end(), steps.begin() + static_cast<ptrdiff_t>(rest), steps.end());
      if (const auto divergence = Compare(fewer, oracle, tested)) {
        fewer.resize(divergence->step + 1);
        steps = std::move(fewer);
      } else {
        at += chunk;
      }
    }
  }
  return steps;
}

std::string Report(uint64_t seed, const std::vector<Step>& steps, const Divergence& divergence,
                   const EngineKind& tested) {
  std::string text = tested.name + " differs (KVARTS_SEED=" + std::to_string(seed) + "):\n";
  for (size_t i = 0; i <= divergence.step && i < steps.size(); ++i) {
    text += "  " + std::to_string(i) + ". " + Describe(steps[i]) + "\n";
  }
  return text + "  expected: " + divergence.expected + "\n  actual:   " + divergence.actual + "\n";
}

}  // namespace kvarts::test
