// LoopReads: reads of the newest records for the coroutines of a loop.
//
// Where the engine has a channel for a loop's reads, those of one turn leave together at its end, and whoever waits is
// resumed by the answer as it is taken off the wire. Otherwise, or when the channel has handed a read on, the answer
// comes through the loop's mailbox.
#pragma once

#include <memory>
#include <optional>

#include "engine/engine.h"
#include "net/loop.h"

namespace kvarts {

// Belongs to the loop's thread. It goes when that has ended, before the engine and the loop.
class LoopReads final : private ReadChannel::Host {
 public:
  // A read that a coroutine waits for; the caller fills in keys, records and options.
  class Read final : public PendingGet {
   public:
    Status outcome;  // once it has been awaited

   private:
    friend class LoopReads;
    void Done(Status told) override;

    net::Loop* loop_ = nullptr;
    std::optional<net::Resume> resume_;
    bool starting_ = false;
  };

  LoopReads(net::Loop& loop, Engine& engine);
  ~LoopReads() override;

  net::Task<> Await(Read& read);
  // To be called at every tick of the loop.
  void Tick();

 private:
  bool Watch(int descriptor) override { return watch_.Start(descriptor); }
  void WantWrite(bool wanted) override { watch_.WantWrite(wanted); }
  void Unwatch() override { watch_.Stop(); }
  void LeaveWithin(std::chrono::microseconds time) override;

  void Start(Read& read);
  void LeaveAtEndOfTurn();

  net::Loop& loop_;
  Engine& engine_;
  net::Watch watch_;
  net::Timer timer_;
  bool timed_ = false;                    // the timer runs
  std::unique_ptr<ReadChannel> channel_;  // null: the engine has none
  bool leaving_ = false;                  // at the end of this turn
};

}  // namespace kvarts
