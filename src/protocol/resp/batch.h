// Batch: commands that arrived together, and are carried out in one transaction: with no other client's in between,
// each key read once and written once. A command that fails answers for itself alone.
//
// It owns what the commands say, so it may be run on another thread, as often as it takes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "protocol/resp/command.h"

namespace kvarts::resp {

// A key that a client watches, as it was.
struct Watched {
  uint32_t database;
  Bytes name;
  std::optional<Version> version;  // nothing: it was not there
  // What was not there, and is not, may have been: nothing was written here since.
  Bytes place;
  Version seen_at;
};

class Batch {
 public:
  // The arguments are copied. What is `silent` is carried out without an answer.
  void Add(const Command& command, Arguments arguments, uint32_t database, bool silent = false,
           std::span<const StagedArgument> staged = {});
  // An answer that is known, in the place of a command.
  void AddError(std::string_view error);
  void Clear();

  bool empty() const { return items_.empty(); }
  size_t size() const { return items_.size(); }
  // What it holds.
  size_t bytes() const {
    return text_.size() + items_.size() * sizeof(Item) + sizes_.size() * (sizeof(size_t) + sizeof(std::string_view));
  }
  bool writes() const { return (flags_ & kWrite) != 0; }
  // Writes, or tells others something.
  bool affects() const { return (flags_ & (kWrite | kAffects)) != 0; }
  bool takes_long() const { return (flags_ & kLong) != 0; }
  // It has turned out to.
  void set_takes_long() { flags_ |= kLong; }

  // One that was added as a command; and an answer that is known, in its place.
  struct Queued {
    const Command* command;
    Arguments arguments;
  };
  Queued At(size_t which);
  void Replace(size_t which, std::string_view error);

  // Carries all of them out, and writes their answers, from anew. Nothing may be added any more.
  // The answers are counted as held.
  Status Run(Txn& txn, Service& service, int version, HeldBytes* held, Bytes* replies);
  // One of them.
  Status RunOne(size_t which, Txn& txn, Service& service, int version, HeldBytes* held, Bytes* replies);
  // As a transaction of the client's: an array, or nothing if a watched key has changed. That may turn out when it is
  // committed, as `precondition_failed`.
  Status RunIfUnchanged(std::span<const Watched> watched, Txn& txn, Service& service, int version, HeldBytes* held,
                        Bytes* replies);
  // Of the last run, where answers of the connection's own commands belong, which have yet to be carried out.
  struct Hole {
    size_t at;  // in the answers
    const Command* command;
    Arguments arguments;
  };
  const std::vector<Hole>& holes() const { return holes_; }
  // Of the last run, what was carried out, and how that went.
  struct Ran {
    const Command* command;
    Arguments arguments;
    uint64_t nanos;
    std::string error;  // empty when there was none
  };
  const std::vector<Ran>& ran() const { return ran_; }

  // Appends an answer for one that was not carried out, or the same for each.
  void AnswerOne(size_t which, const Error& error, Bytes* replies);
  void AnswerAll(const Error& error, Bytes* replies);

 private:
  // What a client that asks for nothing any more keeps for its next batch.
  static constexpr size_t kKeptBytes = 4 << 10;
  static constexpr size_t kKeptArguments = 256;

  struct Item {
    const Command* command;  // null: the text is the error
    uint32_t database;
    bool silent;
    size_t first;  // of the arguments
    size_t count;
    size_t first_staged;
    size_t staged;
  };
  // What a run works with.
  struct Running {
    structure::Structures& keys;
    Service& service;
    ReplyWriter& reply;
    Room& room;
  };

  Arguments ArgumentsOf(const Item& item) const { return {arguments_.data() + item.first, item.count}; }
  void Locate();
  Status ReadKeys(structure::Structures& keys);
  Status RunAll(const Running& running);
  Status RunItem(const Item& item, const Running& running);
  Status Handle(const Item& item, const Running& running);
  static void Prepare(structure::Structures& keys, const Service& service);

  Bytes text_;
  std::vector<size_t> sizes_;
  std::vector<Item> items_;
  std::vector<StagedArgument> staged_;
  uint32_t flags_ = 0;
  std::vector<std::string_view> arguments_;  // once located
  std::vector<Hole> holes_;
  std::vector<Ran> ran_;
};

}  // namespace kvarts::resp
