#include "model/structure/collection.h"

namespace kvarts::structure {

std::string_view TypeName(Type type) {
  switch (type) {
    case Type::kNone:
      return "none";
    case Type::kString:
      return "string";
    case Type::kList:
      return "list";
    case Type::kSet:
      return "set";
    case Type::kSortedSet:
      return "zset";
    case Type::kHash:
      return "hash";
  }
  return "none";
}

Result<Collection> DecodeCollection(Type type, Txn& txn, CollectionIds& ids, BytesView stored) {
  switch (type) {
    case Type::kList:
      return List::Decode(txn, ids, stored);
    case Type::kSet:
    case Type::kHash:
      return Members::Decode(txn, ids, stored);
    case Type::kSortedSet:
      return SortedSet::Decode(txn, ids, stored);
    case Type::kString:
      return LargeText::Decode(txn, ids, stored);
    default:
      return Error(ErrorCode::kCorruption, "a collection is of a type that there is not");
  }
}

Bytes EncodeCollection(Collection& collection) {
  return std::visit([](auto& held) { return held.Encode(); }, collection);
}

uint64_t SizeOf(const Collection& collection) {
  return std::visit([](const auto& held) { return held.size(); }, collection);
}

bool IsSpread(const Collection& collection) {
  return std::visit([](const auto& held) { return held.spread(); }, collection);
}

Timestamp StoredEarliest(const Collection& collection) {
  const auto* members = std::get_if<Members>(&collection);
  return members == nullptr ? kNever : members->stored_earliest();
}

Timestamp EarliestOf(const Collection& collection) {
  const auto* members = std::get_if<Members>(&collection);
  return members == nullptr ? kNever : members->Earliest();
}

void DropCollection(Collection& collection) {
  std::visit([](auto& held) { held.Drop(); }, collection);
}

Result<Collection> CopyCollection(Collection& collection) {
  return std::visit([](auto& held) -> Result<Collection> { return held.Copy(); }, collection);
}

}  // namespace kvarts::structure
