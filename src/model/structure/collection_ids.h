// CollectionIds: numbers for collections, each given out once.
//
// A process takes many at a time, in the commit of the first that needs one; the others it has when that is there. What
// it has when it ends is never given out.
#pragma once

#include <memory>
#include <mutex>

#include "core/txn.h"
#include "model/structure/places.h"

namespace kvarts::structure {

class CollectionIds {
 public:
  static constexpr uint64_t kAtOnce = 4096;

  CollectionIds() : pool_(std::make_shared<Pool>()) {}

  // One that the transaction may use. If that does not come about, the number is not used.
  Result<CollectionId> Take(Txn& txn);

 private:
  struct Pool {
    std::mutex mutex;
    uint64_t next = 0;
    uint64_t end = 0;
  };

  // Shared with the effects of commits that are under way.
  const std::shared_ptr<Pool> pool_;
};

}  // namespace kvarts::structure
