// The engines that the suites run on, in one list (engines.cc): a new engine is one line there. on_every_engine.h runs
// a suite on all of them.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "engine/engine.h"

namespace kvarts::test {

// The time at which every TestEngine begins.
constexpr Timestamp kTestStart{1'700'000'000'000'000};

// Where the data of an engine lie. They go away with it, so the engine goes first.
class EngineData {
 public:
  virtual ~EngineData() = default;

  // Throws when it cannot be opened. Without a clock, time is what it is for the engine anyway.
  virtual std::unique_ptr<Engine> Open(const Limits& limits, std::shared_ptr<Clock> clock) = 0;
  // Of a shared engine: somebody has begun something where the data lie, and does not end it before what is returned
  // goes.
  virtual std::shared_ptr<void> HoldCommit() { return nullptr; }
};

// An engine under test, on a clock that only the test moves, and its data.
class TestEngine {
 public:
  TestEngine(std::unique_ptr<EngineData> data, const Limits& limits);

  Engine& engine() { return *engine_; }
  Engine* operator->() { return engine_.get(); }
  ManualClock& clock() { return *clock_; }

  // Closes the engine and opens it again on the same data. Views must be closed before. Only for
  // persistent engines.
  void Reopen();

 private:
  const Limits limits_;
  const std::shared_ptr<ManualClock> clock_;
  const std::unique_ptr<EngineData> data_;
  std::unique_ptr<Engine> engine_;
};

struct EngineKind {
  std::string name;  // as in --engine
  // New and empty.
  std::function<std::unique_ptr<EngineData>()> data;
  // Its data outlive it, as its capabilities say: for who has no engine to ask.
  bool persistent = false;
  // They are files in --data, which one process at a time has.
  bool files = false;
  // Several processes may have them at once.
  bool shared = false;
  // What is not there, and how to get it, when tests cannot run on it here; mostly empty.
  std::string missing = {};

  std::unique_ptr<TestEngine> Make(const Limits& limits) const { return std::make_unique<TestEngine>(data(), limits); }
};
// Names the parameter in the names of tests.
inline void PrintTo(const EngineKind& kind, std::ostream* out) { *out << kind.name; }

// Every engine; memory, the oracle, is the first. They are all there whether anything is missing or not, so that the
// tests have the same names everywhere.
const std::vector<EngineKind>& EngineKinds();
// Those of which this is true.
std::vector<EngineKind> EngineKindsWith(bool EngineKind::*property);

}  // namespace kvarts::test
