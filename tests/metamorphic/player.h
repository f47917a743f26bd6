// Player: plays steps on one engine and writes down its answers in words that are equal for equal behaviour.
//
// Versions become numbers of commits, also where they are stamped into keys and values. What an engine is free to do is
// left out of the answers: whether expired values that are not owned are still stored, where pages end, what a conflict
// says beyond that it is one.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "metamorphic/steps.h"
#include "support/commits.h"
#include "support/engines.h"

namespace kvarts::test {

class Player {
 public:
  explicit Player(const EngineKind& kind);

  std::string Play(const Step& step);

  // Time as the engine sees it, and the clock beneath.
  Timestamp Now() { return test_->engine().Now(); }
  void MoveTo(Timestamp time) { test_->clock().MoveTo(time); }

 private:
  Engine& engine() { return test_->engine(); }

  std::string OpenView(int slot);
  std::string Get(const Step& step);
  std::string Scan(const Step& step);
  std::string Submit(const Step& step);
  std::string Reopen();
  std::string Assign(const Step& step);

  // From the names in steps to what they mean here.
  Bytes KeyOf(const KeyName& name) const;
  KeyRange RangeOf(const RangeStep& range) const;
  Version CommitBack(size_t back, size_t first) const;
  Version VersionOf(const VersionName& name, const Bytes& key, bool is_range);
  Timestamp InstantIn(Duration ahead);
  Precondition Make(const PreconditionStep& step);
  Mutation Make(const MutationStep& step);
  std::unique_ptr<TestSubmission> Make(const CommitStep& step);
  Status Transact(const CommitStep& step, View& view, Commit* commit) const;

  // And back, into answers.
  std::string NumberOf(Version version) const;
  std::string ShowKey(BytesView key) const;
  std::string ShowValue(BytesView value) const;
  std::string Show(const ValueHeader& header, BytesView value) const;
  std::string Show(const Error& error) const;

  std::unique_ptr<TestEngine> test_;
  std::vector<Version> commits_;      // that wrote something, in their order
  size_t commits_before_reopen_ = 0;  // ranges are not remembered beyond it
  std::array<std::unique_ptr<View>, kSlots> views_;
};

}  // namespace kvarts::test
