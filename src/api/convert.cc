#include "api/convert.h"

#include <deque>

namespace kvarts {
namespace {

Status CheckUserKey(std::string_view key, const Limits& limits) {
  if (key.size() <= limits.max_key_bytes) return {};
  return Error(ErrorCode::kTooLarge, "the key is too long",
               {{"limit", "max_key_bytes"},
                {"at_most", std::to_string(limits.max_key_bytes)},
                {"is", std::to_string(key.size())}});
}

// What the entries of a page refer to.
struct PageMemory {
  ScanPage scanned;
  std::deque<std::string> numbers;  // of counters, as text
};

void ShowNumbers(PageMemory* memory, Page* page) {
  for (size_t i = 0; i < page->entries.size(); ++i) {
    const ScanPage::Entry from = memory->scanned[i];
    if (from.header.kind != ValueKind::kCounter) continue;
    page->entries[i].value = memory->numbers.emplace_back(ValueText(from.header, from.value));
  }
}

std::optional<Timestamp> ExpiryOf(const ValueHeader& header) {
  return header.expiry == kNever ? std::nullopt : std::optional(header.expiry);
}

}  // namespace

std::string ValueText(const ValueHeader& header, BytesView bytes) {
  return header.kind == ValueKind::kCounter ? std::to_string(CounterNumber(header, bytes)) : std::string(bytes);
}

Range Range::Prefix(std::string_view prefix) { return {std::string(prefix), PrefixEnd(prefix)}; }

Result<KeyBuffer> PhysicalKey(std::string_view key, const Limits& limits) {
  KVARTS_CHECK_OK(CheckUserKey(key, limits));
  return UserKey(key);
}

Result<KeyRange> PhysicalRange(const Range& range, const Limits& limits) {
  KVARTS_CHECK_OK(CheckUserKey(range.start, limits));
  KVARTS_CHECK_OK(CheckUserKey(range.end, limits));
  if (!range.end.empty() && range.start >= range.end) {
    return Error(ErrorCode::kInvalidArgument, "a range must start before it ends");
  }
  return UserRange({range.start, range.end});
}

Value ToValue(Record record) {
  const bool counter = record.header.kind == ValueKind::kCounter;
  return {counter ? ValueText(record.header, record.value) : std::move(record.value), record.header.version,
          ExpiryOf(record.header)};
}

std::optional<Value> ToValue(std::optional<Record> record) {
  if (!record) return std::nullopt;
  return ToValue(*std::move(record));
}

Result<int64_t> ToNumber(const std::optional<Record>& record) {
  if (!record) return 0;
  if (record->header.kind != ValueKind::kCounter) {
    return Error(ErrorCode::kInvalidArgument, "the value under the key is not a counter");
  }
  if (record->header.marks.saturated) {
    return Error(ErrorCode::kTooLarge, "the counter has left the range of 64 bits",
                 {{"limit", "64 bits"}, {"is", std::to_string(CounterNumber(record->header, record->value))}});
  }
  return CounterNumber(record->header, record->value);
}

Result<Page> ScanUserKeys(const Range& range, const ScanOptions& options, const ScanSetting& setting,
                          const Scanner& scan) {
  ScanRequest request;
  KVARTS_TRY(request.range, PhysicalRange(range, setting.limits));
  request.reverse = options.reverse;
  request.keys_only = options.keys_only;
  request.max_entries = options.limit;
  request.max_bytes = options.max_bytes;
  const CursorQuery query{request.range, options.reverse};
  if (!options.cursor.empty()) {
    KVARTS_TRY(request.range, OpenCursor(options.cursor, query, setting.now, setting.max_cursor_age));
  }
  const auto held = std::make_shared<PageMemory>();
  KVARTS_TRY(held->scanned, scan(request));
  const ScanPage& scanned = held->scanned;
  Page page;
  page.entries.resize(scanned.size());
  // Every key of the range begins with the number of its space.
  const size_t prefix = UserKey({}).size();
  bool counters = false;
  for (size_t i = 0; i < scanned.size(); ++i) {
    const ScanPage::Entry from = scanned[i];
    Entry& to = page.entries[i];
    to.key = from.key.substr(prefix);
    to.value = from.value;
    to.version = from.header.version;
    if (from.header.expiry != kNever) to.expiry = from.header.expiry;
    counters |= from.header.kind == ValueKind::kCounter;
  }
  if (counters && !options.keys_only) ShowNumbers(held.get(), &page);
  if (scanned.rest()) page.cursor = MakeCursor(query, *scanned.rest(), setting.version, setting.now);
  page.memory = held;
  return page;
}

Result<ManyKeys> PhysicalKeys(std::span<const std::string_view> keys, const Limits& limits) {
  ManyKeys many;
  many.buffers.reserve(keys.size());
  for (const std::string_view key : keys) {
    KVARTS_TRY(KeyBuffer physical, PhysicalKey(key, limits));
    many.buffers.push_back(std::move(physical));
  }
  many.views.assign(many.buffers.begin(), many.buffers.end());
  many.records.resize(keys.size());
  return many;
}

std::vector<std::optional<Value>> ToValues(ManyKeys keys) {
  std::vector<std::optional<Value>> values;
  values.reserve(keys.records.size());
  for (std::optional<Record>& record : keys.records) values.push_back(ToValue(std::move(record)));
  return values;
}

}  // namespace kvarts
