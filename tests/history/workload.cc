#include "history/workload.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <thread>

#include "support/commits.h"
#include "support/reads.h"

namespace kvarts::test {
namespace {

int64_t Now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

const Bytes kPair1 = "pair1";
const Bytes kPair2 = "pair2" + Bytes(2500, 'x');

const Bytes kMarks = "mark/";

ScanResult ResultOf(const KeyRange& range, const std::vector<Found>& entries) {
  ScanResult result{range, {}};
  for (const Found& entry : entries) result.found.emplace_back(entry.key, Record{entry.header, entry.value});
  return result;
}

// One thread's share. Registers are put blindly, accounts are moved between by what was read, counters are added to,
// and the members of a set come and go under a scan of the whole set.
class Worker {
 public:
  Worker(Engine& engine, const WorkloadOptions& options, int number)
      : engine_(engine), options_(options), number_(number), random_(options.seed * 1000 + number) {}

  void Run() {
    for (int i = 0; i < options_.operations && (options_.stop == nullptr || !*options_.stop); ++i) {
      switch (Below(9)) {
        case 0:
          Put();
          break;
        case 1:
          Commit(MakeCommit({Mutation::Add(Key("counter", 2), 1), Mutation::Add(Key("counter", 2), 2)}));
          break;
        case 2:
          Commit(MakeCommit({Mutation::Erase(Key("register", 3))}));
          break;
        case 3:
          Commit(MakeCommit({Mutation::EraseRange("set", "set5")}));
          break;
        case 4:
          Transact([this](View& view, kvarts::Commit* commit) { return Move(view, commit); });
          break;
        case 5:
          Transact([this](View& view, kvarts::Commit* commit) { return Join(view, commit); });
          break;
        case 6:
          ReadView();
          break;
        default:
          Get();
          break;
      }
      if (options_.clock != nullptr && Below(20) == 0) options_.clock->Advance(Duration::Micros(1));
    }
  }

  History history;

 private:
  uint64_t Below(uint64_t bound) { return random_() % bound; }
  Bytes Key(const char* kind, uint64_t count) { return kind + std::to_string(Below(count)); }
  // A value that nobody else writes.
  Bytes Unique() { return std::to_string(number_) + "-" + std::to_string(++written_); }

  // Two keys in one commit, always with the same value; one is as long as no engine stores in one piece.
  void Put() {
    const Bytes value = Unique();
    Commit(MakeCommit(
        {Mutation::Put(Key("register", 3), value), Mutation::Put(kPair1, value), Mutation::Put(kPair2, value)}));
  }

  Status Move(View& view, kvarts::Commit* commit) {
    const Bytes value = Unique();
    for (const Bytes& key : {Key("account", 3), Bytes("account9")}) {
      KVARTS_TRY(const auto record, view.GetOne(key));
      commit->preconditions.push_back(FromRead(record ? VersionIs(key, record->header.version) : Absent(key)));
      commit->mutations.push_back(Mutation::Put(key, value));
    }
    return {};
  }

  // Adds a member to the set, or takes the first one out when there are many.
  Status Join(View& view, kvarts::Commit* commit) {
    ScanRequest request;
    request.range = KeyRange::Prefix("set");
    KVARTS_TRY(const auto members, ScanAll(view, request));
    scanned_ = {ResultOf(request.range, members)};
    commit->preconditions.push_back(FromRead(RangeUnchanged(request.range.start, request.range.end, view.version())));
    if (members.size() > 4) {
      commit->mutations.push_back(Mutation::Erase(members.front().key));
    } else {
      commit->mutations.push_back(Mutation::Put(Key("set", 9), Unique()));
    }
    return {};
  }

  void Get() {
    const std::vector<Bytes> names = {kPair1, Key("register", 3), Key("counter", 2), Key("account", 3), kPair2};
    const std::vector<BytesView> keys(names.begin(), names.end());
    std::vector<std::optional<Record>> records(keys.size());
    ReadEvent event;
    event.when.began = Now();
    const Status got = engine_.Get(keys, records, {});
    event.when.ended = Now();
    if (!Answered(got)) return;
    for (size_t i = 0; i < names.size(); ++i) event.found.emplace_back(names[i], records[i]);
    history.reads.push_back(std::move(event));
  }

  void ReadView() {
    ReadEvent event;
    event.when.began = Now();
    auto opened = engine_.OpenView();
    event.when.ended = Now();
    if (!Answered(opened)) return;
    View& view = **opened;
    event.at = view.version();
    std::this_thread::yield();
    for (const Bytes& key : {kPair1, Key("register", 3), Key("counter", 2), kPair2}) {
      const auto record = view.GetOne(key);
      if (!Answered(record)) return;
      event.found.emplace_back(key, *record);
    }
    ScanRequest request;
    request.range = KeyRange::Prefix(OneOf({"set", "account", options_.faults ? "register" : ""}));
    request.reverse = Below(2) == 0;
    request.max_entries = 1 + Below(6);
    const auto entries = ScanAll(view, request);
    if (!Answered(entries)) return;
    event.scans.push_back(ResultOf(request.range, *entries));
    history.reads.push_back(std::move(event));
  }

  const char* OneOf(std::initializer_list<const char*> choices) { return *(choices.begin() + Below(choices.size())); }

  void Transact(const TestSubmission::Body& body) {
    auto view = engine_.OpenView();
    if (!Answered(view)) return;
    kvarts::Commit first;
    const Status ran = body(**view, &first);
    if (!Answered(ran)) return;
    view->reset();
    std::this_thread::yield();
    Submit(std::make_unique<TestSubmission>(std::move(first), body));
  }

  void Commit(kvarts::Commit commit) { Submit(std::make_unique<TestSubmission>(std::move(commit))); }

  void Submit(std::unique_ptr<TestSubmission> submission) {
    CommitEvent event;
    const Durability mixed = Below(10) == 0 ? Durability::kSync : Durability::kNone;
    submission->commit.durability = options_.durability.value_or(mixed);
    const Bytes mark = options_.faults ? kMarks + Unique() : "";
    Mark(mark, &submission->commit);
    // What was asked for, by the run that was committed.
    const auto note = [this, &event](const kvarts::Commit& commit) {
      event.preconditions = commit.preconditions;
      event.mutations = commit.mutations;
      event.scans = std::exchange(scanned_, {});
    };
    note(submission->commit);
    if (submission->body) {
      submission->body = [note, mark, body = submission->body](View& view, kvarts::Commit* commit) {
        const Status ran = body(view, commit);
        Mark(mark, commit);
        note(*commit);
        return ran;
      };
    }
    event.when.began = Now();
    const auto outcome = SubmitOne(engine_, std::move(submission))->Outcome();
    event.when.ended = Now();
    if (outcome) {
      event.version = outcome->version;
      history.commits.push_back(std::move(event));
      if (options_.committed != nullptr) ++*options_.committed;
    } else if (options_.faults && outcome.error().code() == ErrorCode::kUnknownOutcome) {
      history.unknown.push_back(std::move(event));
    } else if (!Answered(outcome)) {
      history.refused.push_back(std::move(event));
    }
  }

  static void Mark(const Bytes& mark, kvarts::Commit* commit) {
    if (!mark.empty()) commit->mutations.push_back(Mutation::Put(mark, ""));
  }

  // False when there was no answer, which is right only while servers fail.
  template <class T>
  bool Answered(const Result<T>& result) {
    if (result) return true;
    EXPECT_TRUE(options_.faults && result.error().code() == ErrorCode::kUnavailable) << result.error();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return false;
  }

  Engine& engine_;
  const WorkloadOptions& options_;
  const int number_;
  std::mt19937_64 random_;
  int written_ = 0;
  std::vector<ScanResult> scanned_;  // by the run that is under way
};

// The mark of a commit, which is its last mutation.
Bytes TakeMark(CommitEvent* commit) {
  Bytes mark = std::move(commit->mutations.back().key);
  commit->mutations.pop_back();
  return mark;
}

}  // namespace

Result<ReadEvent> LastState(Engine& engine) {
  ReadEvent event;
  event.when.began = Now();
  KVARTS_TRY(const auto view, engine.OpenView());
  event.when.ended = Now();
  event.at = view->version();
  for (const char* const kind : {"account", "counter", "pair", "register", "set"}) {
    ScanRequest request;
    request.range = KeyRange::Prefix(kind);
    KVARTS_TRY(const auto entries, ScanAll(*view, request));
    event.scans.push_back(ResultOf(request.range, entries));
  }
  return event;
}

Result<Marks> MarksIn(Engine& engine) {
  KVARTS_TRY(const auto view, engine.OpenView());
  ScanRequest request;
  request.range = KeyRange::Prefix(kMarks);
  KVARTS_TRY(const auto found, ScanAll(*view, request));
  Marks marks{.versions = {}, .read = Now()};
  for (const Found& entry : found) marks.versions.emplace(entry.key, entry.header.version);
  return marks;
}

std::vector<std::string> Resolve(const Marks& marks, History* history) {
  std::vector<std::string> wrong;
  for (CommitEvent& commit : history->commits) {
    const auto found = marks.versions.find(TakeMark(&commit));
    if (found == marks.versions.end()) wrong.push_back("commit " + commit.version.ToString() + " is lost");
  }
  for (CommitEvent& commit : history->refused) {
    const Bytes mark = TakeMark(&commit);
    if (marks.versions.contains(mark)) wrong.push_back(mark + " was made although it was refused");
  }
  for (CommitEvent& commit : history->unknown) {
    const auto found = marks.versions.find(TakeMark(&commit));
    if (found == marks.versions.end()) continue;
    commit.version = found->second;
    commit.when.ended = marks.read;
    history->commits.push_back(std::move(commit));
  }
  history->unknown.clear();
  return wrong;
}

History RunWorkload(std::span<Engine* const> engines, const WorkloadOptions& options) {
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < options.threads; ++i) {
    workers.push_back(std::make_unique<Worker>(*engines[i % engines.size()], options, i));
  }
  std::vector<std::thread> threads;
  for (auto& worker : workers) threads.emplace_back([&worker] { worker->Run(); });
  for (std::thread& thread : threads) thread.join();
  History history;
  for (auto& worker : workers) history.Append(std::move(worker->history));
  return history;
}

}  // namespace kvarts::test
