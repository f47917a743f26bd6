#include "model/keys/pages.h"

#include <algorithm>

#include "core/cursor.h"
#include "core/user_keys.h"

namespace kvarts::keys {
namespace {

// A query on its way: what is left to read, at one view.
struct Reading {
  CursorQuery query;
  ScanRequest request;
  std::unique_ptr<View> view;
};

Result<Reading> Begin(Engine& engine, const PageQuery& query, const CursorSetting& setting, std::string_view purpose,
                      ReadCost* cost) {
  Reading reading;
  KVARTS_TRY(reading.query.range, CheckedUserRange(query.range, engine.limits()));
  reading.query.reverse = query.reverse;
  reading.query.other = purpose;
  reading.request.range = reading.query.range;
  reading.request.reverse = query.reverse;
  reading.request.options.cost = cost;
  reading.request.options.max_skipped = query.max_skipped;
  KVARTS_TRY(reading.view, engine.OpenView(query.freshness));
  if (!query.cursor.empty()) {
    KVARTS_TRY(reading.request.range,
               OpenCursor(query.cursor, reading.query, reading.view->time(), setting.max_age, setting.secret));
  }
  return reading;
}

std::string CursorTo(const Reading& reading, const KeyRange& rest, const CursorSetting& setting) {
  return MakeCursor(reading.query, rest, reading.view->version(), reading.view->time(), setting.secret);
}

}  // namespace

Result<KeyPage> ReadPage(Engine& engine, const PageQuery& query, const CursorSetting& setting) {
  KeyPage page;
  KVARTS_TRY(Reading reading, Begin(engine, query, setting, query.values ? "page" : "keys", &page.cost));
  reading.request.keys_only = !query.values;
  reading.request.max_entries = query.limit;
  reading.request.max_bytes = query.max_bytes;
  KVARTS_TRY(page.scanned, reading.view->Scan(reading.request));
  if (page.scanned.rest()) page.cursor = CursorTo(reading, *page.scanned.rest(), setting);
  return page;
}

Result<Count> CountKeys(Engine& engine, const PageQuery& query, const CursorSetting& setting, uint64_t at_most,
                        const std::stop_token& stop) {
  Count count;
  KVARTS_TRY(Reading reading, Begin(engine, query, setting, "count", &count.cost));
  reading.request.keys_only = true;
  reading.request.max_bytes = engine.limits().max_page_bytes;
  while (true) {
    reading.request.max_entries = std::min<uint64_t>(engine.limits().max_page_entries, at_most - count.keys);
    // All pages together step over no more than one may.
    reading.request.options.max_skipped = query.max_skipped - count.cost.skipped;
    const Result<ScanPage> page = reading.view->Scan(reading.request);
    if (page.has_value()) {
      count.keys += page->size();
      if (!page->rest()) return count;
      reading.request.range = *page->rest();
    } else if (count.keys == 0 || page.error().field("limit") != "max_skipped") {
      return page.error();
    }
    if (!page.has_value() || count.keys >= at_most || count.cost.skipped >= query.max_skipped ||
        stop.stop_requested()) {
      count.cursor = CursorTo(reading, reading.request.range, setting);
      return count;
    }
  }
}

}  // namespace kvarts::keys
