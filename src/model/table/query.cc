#include "model/table/query.h"

#include <algorithm>

#include "model/table/index_entries.h"
#include "model/table/query_range.h"
#include "model/table/rows.h"

namespace kvarts {
namespace {

// Entries that are read at a time when it is not known how many of them will do.
constexpr size_t kScanAhead = 200;

// What a query and a scan have in common.
struct Reading {
  const TableInfo& table;
  const TableIndex* index = nullptr;  // null: the rows themselves
  bool follows = false;               // entries to their rows
  const std::optional<Condition>& filter;
  const std::optional<Projection>& projection;
  size_t limit;
  size_t max_bytes;
  size_t max_examined;
  uint64_t max_skipped;
};

// Whether entries hold all that rows have under a path. Of a list they may hold some elements, at other places.
bool Hold(const Projection& included, const DocumentPath& path) {
  const auto is_name = [](const DocumentPath::Step& step) { return step.kind == DocumentPath::Step::Kind::kName; };
  return std::ranges::any_of(included.paths(), [&](const DocumentPath& held) {
    return std::ranges::all_of(held.steps(), is_name) && held.steps().size() <= path.steps().size() &&
           std::equal(held.steps().begin(), held.steps().end(), path.steps().begin());
  });
}

// Whether a query by the index has to read the rows: its entries hold keys alone, or less than what was asked for.
bool FollowsEntries(const TableIndex& index, const std::optional<Condition>& filter,
                    const std::optional<Projection>& projection) {
  if (index.spec.included.kind != Included::Kind::kSome) return index.spec.included.kind == Included::Kind::kKey;
  std::vector<DocumentPath> asked;
  if (projection) asked = projection->paths();
  if (filter) filter->CollectPaths(&asked);
  return !std::ranges::all_of(asked, [&](const DocumentPath& path) { return Hold(*index.included, path); });
}

// What is left of a range of which a scan has found nothing but tombstones, and given up; nothing when nothing is.
Result<std::optional<KeyRange>> RestOf(const Error& given_up, KeyRange range, bool reverse) {
  if (given_up.field("limit") != "max_skipped") return given_up;
  if (given_up.field("reached").empty()) return std::optional<KeyRange>();
  KVARTS_TRY(const Bytes reached, ParseEscaped(given_up.field("reached")));
  if (reverse) {
    range.end = KeyAfter(reached);
  } else {
    range.start = reached;
  }
  return std::optional<KeyRange>(std::move(range));
}

// What can be read from: a view, or a transaction with its own writes.
Status GetFrom(View& view, std::span<const BytesView> keys, std::span<std::optional<Record>> out, ReadCost* cost) {
  return view.Get(keys, out, {.cost = cost});
}
Status GetFrom(Txn& txn, std::span<const BytesView> keys, std::span<std::optional<Record>> out, ReadCost*) {
  return txn.GetMany(keys, out);
}
// What a transaction has stepped over it rests on, too, so it cannot stop in the middle of it.
uint64_t MaxSkipped(const View&, uint64_t wanted) { return wanted; }
uint64_t MaxSkipped(const Txn&, uint64_t) { return UINT64_MAX; }
Timestamp TimeOf(View& view) { return view.time(); }
Timestamp TimeOf(Txn& txn) { return txn.Now(); }
Version VersionOf(View& view) { return view.version(); }
Version VersionOf(Txn& txn) { return txn.ViewVersion().value_or(kNoVersion); }

template <class From>
class Reader {
 public:
  Reader(const Reading& reading, From& from) : reading_(reading), from_(from) {}

  // Fills the page from what is left of a range; what is left then, if anything.
  Result<std::optional<KeyRange>> Fill(KeyRange range, bool reverse, RowPage* page) {
    page_ = page;
    ScanRequest request;
    request.reverse = reverse;
    request.options.cost = &page->cost;
    const uint64_t max_skipped = MaxSkipped(from_, reading_.max_skipped);
    while (true) {
      const size_t examine = std::min(reading_.max_examined - page->examined,
                                      reading_.filter ? kScanAhead : reading_.limit - page->rows.size());
      request.range = std::move(range);
      request.max_entries = std::min(examine, size_t{1000});
      request.max_bytes = std::max<size_t>(reading_.max_bytes - std::min(bytes_, reading_.max_bytes), 1);
      request.options.max_skipped = max_skipped - std::min(page->cost.skipped, max_skipped);
      Result<ScanPage> scanned = from_.Scan(request);
      if (!scanned.has_value()) return RestOf(scanned.error(), std::move(request.range), reverse);
      const ScanPage& entries = page->pages.emplace_back(*std::move(scanned));
      KVARTS_TRY(const size_t taken, Take(entries));
      page->examined += taken;
      if (taken < entries.size()) {
        ScanPage cut;
        cut.Append(entries[taken - 1].key, {}, entries[taken - 1].header);
        cut.StopAfterLast(request.range, reverse);
        return cut.rest();
      }
      if (!entries.rest() || IsFull()) return entries.rest();
      range = *entries.rest();
    }
  }

 private:
  bool IsFull() const {
    return page_->rows.size() >= reading_.limit || bytes_ >= reading_.max_bytes ||
           page_->examined >= reading_.max_examined || page_->cost.skipped >= reading_.max_skipped;
  }

  // Takes entries until the page is full; how many that were.
  Result<size_t> Take(const ScanPage& entries) {
    if (reading_.follows) return TakeRowsOf(entries);
    for (size_t i = 0; i < entries.size(); ++i) {
      if (i != 0 && (page_->rows.size() >= reading_.limit || bytes_ >= reading_.max_bytes)) return i;
      KVARTS_TRY(const FoundRow row, Open(entries[i]));
      Add(row);
    }
    return entries.size();
  }

  Result<FoundRow> Open(const ScanPage::Entry& entry) const {
    if (reading_.index == nullptr) return ToFoundRow(entry.header, entry.value);
    KVARTS_TRY(const EntryView opened, OpenEntry(reading_.table, *reading_.index, entry.key, entry.value));
    KVARTS_CHECK_OK(CheckDocument(opened.included));
    return FoundRow{entry.header.version, entry.header.expiry, opened.included, {}};
  }

  // Entries lead to their rows, which are read together.
  Result<size_t> TakeRowsOf(const ScanPage& entries) {
    std::vector<KeyBuffer> keys;
    keys.reserve(entries.size());
    for (size_t i = 0; i < entries.size(); ++i) {
      KVARTS_TRY(EntryView opened, OpenEntry(reading_.table, *reading_.index, entries[i].key, entries[i].value));
      keys.push_back(std::move(opened.row_key));
    }
    const std::vector<BytesView> views(keys.begin(), keys.end());
    std::vector<std::optional<Record>>& records = page_->records.emplace_back(keys.size());
    if (!views.empty()) KVARTS_CHECK_OK(GetFrom(from_, views, records, &page_->cost));
    for (size_t i = 0; i < records.size(); ++i) {
      if (i != 0 && (page_->rows.size() >= reading_.limit || bytes_ >= reading_.max_bytes)) return i;
      // An entry without its row is drift, which verification finds; a reader gets what is there.
      if (!records[i]) continue;
      KVARTS_TRY(const FoundRow row, ToFoundRow(records[i]->header, records[i]->value));
      Add(row);
    }
    return records.size();
  }

  void Add(FoundRow row) {
    const DocumentView document(row.document);
    if (reading_.filter && !reading_.filter->Holds(document)) return;
    if (reading_.projection) row.document = page_->made.emplace_back(reading_.projection->Apply(document));
    bytes_ += row.document.size();
    page_->rows.push_back(row);
  }

  const Reading& reading_;
  From& from_;
  RowPage* page_ = nullptr;
  size_t bytes_ = 0;
};

// The document is not looked at.
[[gnu::always_inline]] inline Status OpenInto(const ValueHeader& header, BytesView value, FoundRow* row) {
  KVARTS_CHECK_OK(row->envelope.Read(value));
  if (row->envelope.payload.empty()) return NoDocument();
  row->version = header.version;
  row->expiry = header.expiry;
  row->document = row->envelope.payload;
  return {};
}

[[gnu::always_inline]] inline Status GetRowAt(Engine& engine, BytesView key, const ReadOptions& options,
                                              ReadRow* read) {
  KVARTS_CHECK_OK(engine.Get({&key, 1}, {&read->record, 1}, options));
  if (!read->record) return {};
  return OpenInto(read->record->header, read->record->value, &read->row);
}

Result<RowsRead> GetRowsAt(Engine& engine, const std::vector<KeyBuffer>& keys, const Freshness& freshness) {
  const std::vector<BytesView> views(keys.begin(), keys.end());
  RowsRead read;
  read.records.resize(keys.size());
  KVARTS_CHECK_OK(engine.Get(views, read.records, {.cost = &read.cost, .freshness = freshness}));
  read.rows.resize(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!read.records[i]) continue;
    KVARTS_TRY(read.rows[i], ToFoundRow(read.records[i]->header, read.records[i]->value));
  }
  return read;
}

// The same for every page of a query: its cursors fit no other.
Bytes FingerprintOf(const TableInfo& table, const std::optional<Condition>& filter) {
  Bytes other = "rows ";
  other += table.stored().id.ToString();
  if (filter) other += filter->ToString();
  return other;
}

CursorQuery QueryOf(const TableInfo& table, const RowScan& scan) {
  return {KeyRange::Prefix(table.rows()), false, FingerprintOf(table, scan.filter)};
}

std::optional<BytesView> SecretOf(const RowCursors& cursors) {
  return cursors.secret ? std::optional<BytesView>(*cursors.secret) : std::nullopt;
}

template <class From>
Result<RowPage> ReadPage(From& from, const Reading& reading, const CursorQuery& query, const std::string& cursor,
                         const RowCursors& cursors) {
  RowPage page;
  KeyRange range = query.range;
  if (!cursor.empty()) {
    KVARTS_TRY(range, OpenCursor(cursor, query, TimeOf(from), cursors.max_age, SecretOf(cursors)));
  }
  KVARTS_TRY(const std::optional<KeyRange> rest, Reader(reading, from).Fill(std::move(range), query.reverse, &page));
  if (rest) page.cursor = MakeCursor(query, *rest, VersionOf(from), TimeOf(from), SecretOf(cursors));
  return page;
}

Status CheckBounds(size_t limit, size_t max_bytes, size_t max_examined, const Limits& limits) {
  if (max_examined == 0) return Error(ErrorCode::kInvalidArgument, "a query looks at one row at least");
  return CheckPage(limit, max_bytes, limits);
}

// What a query reads, and what its cursors are of.
struct Planned {
  Reading reading;
  CursorQuery cursor;
};
Result<Planned> Plan(const TableInfo& table, const RowQuery& query, const Limits& limits) {
  KVARTS_CHECK_OK(CheckBounds(query.limit, query.max_bytes, query.max_examined, limits));
  Planned plan{.reading = {.table = table,
                           .filter = query.filter,
                           .projection = query.projection,
                           .limit = query.limit,
                           .max_bytes = query.max_bytes,
                           .max_examined = query.max_examined,
                           .max_skipped = query.max_skipped},
               .cursor = {}};
  if (!query.index.empty()) {
    KVARTS_TRY(plan.reading.index, ReadableIndex(table, query.index));
    plan.reading.follows = FollowsEntries(*plan.reading.index, query.filter, query.projection);
  }
  KVARTS_TRY(plan.cursor.range, RangeOf(table, plan.reading.index, query));
  plan.cursor.reverse = query.reverse;
  plan.cursor.other = FingerprintOf(table, query.filter);
  return plan;
}

}  // namespace

Result<FoundRow> ToFoundRow(const ValueHeader& header, BytesView value) {
  FoundRow row;
  KVARTS_CHECK_OK(OpenInto(header, value, &row));
  KVARTS_CHECK_OK(CheckDocument(row.document));
  return row;
}

Result<RowPage> QueryRows(Engine& engine, const TableInfo& table, const RowQuery& query, const RowCursors& cursors) {
  KVARTS_TRY(const Planned plan, Plan(table, query, engine.limits()));
  KVARTS_TRY(const std::unique_ptr<View> view, engine.OpenView(query.freshness));
  return ReadPage(*view, plan.reading, plan.cursor, query.cursor, cursors);
}

Result<RowPage> QueryRows(Txn& txn, const TableInfo& table, const RowQuery& query, const RowCursors& cursors) {
  KVARTS_TRY(const Planned plan, Plan(table, query, txn.limits()));
  return ReadPage(txn, plan.reading, plan.cursor, query.cursor, cursors);
}

Result<RowPage> ScanRows(Engine& engine, const TableInfo& table, const RowScan& scan, const RowCursors& cursors) {
  KVARTS_CHECK_OK(CheckBounds(scan.limit, scan.max_bytes, scan.max_examined, engine.limits()));
  const Reading reading{.table = table,
                        .filter = scan.filter,
                        .projection = scan.projection,
                        .limit = scan.limit,
                        .max_bytes = scan.max_bytes,
                        .max_examined = scan.max_examined,
                        .max_skipped = scan.max_skipped};
  KVARTS_TRY(const std::unique_ptr<View> view, engine.OpenView(scan.freshness));
  return ReadPage(*view, reading, QueryOf(table, scan), scan.cursor, cursors);
}

Result<std::vector<std::string>> SplitScan(Engine& engine, const TableInfo& table, const RowScan& scan, size_t parts,
                                           const RowCursors& cursors) {
  if (parts == 0 || parts > RowScan::kMaxParts) {
    return Error(ErrorCode::kInvalidArgument, "a scan has 1 to 1024 parts", {{"parts", std::to_string(parts)}});
  }
  const CursorQuery query = QueryOf(table, scan);
  KVARTS_TRY(const std::vector<KeyRange> ranges, SplitRange(engine, query.range, parts));
  KVARTS_TRY(const std::unique_ptr<View> view, engine.OpenView());
  std::vector<std::string> split;
  for (const KeyRange& range : ranges) {
    split.push_back(MakeCursor(query, range, view->version(), view->time(), SecretOf(cursors)));
  }
  return split;
}

Result<RowsRead> GetRows(Engine& engine, const TableInfo& table, std::span<const DocumentView> keys,
                         const Freshness& freshness) {
  std::vector<KeyBuffer> buffers(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) KVARTS_CHECK_OK(AppendRowKeyOf(table, keys[i], &buffers[i]));
  return GetRowsAt(engine, buffers, freshness);
}

Result<RowsRead> GetRows(Engine& engine, const TableInfo& table, std::span<const std::span<const Item>> keys,
                         const Freshness& freshness) {
  std::vector<KeyBuffer> buffers(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) KVARTS_CHECK_OK(AppendRowKey(table, keys[i], &buffers[i]));
  return GetRowsAt(engine, buffers, freshness);
}

Status GetRow(Engine& engine, const TableInfo& table, const DocumentView& key, const ReadOptions& options,
              ReadRow* read) {
  KeyBuffer buffer;
  KVARTS_CHECK_OK(AppendRowKeyOf(table, key, &buffer));
  return GetRowAt(engine, buffer, options, read);
}

Status GetRow(Engine& engine, const TableInfo& table, std::span<const Item> key, const ReadOptions& options,
              ReadRow* read) {
  KeyBuffer buffer;
  KVARTS_CHECK_OK(AppendRowKey(table, key, &buffer));
  return GetRowAt(engine, buffer, options, read);
}

Status GetRow(Txn& txn, const TableInfo& table, std::span<const Item> key, ReadRow* read) {
  KeyBuffer buffer;
  KVARTS_CHECK_OK(AppendRowKey(table, key, &buffer));
  KVARTS_TRY(read->record, txn.Get(buffer));
  if (!read->record) return {};
  KVARTS_TRY(read->row, ToFoundRow(read->record->header, read->record->value));
  return {};
}

}  // namespace kvarts
