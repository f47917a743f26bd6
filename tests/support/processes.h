// Several engines on the same data with a store each, as several processes have them. Time is the servers'.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/store.h"
#include "support/commits.h"
#include "support/eventually.h"
#include "support/on_every_engine.h"

namespace kvarts::test {

class ProcessesTest : public OnEngineTest {
 protected:
  void SetUp() override { data_ = GetParam().data(); }
  void TearDown() override {
    // An engine tells its store of what others do until it is closed.
    for (Process& process : processes_) process.engine.reset();
    processes_.clear();
    data_.reset();
  }

  struct Process {
    std::unique_ptr<Store> store;
    std::unique_ptr<Engine> engine;
  };
  // Another one; `around` puts something around its engine.
  Store& Begin(const std::function<std::unique_ptr<Engine>(std::unique_ptr<Engine>)>& around = nullptr) {
    // A server that pauses is no failure here.
    Limits limits;
    limits.max_second_run_time = Duration::Seconds(10);
    std::unique_ptr<Engine> engine = data_->Open(limits, nullptr);
    if (around) engine = around(std::move(engine));
    auto opened = Store::Open(*engine);
    if (!opened) throw std::runtime_error(opened.error().ToString());
    processes_.push_back({*std::move(opened), std::move(engine)});
    return *processes_.back().store;
  }

  static RunOptions Quick() {
    RunOptions options;
    options.durability = Durability::kNone;
    return options;
  }
  static Version MustPut(Store& store, const Bytes& key, const Bytes& value) {
    const auto report = store.RunBody(
        [&](Txn& txn) -> Status {
          txn.Put(key, value);
          return {};
        },
        Quick());
    EXPECT_TRUE(report) << report.error();
    return report ? report->version : kNoVersion;
  }
  EngineData& data() { return *data_; }

 private:
  std::unique_ptr<EngineData> data_;
  std::vector<Process> processes_;
};

}  // namespace kvarts::test
