// A store on every engine, for the tests of core and of what stands on it. What the fixture of engines writes goes past
// the store: it is somebody else's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "conformance/conformance.h"
#include "core/store.h"

namespace kvarts::test {

class StoreTest : public EngineTest {
 protected:
  void SetUp() override {
    EngineTest::SetUp();
    OpenStore();
  }
  // An engine may tell its store of what others do as long as it is open.
  void TearDown() override {
    Close();
    store_.reset();
  }

  Store& store() { return *store_; }

  // A new, empty store with these limits.
  void OpenWith(const Limits& limits) {
    Open(limits);
    OpenStore();
  }
  // The same store, as a process finds it that was started anew. An engine that cannot be reopened stays as it is.
  void Restart() {
    if (engine().capabilities().persistent) {
      Reopen();
    } else {
      store_.reset();
    }
    OpenStore();
  }

  // For tests that make very many commits: they have no time to wait for the disk.
  static RunOptions Quick() {
    RunOptions options;
    options.durability = Durability::kNone;
    return options;
  }

  // Runs a body and waits.
  Result<RunReport> Run(const Store::Body& body, RunOptions options = {}) {
    return store().RunBody(body, std::move(options));
  }
  // The same for a body that must succeed.
  Version MustRun(const Store::Body& body, RunOptions options = {}) {
    const auto report = Run(body, std::move(options));
    EXPECT_TRUE(report) << report.error();
    return report ? report->version : kNoVersion;
  }
  static Store::Body Putting(BytesView key, BytesView value) {
    return [key = Bytes(key), value = Bytes(value)](Txn& txn) -> Status {
      txn.Put(key, value);
      return {};
    };
  }

 private:
  void OpenStore() {
    auto opened = Store::Open(engine());
    ASSERT_TRUE(opened) << opened.error();
    store_ = *std::move(opened);
  }

  std::unique_ptr<Store> store_;
};

// Adds to the number in decimal digits under a key: a read and a put.
inline Result<int> AddToText(Txn& txn, BytesView key, int by) {
  KVARTS_TRY(const std::optional<Record> record, txn.Get(key));
  const int sum = (record ? std::stoi(record->value) : 0) + by;
  txn.Put(key, std::to_string(sum));
  return sum;
}

}  // namespace kvarts::test
