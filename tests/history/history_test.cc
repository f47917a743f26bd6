// Recorded histories: whatever threads saw and were told could have happened one after the other; in the order of
// versions, where the engine has one.
//
// KVARTS_LONG=1 records many more; KVARTS_SEED=n begins at another seed. Threads make every run different.
#include "history/history.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "history/workload.h"
#include "support/environment.h"
#include "support/faulty_engine.h"
#include "support/on_every_engine.h"

namespace kvarts::test {
namespace {

constexpr std::array kFaults = {Fault::kLostUpdate, Fault::kStaleRead,  Fault::kTornRead,
                                Fault::kTornCommit, Fault::kMovingView, Fault::kLostCommit,
                                Fault::kLostErase,  Fault::kDoubledAdd, Fault::kSkippedKey};

History Recorded(const EngineKind& kind, uint64_t seed, int operations) {
  const auto test = kind.Make({});
  WorkloadOptions options;
  options.seed = seed;
  options.operations = operations;
  options.clock = &test->clock();
  return RunWorkload(test->engine(), options);
}

class HistoryTest : public OnEngineTest {
 protected:
  // Until something is wrong.
  static void ForSeeds(uint64_t rounds, const std::function<std::vector<std::string>(uint64_t)>& violations) {
    const uint64_t first = FromEnvironment("KVARTS_SEED", 1);
    for (uint64_t seed = first; seed < first + rounds; ++seed) {
      for (const std::string& violation : violations(seed))
        ADD_FAILURE() << "KVARTS_SEED=" << seed << ": " << violation;
      if (HasFailure()) return;
    }
  }
};
KVARTS_ON_EVERY_ENGINE(HistoryTest);

TEST_P(HistoryTest, CouldHaveHappenedInVersionOrder) {
  if (!GetParam().Make({})->engine().capabilities().total_order) {
    GTEST_SKIP() << "the engine orders keys one by one";
  }
  ForSeeds(LongRun() ? 200 : 5, [](uint64_t seed) { return Check(Recorded(GetParam(), seed, 200)); });
}

TEST_P(HistoryTest, CouldHaveHappenedInSomeOrder) {
  ForSeeds(LongRun() ? 100 : 3, [](uint64_t seed) { return CheckInAnyOrder(Recorded(GetParam(), seed, 200)); });
}

// As if of several processes.
TEST_P(HistoryTest, OfSeveralEnginesOnTheSameDataCouldHaveHappened) {
  if (!GetParam().shared) GTEST_SKIP() << "the data are of one process";
  ForSeeds(LongRun() ? 100 : 3, [](uint64_t seed) {
    const auto data = GetParam().data();
    std::vector<std::unique_ptr<Engine>> opened;
    std::vector<Engine*> engines;
    for (int i = 0; i < 3; ++i) engines.push_back(opened.emplace_back(data->Open({}, nullptr)).get());
    WorkloadOptions options;
    options.seed = seed;
    options.threads = 6;
    return CheckInAnyOrder(RunWorkload(engines, options));
  });
}

TEST_P(HistoryTest, ShowsEveryPlantedFault) {
  for (const Fault fault : kFaults) {
    const EngineKind faulty = Faulty(GetParam(), fault, 3);
    bool found = false;
    for (uint64_t seed = 1; seed <= 100 && !found; ++seed) {
      found = !CheckInAnyOrder(Recorded(faulty, seed, 100)).empty();
    }
    EXPECT_TRUE(found) << "no history showed the fault: " << FaultName(fault);
  }
}

// Faults that only show between threads, and some that always do.
class PlantedFaultTest : public ::testing::TestWithParam<Fault> {};
INSTANTIATE_TEST_SUITE_P(Of, PlantedFaultTest, ::testing::ValuesIn(kFaults), FaultNameOf);

TEST_P(PlantedFaultTest, IsFound) {
  const EngineKind faulty = FaultyMemory(GetParam(), 3);
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    if (!Check(Recorded(faulty, seed, 200)).empty()) return;
  }
  FAIL() << "no history showed the fault";
}

}  // namespace
}  // namespace kvarts::test
