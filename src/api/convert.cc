#include "api/convert.h"

#include <deque>

namespace kvarts {
namespace {

// What the entries of a page refer to.
struct PageMemory {
  ScanPage scanned;
  std::deque<std::string> texts;  // of values that are not shown as they are stored
};

bool ShownAsStored(ValueKind kind) { return kind != ValueKind::kCounter && kind != ValueKind::kTyped; }

void ShowTexts(PageMemory* memory, Page* page) {
  for (size_t i = 0; i < page->entries.size(); ++i) {
    const ScanPage::Entry from = memory->scanned[i];
    if (ShownAsStored(from.header.kind)) continue;
    page->entries[i].value = memory->texts.emplace_back(ValueText(from.header, from.value));
  }
}

std::optional<Timestamp> ExpiryOf(const ValueHeader& header) {
  return header.expiry == kNever ? std::nullopt : std::optional(header.expiry);
}

}  // namespace

Range Range::Prefix(std::string_view prefix) { return {std::string(prefix), PrefixEnd(prefix)}; }

Result<KeyRange> PhysicalRange(const Range& range, const Limits& limits) {
  return CheckedUserRange({range.start, range.end}, limits);
}

Value ToValue(Record record) {
  return {ShownAsStored(record.header.kind) ? std::move(record.value) : ValueText(record.header, record.value),
          record.header.version, ExpiryOf(record.header)};
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
  bool as_stored = true;
  for (size_t i = 0; i < scanned.size(); ++i) {
    const ScanPage::Entry from = scanned[i];
    Entry& to = page.entries[i];
    to.key = from.key.substr(prefix);
    to.value = from.value;
    to.version = from.header.version;
    if (from.header.expiry != kNever) to.expiry = from.header.expiry;
    as_stored &= ShownAsStored(from.header.kind);
  }
  if (!as_stored && !options.keys_only) ShowTexts(held.get(), &page);
  if (scanned.rest()) page.cursor = MakeCursor(query, *scanned.rest(), setting.version, setting.now);
  page.memory = held;
  return page;
}

Result<ManyKeys> PhysicalKeys(std::span<const std::string_view> keys, const Limits& limits) {
  ManyKeys many;
  many.buffers.reserve(keys.size());
  for (const std::string_view key : keys) {
    KVARTS_TRY(KeyBuffer physical, CheckedUserKey(key, limits));
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
