// Whether two grammars share a key: both are made into chains of byte classes, some of which may repeat, and both
// chains are walked at once.
#include <bitset>
#include <utility>
#include <vector>

#include "model/catalog/grammar.h"

namespace kvarts {
namespace {

using ByteSet = std::bitset<256>;

ByteSet Single(char c) { return ByteSet().set(static_cast<unsigned char>(c)); }

ByteSet Between(char first, char last) {
  ByteSet set;
  for (int c = first; c <= last; ++c) set.set(static_cast<unsigned char>(c));
  return set;
}

// What byte i of a value can be.
ByteSet BytesAt(const FieldType& type, size_t i) {
  const char pattern = type.Pattern()[i];
  if (pattern == 'x') return Between('0', '9') | Between('a', 'f');
  if (pattern != 'd') return Single(pattern);
  if (!type.IsTime()) return Between('0', '9');
  // The leading digits of month, day, hour, minute and second.
  switch (i) {
    case 5:
      return Between('0', '1');
    case 8:
      return Between('0', '3');
    case 11:
      return Between('0', '2');
    case 14:
    case 17:
      return Between('0', '5');
    default:
      return Between('0', '9');
  }
}

}  // namespace

// State i has read what comes before place i. A byte of the place's set leads on to i + 1, and back to i as well if the
// place repeats.
class Grammar::Automaton {
 public:
  // Of the elements before the given one, and then any bytes; of all of them if there is none such.
  explicit Automaton(const Grammar& grammar, std::optional<size_t> before_field = std::nullopt) {
    for (const Element& element : grammar.elements_) {
      if (before_field && element.field == before_field) {
        places_.push_back({ByteSet().set(), true});
        return;
      }
      Add(element);
    }
  }

  bool Meets(const Automaton& other) const {
    const size_t columns = other.places_.size() + 1;
    std::vector<bool> seen((places_.size() + 1) * columns);
    std::vector<std::pair<size_t, size_t>> open = {{0, 0}};
    const auto reach = [&](size_t mine, size_t its) {
      if (seen[mine * columns + its]) return;
      seen[mine * columns + its] = true;
      open.emplace_back(mine, its);
    };
    while (!open.empty()) {
      const auto [mine, its] = open.back();
      open.pop_back();
      if (mine == places_.size() && its == other.places_.size()) return true;
      if (mine == places_.size() || its == other.places_.size()) continue;
      const Place& a = places_[mine];
      const Place& b = other.places_[its];
      if ((a.bytes & b.bytes).none()) continue;
      reach(mine + 1, its + 1);
      if (a.repeats) reach(mine, its + 1);
      if (b.repeats) reach(mine + 1, its);
      if (a.repeats && b.repeats) reach(mine, its);
    }
    return false;
  }

 private:
  struct Place {
    ByteSet bytes;
    bool repeats = false;
  };

  void Add(const Element& element) {
    if (!element.field) {
      for (const char c : element.literal) places_.push_back({Single(c), false});
      return;
    }
    const size_t width = element.type.width();
    for (size_t i = 0; i < width; ++i) places_.push_back({BytesAt(element.type, i), false});
    if (width != 0) return;
    ByteSet any = ByteSet().set();
    if (element.stop) any &= ~Single(*element.stop);
    places_.push_back({any, true});
  }

  std::vector<Place> places_;
};

bool Grammar::Overlaps(const Grammar& other) const { return Automaton(*this).Meets(Automaton(other)); }

bool Grammar::SharesLeading(size_t field, const Grammar& other) const {
  return Automaton(*this, field).Meets(Automaton(other));
}

}  // namespace kvarts
