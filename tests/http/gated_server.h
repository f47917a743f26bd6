// A server within the test's own process, over an engine that does what the test says: compactions begin and wait to be
// let go, and the pressure is what was set. It also tells who reads, and how much is submitted together.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>

#include "server/server.h"
#include "support/engines.h"
#include "support/forwarding_engine.h"
#include "support/http_client.h"

namespace kvarts::test {

// What the test and the engine share.
struct Gate {
  std::counting_semaphore<> begun{0};
  std::counting_semaphore<> go{0};
  std::atomic<int> compactions{0};
  std::atomic<int> stopped{0};  // of those, because nobody wants them any more
  std::atomic<double> pressure{0};
  std::atomic<size_t> most_submitted{0};  // commits, together

  // How often each thread has read; the server has some that read of their own accord.
  std::map<std::thread::id, int> reads() const {
    const std::lock_guard lock(mutex_);
    return reads_;
  }
  void CountRead() {
    const std::lock_guard lock(mutex_);
    ++reads_[std::this_thread::get_id()];
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::thread::id, int> reads_;
};

class GatedEngine final : public ForwardingEngine {
 public:
  GatedEngine(std::unique_ptr<Engine> inner, Gate* gate) : ForwardingEngine(std::move(inner)), gate_(*gate) {}
  Status Compact(const KeyRange&, const std::stop_token& stop) override {
    ++gate_.compactions;
    const std::stop_callback stops(stop, [this] {
      ++gate_.stopped;
      gate_.go.release();
    });
    gate_.begun.release();
    gate_.go.acquire();
    return {};
  }
  double pressure() const override { return gate_.pressure; }
  Result<std::unique_ptr<View>> OpenView(const Freshness& freshness) override {
    gate_.CountRead();
    return ForwardingEngine::OpenView(freshness);
  }
  Status Get(std::span<const BytesView> keys, std::span<std::optional<Record>> out,
             const ReadOptions& options) override {
    gate_.CountRead();
    return ForwardingEngine::Get(keys, out, options);
  }
  void Submit(std::span<std::unique_ptr<Submission>> submissions) override {
    gate_.most_submitted = std::max(gate_.most_submitted.load(), submissions.size());
    ForwardingEngine::Submit(submissions);
  }

 private:
  Gate& gate_;
};

class GatedServer {
 public:
  static ServerOptions Options() {
    ServerOptions options;
    options.durability = Durability::kNone;
    options.listen = {"127.0.0.1:0"};
    options.loops = 1;
    return options;
  }

  explicit GatedServer(const EngineKind& kind, const ServerOptions& options = Options()) : data_(kind.data()) {
    auto started = Server::Start(options, std::make_unique<GatedEngine>(data_->Open({}, nullptr), &gate));
    EXPECT_TRUE(started) << started.error();
    server_ = *std::move(started);
  }
  // Whatever waits at the gate is let go: the server waits for it.
  ~GatedServer() { gate.go.release(1'000); }
  GatedServer(const GatedServer&) = delete;
  GatedServer& operator=(const GatedServer&) = delete;

  void Stop() { server_.reset(); }
  std::string address() const { return server_->addresses().front(); }
  HttpClient Connect() const { return HttpClient(address()); }
  // The value of a metric without labels.
  double Metric(const std::string& name) const {
    const std::string text = Connect().Call("GET", "/metrics").body;
    const size_t at = text.find("\n" + name + " ");
    return at == std::string::npos ? -1 : std::stod(text.substr(at + name.size() + 2));
  }

  Gate gate;

 private:
  const std::unique_ptr<EngineData> data_;
  std::unique_ptr<Server> server_;
};

}  // namespace kvarts::test
