#include "model/access/user_record.h"

#include <algorithm>

#include "core/fields.h"
#include "core/keyspace.h"

namespace kvarts {
namespace {

constexpr uint8_t kFormat = 1;
constexpr uint8_t kAllKeys = 1;
constexpr uint8_t kAllChannels = 2;
constexpr uint8_t kAllSelectorFlags = 3;

constexpr std::string_view kSettingsName = "user";

void AppendSelector(const SelectorRecord& selector, Bytes* bytes) {
  bytes->push_back(static_cast<char>((selector.all_keys ? kAllKeys : 0) | (selector.all_channels ? kAllChannels : 0)));
  AppendVarint(bytes, selector.keys.size());
  for (const KeyPattern& key : selector.keys) {
    bytes->push_back(static_cast<char>(key.access));
    AppendSized(bytes, key.pattern);
  }
  AppendVarint(bytes, selector.channels.size());
  for (const Bytes& channel : selector.channels) AppendSized(bytes, channel);
  AppendVarint(bytes, selector.commands.size());
  for (const Bytes& rule : selector.commands) AppendSized(bytes, rule);
}

SelectorRecord TakeSelector(FieldReader* fields) {
  SelectorRecord selector;
  const uint8_t flags = fields->Byte(kAllSelectorFlags);
  selector.all_keys = (flags & kAllKeys) != 0;
  selector.all_channels = (flags & kAllChannels) != 0;
  const uint64_t keys = fields->Varint(UserRecord::kMaxBytes);
  for (uint64_t i = 0; i < keys && fields->ok(); ++i) {
    KeyPattern key;
    key.access = fields->Byte(KeyPattern::kBoth);
    fields->Require(key.access != 0, "a pattern that allows nothing");
    key.pattern = fields->Sized();
    selector.keys.push_back(std::move(key));
  }
  const uint64_t channels = fields->Varint(UserRecord::kMaxBytes);
  for (uint64_t i = 0; i < channels && fields->ok(); ++i) selector.channels.emplace_back(fields->Sized());
  const uint64_t rules = fields->Varint(UserRecord::kMaxBytes);
  for (uint64_t i = 0; i < rules && fields->ok(); ++i) selector.commands.emplace_back(fields->Sized());
  return selector;
}

Error TooLarge(const char* text, size_t at_most, size_t is) {
  return Error(ErrorCode::kTooLarge, text, {{"at_most", std::to_string(at_most)}, {"is", std::to_string(is)}});
}

}  // namespace

Result<Bytes> UserRecord::Encode() const {
  if (name.size() > kMaxNameBytes) return TooLarge("the name of the user is too long", kMaxNameBytes, name.size());
  Bytes bytes;
  bytes.push_back(static_cast<char>(kFormat));
  bytes.push_back(static_cast<char>(flags));
  bytes.append(id);
  AppendVarint(&bytes, passwords.size());
  for (const Digest& password : passwords) bytes.append(password.view());
  AppendVarint(&bytes, selectors.size());
  for (const SelectorRecord& selector : selectors) AppendSelector(selector, &bytes);
  if (bytes.size() > kMaxBytes) return TooLarge("the rules of the user are too long", kMaxBytes, bytes.size());
  return bytes;
}

Result<UserRecord> UserRecord::Decode(BytesView bytes) {
  FieldReader fields(bytes);
  UserRecord user;
  fields.Require(bytes.size() <= kMaxBytes, "a user that is too long");
  fields.Require(fields.Byte() == kFormat, "an unknown format");
  user.flags = fields.Byte(kAllFlags);
  user.id = fields.Raw(kIdBytes);
  const uint64_t passwords = fields.Varint(kMaxBytes);
  for (uint64_t i = 0; i < passwords && fields.ok(); ++i) {
    const BytesView hash = fields.Raw(Digest::kSize);
    if (fields.ok()) std::ranges::copy(hash, user.passwords.emplace_back().bytes.begin());
  }
  const uint64_t selectors = fields.Varint(kMaxBytes);
  fields.Require(selectors > 0, "a user without a selector");
  for (uint64_t i = 0; i < selectors && fields.ok(); ++i) user.selectors.push_back(TakeSelector(&fields));
  KVARTS_CHECK_OK(fields.Finish("the user is damaged"));
  return user;
}

Result<UserRecord> UserRecord::FromStored(BytesView key, BytesView value) {
  KVARTS_TRY(UserRecord user, Decode(value));
  KVARTS_TRY(user.name, UserNameOfKey(key));
  return user;
}

KeyBuffer UserKeyOfName(BytesView name) {
  KeyBuffer key;
  BeginKey(&key, Space::kSettings).Text(kSettingsName).Bytes(name);
  return key;
}

Result<Bytes> UserNameOfKey(BytesView key) {
  TupleReader reader(key);
  KVARTS_CHECK_OK(reader.Skip());
  KVARTS_CHECK_OK(reader.Skip());
  KVARTS_TRY(Bytes name, reader.TakeBytes());
  KVARTS_CHECK_OK(reader.Finish());
  return name;
}

const KeyRange& UserKeys() {
  static const KeyRange kRange = [] {
    KeyBuffer key;
    BeginKey(&key, Space::kSettings).Text(kSettingsName);
    return TupleExtensionRange(key);
  }();
  return kRange;
}

}  // namespace kvarts
