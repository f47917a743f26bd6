// An engine that hands every call on to another one; the base of engines that do a single thing differently.
#pragma once

#include <memory>
#include <utility>

#include "engine/engine.h"

namespace kvarts::test {

class ForwardingEngine : public Engine {
 public:
  explicit ForwardingEngine(std::unique_ptr<Engine> inner) : owned_(std::move(inner)), inner_(*owned_) {}
  // To one that outlives it.
  explicit ForwardingEngine(Engine& inner) : inner_(inner) {}

  const Capabilities& capabilities() const override { return inner_.capabilities(); }
  const Limits& limits() const override { return inner_.limits(); }
  using Engine::OpenView;
  Result<std::unique_ptr<View>> OpenView(const Freshness& freshness) override { return inner_.OpenView(freshness); }
  Durability strongest() const override { return inner_.strongest(); }
  Status Get(std::span<const BytesView> keys, std::span<std::optional<Record>> out,
             const ReadOptions& options) override {
    return inner_.Get(keys, out, options);
  }
  void Submit(std::span<std::unique_ptr<Submission>> submissions) override { inner_.Submit(submissions); }
  void SetListener(CommitListener* listener) override { inner_.SetListener(listener); }
  void FollowNow() override { inner_.FollowNow(); }
  void GetLater(PendingGet& read) override { inner_.GetLater(read); }
  std::unique_ptr<ReadChannel> OpenReadChannel(ReadChannel::Host& host) override {
    return inner_.OpenReadChannel(host);
  }
  Result<Version> Settle() override { return inner_.Settle(); }
  Version Settled() const override { return inner_.Settled(); }
  Timestamp Now() const override { return inner_.Now(); }
  Version LastVersion() const override { return inner_.LastVersion(); }
  Status Sync() override { return inner_.Sync(); }
  Status AssignProfile(const KeyRange& range, Profile profile) override { return inner_.AssignProfile(range, profile); }
  Status Compact(const KeyRange& range, const std::stop_token& stop) override { return inner_.Compact(range, stop); }
  std::vector<Error> VerifyFiles() override { return inner_.VerifyFiles(); }
  Result<RangeEstimate> Estimate(const KeyRange& range) override { return inner_.Estimate(range); }
  Result<EngineStats> Stats() override { return inner_.Stats(); }
  Health health() const override { return inner_.health(); }
  double pressure() const override { return inner_.pressure(); }

 protected:
  Engine& inner() { return inner_; }

 private:
  const std::unique_ptr<Engine> owned_;
  Engine& inner_;
};

}  // namespace kvarts::test
