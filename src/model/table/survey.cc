#include "model/table/survey.h"

#include <algorithm>

#include "base/log.h"
#include "encoding/tuple_text.h"
#include "model/table/catalog_rows.h"
#include "model/table/query_range.h"

namespace kvarts {
namespace {

// How often pieces are cut into pieces: estimates need not become smaller with their ranges.
constexpr int kMaxLevels = 4;

Error Stopped() { return Error(ErrorCode::kUnavailable, "the survey was stopped"); }

// The widest first.
void KeepWidest(std::vector<WidePartition>* found) {
  std::ranges::sort(*found, std::greater(), &WidePartition::bytes);
  if (found->size() > kMaxWidePartitions) found->resize(kMaxWidePartitions);
}

class Look {
 public:
  // Those that it finds are added to `found`.
  Look(Engine& engine, const SurveyOptions& options, const std::stop_token& stop, std::vector<WidePartition>* found)
      : engine_(engine), options_(options), stop_(stop), found_(*found) {}

  Status At(const TableInfo& table) {
    KVARTS_CHECK_OK(In({table, {}, table.rows()}));
    for (const TableIndex& index : table.indexes()) {
      if (index.state == IndexState::kReady) KVARTS_CHECK_OK(In({table, index.spec.name, index.prefix}));
    }
    return {};
  }

 private:
  // Rows or entries, all of which begin with the prefix.
  struct Place {
    const TableInfo& table;
    std::string_view index;  // empty: the rows
    BytesView prefix;
  };

  Status In(const Place& place) {
    const KeyRange range = KeyRange::Prefix(place.prefix);
    KVARTS_TRY(const RangeEstimate all, engine_.Estimate(range));
    if (all.bytes <= options_.wide_bytes) return {};
    last_.clear();
    return Cut(place, range, all.bytes, kMaxLevels);
  }

  // Looks at the beginnings of pieces as large as half a wide partition.
  Status Cut(const Place& place, const KeyRange& range, uint64_t bytes, int levels) {
    if (stop_.stop_requested()) return Stopped();
    const uint64_t wanted = 2 * bytes / options_.wide_bytes + 1;
    if (wanted == 1 || levels == 0) return LookAt(place, range.start);
    KVARTS_TRY(
        const std::vector<KeyRange> pieces,
        SplitRange(engine_, range, std::min<uint64_t>(options_.max_pieces, wanted), &RangeEstimate::bytes, stop_));
    for (const KeyRange& piece : pieces) {
      if (wanted <= options_.max_pieces || pieces.size() == 1) {
        KVARTS_CHECK_OK(LookAt(place, piece.start));
        continue;
      }
      KVARTS_TRY(const RangeEstimate its, engine_.Estimate(piece));
      KVARTS_CHECK_OK(Cut(place, piece, its.bytes, levels - 1));
    }
    return {};
  }

  // At the partition of the first key from there on.
  Status LookAt(const Place& place, BytesView start) {
    if (stop_.stop_requested()) return Stopped();
    // Each at a view of its own: together they may take longer than one may be open.
    KVARTS_TRY(const std::unique_ptr<View> view, engine_.OpenView());
    const KeyRange rest{Bytes(start), PrefixEnd(place.prefix)};
    KVARTS_TRY(const std::optional<Bytes> partition, PartitionAt(*view, rest, place.prefix.size()));
    if (!partition || *partition == last_) return {};
    last_ = *partition;
    KVARTS_TRY(const RangeEstimate its, engine_.Estimate(KeyRange::Prefix(last_)));
    if (its.bytes <= options_.wide_bytes) return {};
    KVARTS_TRY(TablePath path, PathOf(*view, place.table));
    found_.push_back({std::move(path), std::string(place.index),
                      TupleToString(BytesView(last_).substr(place.prefix.size())), its.bytes});
    if (found_.size() >= 2 * kMaxWidePartitions) KeepWidest(&found_);
    return {};
  }

  // What the keys of the partition begin with that has the first key of the range.
  static Result<std::optional<Bytes>> PartitionAt(View& view, const KeyRange& range, size_t prefix) {
    ScanRequest request;
    request.range = range;
    request.keys_only = true;
    request.max_entries = 1;
    KVARTS_TRY(const ScanPage page, view.Scan(request));
    if (page.empty()) return std::optional<Bytes>();
    const BytesView key = page[0].key;
    TupleReader reader(key.substr(prefix));
    KVARTS_CHECK_OK(reader.Skip());
    return std::optional<Bytes>(key.substr(0, prefix + reader.position()));
  }

  static Result<TablePath> PathOf(View& view, const TableInfo& table) {
    const TableInfo::Stored& stored = table.stored();
    TablePath path;
    KVARTS_TRY(path.project, ProjectName(view, stored.project));
    KVARTS_TRY(path.dataset, DatasetName(view, stored.project, stored.dataset));
    path.table = stored.name;
    return path;
  }

  Engine& engine_;
  const SurveyOptions& options_;
  const std::stop_token& stop_;
  std::vector<WidePartition>& found_;
  Bytes last_;  // the partition that was looked at last
};

bool IsSame(const WidePartition& a, const WidePartition& b) {
  return a.table.project == b.table.project && a.table.dataset == b.table.dataset && a.table.table == b.table.table &&
         a.index == b.index && a.partition == b.partition;
}

}  // namespace

Result<std::vector<WidePartition>> FindWidePartitions(Engine& engine, const SurveyOptions& options,
                                                      const std::stop_token& stop) {
  std::vector<WidePartition> found;
  std::optional<Bytes> place = Bytes();
  while (place) {
    if (stop.stop_requested()) return Stopped();
    TablesPage page;
    {
      KVARTS_TRY(const std::unique_ptr<View> view, engine.OpenView());
      KVARTS_TRY(page, ReadTables(*view, *place, 10));
    }
    for (const TablePtr& table : page.tables) KVARTS_CHECK_OK(Look(engine, options, stop, &found).At(*table));
    place = page.rest;
  }
  KeepWidest(&found);
  return found;
}

Status Survey::Look(Engine& engine, uint64_t wide_bytes, const std::stop_token& stop) {
  KVARTS_TRY(std::vector<WidePartition> found, FindWidePartitions(engine, {.wide_bytes = wide_bytes}, stop));
  const std::unique_lock lock(mutex_);
  for (const WidePartition& wide : found) {
    if (std::ranges::any_of(wide_, [&](const WidePartition& known) { return IsSame(known, wide); })) continue;
    Log(LogLevel::kWarning, "a partition of a table is wide",
        {{"table", wide.table.project + '/' + wide.table.dataset + '/' + wide.table.table},
         {"index", wide.index},
         {"partition", wide.partition},
         {"bytes", wide.bytes},
         {"advice", "add a field to the partition that spreads its rows, such as a time bucket"}});
  }
  wide_ = std::move(found);
  return {};
}

std::vector<WidePartition> Survey::wide_partitions() const {
  const std::unique_lock lock(mutex_);
  return wide_;
}

}  // namespace kvarts
