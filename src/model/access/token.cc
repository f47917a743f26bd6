#include "model/access/token.h"

#include <algorithm>

#include "base/base64.h"

namespace kvarts {
namespace {

constexpr size_t kSecretBytes = 32;

Result<TokenRecord> Stored(Txn& txn, const TokenId& id) {
  const KeyBuffer key = TokenKey(id);
  KVARTS_TRY(const std::optional<Record> record, txn.Get(key));
  if (!record) return Error(ErrorCode::kNotFound, "there is no such token", {{"token", Escaped(id.text)}});
  return TokenRecord::FromStored(key, record->value, record->header.expiry);
}

Status Save(Txn& txn, const TokenRecord& token) {
  KVARTS_TRY(const Bytes bytes, token.Encode());
  txn.Put(TokenKey(token.info.id), bytes, {.expiry = token.info.expiry});
  return {};
}

// Calls `take(entry)`, which returns a Status, for every token.
template <class Take>
Status ForEach(Txn& txn, bool keys_only, const Take& take) {
  ScanRequest request;
  request.range = TokenKeys();
  request.keys_only = keys_only;
  request.max_entries = txn.limits().max_page_entries;
  while (true) {
    KVARTS_TRY(const ScanPage page, txn.Scan(request));
    for (size_t i = 0; i < page.size(); ++i) KVARTS_CHECK_OK(take(page[i]));
    if (!page.rest()) return {};
    request.range = *page.rest();
  }
}

Status CheckRoom(Txn& txn) {
  size_t count = 0;
  KVARTS_CHECK_OK(ForEach(txn, true, [&](const ScanPage::Entry&) -> Status {
    ++count;
    return {};
  }));
  if (count < kMaxTokens) return {};
  return Error(ErrorCode::kTooLarge, "there are too many tokens",
               {{"limit", "max_tokens"}, {"at_most", std::to_string(kMaxTokens)}});
}

}  // namespace

Result<CreatedToken> CreateToken(Txn& txn, const NewToken& token) {
  const std::string secret = ToBase64Url(RandomBytes(kSecretBytes));
  TokenRecord record;
  record.info = {.id = TokenId::Random(),
                 .name = token.name,
                 .created = txn.Now(),
                 .expiry = kNever,
                 .scopes = token.scopes,
                 .limit = token.limit,
                 .disabled = false};
  record.hash = Sha256(secret);
  if (token.ttl) {
    KVARTS_TRY(record.info.expiry, ExpiryAfter(record.info.created, *token.ttl));
  }
  KVARTS_CHECK_OK(record.info.Check());
  KVARTS_CHECK_OK(CheckRoom(txn));
  KVARTS_CHECK_OK(Save(txn, record));
  txn.Put(TokensMarkKey(), {});
  return CreatedToken{TokenText::Make(record.info.id, secret), std::move(record.info)};
}

Result<std::vector<TokenInfo>> ListTokens(Txn& txn) {
  std::vector<TokenInfo> tokens;
  KVARTS_CHECK_OK(ForEach(txn, false, [&](const ScanPage::Entry& entry) -> Status {
    KVARTS_TRY(TokenRecord token, TokenRecord::FromStored(entry.key, entry.value, entry.header.expiry));
    tokens.push_back(std::move(token.info));
    return {};
  }));
  return tokens;
}

Result<TokenInfo> GetToken(Txn& txn, const TokenId& id) {
  KVARTS_TRY(TokenRecord token, Stored(txn, id));
  return std::move(token.info);
}

Status CheckSomebodyIsLeft(Txn& txn, const TokenId& id, TokenChange change) {
  KVARTS_TRY(const std::vector<TokenInfo> tokens, ListTokens(txn));
  const auto administers = [](const TokenInfo& token) { return !token.disabled && AllowsAdmin(token.scopes); };
  const auto is_it = [&](const TokenInfo& token) { return token.id.text == id.text; };
  const auto it = std::ranges::find_if(tokens, is_it);
  if (it == tokens.end() || !administers(*it)) return {};
  const auto is_other = [&](const TokenInfo& token) { return !is_it(token) && administers(token); };
  if (std::ranges::any_of(tokens, is_other)) return {};
  if (change == TokenChange::kRevoke && tokens.size() == 1) return {};
  return Error(ErrorCode::kPreconditionFailed, "this is the last token that gives admin over everything",
               {{"token", Escaped(id.text)}, {"advice", "make another one first, or revoke all others before it"}});
}

Status RevokeToken(Txn& txn, const TokenId& id) {
  // One that is damaged can be revoked as well.
  KVARTS_TRY(const std::optional<Record> record, txn.Get(TokenKey(id)));
  if (!record) return Error(ErrorCode::kNotFound, "there is no such token", {{"token", Escaped(id.text)}});
  txn.Erase(TokenKey(id));
  ScanRequest others;
  others.range = TokenKeys();
  others.keys_only = true;
  others.max_entries = 1;
  KVARTS_TRY(const ScanPage left, txn.Scan(others));
  if (left.empty()) txn.Erase(TokensMarkKey());
  return {};
}

Status SetTokenDisabled(Txn& txn, const TokenId& id, bool disabled) {
  KVARTS_TRY(TokenRecord token, Stored(txn, id));
  if (token.info.disabled == disabled) return {};
  token.info.disabled = disabled;
  return Save(txn, token);
}

}  // namespace kvarts
