// What all processes change, and how far commits are settled.
//
// Ranges that the listener follows stand in the table kvarts.followed for a time that is prolonged as long as it does;
// commits of all processes note there what they touch in them (kvarts.touched), or all that they change
// (kvarts.changed), as the listener wants it. A thread looks at intervals for what was noted, and tells of it. Several
// ranges may stand there as one, so more may be told than was asked for.
//
// What was touched is told as soon as it is visible, whoever else has a transaction open: each look tells what is
// visible to it and was not to the look before. After an interruption everything is told as touched. Of changes none
// goes untold: the thread goes on where it was, and if notes are gone that it has not seen, it says so.
//
// Commits that were on their way when a range was made to stand may not note anything for it. So a newcomer counts as
// touched when it stands, whenever one of those who were committing then has ended, and when all have.
//
// The versions of commits are not the order in which they become visible. A version is settled when every commit has
// ended that may have one up to it: those that hold the fence, which a commit has from before its versions until it is
// visible, when a version has been the last one, are seen to let go. Other transactions of the server are nobody here.
// So no change up to a settled version is noted later, and changes can be told in the order of versions. Where
// something was touched before a mark was taken is told once more when it is reached, for those who read in that order.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "encoding/key_range.h"
#include "engine/postgres/servers.h"
#include "engine/postgres/shared.h"

namespace kvarts::postgres {

class Following {
 public:
  // What is told, on the thread of its own.
  using Telling = std::function<void(CommitListener&, std::vector<std::unique_ptr<Submission>>* next)>;
  using Tell = std::function<void(const Telling&)>;

  Following(Shared& shared, Servers& servers, Tell tell) : shared_(shared), servers_(servers), tell_(std::move(tell)) {}

  void Start() {
    thread_ = std::jthread([this](const std::stop_token& stop) { Loop(stop); });
  }
  // The listener follows more than before.
  void LookNow();

  // A version up to which everything is visible to a view that is opened now, and at least that of the last commit of
  // this process, unless commits do not end for some time.
  Result<Version> Settle();
  Version settled() const { return {settled_.load()}; }

 private:
  // The ranges of which one thing is wanted.
  class Ranges {
   public:
    void Want(std::vector<KeyRange> wanted, Deadline now);
    // As they stand in the table.
    std::vector<KeyRange> Rows() const;
    // A mark is to be taken; whether it is for the sake of newcomers.
    bool Mark();
    // Newcomers: those for whom no mark is reached yet.
    std::vector<KeyRange> Newcomers() const;
    // Some of them were not greeted; all of them are.
    bool AnyToGreet() const;
    std::vector<KeyRange> Greet();
    // It is reached: those who were newcomers.
    std::vector<KeyRange> MarkReached();
    bool AnyNoted() const;
    bool IsNoted(const KeyRange& range) const;
    void NoneIsNoted();

   private:
    using Bounds = std::pair<Bytes, Bytes>;
    struct Followed {
      // Noted: by the commits of all processes, for certain. Marked: once the mark is reached.
      enum class State : uint8_t { kNew, kMarked, kNoted };
      Deadline until = {};  // unless it is asked for again
      State state = State::kNew;
      bool greeted = false;
    };
    std::map<Bounds, Followed> followed_;
  };
  // As it stands in the table.
  struct Row {
    KeyRange range;
    bool told;

    friend bool operator==(const Row&, const Row&) = default;
  };
  // The transactions of commits that are under way.
  using Committing = std::vector<std::string>;
  // The last version there was, and who was committing then and is still.
  struct Mark {
    uint64_t version = 0;
    Committing behind;

    bool reached() const { return behind.empty(); }
  };
  // Behind what in the order of changes one has come.
  struct Place {
    static constexpr int32_t kEnd = std::numeric_limits<int32_t>::max();

    uint64_t version = 0;
    int32_t operation = kEnd;
  };

  void Loop(const std::stop_token& stop);
  Status Look();
  // Has the ranges stand in the table.
  Status Register(Connection& connection);
  std::vector<Row> RowsAt(Deadline now);
  // Whether there may be something to tell when a mark with that version is reached.
  bool IsNews(uint64_t version);
  static Mark MarkIn(const Rows& clock, const Rows& committing);
  Result<Mark> TakeMark(Connection& connection);
  // Learns what all processes follow, if that has changed.
  Status LearnFollowed(Connection& connection);
  // What was touched and is visible since the last time.
  void TellTouched(const Rows& notes);
  // That newcomers stand, and that somebody has ended who may not have known.
  void TellNewcomers(const Committing& committing);
  void TellAll(std::span<const KeyRange> touched);
  // To be told again, when the next mark is reached.
  void Unsettled(std::span<const KeyRange> touched);
  // The mark is reached.
  Status TellNotes(Connection& connection);
  Status TellChanges(Connection& connection);
  // Of those who wait for it, where it is certain by now.
  void TellBeginnings();
  void Reached(uint64_t version);
  // There may be more to tell than is found. The ranges are made to stand again.
  void Interrupted();
  // What was noted is gone, or the ranges may not have stood for a time: everything begins anew.
  void Missed();
  // Whether what is noted is still what it was; else it was missed.
  Status CheckLife(const Rows& rows, int column);

  Shared& shared_;
  Servers& servers_;
  const Tell tell_;
  std::atomic<uint64_t> settled_{0};

  std::mutex mutex_;
  std::condition_variable_any asked_;
  bool look_now_ = false;

  // Of the thread alone.
  Ranges touched_;
  Ranges told_;
  std::vector<KeyRange> beginning_;  // of those that are to be told
  std::vector<Row> rows_;
  Deadline prolong_at_ = {};
  Deadline looked_ = {};
  std::string life_;          // of what is noted
  std::optional<Mark> mark_;  // that is waited for
  Committing strangers_;      // may know nothing of some newcomer
  // What was told as touched since the mark was taken, and before it.
  std::vector<KeyRange> unsettled_;
  std::vector<KeyRange> settling_;
  bool everything_ = false;  // is to be told as touched
  bool lost_ = false;        // changes are, which is to be told once the mark is reached
  Deadline told_at_ = {};    // of what was touched
  std::string told_in_;      // the snapshot of which all that was touched is told; empty: none is yet
  uint64_t told_up_to_ = 0;  // transaction: all before it had ended by then
  Place told_place_;         // of changes
  // Up to these, the next time.
  uint64_t forgotten_ = 0;
  uint64_t forgotten_version_ = 0;

  std::jthread thread_;  // ends first
};

}  // namespace kvarts::postgres
