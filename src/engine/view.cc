#include "engine/view.h"

namespace kvarts {

ReadCost& ReadCost::operator+=(const ReadCost& other) {
  keys += other.keys;
  bytes += other.bytes;
  skipped += other.skipped;
  return *this;
}

Error TooManySkipped(const ReadOptions& options, uint64_t skipped, std::optional<BytesView> reached) {
  constexpr const char* kText = "the scan steps over too many tombstones and expired values";
  const Error::Field limit{"limit", "max_skipped"};
  const Error::Field at_most{"at_most", std::to_string(options.max_skipped)};
  const Error::Field is{"skipped", std::to_string(skipped)};
  if (!reached) return Error(ErrorCode::kOverloaded, kText, {limit, at_most, is});
  return Error(ErrorCode::kOverloaded, kText, {limit, at_most, is, {"reached", Escaped(*reached)}});
}

void ScanPage::Reserve(size_t entries, size_t bytes) {
  places_.reserve(entries);
  buffer_.reserve(bytes);
}

void ScanPage::StopAfterLast(const KeyRange& range, bool reverse) {
  const BytesView last = (*this)[size() - 1].key;
  rest_ = reverse ? KeyRange{range.start, Bytes(last)} : KeyRange{KeyAfter(last), range.end};
}

void ScanPage::StopAt(BytesView reached, const KeyRange& range, bool reverse) {
  rest_ = reverse ? KeyRange{range.start, KeyAfter(reached)} : KeyRange{Bytes(reached), range.end};
}

Result<std::optional<Record>> View::GetOne(BytesView key, const ReadOptions& options) {
  std::optional<Record> record;
  KVARTS_CHECK_OK(Get({&key, 1}, {&record, 1}, options));
  return record;
}

}  // namespace kvarts
