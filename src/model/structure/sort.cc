#include "model/structure/sort.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>

#include "model/structure/dump.h"

namespace kvarts::structure {
namespace {

// Looked up together.
constexpr size_t kAtOnce = 256;
// What an element takes besides its bytes.
constexpr uint64_t kPerElement = 128;

struct Pattern {
  explicit Pattern(BytesView text) : itself(text == "#") {
    const size_t star = text.find('*');
    names_key = !itself && star != BytesView::npos;
    if (!names_key) return;
    before = text.substr(0, star);
    behind = text.substr(star + 1);
    const size_t arrow = behind.find("->");
    if (arrow == BytesView::npos || arrow + 2 == behind.size()) return;
    field = behind.substr(arrow + 2);
    behind = behind.substr(0, arrow);
  }

  const bool itself;
  bool names_key = false;
  BytesView before = {};
  BytesView behind = {};
  std::optional<BytesView> field = {};
};

class Sorter {
 public:
  Sorter(Structures& keys, uint32_t number, DatabaseId database, const SortOptions& options)
      : keys_(keys), number_(number), database_(database), options_(options) {}

  Status Gather(Key& key);
  Status Order(Type type);
  void Cut();
  Result<std::vector<std::optional<Bytes>>> Results();

 private:
  struct Item {
    Bytes element;
    double number = 0;
    std::optional<Bytes> by = {};
  };
  // What was looked up for each item, and which keys were not there.
  struct Found {
    std::vector<std::optional<Bytes>> values;
    std::vector<std::optional<Bytes>> missed = {};  // by item; gathered where somebody wants to know, and empty else
  };

  Status TakeRoom(uint64_t bytes) {
    bytes += kPerElement;
    if (bytes > room_) {
      return Error(ErrorCode::kTooLarge, "what is to be sorted is too large",
                   {{"limit", "kMaxSortedBytes"}, {"at_most", std::to_string(kMaxSortedBytes)}});
    }
    room_ -= bytes;
    return {};
  }
  void TellMiss(const Found& found, size_t item) {
    if (!found.missed.empty() && found.missed[item]) keys_.TellMiss(number_, *found.missed[item]);
  }
  // What a pattern names for each of the items.
  Status LookUp(const Pattern& pattern, Found* found);
  Status LookUpSome(const Pattern& pattern, size_t begin, size_t end, Found* found);
  Result<std::optional<Bytes>> Held(const Pattern& pattern, const Record& record);

  Structures& keys_;
  const uint32_t number_;
  const DatabaseId database_;
  const SortOptions& options_;
  uint64_t room_ = kMaxSortedBytes;
  std::vector<Item> items_;
};

Status Sorter::Gather(Key& key) {
  Status fits;
  KVARTS_CHECK_OK(ForEachElement(*key.collection(), [&](BytesView element) {
    if (fits.has_value()) fits = TakeRoom(element.size());
    if (fits.has_value()) items_.push_back({Bytes(element)});
  }));
  return fits;
}

Result<std::optional<Bytes>> Sorter::Held(const Pattern& pattern, const Record& record) {
  const bool structure = record.header.kind == ValueKind::kStructure;
  const Type type = TypeOf(record.header);
  if (pattern.field.has_value() != (type == Type::kHash) ||
      (structure && type != Type::kHash && type != Type::kString)) {
    return std::optional<Bytes>();
  }
  if (!structure) return std::optional(record.value);
  CollectionIds none;
  KVARTS_TRY(Collection collection, DecodeCollection(type, keys_.txn(), none, record.value));
  if (type == Type::kHash) return std::get<Members>(collection).Find(*pattern.field);
  const LargeText& text = std::get<LargeText>(collection);
  KVARTS_CHECK_OK(TakeRoom(text.size()));
  Bytes whole;
  KVARTS_CHECK_OK(text.ForEachPiece(0, text.size(), [&whole](BytesView piece) {
    whole.append(piece);
    return true;
  }));
  return std::optional(std::move(whole));
}

Status Sorter::LookUpSome(const Pattern& pattern, size_t begin, size_t end, Found* found) {
  std::vector<KeyBuffer> places;
  std::vector<Bytes> names;
  for (size_t i = begin; i < end; ++i) {
    Bytes& name = names.emplace_back(pattern.before);
    name.append(items_[i].element).append(pattern.behind);
    places.push_back(KeyPlace(database_, name));
  }
  const std::vector<BytesView> wanted(places.begin(), places.end());
  std::vector<std::optional<Record>> records(wanted.size());
  Txn& txn = keys_.txn();
  KVARTS_CHECK_OK(options_.stores ? txn.GetMany(wanted, records) : txn.PeekMany(wanted, records));
  for (size_t i = begin; i < end; ++i) {
    const std::optional<Record>& record = records[i - begin];
    if (!record) {
      if (!found->missed.empty()) found->missed[i] = names[i - begin];
      continue;
    }
    std::optional<Bytes>& value = found->values[i];
    KVARTS_TRY(value, Held(pattern, *record));
    if (value) KVARTS_CHECK_OK(TakeRoom(value->size()));
  }
  return {};
}

Status Sorter::LookUp(const Pattern& pattern, Found* found) {
  found->values.assign(items_.size(), std::nullopt);
  if (pattern.itself) {
    for (size_t i = 0; i < items_.size(); ++i) found->values[i] = items_[i].element;
  }
  if (keys_.TellsMisses()) found->missed.resize(items_.size());
  if (!pattern.names_key) return {};
  for (size_t begin = 0; begin < items_.size(); begin += kAtOnce) {
    KVARTS_CHECK_OK(LookUpSome(pattern, begin, std::min(begin + kAtOnce, items_.size()), found));
  }
  return {};
}

// As C reads a number, of which nothing is left; no text at all is zero.
std::optional<double> NumberOf(const Bytes& text) {
  char* end = nullptr;
  errno = 0;
  const double number = std::strtod(text.c_str(), &end);
  if (*end != '\0' || errno == ERANGE || std::isnan(number)) return std::nullopt;
  return number;
}

Status Sorter::Order(Type type) {
  const bool stays = options_.by && options_.by->find('*') == BytesView::npos;
  // A set that is stored as a list has an order that anybody can tell.
  const bool must = stays && type == Type::kSet && options_.stores;
  if (stays && !must) {
    if (type == Type::kSortedSet && options_.descending) std::ranges::reverse(items_);
    return {};
  }
  const bool by_elements = !options_.by || must;
  if (!by_elements) {
    Found found;
    KVARTS_CHECK_OK(LookUp(Pattern(*options_.by), &found));
    for (size_t i = 0; i < items_.size(); ++i) {
      items_[i].by = std::move(found.values[i]);
      TellMiss(found, i);
    }
  }
  const bool by_text = options_.by_text || must;
  for (Item& item : items_) {
    const Bytes* compared = by_elements ? &item.element : item.by ? &*item.by : nullptr;
    if (by_text || compared == nullptr) continue;
    const std::optional<double> number = NumberOf(*compared);
    if (!number) return Refusal(kNotSortable);
    item.number = *number;
  }
  const auto is_before = [&](const Item& a, const Item& b) {
    if (!by_text) return a.number < b.number || (a.number == b.number && a.element < b.element);
    return by_elements ? a.element < b.element : a.by < b.by;
  };
  if (options_.descending) {
    std::ranges::stable_sort(items_, [&](const Item& a, const Item& b) { return is_before(b, a); });
  } else {
    std::ranges::stable_sort(items_, is_before);
  }
  return {};
}

void Sorter::Cut() {
  const auto size = static_cast<int64_t>(items_.size());
  const int64_t first = std::clamp<int64_t>(options_.first, 0, size);
  const int64_t count = options_.count < 0 ? size - first : std::min(options_.count, size - first);
  items_.erase(items_.begin() + first + count, items_.end());
  items_.erase(items_.begin(), items_.begin() + first);
}

Result<std::vector<std::optional<Bytes>>> Sorter::Results() {
  std::vector<std::optional<Bytes>> results;
  if (options_.get.empty()) {
    for (Item& item : items_) results.emplace_back(std::move(item.element));
    return results;
  }
  std::vector<Found> columns(options_.get.size());
  for (size_t i = 0; i < columns.size(); ++i) KVARTS_CHECK_OK(LookUp(Pattern(options_.get[i]), &columns[i]));
  for (size_t row = 0; row < items_.size(); ++row) {
    for (Found& column : columns) {
      results.push_back(std::move(column.values[row]));
      TellMiss(column, row);
    }
  }
  return results;
}

}  // namespace

Result<std::vector<std::optional<Bytes>>> Sorted(Structures& keys, uint32_t database, Key& key,
                                                 const SortOptions& options) {
  if (!key.exists()) return std::vector<std::optional<Bytes>>();
  if (key.type() == Type::kString || key.type() == Type::kHash) return Refusal(kWrongType);
  KVARTS_TRY(const DatabaseId id, keys.IdOf(database));
  // What is looked up is looked up past the keys that are open.
  keys.Flush();
  Sorter sorter(keys, database, id, options);
  KVARTS_CHECK_OK(sorter.Gather(key));
  KVARTS_CHECK_OK(sorter.Order(key.type()));
  sorter.Cut();
  return sorter.Results();
}

}  // namespace kvarts::structure
