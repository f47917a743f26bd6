// What the shell works on: an open store, and a transaction block if one was begun.
//
// Every command that touches keys is a Step: a function over a transaction. Outside of a block it is run and committed
// at once. Inside one it is run on the block's own transaction, which nobody else sees, and remembered; commit runs all
// of them again as one transaction of the store, and goes through only if each of them sees what it saw the first time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/store.h"
#include "engine/rocksdb/rocks_engine.h"

namespace kvarts::cli {

class Session {
 public:
  struct Answer {
    std::string text;  // for the person
    std::string seen;  // what it was made from, the same whenever the step reads the same
  };
  using Step = std::function<Result<Answer>(Txn&)>;
  struct Outcome {
    std::string text;
    bool wrote = false;
    std::optional<Version> version;  // of the commit; not while a block is open
  };

  static Result<std::unique_ptr<Session>> Open(const std::string& dir, RocksOptions options, Durability durability);
  ~Session();

  Engine& engine() { return *engine_; }
  Store& store() { return *store_; }

  Result<Outcome> Run(const Step& step);

  bool in_block() const { return block_ != nullptr; }
  Status Begin();
  // Something in the block, if there is one, went wrong: it can no longer be committed.
  void SpoilBlock();
  // How many steps were committed, and at which version.
  struct Committed {
    size_t steps = 0;
    std::optional<Version> version;  // nothing when there was nothing to write
  };
  Result<Committed> Commit();
  // How many steps were thrown away.
  Result<size_t> RollBack();

 private:
  struct Block;

  Session(std::unique_ptr<Engine> engine, Durability durability);
  Result<Outcome> RunAlone(const Step& step);
  Result<Outcome> RunInBlock(const Step& step);
  Status CheckBlockSize() const;

  const Durability durability_;
  const Context context_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Block> block_;
};

}  // namespace kvarts::cli
