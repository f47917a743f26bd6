#include "model/table/query_range.h"

#include <algorithm>

#include "model/table/index_entries.h"

namespace kvarts {
namespace {

// A partition or sort field of what is queried.
struct QueryField {
  std::string name;
  std::optional<KeyType> type;
  Order order;
  const IndexField* of_index;  // null: of the table's key
  bool may_lack = false;       // rows without it are there, too, with null in its place

  Status Append(const DocumentView& value, TupleWriter<KeyBuffer>* to) const {
    if (of_index != nullptr) {
      KVARTS_TRY(const Appended appended, AppendIndexValue(*of_index, value, to));
      if (appended == Appended::kYes) return {};
    } else if (AppendKeyValue(to, value, *type, order)) {
      return {};
    }
    return Refused("a value of the query is of another type than its field");
  }
  // The value that rows must have; null: those that have none.
  Status AppendEqual(const DocumentView& value, TupleWriter<KeyBuffer>* to) const {
    if (!may_lack || value.kind() != DocumentKind::kNull) return Append(value, to);
    to->Null(order);
    return {};
  }
  Error Refused(const char* text) const {
    return Error(ErrorCode::kInvalidArgument, text,
                 {{"field", name}, {"expected", type ? std::string(Expected(*type)) : "a value that keys can hold"}});
  }
};

std::vector<QueryField> FieldsOf(const std::vector<KeyField>& fields) {
  std::vector<QueryField> all;
  for (const KeyField& field : fields) all.push_back({field.name, field.type, field.order, nullptr, false});
  return all;
}
std::vector<QueryField> FieldsOf(const std::vector<IndexField>& fields, bool sparse) {
  std::vector<QueryField> all;
  for (const IndexField& field : fields) {
    all.push_back({field.path.ToString(), field.type, field.order, &field, !sparse});
  }
  return all;
}

Status AppendPartition(const std::vector<QueryField>& fields, const DocumentView& given, KeyBuffer* to) {
  if (given.kind() != DocumentKind::kMap || given.size() != fields.size()) {
    std::string expected;
    for (const QueryField& field : fields) expected += (expected.empty() ? "" : ", ") + field.name;
    return Error(ErrorCode::kInvalidArgument, "a query names all partition fields and no others",
                 {{"expected", expected}});
  }
  TupleWriter<KeyBuffer> writer(to);
  writer.Begin();
  for (const QueryField& field : fields) {
    const std::optional<DocumentView> value = given.Find(field.name);
    if (!value) return field.Refused("a partition field is missing in the query");
    KVARTS_CHECK_OK(field.AppendEqual(*value, &writer));
  }
  writer.End();
  return {};
}

// The codes with which elements of a value's type begin, from first to last.
struct Codes {
  unsigned char first;
  unsigned char last;
};
Codes CodesOf(const QueryField& field, const DocumentView& value) {
  if (field.type == KeyType::kTimestamp) return {tuple_codes::kTime, tuple_codes::kTime};
  if (field.type == KeyType::kUuid) return {tuple_codes::kUuid, tuple_codes::kUuid};
  switch (value.kind()) {
    case DocumentKind::kBool:
      return {tuple_codes::kFalse, tuple_codes::kTrue};
    case DocumentKind::kNumber:
      return {tuple_codes::kDecimalNegative, tuple_codes::kDecimalPositive};
    case DocumentKind::kBinary:
      return {tuple_codes::kBytes, tuple_codes::kBytes};
    default:
      return {tuple_codes::kText, tuple_codes::kText};
  }
}

// All keys that go on from `base` with an element of such a code.
KeyRange RangeOfCodes(BytesView base, Codes codes, Order order) {
  if (order == Order::kDescending) {
    codes = {static_cast<unsigned char>(0xff - codes.last), static_cast<unsigned char>(0xff - codes.first)};
  }
  KeyRange range{Bytes(base), Bytes(base)};
  range.start.push_back(static_cast<char>(codes.first));
  range.end.push_back(static_cast<char>(codes.last + 1));
  return range;
}

// The keys that have a value within the bounds behind `base`. Bounds are of one type, and so is what is found.
Result<KeyRange> Bounded(const QueryField& field, BytesView base, const RowQuery& query) {
  const DocumentView example(query.from ? query.from->value : query.to->value);
  KeyRange range = RangeOfCodes(base, CodesOf(field, example), field.order);
  const auto bound = [&](const SortBound& value, bool is_start) -> Status {
    KeyBuffer key;
    key.append(base);
    TupleWriter<KeyBuffer> writer(&key);
    KVARTS_CHECK_OK(field.Append(DocumentView(value.value), &writer));
    if (is_start) {
      range.start = value.inclusive ? Bytes(key.view()) : PrefixEnd(key);
    } else {
      range.end = value.inclusive ? PrefixEnd(key) : Bytes(key.view());
    }
    return {};
  };
  const bool ascending = field.order == Order::kAscending;
  if (query.from) KVARTS_CHECK_OK(bound(*query.from, ascending));
  if (query.to) KVARTS_CHECK_OK(bound(*query.to, !ascending));
  return range;
}

Result<KeyRange> BeginningWith(const QueryField& field, BytesView base, const DocumentView& prefix) {
  const bool any = !field.type.has_value();
  if (prefix.kind() == DocumentKind::kText && (any || field.type == KeyType::kText)) {
    if (field.of_index == nullptr) return TextPrefixRange(base, prefix.Text(), field.order);
    return TextPrefixRange(base, Normalised(*field.of_index, prefix.Text()), field.order);
  }
  if (prefix.kind() == DocumentKind::kBinary && (any || field.type == KeyType::kBinary)) {
    return BytesPrefixRange(base, prefix.Binary(), field.order);
  }
  return field.Refused("only texts and binaries begin with something");
}

// Eight bytes of a key as a number.
uint64_t NumberAt(BytesView key, size_t at) {
  uint64_t number = 0;
  for (size_t i = 0; i < 8; ++i) {
    number = number << 8 | (at + i < key.size() ? static_cast<unsigned char>(key[at + i]) : 0);
  }
  return number;
}

Bytes KeyWith(BytesView prefix, uint64_t number) {
  char bytes[8];
  StoreBig(bytes, number);
  return Bytes(prefix).append(bytes, sizeof(bytes));
}

// Where a range is cut: so that `wanted` of it, or at most `near` more, lies before.
struct Cut {
  const KeyRange& range;
  // The first and the last key in it.
  BytesView first;
  BytesView last;
  uint64_t RangeEstimate::*by;
  uint64_t wanted;
  uint64_t near;
};
Result<Bytes> FindCut(Engine& engine, const Cut& cut, uint64_t all) {
  // Eight bytes at a time are halved; keys that share so much many times over are taken for one.
  constexpr int kMaxLevels = 8;
  const auto common = static_cast<size_t>(std::ranges::mismatch(cut.first, cut.last).in1 - cut.first.begin());
  Bytes prefix(cut.first.substr(0, common));
  uint64_t low = NumberAt(cut.first, common);
  uint64_t high = NumberAt(cut.last, common);
  if (high != UINT64_MAX) ++high;
  // What lies before each.
  uint64_t before_low = 0;
  uint64_t before_high = all;
  const uint64_t little = std::max<uint64_t>(cut.near, 1);
  for (int level = 0; level < kMaxLevels; ++level) {
    while (low + 1 < high && before_high > cut.wanted + cut.near && before_high - before_low > little) {
      const uint64_t middle = low + (high - low) / 2;
      KVARTS_TRY(const RangeEstimate estimate, engine.Estimate({cut.range.start, KeyWith(prefix, middle)}));
      // Estimates need not grow with the range.
      const uint64_t before = std::clamp(estimate.*cut.by, before_low, before_high);
      if (before < cut.wanted) {
        low = middle;
        before_low = before;
      } else {
        high = middle;
        before_high = before;
      }
    }
    if (before_high <= cut.wanted + cut.near || before_high - before_low <= little) break;
    // Much lies behind one number: what comes next tells it apart.
    prefix = KeyWith(prefix, low);
    low = 0;
    high = UINT64_MAX;
  }
  return KeyWith(prefix, high);
}

}  // namespace

Result<const TableIndex*> ReadableIndex(const TableInfo& table, std::string_view name) {
  const TableIndex* const index = table.IndexNamed(name);
  if (index == nullptr) {
    return Error(ErrorCode::kNotFound, "there is no such index",
                 {{"table", table.stored().name}, {"index", Escaped(name)}});
  }
  if (index->state == IndexState::kReady) return index;
  return Error(ErrorCode::kUnavailable, "the index cannot be read, as it is being built or dropped",
               {{"table", table.stored().name},
                {"index", index->spec.name},
                {"state", std::string(IndexStateName(index->state))}});
}

Result<KeyRange> RangeOf(const TableInfo& table, const TableIndex* index, const RowQuery& query) {
  KeyBuffer base;
  base.append(index != nullptr ? BytesView(index->prefix) : table.rows());
  const bool by_table = index == nullptr || index->spec.local;
  const auto partition =
      by_table ? FieldsOf(table.key().partition) : FieldsOf(index->spec.partition, index->spec.sparse);
  KVARTS_CHECK_OK(AppendPartition(partition, DocumentView(query.partition), &base));
  const auto sort = index == nullptr ? FieldsOf(table.key().sort) : FieldsOf(index->spec.sort, index->spec.sparse);
  const bool bounded = query.from || query.to || query.prefix;
  if (query.sort.size() + (bounded ? 1 : 0) > sort.size()) {
    return Error(ErrorCode::kInvalidArgument, "the query names more sort fields than there are",
                 {{"fields", std::to_string(sort.size())}});
  }
  TupleWriter<KeyBuffer> writer(&base);
  for (size_t i = 0; i < query.sort.size(); ++i) {
    KVARTS_CHECK_OK(sort[i].AppendEqual(DocumentView(query.sort[i]), &writer));
  }
  if (!bounded) return KeyRange::Prefix(base);
  const QueryField& next = sort[query.sort.size()];
  if (!query.prefix) return Bounded(next, base, query);
  if (query.from || query.to) return next.Refused("a field is bounded or begins with something, not both");
  return BeginningWith(next, base, DocumentView(*query.prefix));
}

Result<std::vector<KeyRange>> SplitRange(Engine& engine, const KeyRange& range, size_t parts,
                                         uint64_t RangeEstimate::*by, const std::stop_token& stop) {
  std::vector<KeyRange> split = {range};
  KVARTS_TRY(const std::unique_ptr<View> view, engine.OpenView());
  ScanRequest request;
  request.range = range;
  request.keys_only = true;
  request.max_entries = 1;
  KVARTS_TRY(const ScanPage first, view->Scan(request));
  request.reverse = true;
  KVARTS_TRY(const ScanPage last, view->Scan(request));
  if (first.empty() || last.empty()) return split;
  KVARTS_TRY(const RangeEstimate all, engine.Estimate(range));
  for (size_t i = 1; i < parts; ++i) {
    if (stop.stop_requested()) return Error(ErrorCode::kUnavailable, "the cutting of a range was stopped");
    KVARTS_TRY(
        const Bytes cut,
        FindCut(engine, {range, first[0].key, last[0].key, by, all.*by / parts * i, all.*by / parts / 16}, all.*by));
    if (cut <= split.back().start || !range.Contains(cut)) continue;
    KeyRange rest{cut, split.back().end};
    split.back().end = cut;
    split.push_back(std::move(rest));
  }
  return split;
}

}  // namespace kvarts
