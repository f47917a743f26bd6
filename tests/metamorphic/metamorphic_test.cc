// The same random operations give the same answers on every engine as on memory, the oracle.
//
// Sequences are numbered by their seeds. KVARTS_SEED=n plays only that one; KVARTS_LONG=1 plays many more.
#include <gtest/gtest.h>

#include "metamorphic/checker.h"
#include "support/environment.h"
#include "support/faulty_engine.h"
#include "support/on_every_engine.h"

namespace kvarts::test {
namespace {

constexpr size_t kSteps = 400;

// Fails the test with the shortest sequence that it finds.
bool Agrees(uint64_t seed, const EngineKind& tested) {
  const EngineKind& oracle = EngineKinds().front();
  const std::vector<Step> steps = MakeSteps(seed, kSteps);
  const auto found = Compare(steps, oracle, tested);
  if (!found) return true;
  const std::vector<Step> few = Shrink(steps, oracle, tested, 300);
  if (const auto divergence = Compare(few, oracle, tested)) {
    ADD_FAILURE() << Report(seed, few, *divergence, tested);
  } else {
    ADD_FAILURE() << "Only now and then: " << Report(seed, steps, *found, tested);
  }
  return false;
}

class MetamorphicTest : public OnEngineTest {};
KVARTS_ON_EVERY_ENGINE(MetamorphicTest);

TEST_P(MetamorphicTest, AnswersAreThoseOfTheOracle) {
  const uint64_t only = FromEnvironment("KVARTS_SEED", 0);
  // Where others may write, too, each takes thirty times as long.
  const uint64_t many = GetParam().shared ? 100 : 500;
  const uint64_t sequences = LongRun() ? many : 25;
  const uint64_t first = only > 0 ? only : 1;
  const uint64_t last = only > 0 ? only : sequences;
  for (uint64_t seed = first; seed <= last; ++seed) {
    ASSERT_TRUE(Agrees(seed, GetParam())) << "seed " << seed;
  }
}

// The checker finds every fault that there is, within the sequences of the test above.
class PlantedFaultTest : public ::testing::TestWithParam<Fault> {};

// All but the torn read, which needs a second thread: see tests/history.
INSTANTIATE_TEST_SUITE_P(Of, PlantedFaultTest,
                         ::testing::Values(Fault::kLostErase, Fault::kLostCommit, Fault::kTornCommit,
                                           Fault::kLostUpdate, Fault::kLapseIgnored, Fault::kDoubledAdd,
                                           Fault::kExpiredShown, Fault::kStaleRead, Fault::kSkippedKey,
                                           Fault::kMovingView),
                         FaultNameOf);

TEST_P(PlantedFaultTest, IsFoundAndShrunkToAFewSteps) {
  const Fault fault = GetParam();
  const EngineKind& oracle = EngineKinds().front();
  const EngineKind faulty = FaultyMemory(fault, 7);
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    const std::vector<Step> steps = MakeSteps(seed, kSteps);
    if (!Compare(steps, oracle, faulty)) continue;
    const std::vector<Step> few = Shrink(steps, oracle, faulty, 1000);
    const auto divergence = Compare(few, oracle, faulty);
    ASSERT_TRUE(divergence);
    EXPECT_LT(few.size(), 60u);
    EXPECT_NE(Report(seed, few, *divergence, faulty).find("expected: "), std::string::npos);
    return;
  }
  FAIL() << "no sequence showed the fault";
}

TEST(MetamorphicStepsTest, ASeedAlwaysGivesTheSameSteps) {
  const auto one = MakeSteps(42, 100);
  const auto two = MakeSteps(42, 100);
  ASSERT_EQ(one.size(), 100u);
  for (size_t i = 0; i < one.size(); ++i) EXPECT_EQ(Describe(one[i]), Describe(two[i]));
  EXPECT_NE(Describe(MakeSteps(43, 3).back()), Describe(one[2]));
}

}  // namespace
}  // namespace kvarts::test
