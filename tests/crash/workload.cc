#include "workload.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "support/commits.h"

namespace kvarts::test {
namespace {

constexpr std::array<std::string_view, kOpKinds> kKindNames = {
    "put",   "put-expiring", "erase", "fill", "erase-range", "add",   "conditional", "refused",
    "multi", "stamped",      "trim",  "run",  "race",        "owned", "blob"};

// The same everywhere and for ever, unlike std::hash.
uint64_t Mix(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}
uint64_t HashOf(const Op& op, uint64_t salt) { return Mix(Mix(op.number * kWriters + op.writer) + salt); }

std::string Slot(const char* name, const Op& op, uint64_t slots) {
  return fmt::format("{}/{}", name, op.number % slots);
}

std::string ValueOf(const Op& op) {
  const size_t filler = op.kind() == OpKind::kBlob ? 3000 + HashOf(op, 1) % 20'000 : HashOf(op, 2) % 200;
  return fmt::format("n{};", op.number) + std::string(filler, static_cast<char>('a' + op.number % 26));
}

int64_t DeltaOf(const Op& op) { return static_cast<int64_t>(1 + HashOf(op, 3) % 1000); }

std::string StampedKey(uint64_t number) { return fmt::format("w/s/#{:012}", number); }

std::string Described(const std::string& value, bool owned, Timestamp expiry) {
  return value + (owned ? "|owned" : "") + (expiry == kNever ? "" : fmt::format("|expires {}", expiry.micros));
}

void EraseBetween(OwnKeys* keys, const std::string& from, const std::string& to) {
  keys->erase(keys->lower_bound(from), keys->lower_bound(to));
}

std::string Sum(const std::string& text, int64_t delta) {
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return std::to_string(number + delta);
}

void AddPuts(const Op& op, std::vector<Mutation>* mutations) {
  OwnKeys written;
  ApplyTo(&written, op);
  for (const auto& [key, text] : written) {
    Mutation put = Mutation::Put(OwnPrefix(op.writer) + key, ValueOf(op));
    put.schema = static_cast<uint32_t>(op.number % 3);
    if (op.kind() == OpKind::kPutExpiring || op.kind() == OpKind::kOwned) put.expiry = {op.aux};
    put.owned = op.kind() == OpKind::kOwned;
    mutations->push_back(std::move(put));
  }
}

Mutation StampedPut(const Op& op) {
  const std::string prefix = OwnPrefix(op.writer) + "w/s/";
  const std::string value = ValueOf(op);
  Mutation put = Mutation::Put(prefix + std::string(8, '\0'), value + std::string(8, '\0'));
  put.key_stamp = static_cast<uint32_t>(prefix.size());
  put.value_stamp = static_cast<uint32_t>(value.size());
  return put;
}

}  // namespace

RocksOptions CrashOptions() {
  RocksOptions options;
  options.memory_budget = 8 << 20;
  options.hot_cache_bytes = 1 << 20;
  options.blob_min_bytes = 2 << 10;
  options.version_reserve = Duration::Millis(200);
  options.stall_patience = Duration::Seconds(60);
  options.keeper_interval = Duration::Millis(5);
  options.min_free_disk_bytes = 0;
  return options;
}

Status AssignProfiles(Engine& engine) {
  for (uint32_t writer = 0; writer < kWriters; ++writer) {
    const std::string prefix = OwnPrefix(writer);
    KVARTS_CHECK_OK(engine.AssignProfile(KeyRange::Prefix(prefix + "i/"), Profile::kIngest));
    KVARTS_CHECK_OK(engine.AssignProfile(KeyRange::Prefix(prefix + "n/"), Profile::kIngest));
    KVARTS_CHECK_OK(engine.AssignProfile(KeyRange::Prefix(prefix + "w/"), Profile::kWindow));
  }
  return {};
}

std::string_view OpKindName(OpKind kind) { return kKindNames.at(static_cast<size_t>(kind)); }

OpKind Op::kind() const { return static_cast<OpKind>(HashOf(*this, 4) % kOpKinds); }

// A group with one `sync` commit is synced as a whole, so there are times with hardly any, in which much can be lost.
Durability Op::durability() const {
  const uint64_t hash = HashOf(*this, 5) % 2048;
  const bool often = number / 128 % 4 == 0;
  if (hash < (often ? 256 : 2)) return Durability::kSync;
  return hash % 3 == 0 ? Durability::kInterval : Durability::kNone;
}

std::string Op::ToString() const {
  return fmt::format("writer {} operation {} ({}, {})", writer, number, OpKindName(kind()),
                     DurabilityName(durability()));
}

std::string OwnPrefix(uint32_t writer) { return fmt::format("t{:02}/", writer); }

void ApplyTo(OwnKeys* keys, const Op& op) {
  const auto put = [&](const std::string& key, bool owned = false, Timestamp expiry = kNever) {
    (*keys)[key] = Described(ValueOf(op), owned, expiry);
  };
  switch (op.kind()) {
    case OpKind::kPut:
      return put(Slot("a", op, 4));
    case OpKind::kPutExpiring:
      return put(Slot("x", op, 4), false, {op.aux});
    case OpKind::kErase:
      keys->erase(Slot("a", op, 4));
      return;
    case OpKind::kFill:
      put(Slot("h", op, 2));
      put(Slot("i", op, 2));
      return put(Slot("j", op, 2));
    case OpKind::kEraseRange:
      return EraseBetween(keys, "h/", "k");
    case OpKind::kAdd: {
      std::string& text = (*keys)[Slot("c", op, 2)];
      text = Sum(text, DeltaOf(op));
      return;
    }
    case OpKind::kConditional:
      return put(Slot("v", op, 2));
    case OpKind::kRefused:
      return;
    case OpKind::kMulti:
      put(Slot("m", op, 8));
      put(Slot("n", op, 8));
      return put(Slot("w/m", op, 8));
    case OpKind::kStamped:
      return put(StampedKey(op.number));
    case OpKind::kTrim:
      return EraseBetween(keys, "w/s/", StampedKey(op.aux));
    case OpKind::kRun:
    case OpKind::kRace:
      return put(Slot("r", op, 8));
    case OpKind::kOwned:
      return put(Slot("o", op, 4), true, {op.aux});
    case OpKind::kBlob:
      return put(Slot("b", op, 2));
  }
}

uint64_t NumberIn(const std::string& text) {
  uint64_t number = 0;
  if (text.starts_with('n')) std::from_chars(text.data() + 1, text.data() + text.size(), number);
  return number;
}

bool AddRecord(OwnKeys* keys, BytesView key, const Record& record) {
  if (key.starts_with("z/")) return true;  // may have been dropped, having expired
  const ValueHeader& header = record.header;
  if (key.starts_with("c/")) {
    (*keys)[std::string(key)] = std::to_string(CounterNumber(header, record.value));
    return header.kind == ValueKind::kCounter && header.marks == CounterMarks{};
  }
  if (!key.starts_with("w/s/")) {
    (*keys)[std::string(key)] = Described(record.value, header.owned, header.expiry);
    return header.schema == NumberIn(record.value) % 3;
  }
  key.remove_prefix(4);
  if (key.size() != 8 || record.value.size() < 8) return false;
  const std::string value = record.value.substr(0, record.value.size() - 8);
  (*keys)[StampedKey(NumberIn(value))] = Described(value, header.owned, header.expiry);
  return LoadBig<uint64_t>(key.data()) == header.version.stamp &&
         LoadBig<uint64_t>(record.value.data() + value.size()) == header.version.stamp;
}

std::string WitnessKey(const Op& op) {
  return OwnPrefix(op.writer) + (op.kind() == OpKind::kMulti ? Slot("m", op, 8) : Slot("r", op, 8));
}

std::optional<std::pair<std::string, std::string>> SharedPut(const Op& op) {
  if (op.kind() != OpKind::kMulti) return std::nullopt;
  return std::pair(Slot("s/k", op, 16), fmt::format("{}:{}", op.writer, op.number));
}

std::optional<std::pair<std::string, int64_t>> SharedAdd(const Op& op) {
  if (op.kind() != OpKind::kMulti) return std::nullopt;
  return std::pair(Slot("s/c", op, 4), DeltaOf(op));
}

std::optional<std::string> SharedNumber(const Op& op) {
  if (op.kind() != OpKind::kRun && op.kind() != OpKind::kRace) return std::nullopt;
  return Slot("s/r", op, 2);
}

Commit MakeOpCommit(const Op& op) {
  const std::string prefix = OwnPrefix(op.writer);
  Commit commit;
  commit.durability = op.durability();
  switch (op.kind()) {
    case OpKind::kErase:
      commit.mutations = {Mutation::Erase(prefix + Slot("a", op, 4))};
      break;
    case OpKind::kEraseRange:
      commit.mutations = {Mutation::EraseRange(prefix + "h/", prefix + "k")};
      break;
    case OpKind::kAdd:
      commit.mutations = {Mutation::Add(prefix + Slot("c", op, 2), DeltaOf(op))};
      break;
    case OpKind::kRefused:
      commit.preconditions = {Present(prefix + "never")};
      commit.mutations = {Mutation::Put(prefix + "never", "")};
      break;
    case OpKind::kStamped:
      commit.mutations = {StampedPut(op)};
      break;
    case OpKind::kTrim:
    case OpKind::kRun:
    case OpKind::kRace:
      break;
    default:
      AddPuts(op, &commit.mutations);
  }
  if (op.kind() == OpKind::kPutExpiring) {
    commit.mutations.push_back(Mutation::Put(prefix + Slot("z", op, 4), "soon gone", {op.aux % 1'000 + 1}));
  }
  if (const auto put = SharedPut(op)) commit.mutations.push_back(Mutation::Put(put->first, put->second));
  if (const auto add = SharedAdd(op)) commit.mutations.push_back(Mutation::Add(add->first, add->second));
  return commit;
}

Mutation TrimBefore(const Op& op, Version bound) {
  Bytes end = OwnPrefix(op.writer) + "w/s/";
  AppendBig(&end, bound.stamp);
  Mutation erase = Mutation::EraseRange(OwnPrefix(op.writer) + "w/s/", end);
  erase.reclaim = HashOf(op, 6) % 32 == 0;  // seldom, because it syncs the log
  return erase;
}

Status ReadAndAdd(const Op& op, View& view, Commit* commit) {
  const std::string key = *SharedNumber(op);
  KVARTS_TRY(const std::optional<Record> record, view.GetOne(key));
  Precondition unchanged = FromRead(record ? VersionIs(key, record->header.version) : Absent(key));
  unchanged.seen_at = view.version();
  commit->durability = op.durability();
  commit->preconditions = {std::move(unchanged)};
  commit->mutations = {Mutation::Put(key, Sum(record ? record->value : "", 1))};
  AddPuts(op, &commit->mutations);
  return {};
}

}  // namespace kvarts::test
