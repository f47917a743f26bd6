#include "api/transaction.h"

#include "api/convert.h"

namespace kvarts {

Result<std::optional<Value>> UserTransaction::Get(std::string_view key) {
  KVARTS_TRY(const KeyBuffer physical, CheckedUserKey(key, txn_.limits()));
  KVARTS_TRY(std::optional<Record> record, txn_.Get(physical));
  return ToValue(std::move(record));
}

Result<std::vector<std::optional<Value>>> UserTransaction::GetMany(std::span<const std::string_view> keys) {
  KVARTS_TRY(ManyKeys many, PhysicalKeys(keys, txn_.limits()));
  KVARTS_CHECK_OK(txn_.GetMany(many.views, many.records));
  return ToValues(std::move(many));
}

Result<Page> UserTransaction::Scan(const Range& range, const ScanOptions& options) {
  const Timestamp now = txn_.Now();
  const ScanSetting setting{txn_.limits(), now, Version::FromTime(now), max_cursor_age_};
  return ScanUserKeys(range, options, setting, [&](const ScanRequest& request) { return txn_.Scan(request); });
}

Status UserTransaction::Put(std::string_view key, std::string_view value, std::optional<Duration> ttl) {
  KVARTS_TRY(const KeyBuffer physical, CheckedUserKey(key, txn_.limits()));
  PutOptions put;
  if (ttl) {
    KVARTS_TRY(put.expiry, ExpiryAfter(txn_.Now(), *ttl));
  }
  txn_.Put(physical, value, put);
  return {};
}

Status UserTransaction::Delete(std::string_view key) {
  KVARTS_TRY(const KeyBuffer physical, CheckedUserKey(key, txn_.limits()));
  txn_.Erase(physical);
  return {};
}

Status UserTransaction::DeleteRange(const Range& range) {
  KVARTS_TRY(const KeyRange physical, PhysicalRange(range, txn_.limits()));
  txn_.EraseRange(physical);
  return {};
}

Status UserTransaction::Add(std::string_view key, int64_t delta) {
  KVARTS_TRY(const KeyBuffer physical, CheckedUserKey(key, txn_.limits()));
  txn_.Add(physical, delta);
  return {};
}

Result<int64_t> UserTransaction::GetCounter(std::string_view key) {
  KVARTS_TRY(const KeyBuffer physical, CheckedUserKey(key, txn_.limits()));
  KVARTS_TRY(const std::optional<Record> record, txn_.Get(physical));
  return ToNumber(record);
}

Result<TablePtr> UserTransaction::Use(TableHandle& handle) {
  for (const auto& [known, table] : used_) {
    if (known == &handle) return table;
  }
  KVARTS_TRY(TablePtr table, handle.Use(txn_));
  used_.emplace_back(&handle, table);
  return table;
}

Result<std::optional<Value>> UserSnapshot::Get(std::string_view key) {
  KVARTS_TRY(const KeyBuffer physical, CheckedUserKey(key, limits_));
  KVARTS_TRY(std::optional<Record> record, view_->GetOne(physical));
  return ToValue(std::move(record));
}

Result<std::vector<std::optional<Value>>> UserSnapshot::GetMany(std::span<const std::string_view> keys) {
  KVARTS_TRY(ManyKeys many, PhysicalKeys(keys, limits_));
  KVARTS_CHECK_OK(view_->Get(many.views, many.records, {}));
  return ToValues(std::move(many));
}

Result<Page> UserSnapshot::Scan(const Range& range, const ScanOptions& options) {
  const ScanSetting setting{limits_, view_->time(), view_->version(), max_cursor_age_};
  return ScanUserKeys(range, options, setting, [&](const ScanRequest& request) { return view_->Scan(request); });
}

}  // namespace kvarts
