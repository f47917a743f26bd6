// One writer of the crash tests: submits the operations of workload.h in their order, a few at a time, and records each
// before it is submitted and after its outcome is known. For one thread.
#pragma once

#include <atomic>
#include <memory>
#include <random>
#include <vector>

#include "ack_log.h"
#include "engine/engine.h"
#include "support/commits.h"
#include "workload.h"

namespace kvarts::test {

class OpWriter {
 public:
  // Operations are numbered from `first`. `acked` counts those that were committed.
  OpWriter(Engine& engine, AckLog& log, uint32_t writer, uint64_t first, uint64_t seed, std::atomic<uint64_t>* acked)
      : engine_(engine), log_(log), writer_(writer), next_(first), random_(seed + writer), acked_(acked) {}

  // Submits the next one to four operations together, and waits for their outcomes.
  void Step();
  uint64_t next_number() const { return next_; }

 private:
  static constexpr size_t kMaxTogether = 4;

  // Such an operation is submitted alone.
  static bool DependsOnOutcomes(const Op& op);
  Op NextOp();
  std::unique_ptr<TestSubmission> Make(const Op& op);
  void Record(const Op& op, const Result<Committed>& outcome);

  Engine& engine_;
  AckLog& log_;
  const uint32_t writer_;
  uint64_t next_;
  std::mt19937_64 random_;
  std::atomic<uint64_t>* const acked_;
  // The newest stamped key.
  uint64_t stamped_number_ = 0;
  Version stamped_version_;
};

}  // namespace kvarts::test
