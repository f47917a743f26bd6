#include "model/structure/names.h"

#include <algorithm>

#include "model/structure/glob.h"

namespace kvarts::structure {

Status NameScan::Next(uint64_t count, const std::function<void(BytesView name, Type type)>& visit) {
  KVARTS_TRY(const DatabaseId id, keys_.IdOf(database_));
  keys_.Flush();
  if (!DatabaseRange(id).Contains(place_)) place_.clear();
  const Bytes beginning = GlobBeginning(pattern_);
  for (KeyRange& range : NameRanges(id, beginning)) {
    if (!place_.empty() && range.HasEnd() && place_ >= range.end) continue;
    range.start = std::max(range.start, place_);
    std::optional<KeyRange> rest = std::move(range);
    while (rest && count > 0) {
      ScanRequest request;
      request.range = *std::move(rest);
      request.keys_only = true;
      request.max_entries = count;
      KVARTS_TRY(const ScanPage page, keys_.txn().PeekScan(request));
      for (size_t i = 0; i < page.size(); ++i) {
        const std::optional<PlacedKey> key = KeyAt(page[i].key);
        if (key && GlobMatches(pattern_, key->name)) visit(key->name, TypeOf(page[i].header));
      }
      count -= std::min<uint64_t>(count, page.size());
      rest = page.rest();
    }
    if (rest) {
      place_ = rest->start;
      return {};
    }
  }
  done_ = true;
  return {};
}

}  // namespace kvarts::structure
