#include "model/structure/bits.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "model/structure/strings.h"

namespace kvarts::structure {
namespace {

constexpr uint64_t kWordBits = 64;
// More than the bits of a number, which begin anywhere in a byte.
constexpr size_t kFieldBytes = 9;

uint64_t CountIn(BytesView text) {
  uint64_t count = 0;
  for (; text.size() >= sizeof(uint64_t); text.remove_prefix(sizeof(uint64_t))) {
    uint64_t word = 0;
    std::memcpy(&word, text.data(), sizeof(word));
    count += static_cast<uint64_t>(std::popcount(word));
  }
  for (const char c : text) count += static_cast<uint64_t>(std::popcount(static_cast<uint8_t>(c)));
  return count;
}

bool BitIn(uint8_t byte, uint64_t bit) { return ((byte >> (7 - (bit & 7))) & 1) != 0; }

// Of the bits of a byte those between two, which count from its highest.
uint8_t MaskOf(uint64_t from, uint64_t to) { return static_cast<uint8_t>((0xff >> from) & (0xff << (7 - to))); }

// The first byte that has something beside `skipped`, which all bytes of a stretch mostly are.
size_t FirstOther(BytesView text, uint8_t skipped) {
  const auto found = std::ranges::find_if(text, [skipped](char c) { return static_cast<uint8_t>(c) != skipped; });
  return static_cast<size_t>(found - text.begin());
}

void Combine(BitOperation operation, BytesView piece, char* to) {
  for (size_t i = 0; i < piece.size(); ++i) {
    switch (operation) {
      case BitOperation::kAnd:
        to[i] = static_cast<char>(to[i] & piece[i]);
        break;
      case BitOperation::kOr:
        to[i] = static_cast<char>(to[i] | piece[i]);
        break;
      case BitOperation::kXor:
        to[i] = static_cast<char>(to[i] ^ piece[i]);
        break;
      case BitOperation::kNot:
        to[i] = static_cast<char>(~piece[i]);
        break;
    }
  }
}

struct Range {
  __int128 least;
  __int128 most;
};

Range RangeOf(const BitField& field) {
  if (!field.has_sign) return {0, (static_cast<__int128>(1) << field.bits) - 1};
  const __int128 half = static_cast<__int128>(1) << (field.bits - 1);
  return {-half, half - 1};
}

std::optional<int64_t> Fit(const BitField& field, __int128 number, BitOverflow overflow) {
  const auto [least, most] = RangeOf(field);
  if (number >= least && number <= most) return static_cast<int64_t>(number);
  if (overflow == BitOverflow::kFail) return std::nullopt;
  if (overflow == BitOverflow::kSaturate) return static_cast<int64_t>(number < least ? least : most);
  const __int128 all = static_cast<__int128>(1) << field.bits;
  __int128 wrapped = ((number % all) + all) % all;
  if (wrapped > most) wrapped -= all;
  return static_cast<int64_t>(wrapped);
}

}  // namespace

Result<bool> BitAt(const Key& key, uint64_t bit) {
  KVARTS_CHECK_OK(key.ExpectText());
  KVARTS_TRY(const Bytes byte, TextOf(key, bit >> 3, 1));
  return !byte.empty() && BitIn(static_cast<uint8_t>(byte[0]), bit);
}

Result<bool> SetBit(Structures& keys, Key& key, uint64_t bit, bool value) {
  KVARTS_TRY(const bool before, BitAt(key, bit));
  const uint64_t byte = bit >> 3;
  KVARTS_CHECK_OK(CheckTextSize(keys, byte + 1));
  if (before == value && byte < SizeOfText(key)) return before;
  KVARTS_TRY(Bytes changed, TextOf(key, byte, 1));
  changed.resize(1);
  const auto mask = static_cast<uint8_t>(0x80 >> (bit & 7));
  const auto old = static_cast<uint8_t>(changed[0]);
  changed[0] = static_cast<char>(value ? old | mask : old & ~mask);
  KVARTS_CHECK_OK(key.WriteText(byte, changed));
  return before;
}

Result<uint64_t> CountBits(const Key& key, uint64_t first, uint64_t last) {
  uint64_t count = 0;
  uint64_t byte = first >> 3;
  KVARTS_CHECK_OK(ForEachPiece(key, byte, (last >> 3) - byte + 1, [&](BytesView piece) {
    count += CountIn(piece);
    // What stands around the range in its first and last byte does not count.
    if (byte == first >> 3 && (first & 7) != 0) {
      count -= CountIn({piece.data(), 1}) - static_cast<uint64_t>(std::popcount(static_cast<uint8_t>(
                                                static_cast<uint8_t>(piece[0]) & MaskOf(first & 7, 7))));
    }
    byte += piece.size();
    if (byte == (last >> 3) + 1 && (last & 7) != 7) {
      const auto end = static_cast<uint8_t>(piece.back());
      count -= static_cast<uint64_t>(std::popcount(static_cast<uint8_t>(end & ~MaskOf(0, last & 7))));
    }
    return true;
  }));
  return count;
}

Result<std::optional<uint64_t>> FindBit(const Key& key, bool value, uint64_t first, uint64_t last) {
  std::optional<uint64_t> found;
  uint64_t byte = first >> 3;
  const uint8_t skipped = value ? 0x00 : 0xff;
  KVARTS_CHECK_OK(ForEachPiece(key, byte, (last >> 3) - byte + 1, [&](BytesView piece) {
    for (size_t i = 0; i < piece.size(); ++i) {
      i += FirstOther(piece.substr(i), skipped);
      if (i == piece.size()) break;
      const uint64_t bits = (byte + i) * 8;
      for (uint64_t bit = std::max(bits, first); bit <= std::min(bits + 7, last); ++bit) {
        if (BitIn(static_cast<uint8_t>(piece[i]), bit) != value) continue;
        found = bit;
        return false;
      }
    }
    byte += piece.size();
    return true;
  }));
  return found;
}

Result<uint64_t> CombineBits(BitOperation operation, const std::vector<const Key*>& from, Key* to) {
  uint64_t size = 0;
  for (const Key* key : from) size = std::max(size, SizeOfText(*key));
  const Limits& limits = to->limits();
  if (size > Key::kMaxInlineText && size > limits.max_commit_bytes) {
    return Error(ErrorCode::kTooLarge, "the string is too large to be written at once",
                 {{"limit", "max_commit_bytes"},
                  {"at_most", std::to_string(limits.max_commit_bytes)},
                  {"bytes", std::to_string(size)}});
  }
  Bytes text(size, '\0');
  bool first = true;
  for (const Key* key : from) {
    uint64_t at = 0;
    const BitOperation how = first && operation != BitOperation::kNot ? BitOperation::kOr : operation;
    KVARTS_CHECK_OK(ForEachPiece(*key, 0, size, [&](BytesView piece) {
      Combine(how, piece, text.data() + at);
      at += piece.size();
      return true;
    }));
    if (how == BitOperation::kAnd) std::fill(text.begin() + static_cast<ptrdiff_t>(at), text.end(), '\0');
    first = false;
  }
  if (size == 0) {
    to->Remove();
  } else {
    KVARTS_CHECK_OK(to->SetText(std::move(text)));
  }
  return size;
}

std::optional<int64_t> AddToBits(const BitField& field, int64_t before, int64_t by, BitOverflow overflow) {
  return Fit(field, static_cast<__int128>(before) + by, overflow);
}

std::optional<int64_t> FitBits(const BitField& field, int64_t number, BitOverflow overflow) {
  const __int128 wanted = field.has_sign ? static_cast<__int128>(number) : static_cast<uint64_t>(number);
  return Fit(field, wanted, overflow);
}

Result<int64_t> ReadBits(const Key& key, const BitField& field) {
  KVARTS_TRY(Bytes text, TextOf(key, field.at >> 3, kFieldBytes));
  text.resize(kFieldBytes);
  uint64_t number = 0;
  for (uint64_t bit = field.at & 7; bit < (field.at & 7) + field.bits; ++bit) {
    number = (number << 1) | (BitIn(static_cast<uint8_t>(text[bit >> 3]), bit) ? 1 : 0);
  }
  if (field.has_sign && field.bits < kWordBits && (number >> (field.bits - 1)) != 0)
    number |= ~uint64_t{0} << field.bits;
  return static_cast<int64_t>(number);
}

Status WriteBits(Key& key, const BitField& field, int64_t number) {
  const uint64_t first = field.at >> 3;
  KVARTS_TRY(Bytes text, TextOf(key, first, field.last_byte() - first + 1));
  const auto bits = static_cast<uint64_t>(number);
  for (uint64_t i = 0; i < field.bits; ++i) {
    const uint64_t bit = (field.at & 7) + i;
    const auto mask = static_cast<uint8_t>(0x80 >> (bit & 7));
    char& byte = text[bit >> 3];
    const bool value = ((bits >> (field.bits - 1 - i)) & 1) != 0;
    byte = static_cast<char>(value ? byte | mask : byte & ~mask);
  }
  return key.WriteText(first, text);
}

}  // namespace kvarts::structure
