// Making, listing and revoking tokens: plain functions over a transaction.
//
// They check nothing about who asks; whoever calls them for somebody has asked AllowsAdmin. A change holds for every
// request that begins after its commit is acknowledged (tokens.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/txn.h"
#include "model/access/token_record.h"

namespace kvarts {

// So many there may be at a time: all of them are kept in memory.
constexpr size_t kMaxTokens = 10'000;

struct NewToken {
  std::string name;
  std::vector<Scope> scopes;
  std::optional<Duration> ttl;
  std::optional<RateLimit> limit;
};

struct CreatedToken {
  std::string text;  // what its bearer is given; it is stored nowhere
  TokenInfo info;
};

Result<CreatedToken> CreateToken(Txn& txn, const NewToken& token);
// In the order of their ids.
Result<std::vector<TokenInfo>> ListTokens(Txn& txn);
// `not_found` when there is none, as in the following.
Result<TokenInfo> GetToken(Txn& txn, const TokenId& id);
// That somebody else could still administer everything if this token were not in force any more:
// `precondition_failed`, since who would be locked out cannot undo it. Fine of a token that cannot do so anyway, and of
// the only one there is if it is to be revoked, since then there are no tokens.
enum class TokenChange : uint8_t { kRevoke, kDisable };
Status CheckSomebodyIsLeft(Txn& txn, const TokenId& id, TokenChange change);
// For good. With the last one the store is as it was before there were tokens.
Status RevokeToken(Txn& txn, const TokenId& id);
// Until it is enabled again; its expiry stays what it is.
Status SetTokenDisabled(Txn& txn, const TokenId& id, bool disabled);

}  // namespace kvarts
