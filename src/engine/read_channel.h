// Reads that nobody waits for on a thread of their own, and a way for an event loop's reads that needs no other thread.
#pragma once

#include <chrono>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/result.h"
#include "engine/view.h"

namespace kvarts {

// A read of the newest records that nobody waits for: the answer is told. Whoever asks keeps it where it is until then.
class PendingGet {
 public:
  virtual ~PendingGet() = default;

  std::span<const BytesView> keys;
  std::span<std::optional<Record>> records;  // as many; in the order of the keys, when it is done
  ReadOptions options;

  // Once, on some thread; it must be quick. It may end the life of this object.
  virtual void Done(Status outcome) = 0;
};

// Takes the reads of one thread to where the data is, many together, and brings the answers back on the same thread.
// What it cannot take itself goes the way of Engine::GetLater. Used by that thread alone, and ended before the engine;
// reads that are under way then are given up as `unavailable`.
class ReadChannel {
 public:
  // What the thread does for it.
  class Host {
   public:
    virtual ~Host() = default;
    // Calls Ready when the descriptor can be read from. False: it cannot.
    virtual bool Watch(int descriptor) = 0;
    // Also when it can be written to, or not any more.
    virtual void WantWrite(bool wanted) = 0;
    // Before the descriptor is closed.
    virtual void Unwatch() = 0;
    // Calls Leave again after that time at the latest.
    virtual void LeaveWithin(std::chrono::microseconds time) = 0;
  };

  virtual ~ReadChannel() = default;

  // `read` is Done within Leave, Ready or Tick, or on another thread.
  virtual void Add(PendingGet& read) = 0;
  // No more is added this turn: sends what was, unless it is better sent with what is yet to come. To be called once
  // behind any number of calls of Add and Ready.
  virtual void Leave() = 0;
  virtual void Ready() = 0;
  // A few times a second: ends what takes too long.
  virtual void Tick() = 0;
};

}  // namespace kvarts
