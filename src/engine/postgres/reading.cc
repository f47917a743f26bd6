#include "engine/postgres/reading.h"

#include <algorithm>

#include "engine/postgres/entry_codec.h"

namespace kvarts::postgres {
namespace {

void AddTime(const ReadTime& time, Params* params) {
  params->Int8(static_cast<int64_t>(time.floor));
  params->OptionalInt8(time.given);
}

enum Column { kKey = 0, kHeader = 1, kValue = 5, kTime = 6 };

}  // namespace

// One statement for all, since each has a snapshot of its own: with a long key among them, all are looked up as those
// are.
Call GetCall(std::span<const BytesView> keys, const ReadTime& time) {
  Params params;
  ArrayParam columns(ArrayParam::Of::kBytea);
  if (std::ranges::none_of(keys, IsLong)) {
    for (const BytesView key : keys) columns.Bytes(key);
    columns.AddTo(&params);
    AddTime(time, &params);
    return {&kGet, std::move(params)};
  }
  ArrayParam digests(ArrayParam::Of::kBytea);
  for (const BytesView key : keys) {
    const KeyColumns parts(key);
    columns.Bytes(parts.key);
    digests.Bytes(parts.digest);
  }
  columns.AddTo(&params);
  digests.AddTo(&params);
  AddTime(time, &params);
  return {&kGetLong, std::move(params)};
}

FoundKeys::FoundKeys(Rows rows) : rows_(std::move(rows)) {
  by_key_.resize(static_cast<size_t>(rows_.size()));
  for (int row = 0; row < rows_.size(); ++row) {
    by_key_[static_cast<size_t>(row)] = row;
    time_ = std::max(time_, static_cast<uint64_t>(rows_.Int8(row, kTime)));
  }
  // The server mostly finds them in this order.
  const auto key_of = [this](int row) { return rows_.Bytea(row, kKey); };
  if (!std::ranges::is_sorted(by_key_, {}, key_of)) std::ranges::sort(by_key_, {}, key_of);
}

void FoundKeys::Answer(std::span<const BytesView> keys, std::span<std::optional<Record>> out,
                       const ReadOptions& options, Timestamp now) const {
  uint64_t bytes = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    out[i].reset();
    const auto place =
        std::ranges::lower_bound(by_key_, keys[i], {}, [this](int row) { return rows_.Bytea(row, kKey); });
    if (place == by_key_.end() || rows_.Bytea(*place, kKey) != keys[i]) continue;
    const ValueHeader header = HeaderOf(rows_, *place, kHeader);
    if (header.ExpiredAt(now) && !options.expired_too) continue;
    out[i] = Record{header, ValueOf(header, rows_.Bytea(*place, kValue))};
    bytes += keys[i].size() + out[i]->value.size();
  }
  if (options.cost == nullptr) return;
  options.cost->keys += keys.size();
  options.cost->bytes += bytes;
}

Result<FoundKeys> FindKeys(Connection& connection, std::span<const BytesView> keys, const ReadTime& time,
                           Deadline deadline, Replay* replay) {
  if (keys.empty() && replay == nullptr) return FoundKeys();
  std::vector<Call> calls;
  if (replay != nullptr) calls.push_back({&kReplayed, {}, true});
  if (!keys.empty()) calls.push_back(GetCall(keys, time));
  auto flown = connection.Fly(calls, deadline);
  if (!flown.has_value()) return flown.error().error;
  if (replay != nullptr) replay->position = static_cast<uint64_t>(flown->front().Int8(0, 0));
  if (keys.empty()) return FoundKeys();
  return FoundKeys(std::move(flown->back()));
}

Result<uint64_t> ReadKeys(Connection& connection, std::span<const BytesView> keys, std::span<std::optional<Record>> out,
                          const ReadOptions& options, const ReadTime& time, std::optional<Timestamp> at,
                          Deadline deadline) {
  KVARTS_TRY(const FoundKeys found, FindKeys(connection, keys, time, deadline));
  found.Answer(keys, out, options, at.value_or(Timestamp{found.time()}));
  return found.time();
}

Result<ScanPage> ReadPage(Connection& connection, const ScanRequest& request, Timestamp at, Deadline deadline) {
  ScanPage page;
  if (request.range.IsEmpty()) return page;
  const Bound lower(request.range.start);
  const Bound upper = Bound::Upper(request.range);
  const auto clamped = [](uint64_t n) { return static_cast<int64_t>(std::min<uint64_t>(n, INT64_MAX)); };
  Params params;
  params.Int8(static_cast<int64_t>(at.micros));
  params.Bytea(lower.key);
  params.Bytea(lower.rest);
  params.Bytea(upper.key);
  params.Bytea(upper.rest);
  params.Bool(request.reverse);
  params.Int4(static_cast<int32_t>(request.max_entries));
  params.Int8(clamped(request.max_bytes));
  params.Int8(clamped(request.options.max_skipped));
  params.Bool(request.options.expired_too);
  params.Bool(request.keys_only);
  auto rows = connection.Fly(kScan, std::move(params), deadline);
  if (!rows.has_value()) return rows.error().error;

  enum ScanColumn { kScanKey = 0, kRest = 1, kScanHeader = 2, kScanValue = 6, kEnded = 7, kSkipped = 8 };
  const int last = rows->size() - 1;
  Bytes key;
  for (int row = 0; row < last; ++row) {
    key.assign(rows->Bytea(row, kScanKey)).append(rows->Bytea(row, kRest));
    const ValueHeader header = HeaderOf(*rows, row, kScanHeader);
    page.Append(key, request.keys_only ? Bytes() : ValueOf(header, rows->Bytea(row, kScanValue)), header);
  }
  const int ended = rows->Int4(last, kEnded);
  const auto skipped = static_cast<uint64_t>(rows->Int8(last, kSkipped));
  if (request.options.cost != nullptr) {
    request.options.cost->keys += page.size();
    request.options.cost->bytes += page.bytes();
    request.options.cost->skipped += skipped;
  }
  if (ended == 2) {
    key.assign(rows->Bytea(last, kScanKey)).append(rows->Bytea(last, kRest));
    if (page.empty()) return TooManySkipped(request.options, skipped, key);
    page.StopAt(key, request.range, request.reverse);
  }
  if (ended == 1) page.StopAfterLast(request.range, request.reverse);
  return page;
}

}  // namespace kvarts::postgres
