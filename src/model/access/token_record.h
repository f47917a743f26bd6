// What is stored about a token (FORMAT.md), and the text that its bearer has.
//
// The text is `kv_ID_SECRET`. The id is what people and tools call the token by; the secret is 32 random bytes in
// base64url. Stored is the SHA-256 of the secret as it is written. A slow hash would add nothing: those are there
// because people choose passwords that can be guessed, and nobody guesses 256 random bits. When the token expires is
// the expiry of its record.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/digest.h"
#include "encoding/key_buffer.h"
#include "encoding/key_range.h"
#include "model/access/rate_limiter.h"
#include "model/access/scope.h"

namespace kvarts {

struct TokenId {
  static constexpr size_t kChars = 12;

  std::string text;  // of digits and small letters without i, l, o and u

  // Sixty random bits.
  static TokenId Random();
  // `invalid_argument` when it is none.
  static Result<TokenId> Parse(std::string_view text);
  friend auto operator<=>(const TokenId&, const TokenId&) = default;
};

// The two parts of a token's text, borrowed from it.
struct TokenText {
  static constexpr size_t kSecretChars = 43;

  std::string_view id;
  std::string_view secret;

  // Nothing when the text has another form.
  static std::optional<TokenText> Parse(std::string_view text);
  static std::string Make(const TokenId& id, std::string_view secret);
};

// What anybody who may look at tokens may know of one.
struct TokenInfo {
  static constexpr size_t kMaxNameBytes = 128;
  static constexpr size_t kMaxScopes = 16;

  TokenId id;
  std::string name;  // for people; not empty, and need not be unique
  Timestamp created;
  Timestamp expiry = kNever;
  std::vector<Scope> scopes;  // 1 to kMaxScopes
  std::optional<RateLimit> limit;
  bool disabled = false;

  // `invalid_argument` or `too_large` when a field is not as it must be.
  Status Check() const;
  friend bool operator==(const TokenInfo&, const TokenInfo&) = default;
};

struct TokenRecord {
  TokenInfo info;  // without id and expiry when it comes from bytes alone
  Digest hash;     // of the secret

  // As Check.
  Result<Bytes> Encode() const;
  // Any bytes are a token or `corruption`.
  static Result<TokenRecord> Decode(BytesView bytes);
  // From its place in the settings space.
  static Result<TokenRecord> FromStored(BytesView key, BytesView value, Timestamp expiry);

  friend bool operator==(const TokenRecord&, const TokenRecord&) = default;
};

// (1, "token", text id).
KeyBuffer TokenKey(const TokenId& id);
Result<TokenId> TokenOfKey(BytesView key);
// All of them.
const KeyRange& TokenKeys();
// (1, "tokens"): there has been a token since the last one was revoked. Records of tokens go when they expire; this
// stays, so that a store whose tokens have all expired is not taken for one without.
const Bytes& TokensMarkKey();

}  // namespace kvarts
