#include "model/structure/dump.h"

#include "model/structure/strings.h"

namespace kvarts::structure {
namespace {

Status VisitElements(Members& members, const VisitElement& visit) {
  return members.ForEach([&visit](BytesView name, BytesView) { visit(name); });
}

Status VisitElements(List& list, const VisitElement& visit) {
  return list.Visit({0, list.size()}, [&visit](BytesView element) {
    visit(element);
    return true;
  });
}

Status VisitElements(SortedSet& set, const VisitElement& visit) {
  return set.Visit(0, set.size(), false, [&visit](BytesView name, double) { visit(name); });
}

// It is no collection to those who ask for elements.
Status VisitElements(LargeText&, const VisitElement&) { return {}; }

Error TooLarge(const Key& key) {
  return Error(ErrorCode::kTooLarge, "a value is too large to be dumped at once",
               {{"limit", "max_commit_bytes"}, {"at_most", std::to_string(key.limits().max_commit_bytes)}});
}

Status AddFields(Key& key, RdbValue* value) {
  KVARTS_TRY(Members * hash, key.As<Members>(Type::kHash));
  uint64_t bytes = 0;
  KVARTS_CHECK_OK(hash->ForEachTimed([&](BytesView name, BytesView held, Timestamp expiry) {
    bytes += name.size() + held.size();
    if (bytes <= key.limits().max_commit_bytes) value->fields.push_back({Bytes(name), Bytes(held), expiry});
  }));
  return bytes > key.limits().max_commit_bytes ? Status(TooLarge(key)) : Status();
}

Status AddElements(Key& key, RdbValue* value) {
  uint64_t bytes = 0;
  KVARTS_CHECK_OK(ForEachElement(*key.collection(), [&](BytesView element) {
    bytes += element.size();
    if (bytes <= key.limits().max_commit_bytes) value->elements.emplace_back(element);
  }));
  return bytes > key.limits().max_commit_bytes ? Status(TooLarge(key)) : Status();
}

Status AddScored(Key& key, RdbValue* value) {
  KVARTS_TRY(SortedSet * set, key.As<SortedSet>(Type::kSortedSet));
  uint64_t bytes = 0;
  KVARTS_CHECK_OK(set->Visit(0, set->size(), false, [&](BytesView name, double score) {
    bytes += name.size() + sizeof(score);
    if (bytes <= key.limits().max_commit_bytes) value->scored.emplace_back(name, score);
  }));
  return bytes > key.limits().max_commit_bytes ? Status(TooLarge(key)) : Status();
}

Status PutList(Key& key, const RdbValue& value) {
  KVARTS_TRY(List * list, key.Make<List>(Type::kList));
  for (const Bytes& element : value.elements) KVARTS_CHECK_OK(list->Push(List::End::kTail, element));
  key.Changed();
  return {};
}

Status PutScored(Key& key, const RdbValue& value) {
  KVARTS_TRY(SortedSet * set, key.Make<SortedSet>(Type::kSortedSet));
  // There is no negative zero.
  for (const auto& [name, score] : value.scored) KVARTS_CHECK_OK(set->Put(name, score + 0.0, std::nullopt));
  key.Changed();
  return {};
}

Status PutMembers(Key& key, const RdbValue& value, Timestamp now) {
  KVARTS_TRY(Members * members, key.Make<Members>(value.type));
  for (const Bytes& element : value.elements) KVARTS_CHECK_OK(members->Put(element, {}));
  for (const RdbValue::Field& field : value.fields) {
    if (field.expiry <= now) continue;
    KVARTS_CHECK_OK(members->Put(field.name, field.value));
    if (field.expiry != kNever) KVARTS_CHECK_OK(members->SetExpiry(field.name, field.expiry));
  }
  key.Changed();
  return {};
}

}  // namespace

Status ForEachElement(Collection& collection, const VisitElement& visit) {
  return std::visit([&visit](auto& held) { return VisitElements(held, visit); }, collection);
}

Result<RdbValue> ValueOf(Key& key) {
  RdbValue value;
  value.type = key.type();
  switch (key.type()) {
    case Type::kString: {
      if (SizeOfText(key) > key.limits().max_commit_bytes) return TooLarge(key);
      KVARTS_TRY(value.text, TextOf(key));
      break;
    }
    case Type::kHash:
      KVARTS_CHECK_OK(AddFields(key, &value));
      break;
    case Type::kSortedSet:
      KVARTS_CHECK_OK(AddScored(key, &value));
      break;
    default:
      KVARTS_CHECK_OK(AddElements(key, &value));
  }
  return value;
}

Status PutValue(Key& key, RdbValue value) {
  key.Remove();
  switch (value.type) {
    case Type::kString:
      return key.SetText(std::move(value.text));
    case Type::kSet:
    case Type::kHash:
      return PutMembers(key, value, key.Now());
    case Type::kList:
      return PutList(key, value);
    case Type::kSortedSet:
      return PutScored(key, value);
    default:
      return Refusal(kBadFormat);
  }
}

}  // namespace kvarts::structure
