// Recorded histories: whatever threads saw and were told could have happened in the order of versions.
//
// KVARTS_LONG=1 records many more; KVARTS_SEED=n begins at another seed. Threads make every run different.
#include "history/history.h"

#include <gtest/gtest.h>

#include "history/workload.h"
#include "support/engines.h"
#include "support/environment.h"
#include "support/faulty_engine.h"

namespace kvarts::test {
namespace {

std::vector<std::string> Record(const EngineKind& kind, uint64_t seed, int operations) {
  const auto test = kind.make({});
  WorkloadOptions options;
  options.seed = seed;
  options.operations = operations;
  options.clock = &test->clock();
  return Check(RunWorkload(test->engine(), options));
}

class HistoryTest : public ::testing::TestWithParam<EngineKind> {};

std::string NameOf(const ::testing::TestParamInfo<EngineKind>& kind) { return kind.param.name; }
INSTANTIATE_TEST_SUITE_P(On, HistoryTest, ::testing::ValuesIn(EngineKinds()), NameOf);

TEST_P(HistoryTest, CouldHaveHappenedInVersionOrder) {
  if (!GetParam().make({})->engine().capabilities().total_order) {
    GTEST_SKIP() << "the engine orders keys one by one";
  }
  const uint64_t first = FromEnvironment("KVARTS_SEED", 1);
  const uint64_t rounds = LongRun() ? 200 : 5;
  for (uint64_t seed = first; seed < first + rounds; ++seed) {
    for (const std::string& violation : Record(GetParam(), seed, 200)) {
      ADD_FAILURE() << "KVARTS_SEED=" << seed << ": " << violation;
    }
    if (HasFailure()) return;
  }
}

// Faults that only show between threads, and some that always do.
class PlantedFaultTest : public ::testing::TestWithParam<Fault> {};

INSTANTIATE_TEST_SUITE_P(Of, PlantedFaultTest,
                         ::testing::Values(Fault::kLostUpdate, Fault::kStaleRead, Fault::kTornRead, Fault::kTornCommit,
                                           Fault::kMovingView, Fault::kLostCommit, Fault::kLostErase,
                                           Fault::kDoubledAdd, Fault::kSkippedKey),
                         FaultNameOf);

TEST_P(PlantedFaultTest, IsFound) {
  const EngineKind faulty = FaultyMemory(GetParam(), 3);
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    if (!Record(faulty, seed, 200).empty()) return;
  }
  FAIL() << "no history showed the fault";
}

}  // namespace
}  // namespace kvarts::test
