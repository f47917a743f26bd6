#include "model/access/token_record.h"

#include <algorithm>

#include "core/fields.h"
#include "core/keyspace.h"

namespace kvarts {
namespace {

constexpr uint8_t kFormat = 1;
constexpr uint8_t kDisabled = 1;
constexpr uint8_t kHasLimit = 2;
constexpr uint8_t kAllFlags = 3;

constexpr std::string_view kSettingsName = "token";
constexpr std::string_view kMarkName = "tokens";
constexpr std::string_view kTextBegins = "kv_";
// Crockford's 32: none is taken for another when it is read out.
constexpr std::string_view kIdAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";

bool IsId(std::string_view text) {
  return text.size() == TokenId::kChars && text.find_first_not_of(kIdAlphabet) == text.npos;
}

bool IsSecretChar(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

// Names stand in logs and tables, a line each.
bool IsLine(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

Error TooLarge(const char* field, size_t at_most, size_t is) {
  return Error(ErrorCode::kTooLarge, "a field of the token is too long",
               {{"field", field}, {"at_most", std::to_string(at_most)}, {"is", std::to_string(is)}});
}

Scope TakeScope(FieldReader* fields) {
  Scope scope;
  scope.rights = Rights::FromBits(fields->Byte(Rights::kAllBits));
  scope.where = static_cast<Scope::Where>(fields->Byte(static_cast<uint8_t>(Scope::Where::kTables)));
  if (scope.where != Scope::Where::kEverything) scope.what = fields->Sized(Scope::kMaxPrefixBytes);
  fields->Require(scope.Check().has_value(), "a scope that is none");
  return scope;
}

}  // namespace

TokenId TokenId::Random() {
  std::string text = RandomBytes(kChars);
  for (char& c : text) c = kIdAlphabet[static_cast<unsigned char>(c) % kIdAlphabet.size()];
  return {std::move(text)};
}

Result<TokenId> TokenId::Parse(std::string_view text) {
  if (IsId(text)) return TokenId{std::string(text)};
  return Error(ErrorCode::kInvalidArgument, "this is not the id of a token");
}

std::optional<TokenText> TokenText::Parse(std::string_view text) {
  if (text.size() != kTextBegins.size() + TokenId::kChars + 1 + kSecretChars) return std::nullopt;
  if (!text.starts_with(kTextBegins)) return std::nullopt;
  text.remove_prefix(kTextBegins.size());
  const TokenText parts{text.substr(0, TokenId::kChars), text.substr(TokenId::kChars + 1)};
  if (text[TokenId::kChars] != '_' || !IsId(parts.id) || !std::ranges::all_of(parts.secret, IsSecretChar)) {
    return std::nullopt;
  }
  return parts;
}

std::string TokenText::Make(const TokenId& id, std::string_view secret) {
  return std::string(kTextBegins).append(id.text).append("_").append(secret);
}

Status TokenInfo::Check() const {
  if (name.empty()) return Error(ErrorCode::kInvalidArgument, "a token needs a name");
  if (name.size() > kMaxNameBytes) return TooLarge("name", kMaxNameBytes, name.size());
  if (!IsLine(name)) return Error(ErrorCode::kInvalidArgument, "a token's name is one line of text");
  if (scopes.empty()) return Error(ErrorCode::kInvalidArgument, "a token needs a scope");
  if (scopes.size() > kMaxScopes) return TooLarge("scopes", kMaxScopes, scopes.size());
  for (const Scope& scope : scopes) KVARTS_CHECK_OK(scope.Check());
  if (limit && (limit->per_second == 0 || limit->burst == 0)) {
    return Error(ErrorCode::kInvalidArgument, "a rate limit lets something through: rate and burst are at least 1");
  }
  return {};
}

Result<Bytes> TokenRecord::Encode() const {
  KVARTS_CHECK_OK(info.Check());
  Bytes bytes;
  bytes.push_back(static_cast<char>(kFormat));
  bytes.push_back(static_cast<char>((info.disabled ? kDisabled : 0) | (info.limit ? kHasLimit : 0)));
  AppendBig(&bytes, info.created.micros);
  bytes.append(hash.view());
  AppendSized(&bytes, info.name);
  if (info.limit) AppendVarint(&bytes, info.limit->per_second);
  if (info.limit) AppendVarint(&bytes, info.limit->burst);
  AppendVarint(&bytes, info.scopes.size());
  for (const Scope& scope : info.scopes) {
    bytes.push_back(static_cast<char>(scope.rights.bits()));
    bytes.push_back(static_cast<char>(scope.where));
    if (scope.where != Scope::Where::kEverything) AppendSized(&bytes, scope.what);
  }
  return bytes;
}

Result<TokenRecord> TokenRecord::Decode(BytesView bytes) {
  FieldReader fields(bytes);
  TokenRecord token;
  fields.Require(fields.Byte() == kFormat, "an unknown format");
  const uint8_t flags = fields.Byte(kAllFlags);
  token.info.disabled = (flags & kDisabled) != 0;
  token.info.created = fields.TakeTime();
  std::ranges::copy(fields.Raw(Digest::kSize), token.hash.bytes.begin());
  token.info.name = fields.Sized(TokenInfo::kMaxNameBytes);
  if ((flags & kHasLimit) != 0) {
    token.info.limit.emplace();
    token.info.limit->per_second = static_cast<uint32_t>(fields.Varint(UINT32_MAX));
    token.info.limit->burst = static_cast<uint32_t>(fields.Varint(UINT32_MAX));
  }
  const uint64_t scopes = fields.Varint(TokenInfo::kMaxScopes);
  for (uint64_t i = 0; i < scopes && fields.ok(); ++i) token.info.scopes.push_back(TakeScope(&fields));
  fields.Require(token.info.Check().has_value(), "a field that no token has");
  KVARTS_CHECK_OK(fields.Finish("the token is damaged"));
  return token;
}

Result<TokenRecord> TokenRecord::FromStored(BytesView key, BytesView value, Timestamp expiry) {
  KVARTS_TRY(TokenRecord token, Decode(value));
  KVARTS_TRY(token.info.id, TokenOfKey(key));
  token.info.expiry = expiry;
  return token;
}

KeyBuffer TokenKey(const TokenId& id) {
  KeyBuffer key;
  BeginKey(&key, Space::kSettings).Text(kSettingsName).Text(id.text);
  return key;
}

Result<TokenId> TokenOfKey(BytesView key) {
  TupleReader reader(key);
  KVARTS_CHECK_OK(reader.Skip());
  KVARTS_CHECK_OK(reader.Skip());
  KVARTS_TRY(const Bytes id, reader.TakeText());
  KVARTS_CHECK_OK(reader.Finish());
  if (!IsId(id)) return Error(ErrorCode::kCorruption, "the key of the token is damaged");
  return TokenId{id};
}

const Bytes& TokensMarkKey() {
  static const Bytes kKey = [] {
    KeyBuffer key;
    BeginKey(&key, Space::kSettings).Text(kMarkName);
    return Bytes(key.view());
  }();
  return kKey;
}

const KeyRange& TokenKeys() {
  static const KeyRange kRange = [] {
    KeyBuffer key;
    BeginKey(&key, Space::kSettings).Text(kSettingsName);
    return TupleExtensionRange(key);
  }();
  return kRange;
}

}  // namespace kvarts
