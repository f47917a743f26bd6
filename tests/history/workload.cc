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

// One thread's share. Registers are put blindly, accounts are moved between by what was read, counters are added to,
// and the members of a set come and go under a scan of the whole set.
class Worker {
 public:
  Worker(Engine& engine, const WorkloadOptions& options, int number)
      : engine_(engine), options_(options), number_(number), random_(options.seed * 1000 + number) {}

  void Run() {
    for (int i = 0; i < options_.operations; ++i) {
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

  // Two keys in one commit, always with the same value.
  void Put() {
    const Bytes value = Unique();
    Commit(MakeCommit(
        {Mutation::Put(Key("register", 3), value), Mutation::Put("pair1", value), Mutation::Put("pair2", value)}));
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
    commit->preconditions.push_back(FromRead(RangeUnchanged(request.range.start, request.range.end, view.version())));
    if (members.size() > 4) {
      commit->mutations.push_back(Mutation::Erase(members.front().key));
    } else {
      commit->mutations.push_back(Mutation::Put(Key("set", 9), Unique()));
    }
    return {};
  }

  void Get() {
    const std::vector<Bytes> names = {"pair1", Key("register", 3), Key("counter", 2), Key("account", 3), "pair2"};
    const std::vector<BytesView> keys(names.begin(), names.end());
    std::vector<std::optional<Record>> records(keys.size());
    ReadEvent event;
    event.when.began = Now();
    const Status got = engine_.Get(keys, records, {});
    event.when.ended = Now();
    EXPECT_TRUE(got) << got.error();
    for (size_t i = 0; i < names.size(); ++i) event.found.emplace_back(names[i], records[i]);
    history.reads.push_back(std::move(event));
  }

  void ReadView() {
    ReadEvent event;
    event.when.began = Now();
    auto opened = engine_.OpenView();
    event.when.ended = Now();
    ASSERT_TRUE(opened) << opened.error();
    View& view = **opened;
    event.at = view.version();
    ReadEvent scan = event;
    std::this_thread::yield();
    for (const Bytes& key : {Bytes("pair1"), Key("register", 3), Key("counter", 2), Bytes("pair2")}) {
      const auto record = view.GetOne(key);
      ASSERT_TRUE(record) << record.error();
      event.found.emplace_back(key, *record);
    }
    history.reads.push_back(std::move(event));
    ScanRequest request;
    request.range = KeyRange::Prefix(OneOf({"set", "account", ""}));
    request.reverse = Below(2) == 0;
    request.max_entries = 1 + Below(6);
    const auto entries = ScanAll(view, request);
    ASSERT_TRUE(entries) << entries.error();
    scan.scanned = request.range;
    for (const Found& entry : *entries) {
      scan.found.emplace_back(entry.key, Record{entry.header, entry.value});
    }
    history.reads.push_back(std::move(scan));
  }

  const char* OneOf(std::initializer_list<const char*> choices) { return *(choices.begin() + Below(choices.size())); }

  void Transact(const TestSubmission::Body& body) {
    auto view = engine_.OpenView();
    ASSERT_TRUE(view) << view.error();
    kvarts::Commit first;
    const Status ran = body(**view, &first);
    ASSERT_TRUE(ran) << ran.error();
    view->reset();
    std::this_thread::yield();
    Submit(std::make_unique<TestSubmission>(std::move(first), body));
  }

  void Commit(kvarts::Commit commit) { Submit(std::make_unique<TestSubmission>(std::move(commit))); }

  void Submit(std::unique_ptr<TestSubmission> submission) {
    CommitEvent event;
    submission->commit.durability = Below(10) == 0 ? Durability::kSync : Durability::kNone;
    // What was asked for, by the run that was committed.
    const auto note = [&event](const kvarts::Commit& commit) {
      event.preconditions = commit.preconditions;
      event.mutations = commit.mutations;
    };
    note(submission->commit);
    if (submission->body) {
      submission->body = [note, body = submission->body](View& view, kvarts::Commit* commit) {
        const Status ran = body(view, commit);
        note(*commit);
        return ran;
      };
    }
    event.when.began = Now();
    const auto outcome = SubmitOne(engine_, std::move(submission))->Outcome();
    event.when.ended = Now();
    ASSERT_TRUE(outcome) << outcome.error();
    event.version = outcome->version;
    history.commits.push_back(std::move(event));
  }

  Engine& engine_;
  const WorkloadOptions& options_;
  const int number_;
  std::mt19937_64 random_;
  int written_ = 0;
};

}  // namespace

History RunWorkload(Engine& engine, const WorkloadOptions& options) {
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < options.threads; ++i) {
    workers.push_back(std::make_unique<Worker>(engine, options, i));
  }
  std::vector<std::thread> threads;
  for (auto& worker : workers) threads.emplace_back([&worker] { worker->Run(); });
  for (std::thread& thread : threads) thread.join();
  History history;
  for (auto& worker : workers) history.Append(std::move(worker->history));
  return history;
}

}  // namespace kvarts::test
