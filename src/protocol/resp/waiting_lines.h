// WaitingLines: the lines (core/store.h) of clients that wait for the same: with the same command, for the same keys.
//
// Safe from any thread.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

#include "core/store.h"
#include "model/structure/secret_hash.h"

namespace kvarts::resp {

class WaitingLines {
 public:
  // The line of those who wait for this, or a new one.
  std::shared_ptr<Store::Line> Find(Store& store, const Bytes& what);

 private:
  static constexpr size_t kSweepFrom = 64;

  std::mutex mutex_;
  std::unordered_map<Bytes, std::weak_ptr<Store::Line>, structure::SecretHash> lines_;
  // With so many, those are dropped in which nobody stands any more.
  size_t sweep_at_ = kSweepFrom;
};

}  // namespace kvarts::resp
