// A command of Redis' protocol: what the table says of it, and what its handler works with.
//
// A handler of data is a function over a transaction: it reads its arguments, works on keys, and writes its answer. It
// may be run more than once. An error that it returns is answered in place of whatever it had written (errors.h), and
// if that is the store's and not the command's, nothing of the transaction happens. A handler of a connection changes
// nothing but the connection, on its loop. A handler of work is a function that waits for a disk, or takes long, and
// needs no transaction: a worker runs it, on a copy of the arguments.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "model/structure/structures.h"
#include "net/resp/reply_writer.h"
#include "protocol/resp/room.h"

namespace kvarts::resp {

struct Service;
struct Session;

using Arguments = std::span<const std::string_view>;  // the first is the command itself

// An argument that was too large for one commit, and was written beforehand; in its place is an empty one.
struct StagedArgument {
  size_t argument;
  structure::StagedText text;
  bool used = false;  // it has become a key's
};

struct DataCall {
  Arguments arguments;
  uint32_t database;
  structure::Structures& keys;
  ReplyWriter& reply;
  Service& service;
  Room& room;
  std::span<StagedArgument> staged = {};
  // Of one that may wait: it has waited before. Keys of another type are passed over then.
  bool waited = false;

  Result<structure::Key*> Open(size_t argument) { return keys.Open(database, arguments[argument]); }
  // The same to look at it: of a key that is absent those are told who want to know of misses.
  Result<structure::Key*> OpenToRead(size_t argument) {
    KVARTS_TRY(structure::Key * key, Open(argument));
    if (!key->exists()) keys.TellMiss(database, *key);
    return key;
  }
  // What has happened to a key (model/structure/key_events.h).
  void Tell(structure::EventClass of, std::string_view event, structure::Key& key) {
    keys.Tell(of, event, database, key);
  }
  void TellIfGone(structure::Key& key) {
    if (!key.exists()) Tell(structure::kGenericEvents, "del", key);
  }
  // Before so many bytes are read, or read and answered.
  Status ExpectReading(uint64_t bytes) const { return room.ExpectReading(bytes); }
  Status ExpectLooking() const { return room.ExpectLooking(); }
  // Before so many elements are gone through.
  Status ExpectElements(uint64_t count) const { return room.ExpectElements(count); }
  // Before some of so many are chosen by chance; less than zero: as many as that, which may be the same ones.
  Status ExpectChosen(int64_t count, uint64_t of);
  // Before so many are put into a key. `too_large` when no commit holds them: they are not made first.
  Status ExpectStored(uint64_t count) const;
  Status ExpectAnswer(uint64_t bytes) {
    KVARTS_CHECK_OK(room.ExpectReading(bytes));
    return room.ExpectAnswers(reply.out().size() + bytes);
  }
};

struct ClientCall {
  Arguments arguments;
  Session& session;
  ReplyWriter& reply;
  Service& service;
  // The client is told what waits for it before the answer.
  bool messages_first = false;
  // What it writes is no answer that the client may have silenced.
  bool never_silent = false;
};

struct WorkCall {
  Arguments arguments;
  uint64_t client;  // who asks
  ReplyWriter& reply;
  Service& service;
};

using DataHandler = Status (*)(DataCall& call);
using ClientHandler = Status (*)(ClientCall& call);
// Of a command that waits until there is something for it to do (blocking.h): whether there was, and the keys for which
// it waits, or would. It has changed nothing unless it was served, and answers in either case: where it may not wait
// that is the answer.
struct Attempted {
  bool served;
  Arguments keys;
};
using BlockingHandler = Result<Attempted> (*)(DataCall& call);
struct Blocking {
  BlockingHandler handler;
  bool timeout_first = false;  // where it says for how long: in the first argument, or in the last
};
using WorkHandler = Status (*)(WorkCall& call);
// What the connection itself carries out: it waits for a transaction. A container is never carried out: one of its
// subcommands is.
enum class Special : uint8_t { kMulti, kExec, kDiscard, kWatch, kContainer };

// What COMMAND says of a command.
enum Flag : uint32_t {
  kWrite = 1 << 0,
  kReadOnly = 1 << 1,
  kDenyOom = 1 << 2,
  kAdmin = 1 << 3,
  kPubSub = 1 << 4,
  kNoScript = 1 << 5,
  kBlocking = 1 << 6,
  kLoading = 1 << 7,
  kStale = 1 << 8,
  kSkipMonitor = 1 << 9,
  kSkipSlowlog = 1 << 10,
  kAsking = 1 << 11,
  kFast = 1 << 12,
  kNoAuth = 1 << 13,
  kMovableKeys = 1 << 14,
  kNoAsyncLoading = 1 << 15,
  kNoMulti = 1 << 16,
  kAllowBusy = 1 << 17,
  // Ours: clients of version 2 of the protocol that listen to channels may ask for it.
  kWhileListening = 1 << 25,
  // Ours: it changes something for others, though not in the store.
  kAffects = 1 << 26,
  // Ours: it has rows in the table of subcommands.
  kContainer = 1 << 27,
  // Ours: large arguments behind the key are staged.
  kStages = 1 << 28,
  // Ours: it may look through much, and is run by a worker.
  kLong = 1 << 29,
  // Ours: between MULTI and EXEC it is not queued.
  kAtOnce = 1 << 30,
};

// Categories of access control, which COMMAND names with a @, in the order of Redis.
enum Category : uint32_t {
  kKeyspace = 1 << 0,
  kRead = 1 << 1,
  kWrites = 1 << 2,
  kSet = 1 << 3,
  kSortedSet = 1 << 4,
  kList = 1 << 5,
  kHash = 1 << 6,
  kString = 1 << 7,
  kBitmap = 1 << 8,
  kHyperLogLog = 1 << 9,
  kGeo = 1 << 10,
  kStream = 1 << 11,
  kPubSubs = 1 << 12,
  kAdmins = 1 << 13,
  kQuick = 1 << 14,
  kSlow = 1 << 15,
  kBlocks = 1 << 16,
  kDangerous = 1 << 17,
  kConnection = 1 << 18,
  kTransaction = 1 << 19,
  kScripting = 1 << 20,
};

struct Command {
  std::string_view name;  // in lower case; of a subcommand "config|get"
  int arity;              // with the command itself; less than zero: at least so many
  uint32_t flags;
  uint32_t categories;
  // Where the keys are among the arguments; less than zero counts from the end. Zero: there are none.
  int first_key;
  int last_key;
  int step;
  std::variant<DataHandler, ClientHandler, WorkHandler, Special, Blocking> handler;

  bool Takes(size_t arguments) const {
    const auto size = static_cast<int>(arguments);
    return arity >= 0 ? size == arity : size >= -arity;
  }
  bool Is(Flag flag) const { return (flags & flag) != 0; }
};

}  // namespace kvarts::resp
