// The engines that the suites run on, in one list (engines.cc): a new engine is one line there.
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

// An engine under test, on a clock that only the test moves, and its data, which go away with it.
class TestEngine {
 public:
  explicit TestEngine(const Limits& limits) : limits_(limits), clock_(std::make_shared<ManualClock>(kTestStart)) {}
  virtual ~TestEngine() = default;

  Engine& engine() { return *engine_; }
  Engine* operator->() { return engine_.get(); }
  ManualClock& clock() { return *clock_; }

  // Closes the engine and opens it again on the same data. Views must be closed before. Only for
  // persistent engines.
  void Reopen();

 protected:
  virtual std::unique_ptr<Engine> Open() = 0;
  const Limits& limits() const { return limits_; }
  const std::shared_ptr<ManualClock>& shared_clock() const { return clock_; }
  void set_engine(std::unique_ptr<Engine> engine) { engine_ = std::move(engine); }

 private:
  Limits limits_;
  std::shared_ptr<ManualClock> clock_;
  std::unique_ptr<Engine> engine_;
};

struct EngineKind {
  std::string name;
  std::function<std::unique_ptr<TestEngine>(const Limits&)> make;
};
// Names the parameter in the names of tests.
inline void PrintTo(const EngineKind& kind, std::ostream* out) { *out << kind.name; }

// Every engine; memory, the oracle, is the first.
const std::vector<EngineKind>& EngineKinds();

}  // namespace kvarts::test
