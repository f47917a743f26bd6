#include "support/faulty_engine.h"

#include <array>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "support/forwarding_engine.h"

namespace kvarts::test {
namespace {

constexpr std::array kNames = {"lost erase",    "lost commit", "torn commit",   "lost update",
                               "lapse ignored", "doubled add", "expired shown", "stale read",
                               "torn read",     "skipped key", "moving view"};

// Says when it is time for the fault.
class Trigger {
 public:
  Trigger(Fault fault, uint64_t period) : fault_(fault), period_(period) {}
  bool operator()(Fault fault) {
    return fault == fault_ && count_.fetch_add(1, std::memory_order_relaxed) % period_ == period_ - 1;
  }

 private:
  const Fault fault_;
  const uint64_t period_;
  std::atomic<uint64_t> count_ = 0;
};

ScanPage WithoutLast(const ScanPage& page) {
  ScanPage shorter;
  for (size_t i = 0; i + 1 < page.size(); ++i) {
    shorter.Append(page[i].key, page[i].value, page[i].header);
  }
  if (page.rest()) shorter.set_rest(*page.rest());
  return shorter;
}

// The first half of a torn commit, whose outcome nobody waits for.
class FirstHalf final : public Submission {
 public:
  void Done(Result<Committed>) override {}
};

class FaultyView final : public View {
 public:
  FaultyView(std::unique_ptr<View> inner, Engine* engine, Trigger* trigger)
      : inner_(std::move(inner)), engine_(engine), trigger_(trigger) {}

  Version version() const override { return inner_->version(); }
  Timestamp time() const override { return inner_->time(); }

  Status Get(std::span<const BytesView> keys, std::span<std::optional<Record>> out,
             const ReadOptions& options) override {
    if ((*trigger_)(Fault::kMovingView)) return engine_->Get(keys, out, options);
    KVARTS_CHECK_OK(inner_->Get(keys, out, options));
    if (keys.size() < 2 || !(*trigger_)(Fault::kTornRead)) return {};
    return engine_->Get(keys.last(1), out.last(1), options);
  }

  Result<ScanPage> Scan(const ScanRequest& request) override {
    KVARTS_TRY(ScanPage page, inner_->Scan(request));
    if (page.size() < 2 || !(*trigger_)(Fault::kSkippedKey)) return page;
    return WithoutLast(page);
  }

 private:
  std::unique_ptr<View> inner_;
  Engine* engine_;
  Trigger* trigger_;
};

class FaultyEngine final : public ForwardingEngine {
 public:
  FaultyEngine(std::unique_ptr<Engine> inner, Fault fault, uint64_t period)
      : ForwardingEngine(std::move(inner)), trigger_(fault, period), keeps_old_view_(fault == Fault::kStaleRead) {}

  Result<std::unique_ptr<View>> OpenView(const Freshness& freshness) override {
    KVARTS_TRY(std::unique_ptr<View> view, inner().OpenView(freshness));
    return std::make_unique<FaultyView>(std::move(view), &inner(), &trigger_);
  }

  Status Get(std::span<const BytesView> keys, std::span<std::optional<Record>> out,
             const ReadOptions& options) override {
    ReadOptions wrong = options;
    wrong.expired_too |= trigger_(Fault::kExpiredShown);
    if (keeps_old_view_) {
      const std::lock_guard lock(mutex_);
      const bool stale = old_ != nullptr && trigger_(Fault::kStaleRead);
      if (stale) KVARTS_CHECK_OK(old_->Get(keys, out, options));
      KVARTS_TRY(old_, inner().OpenView());
      if (stale) return {};
    }
    KVARTS_CHECK_OK(inner().Get(keys, out, wrong));
    if (keys.size() < 2 || !trigger_(Fault::kTornRead)) return {};
    std::this_thread::yield();
    return inner().Get(keys.last(1), out.last(1), options);
  }

  void Submit(std::span<std::unique_ptr<Submission>> submissions) override {
    std::vector<std::unique_ptr<Submission>> all;
    for (auto& submission : submissions) {
      Spoil(&submission->commit);
      auto& mutations = submission->commit.mutations;
      if (mutations.size() >= 2 && trigger_(Fault::kTornCommit)) {
        auto first = std::make_unique<FirstHalf>();
        first->commit.mutations = {mutations.front()};
        mutations.erase(mutations.begin());
        all.push_back(std::move(first));
      }
      all.push_back(std::move(submission));
    }
    inner().Submit(all);
  }

 private:
  void Spoil(Commit* commit) {
    auto& mutations = commit->mutations;
    const auto find = [&](Mutation::Op op) {
      return std::find_if(mutations.begin(), mutations.end(),
                          [op](const Mutation& mutation) { return mutation.op == op; });
    };
    const auto erase = find(Mutation::Op::kErase);
    if (erase != mutations.end() && trigger_(Fault::kLostErase)) mutations.erase(erase);
    const auto add = find(Mutation::Op::kAdd);
    if (add != mutations.end() && trigger_(Fault::kDoubledAdd)) {
      mutations.push_back(Mutation::Add(Bytes(add->key), add->delta));
    }
    if (!mutations.empty() && trigger_(Fault::kLostCommit)) {
      // Something is written, so that the commit has a version of its own.
      mutations = {Mutation::Erase("\x01never")};
    }
    if (!commit->preconditions.empty() && trigger_(Fault::kLostUpdate)) {
      std::erase_if(commit->preconditions, [](const Precondition& p) { return p.from_read; });
    }
    for (Precondition& precondition : commit->preconditions) {
      if (precondition.lapses == kNever || !trigger_(Fault::kLapseIgnored)) continue;
      precondition.lapses = kNever;
      precondition.expired_too = true;
    }
  }

  Trigger trigger_;
  const bool keeps_old_view_;
  std::mutex mutex_;
  std::unique_ptr<View> old_;  // closed before `inner_`
};

class FaultyData final : public EngineData {
 public:
  FaultyData(std::unique_ptr<EngineData> inner, Fault fault, uint64_t period)
      : inner_(std::move(inner)), fault_(fault), period_(period) {}

  std::unique_ptr<Engine> Open(const Limits& limits, std::shared_ptr<Clock> clock) override {
    return MakeFaulty(inner_->Open(limits, std::move(clock)), fault_, period_);
  }

 private:
  const std::unique_ptr<EngineData> inner_;
  const Fault fault_;
  const uint64_t period_;
};

}  // namespace

const char* FaultName(Fault fault) { return kNames.at(static_cast<size_t>(fault)); }

std::unique_ptr<Engine> MakeFaulty(std::unique_ptr<Engine> inner, Fault fault, uint64_t period) {
  return std::make_unique<FaultyEngine>(std::move(inner), fault, period);
}

EngineKind Faulty(EngineKind kind, Fault fault, uint64_t period) {
  kind.name += std::string(" with ") + FaultName(fault);
  kind.data = [inner = std::move(kind.data), fault, period] {
    return std::make_unique<FaultyData>(inner(), fault, period);
  };
  return kind;
}

}  // namespace kvarts::test
