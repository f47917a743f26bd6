// What is stored about a user of Redis' protocol (FORMAT.md): with which passwords it may come, and which commands it
// may carry out on which keys and channels.
//
// A user has one or more selectors, the first of which is the one that it has always. It may do what one of them allows
// by itself. Which commands those are is told in rules ("+@all", "-@dangerous", "+info"), so that a category means what
// it means to the server that reads it; this layer knows no commands, and takes any text.
//
// The id tells a user from an earlier one of the same name. A password is kept as its SHA-256, as Redis keeps it, and
// as the rules of its users name it: people choose them, so whoever can read the records can guess.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "encoding/key_buffer.h"
#include "encoding/key_range.h"

namespace kvarts {

inline constexpr std::string_view kDefaultUser = "default";

struct KeyPattern {
  // The numbers are the bits on disk.
  static constexpr uint8_t kReads = 1;
  static constexpr uint8_t kWrites = 2;
  static constexpr uint8_t kBoth = 3;

  Bytes pattern;
  uint8_t access = kBoth;

  friend bool operator==(const KeyPattern&, const KeyPattern&) = default;
};

struct SelectorRecord {
  bool all_keys = false;
  bool all_channels = false;
  std::vector<KeyPattern> keys = {};
  std::vector<Bytes> channels = {};
  std::vector<Bytes> commands = {};  // rules, in their order

  friend bool operator==(const SelectorRecord&, const SelectorRecord&) = default;
};

struct UserRecord {
  static constexpr size_t kMaxNameBytes = 255;
  static constexpr size_t kMaxBytes = 64 << 10;
  static constexpr size_t kIdBytes = 8;

  // The numbers are the bits on disk.
  enum Flag : uint8_t {
    kOn = 1,
    kNoPassword = 2,  // any will do
    // What Redis' rules know, and nothing here goes by: what RESTORE is given is always checked.
    kSanitizes = 4,
    kSkipsSanitizing = 8,
    kAllFlags = 15,
  };

  Bytes name = {};
  Bytes id = {};
  uint8_t flags = 0;
  std::vector<Digest> passwords = {};
  std::vector<SelectorRecord> selectors = {};

  bool Is(Flag flag) const { return (flags & flag) != 0; }

  // `too_large` when the name is too long, or what is stored.
  Result<Bytes> Encode() const;
  // Any bytes are a user without a name, or `corruption`.
  static Result<UserRecord> Decode(BytesView bytes);
  // From its place in the settings space.
  static Result<UserRecord> FromStored(BytesView key, BytesView value);

  friend bool operator==(const UserRecord&, const UserRecord&) = default;
};

// (1, "user", bytes name).
KeyBuffer UserKeyOfName(BytesView name);
Result<Bytes> UserNameOfKey(BytesView key);
// All of them.
const KeyRange& UserKeys();

}  // namespace kvarts
