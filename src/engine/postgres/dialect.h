// Everything that is said to the server in SQL, in one place: the schema with its functions, and the statements that
// the engine prepares. FORMAT.md says why each column is as it is.
//
// The engine knows statements by name and parameters by position; another server that speaks another SQL is another
// file like this one.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kvarts::postgres {

// Raised with every change of what kSchema and kSchemaFunctions make. A server with a newer one is not ours to write
// to.
constexpr int kSchemaVersion = 2;

// Makes the schema, in one transaction, under an advisory lock; and what makes one of version 1 into one of version 2,
// and so on, likewise: a step is empty where only functions have changed. These are made anew behind both; a step takes
// away those that are not wanted any more or answer with something else. Processes of the version before still call
// them for a moment, until they are told that they are not theirs any more.
extern const std::string_view kSchema;
extern const std::string_view kSchemaFunctions;
extern const std::span<const std::string_view> kSchemaSteps;

// A row when there is a schema of that name: 1 when it has the table that ours has. Its version. And what begins a
// transaction that keeps out who else would make it.
extern const char* const kFindSchema;
extern const char* const kFindSchemaVersion;
extern const char* const kBeginToMakeSchema;
// What is said in that transaction, to its end, when there is none, and when there is one of version `from`: then it is
// of version `to`.
std::string MakeSchemaSql(std::string_view make, std::string_view functions, int to);
std::string RaiseSchemaSql(std::span<const std::string_view> steps, std::string_view functions, int from, int to);

// The SQLSTATE with which a server refuses a commit after it was fenced.
constexpr std::string_view kFenced = "KV001";

// A key whose index entry would be too long is stored as its first kIndexedBytes, a digest of the whole key, and the
// rest of it. A B-tree entry holds about 2,700 bytes.
constexpr size_t kIndexedBytes = 2000;

struct Statement {
  const char* name;
  const char* sql;
};

// One commit or several, decided and applied one after the other in one transaction.
extern const Statement kCommit;
// Those of the usual kind; the first version, or null when that has to be asked.
extern const Statement kPutAll;
// Takes locks that outlive the transaction, for a run under which nothing may change; and gives them back.
extern const Statement kHold;
extern const Statement kLetGo;
// The newest records under some keys; and the same for any keys, long ones among them.
extern const Statement kGet;
extern const Statement kGetLong;
// How far a replica has replayed the log: said in a transaction before the one that reads, since a statement may read
// at a snapshot from before what it says of the log.
extern const Statement kReplayed;
// The place in the log behind what was committed before: what is on disk, or what was written if that is not waited
// for.
extern const Statement kPosition;
// Fails with kNoStandbys, in the transaction of a commit, when it would wait for no replica.
extern const Statement kRequireStandbys;
constexpr std::string_view kNoStandbys = "22012";
// A statement took longer than its connection allows, mostly for waiting for locks. Nothing of it was done.
constexpr std::string_view kTooLong = "57014";
// A page of a scan.
extern const Statement kScan;
// A view is a transaction that reads: begun, opened (its version, the time, and its snapshot behind the life of the
// server), and ended. There is no snapshot when the life has yet to begin; nor on a replica, where it means nothing.
extern const Statement kBegin;
extern const Statement kOpenView;
extern const Statement kOpenReplicaView;
extern const Statement kEnd;
// A life of the server ends with a crash or a failover, with which transactions may be lost and their numbers given
// anew.
extern const Statement kBeginLife;
// The last version, and the time.
extern const Statement kNow;

// Returns when everything before it is on disk.
extern const Statement kSync;
// Facts about the whole store, by name.
extern const Statement kSetMeta;
extern const Statement kFindMeta;
// Adds commits and bytes to the totals over all processes.
extern const Statement kAddTotals;
// Removes all that is dead among the first so many of a range, and answers with the last of them, unless it has fewer;
// and has the planner look again at what there is.
extern const Statement kCompact;
extern const Statement kAnalyze;
// Removes some of what has been dead for a time; and how much of it there is, up to a number.
extern const Statement kCollect;
extern const Statement kBacklog;
// How many keys a range has, and their bytes; and the same of everything, with how many of the bytes are dead.
extern const Statement kEstimate;
extern const Statement kSizes;

// Of a connection, before its statements are prepared; none may take longer than that, unless it is zero. Answers with
// what kInterrupt knows the session by.
std::string Planning(std::chrono::milliseconds longest);

// Ranges of which other processes shall note what they touch, or all that they change there, for a time; and takes
// those away whose time is up, with what was touched before a transaction, and changed before a version.
extern const Statement kFollow;
extern const Statement kForget;
// What is followed by all processes, and the epoch of that, which is another one when something was added or went; and
// the life of the server, with which ends what was noted.
extern const Statement kEpoch;
extern const Statement kFollowed;
// The last version; and the transactions of this database that may take versions or have some, and are not visible yet.
extern const Statement kClock;
extern const Statement kCommitting;
// What was noted as touched and is visible now but was not in a snapshot; and with it, also when there is nothing, the
// snapshot that is now, and the first transaction that still runs in it.
extern const Statement kTouched;
// A page of what was changed behind a place up to a version, of about so many bytes, with the life that it is of, and
// the version up to which something was forgotten: one row without a change when there is none.
extern const Statement kChanged;
// Ends what a session is at, such as its wait for replicas, if it is still there: whether it was.
extern const Statement kInterrupt;
// Ends the waits for replicas of this database's commits that have lasted for longer than so many microseconds, whoever
// made them: how many.
extern const Statement kInterruptLeft;

// What is asked of a server to know its role and state, sent as it is: nothing need be there yet.
extern const char* const kAskServer;
extern const char* const kAskWhetherMade;  // whether there is a schema
extern const char* const kAskMeta;
extern const char* const kAskFence;
// What is written to it as to a server; none of it waits for replicas, or long for a lock.
std::string FenceSql(uint32_t timeline);
std::string LiftFenceSql();
std::string NoteTimelineSql(std::string_view system_id, uint32_t timeline);

// All that every connection prepares.
std::span<const Statement* const> AllStatements();

}  // namespace kvarts::postgres
