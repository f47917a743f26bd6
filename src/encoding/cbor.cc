#include "encoding/cbor.h"

#include <algorithm>

namespace kvarts::cbor {
namespace {

// What the low five bits say: a number below, or how many bytes it takes.
constexpr uint8_t kOneByte = 24;
constexpr uint8_t kTwoBytes = 25;
constexpr uint8_t kFourBytes = 26;
constexpr uint8_t kEightBytes = 27;

char FirstByte(Major major, uint8_t low) { return static_cast<char>((static_cast<uint8_t>(major) << 5) | low); }

}  // namespace

Head ReadHead(BytesView from) {
  if (from.empty()) return {};
  const auto first = static_cast<uint8_t>(from[0]);
  const auto major = static_cast<Major>(first >> 5);
  const uint8_t low = first & 0x1f;
  if (low < kOneByte) return {major, low, 1};
  if (low > kEightBytes) return {};
  const size_t bytes = size_t{1} << (low - kOneByte);
  if (from.size() <= bytes) return {};
  uint64_t argument = 0;
  switch (low) {
    case kOneByte:
      argument = static_cast<uint8_t>(from[1]);
      break;
    case kTwoBytes:
      argument = LoadBig<uint16_t>(from.data() + 1);
      break;
    case kFourBytes:
      argument = LoadBig<uint32_t>(from.data() + 1);
      break;
    default:
      argument = LoadBig<uint64_t>(from.data() + 1);
      break;
  }
  if (HeadSize(argument) != bytes + 1) return {};
  return {major, argument, static_cast<uint8_t>(bytes + 1)};
}

size_t HeadSize(uint64_t argument) {
  if (argument < kOneByte) return 1;
  if (argument <= UINT8_MAX) return 2;
  if (argument <= UINT16_MAX) return 3;
  return argument <= UINT32_MAX ? 5 : 9;
}

char* WriteHead(char* to, Major major, uint64_t argument) {
  const size_t size = HeadSize(argument);
  switch (size) {
    case 1:
      *to = FirstByte(major, static_cast<uint8_t>(argument));
      break;
    case 2:
      to[0] = FirstByte(major, kOneByte);
      to[1] = static_cast<char>(argument);
      break;
    case 3:
      to[0] = FirstByte(major, kTwoBytes);
      StoreBig(to + 1, static_cast<uint16_t>(argument));
      break;
    case 5:
      to[0] = FirstByte(major, kFourBytes);
      StoreBig(to + 1, static_cast<uint32_t>(argument));
      break;
    default:
      to[0] = FirstByte(major, kEightBytes);
      StoreBig(to + 1, argument);
      break;
  }
  return to + size;
}

void AppendHead(Bytes* to, Major major, uint64_t argument) {
  char head[9];
  to->append(head, WriteHead(head, major, argument));
}

void Skip(BytesView* from) {
  // How many items are to be taken yet.
  uint64_t left = 1;
  while (left != 0) {
    const Head head = ReadHead(*from);
    if (head.size == 0) {
      from->remove_prefix(from->size());
      return;
    }
    from->remove_prefix(head.size);
    switch (head.major) {
      case Major::kBytes:
      case Major::kText:
        from->remove_prefix(std::min<uint64_t>(head.argument, from->size()));
        --left;
        break;
      case Major::kArray:
        left += head.argument - 1;
        break;
      case Major::kMap:
        left += 2 * head.argument - 1;
        break;
      case Major::kTag:
        break;
      default:
        --left;
        break;
    }
  }
}

std::string_view TakeString(BytesView* from) {
  const Head head = ReadHead(*from);
  from->remove_prefix(head.size);
  const std::string_view text = from->substr(0, head.argument);
  from->remove_prefix(text.size());
  return text;
}

}  // namespace kvarts::cbor
