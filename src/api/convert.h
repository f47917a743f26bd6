// Between the words of the public interface and those of core: keys, values, ranges, pages.
#pragma once

#include "core/cursor.h"
#include "core/user_keys.h"
#include "engine/limits.h"
#include "engine/view.h"
#include "kvarts/database.h"

namespace kvarts {

Result<KeyRange> PhysicalRange(const Range& range, const Limits& limits);

Value ToValue(Record record);
std::optional<Value> ToValue(std::optional<Record> record);
// The number of a counter; `invalid_argument` when the value is none, or the adds went wrong.
Result<int64_t> ToNumber(const std::optional<Record>& record);

// What a scan reads from: anything with Result<ScanPage> Scan(request).
using Scanner = std::function<Result<ScanPage>(const ScanRequest&)>;

struct ScanSetting {
  const Limits& limits;
  Timestamp now;
  Version version;  // at which the cursor of the page is issued
  Duration max_cursor_age;
};
Result<Page> ScanUserKeys(const Range& range, const ScanOptions& options, const ScanSetting& setting,
                          const Scanner& scan);

// Keys for a call that takes many, and the answers to it.
struct ManyKeys {
  std::vector<KeyBuffer> buffers;
  std::vector<BytesView> views;
  std::vector<std::optional<Record>> records;
};
Result<ManyKeys> PhysicalKeys(std::span<const std::string_view> keys, const Limits& limits);
std::vector<std::optional<Value>> ToValues(ManyKeys keys);

}  // namespace kvarts
