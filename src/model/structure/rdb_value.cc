#include "model/structure/rdb_value.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "model/structure/crc64.h"
#include "model/structure/rdb_reader.h"
#include "model/structure/refusals.h"
#include "model/structure/secret_hash.h"
#include "model/structure/strings.h"

namespace kvarts::structure {
namespace {

// The types of values. Those with numbers that are not here are of streams and modules, or no longer used.
enum RdbType : uint8_t {
  kString = 0,
  kList = 1,
  kSet = 2,
  kSortedSetText = 3,
  kHash = 4,
  kSortedSet = 5,
  kListZiplist = 10,
  kSetIntset = 11,
  kSortedSetZiplist = 12,
  kHashZiplist = 13,
  kListOfZiplists = 14,
  kHashListpack = 16,
  kSortedSetListpack = 17,
  kListOfListpacks = 18,
  kSetListpack = 20,
  kHashTimed = 24,
  kHashTimedListpack = 25,
};

// What Redis 7.0 writes, and what 7.4 does, which alone knows of fields that expire.
constexpr uint16_t kVersion = 10;
constexpr uint16_t kTimedVersion = 12;
constexpr size_t kFooterBytes = 10;

constexpr uint64_t kMicros = 1000;

// So that a string of the limit's size fits.
constexpr uint64_t kAroundText = 64;

using Visit = RdbReader::Visit;

// In lists since 7.0 an element that is large stands by itself.
void ReadListOfListpacks(RdbReader& reader, RdbValue* value) {
  constexpr uint64_t kAlone = 1;
  constexpr uint64_t kPacked = 2;
  const uint64_t nodes = reader.Count();
  for (uint64_t i = 0; i < nodes && reader.ok(); ++i) {
    const uint64_t kind = reader.Length();
    Bytes node = reader.String();
    if (kind == kAlone) {
      value->elements.push_back(std::move(node));
    } else if (kind != kPacked ||
               !reader.ForEachInListpack(node, [value](BytesView element) { value->elements.emplace_back(element); })) {
      reader.Fail();
    }
  }
}

void ReadElements(RdbReader& reader, uint8_t type, RdbValue* value) {
  const Visit add = [value](BytesView element) { value->elements.emplace_back(element); };
  bool sound = true;
  if (type == kSetIntset) {
    sound = reader.ForEachInIntset(reader.String(), add);
  } else if (type == kListZiplist) {
    sound = reader.ForEachInZiplist(reader.String(), add);
  } else if (type == kSetListpack) {
    sound = reader.ForEachInListpack(reader.String(), add);
  } else if (type == kListOfListpacks) {
    ReadListOfListpacks(reader, value);
  } else {
    const uint64_t count = reader.Count();
    for (uint64_t i = 0; i < count && reader.ok() && sound; ++i) {
      Bytes element = reader.String();
      if (type == kListOfZiplists) {
        sound = reader.ForEachInZiplist(element, add);
      } else {
        value->elements.push_back(std::move(element));
      }
    }
  }
  if (!sound) reader.Fail();
}

// Names and what belongs to them, as they follow each other.
std::vector<Bytes> ReadPacked(RdbReader& reader, bool ziplist) {
  std::vector<Bytes> all;
  const Visit add = [&all](BytesView element) { all.emplace_back(element); };
  const Bytes packed = reader.String();
  const bool sound = ziplist ? reader.ForEachInZiplist(packed, add) : reader.ForEachInListpack(packed, add);
  if (!sound) reader.Fail();
  return all;
}

void ReadScored(RdbReader& reader, uint8_t type, RdbValue* value) {
  if (type == kSortedSet || type == kSortedSetText) {
    const uint64_t count = reader.Count();
    for (uint64_t i = 0; i < count && reader.ok(); ++i) {
      Bytes name = reader.String();
      value->scored.emplace_back(std::move(name), type == kSortedSet ? reader.Double() : reader.TextDouble());
    }
  } else {
    std::vector<Bytes> all = ReadPacked(reader, type == kSortedSetZiplist);
    if (all.size() % 2 != 0) reader.Fail();
    for (size_t i = 0; i + 1 < all.size(); i += 2) {
      const std::optional<long double> score = ParseFloat(all[i + 1]);
      if (!score) reader.Fail();
      value->scored.emplace_back(std::move(all[i]), static_cast<double>(score.value_or(0)));
    }
  }
  if (std::ranges::any_of(value->scored, [](const auto& scored) { return std::isnan(scored.second); })) reader.Fail();
}

// In milliseconds; zero: never.
Timestamp ExpiryOf(RdbReader& reader, uint64_t millis) {
  if (millis == 0) return kNever;
  if (millis >= kNever.micros / kMicros) reader.Fail();
  // The last there is, in milliseconds, so that it is the same when it is told again.
  constexpr Timestamp kLast{kLastTimestamp.micros / kMicros * kMicros};
  return std::min(Timestamp{millis * kMicros}, kLast);
}

void ReadFields(RdbReader& reader, uint8_t type, RdbValue* value) {
  const bool timed = type == kHashTimed || type == kHashTimedListpack;
  const uint64_t earliest = timed ? reader.Fixed(sizeof(uint64_t)) : 0;
  if (type == kHash || type == kHashTimed) {
    const uint64_t count = reader.Count();
    for (uint64_t i = 0; i < count && reader.ok(); ++i) {
      // One more than what it lies behind the earliest.
      const uint64_t behind = timed ? reader.Length() : 0;
      uint64_t millis = 0;
      if (behind != 0 && __builtin_add_overflow(earliest, behind - 1, &millis)) reader.Fail();
      Bytes name = reader.String();
      Bytes held = reader.String();
      value->fields.push_back({std::move(name), std::move(held), ExpiryOf(reader, millis)});
    }
    return;
  }
  std::vector<Bytes> all = ReadPacked(reader, type == kHashZiplist);
  const size_t each = timed ? 3 : 2;
  if (all.size() % each != 0) reader.Fail();
  for (size_t i = 0; i + each <= all.size(); i += each) {
    const std::optional<int64_t> millis = timed ? ParseInteger(all[i + 2]) : 0;
    if (!millis || *millis < 0) reader.Fail();
    const Timestamp expiry = ExpiryOf(reader, static_cast<uint64_t>(std::max<int64_t>(millis.value_or(0), 0)));
    value->fields.push_back({std::move(all[i]), std::move(all[i + 1]), expiry});
  }
}

RdbValue ReadValue(RdbReader& reader) {
  RdbValue value;
  const uint8_t type = reader.Byte();
  switch (type) {
    case kString:
      value.type = Type::kString;
      value.text = reader.String();
      break;
    case kList:
    case kListZiplist:
    case kListOfZiplists:
    case kListOfListpacks:
      value.type = Type::kList;
      ReadElements(reader, type, &value);
      break;
    case kSet:
    case kSetIntset:
    case kSetListpack:
      value.type = Type::kSet;
      ReadElements(reader, type, &value);
      break;
    case kSortedSet:
    case kSortedSetText:
    case kSortedSetZiplist:
    case kSortedSetListpack:
      value.type = Type::kSortedSet;
      ReadScored(reader, type, &value);
      break;
    case kHash:
    case kHashZiplist:
    case kHashListpack:
    case kHashTimed:
    case kHashTimedListpack:
      value.type = Type::kHash;
      ReadFields(reader, type, &value);
      break;
    default:
      reader.Fail();
  }
  return value;
}

// No collection is empty, and no name is there twice.
bool IsSound(const RdbValue& value) {
  std::unordered_set<BytesView, SecretHash> names;
  const auto is_new = [&names](BytesView name) { return names.insert(name).second; };
  switch (value.type) {
    case Type::kList:
      return !value.elements.empty();
    case Type::kSet:
      return !value.elements.empty() && std::ranges::all_of(value.elements, is_new);
    case Type::kSortedSet:
      return !value.scored.empty() &&
             std::ranges::all_of(value.scored, [&](const auto& scored) { return is_new(scored.first); });
    case Type::kHash:
      return !value.fields.empty() &&
             std::ranges::all_of(value.fields, [&](const auto& field) { return is_new(field.name); });
    default:
      return true;
  }
}

void AppendFields(const std::vector<RdbValue::Field>& fields, bool timed, Bytes* dump) {
  const uint64_t earliest = std::ranges::min_element(fields, {}, &RdbValue::Field::expiry)->expiry.micros / kMicros;
  if (timed) AppendLittle(dump, earliest);
  AppendRdbLength(dump, fields.size());
  for (const RdbValue::Field& field : fields) {
    const bool expires = field.expiry != kNever;
    if (timed) AppendRdbLength(dump, expires ? field.expiry.micros / kMicros - earliest + 1 : 0);
    AppendRdbString(dump, field.name);
    AppendRdbString(dump, field.value);
  }
}

}  // namespace

Bytes DumpOf(const RdbValue& value) {
  const bool timed = std::ranges::any_of(value.fields, [](const auto& field) { return field.expiry != kNever; });
  Bytes dump;
  const auto begin = [&dump](RdbType type) { dump.push_back(static_cast<char>(type)); };
  switch (value.type) {
    case Type::kList:
    case Type::kSet:
      begin(value.type == Type::kList ? kList : kSet);
      AppendRdbLength(&dump, value.elements.size());
      for (const Bytes& element : value.elements) AppendRdbString(&dump, element);
      break;
    case Type::kSortedSet:
      begin(kSortedSet);
      AppendRdbLength(&dump, value.scored.size());
      for (const auto& [name, score] : value.scored) {
        AppendRdbString(&dump, name);
        AppendRdbDouble(&dump, score);
      }
      break;
    case Type::kHash:
      begin(timed ? kHashTimed : kHash);
      AppendFields(value.fields, timed, &dump);
      break;
    default:
      begin(kString);
      AppendRdbString(&dump, value.text);
  }
  AppendLittle(&dump, timed ? kTimedVersion : kVersion);
  AppendLittle(&dump, Crc64(dump));
  return dump;
}

Result<RdbValue> ValueOfDump(BytesView dump, uint64_t max_bytes) {
  if (dump.size() < kFooterBytes) return Refusal(kWrongPayload);
  const BytesView checked = dump.substr(0, dump.size() - sizeof(uint64_t));
  const BytesView held = dump.substr(0, dump.size() - kFooterBytes);
  RdbReader version(checked.substr(held.size()), 0);
  RdbReader sum(dump.substr(checked.size()), 0);
  if (version.Fixed(sizeof(uint16_t)) > kTimedVersion || sum.Fixed(sizeof(uint64_t)) != Crc64(checked)) {
    return Refusal(kWrongPayload);
  }
  RdbReader reader(held, max_bytes + kAroundText);
  RdbValue value = ReadValue(reader);
  if (reader.too_large()) {
    return Error(ErrorCode::kTooLarge, "a value is too large to be restored at once",
                 {{"limit", "max_commit_bytes"}, {"at_most", std::to_string(max_bytes)}});
  }
  if (!reader.Finished() || !IsSound(value)) return Refusal(kBadFormat);
  return value;
}

}  // namespace kvarts::structure
