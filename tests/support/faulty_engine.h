// An engine that breaks one promise now and then, for showing that the checkers notice.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <ostream>
#include <string>

#include "engine/engine.h"
#include "support/engines.h"

namespace kvarts::test {

enum class Fault {
  kLostErase,     // an erase in a commit is left out
  kLostCommit,    // a commit is acknowledged, and nothing is written
  kTornCommit,    // a commit of several mutations becomes two
  kLostUpdate,    // what a transaction read is not checked
  kLapseIgnored,  // a precondition holds although what it stands for has expired
  kDoubledAdd,    // an add is applied twice
  kExpiredShown,  // a get shows a value that has expired
  kStaleRead,     // a get answers from a view of some time ago
  kTornRead,      // the last key of a multi-get comes from a later state than the others
  kSkippedKey,    // a scan leaves out the last entry of a page
  kMovingView,    // a view shows the newest state
};
const char* FaultName(Fault fault);
// The same as a part of a test's name.
inline std::string FaultNameOf(const ::testing::TestParamInfo<Fault>& fault) {
  std::string name = FaultName(fault.param);
  std::ranges::replace(name, ' ', '_');
  return name;
}
inline void PrintTo(Fault fault, std::ostream* out) { *out << FaultName(fault); }

// Passes everything on to `inner`, with the fault at every `period`-th opportunity.
std::unique_ptr<Engine> MakeFaulty(std::unique_ptr<Engine> inner, Fault fault, uint64_t period);

// An engine with a fault, as the suites want their engines; and the memory engine.
EngineKind Faulty(EngineKind kind, Fault fault, uint64_t period);
inline EngineKind FaultyMemory(Fault fault, uint64_t period) { return Faulty(EngineKinds().front(), fault, period); }

}  // namespace kvarts::test
