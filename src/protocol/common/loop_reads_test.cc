#include "protocol/common/loop_reads.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <thread>
#include <vector>

#include "engine/memory/memory_engine.h"
#include "support/commits.h"
#include "support/forwarding_engine.h"

namespace kvarts {
namespace {

// Which way reads go.
enum class Way { kNoChannel, kChannel, kOtherThread, kAtOnce, kNever };

const char* NameOf(Way way) {
  constexpr std::array kNames = {"no_channel", "channel", "other_thread", "at_once", "never"};
  return kNames.at(static_cast<size_t>(way));
}

// What a channel was asked for, by a loop that has ended when it is looked at.
struct Seen {
  std::vector<size_t> left;  // reads of each flight
  int ended = 0;             // channels
};

// A channel over a pair of sockets: what was sent comes back.
class EchoChannel final : public ReadChannel {
 public:
  EchoChannel(Engine& engine, Host& host, Way way, Seen* seen) : engine_(engine), host_(host), way_(way), seen_(*seen) {
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends_.data()), 0);
    EXPECT_TRUE(host_.Watch(ends_[0]));
  }
  ~EchoChannel() override {
    host_.Unwatch();
    for (const int end : ends_) ::close(end);
    for (PendingGet* read : gathered_) read->Done(Error(ErrorCode::kUnavailable, "it has ended"));
    ++seen_.ended;
  }

  void Add(PendingGet& read) override {
    if (way_ == Way::kAtOnce) return engine_.GetLater(read);
    if (way_ == Way::kOtherThread) {
      threads_.emplace_back([this, &read] { engine_.GetLater(read); });
    } else {
      gathered_.push_back(&read);
    }
  }
  void Leave() override {
    if (gathered_.empty() || way_ == Way::kNever) return;
    seen_.left.push_back(gathered_.size());
    under_way_.swap(gathered_);
    EXPECT_EQ(::write(ends_[1], "x", 1), 1);
  }
  void Ready() override {
    char byte;
    EXPECT_EQ(::read(ends_[0], &byte, 1), 1);
    for (PendingGet* read : std::exchange(under_way_, {})) engine_.GetLater(*read);
  }
  void Tick() override {}

 private:
  Engine& engine_;
  Host& host_;
  const Way way_;
  Seen& seen_;
  std::array<int, 2> ends_{};
  std::vector<PendingGet*> gathered_;
  std::vector<PendingGet*> under_way_;
  std::vector<std::jthread> threads_;
};

class EchoEngine final : public test::ForwardingEngine {
 public:
  EchoEngine(Way way, Seen* seen) : ForwardingEngine(OpenMemoryEngine({})), way_(way), seen_(seen) {}
  std::unique_ptr<ReadChannel> OpenReadChannel(ReadChannel::Host& host) override {
    if (way_ == Way::kNoChannel) return nullptr;
    return std::make_unique<EchoChannel>(inner(), host, way_, seen_);
  }

 private:
  const Way way_;
  Seen* const seen_;
};

class LoopReadsTest : public testing::TestWithParam<Way> {
 protected:
  static constexpr int kReaders = 10;
  static constexpr int kTimes = 20;

  LoopReadsTest() { EXPECT_TRUE(CommitAndWait(engine_, test::MakeCommit({Mutation::Put("a", "1")})).has_value()); }
  net::Task<> ReadOften() {
    for (int i = 0; i < kTimes; ++i) {
      LoopReads::Read read;
      const BytesView key = i % 2 == 0 ? "a" : "none";
      std::optional<Record> record;
      read.keys = {&key, 1};
      read.records = {&record, 1};
      co_await reads_->Await(read);
      EXPECT_TRUE(loop_.IsHere());
      EXPECT_TRUE(read.outcome.has_value());
      EXPECT_EQ(record ? record->value : "", i % 2 == 0 ? "1" : "");
    }
    if (--left_ == 0) loop_.Stop();
  }

  Seen seen_;
  EchoEngine engine_{GetParam(), &seen_};
  net::Loop loop_{0};
  std::unique_ptr<LoopReads> reads_ = std::make_unique<LoopReads>(loop_, engine_);
  int left_ = kReaders;
};

TEST_P(LoopReadsTest, WhoeverWaitsIsAnsweredOnTheLoop) {
  if (GetParam() == Way::kNever) GTEST_SKIP() << "nobody is answered";
  for (int i = 0; i < kReaders; ++i) loop_.Spawn(ReadOften());
  loop_.Run();
  EXPECT_EQ(left_, 0);
  reads_.reset();
  EXPECT_EQ(seen_.ended, GetParam() == Way::kNoChannel ? 0 : 1);
  if (GetParam() != Way::kChannel) return;
  // Who is answered together asks again together.
  EXPECT_EQ(seen_.left, std::vector<size_t>(kTimes, kReaders));
}

TEST_P(LoopReadsTest, WhatIsUnderWayAtTheEndIsGivenUp) {
  if (GetParam() != Way::kNever) GTEST_SKIP() << "all are answered";
  for (int i = 0; i < kReaders; ++i) loop_.Spawn(ReadOften());
  loop_.OnTick([this] {
    reads_->Tick();
    loop_.Stop();
  });
  loop_.Run();
  reads_.reset();
  EXPECT_EQ(seen_.ended, 1);
  EXPECT_EQ(left_, kReaders) << "no coroutine goes on without its loop";
}

INSTANTIATE_TEST_SUITE_P(Ways, LoopReadsTest,
                         testing::Values(Way::kNoChannel, Way::kChannel, Way::kOtherThread, Way::kAtOnce, Way::kNever),
                         [](const auto& way) { return std::string(NameOf(way.param)); });

}  // namespace
}  // namespace kvarts
