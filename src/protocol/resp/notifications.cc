#include "protocol/resp/notifications.h"

#include <algorithm>
#include <iterator>

namespace kvarts::resp {
namespace {

// Beside the classes of events.
constexpr uint32_t kByKey = 1 << 30;
constexpr uint32_t kByEvent = 1U << 31;

struct Letter {
  char letter;
  uint32_t flag;
};
// In the order in which they are shown. "A" stands for the first of them, when they are all there, and then the last
// of the classes is not shown at all.
constexpr Letter kClasses[] = {
    {'g', structure::kGenericEvents}, {'$', structure::kStringEvents},  {'l', structure::kListEvents},
    {'s', structure::kSetEvents},     {'h', structure::kHashEvents},    {'z', structure::kSortedSetEvents},
    {'x', structure::kExpiredEvents}, {'e', structure::kEvictedEvents}, {'t', structure::kStreamEvents},
    {'d', structure::kModuleEvents},  {'n', structure::kNewEvents},
};
constexpr uint32_t kAll = (1 << 10) - 1;
static_assert(kAll == (structure::kNewEvents - 1));
constexpr Letter kOthers[] = {{'K', kByKey}, {'E', kByEvent}, {'m', structure::kMissEvents}};

}  // namespace

Notifications::Notifications(structure::KeyEvents& events, Channels& channels) : events_(events), channels_(channels) {
  events_.SetListener([this](std::span<const structure::KeyEvent> happened) { Publish(happened); });
}

std::optional<uint32_t> Notifications::FlagsOf(std::string_view letters) {
  uint32_t flags = 0;
  for (const char letter : letters) {
    const auto* const one = std::ranges::find(kClasses, letter, &Letter::letter);
    const auto* const other = std::ranges::find(kOthers, letter, &Letter::letter);
    if (letter == 'A') {
      flags |= kAll;
    } else if (one != std::end(kClasses)) {
      flags |= one->flag;
    } else if (other != std::end(kOthers)) {
      flags |= other->flag;
    } else {
      return std::nullopt;
    }
  }
  return flags;
}

std::string Notifications::LettersOf(uint32_t flags) {
  std::string letters;
  if ((flags & kAll) == kAll) {
    letters = "A";
  } else {
    for (const Letter& one : kClasses) {
      if ((flags & one.flag) != 0) letters += one.letter;
    }
  }
  for (const Letter& one : kOthers) {
    if ((flags & one.flag) != 0) letters += one.letter;
  }
  return letters;
}

void Notifications::Set(uint32_t flags) {
  flags_.store(flags, std::memory_order_relaxed);
  events_.SetWanted((flags & (kByKey | kByEvent)) == 0 ? 0 : flags & ~(kByKey | kByEvent));
}

void Notifications::Publish(std::span<const structure::KeyEvent> events) const {
  if (!channels_.HasListeners()) return;
  const uint32_t flags = this->flags();
  for (const structure::KeyEvent& event : events) {
    const std::string at = "@" + std::to_string(event.database) + "__:";
    if ((flags & kByKey) != 0) channels_.Publish("__keyspace" + at + event.key, event.name);
    if ((flags & kByEvent) != 0) channels_.Publish("__keyevent" + at + std::string(event.name), event.key);
  }
}

}  // namespace kvarts::resp
