// Transactions and snapshots of the public interface, over core's.
#pragma once

#include "core/txn.h"
#include "kvarts/database.h"
#include "model/table/tables.h"

namespace kvarts {

class UserTransaction final : public Transaction {
 public:
  UserTransaction(Txn& txn, Duration max_cursor_age) : txn_(txn), max_cursor_age_(max_cursor_age) {}

  Result<std::optional<Value>> Get(std::string_view key) override;
  Result<std::vector<std::optional<Value>>> GetMany(std::span<const std::string_view> keys) override;
  Result<Page> Scan(const Range& range, const ScanOptions& options) override;
  Status Put(std::string_view key, std::string_view value, std::optional<Duration> ttl) override;
  Status Delete(std::string_view key) override;
  Status DeleteRange(const Range& range) override;
  Status Add(std::string_view key, int64_t delta) override;
  Result<int64_t> GetCounter(std::string_view key) override;
  Timestamp Now() override { return txn_.Now(); }

  Txn& txn() { return txn_; }
  // The table of a handle, as this run uses it.
  Result<TablePtr> Use(TableHandle& handle);

 private:
  Txn& txn_;
  const Duration max_cursor_age_;
  std::vector<std::pair<const TableHandle*, TablePtr>> used_;  // so far
};

class UserSnapshot final : public Snapshot {
 public:
  UserSnapshot(std::unique_ptr<View> view, const Limits& limits, Duration max_cursor_age)
      : view_(std::move(view)), limits_(limits), max_cursor_age_(max_cursor_age) {}

  Version version() const override { return view_->version(); }
  Result<std::optional<Value>> Get(std::string_view key) override;
  Result<std::vector<std::optional<Value>>> GetMany(std::span<const std::string_view> keys) override;
  Result<Page> Scan(const Range& range, const ScanOptions& options) override;

 private:
  const std::unique_ptr<View> view_;
  const Limits& limits_;
  const Duration max_cursor_age_;
};

}  // namespace kvarts
