// DocumentPath: the way to a value inside a document.
//
//   address.city      a field of a map in a field
//   lines[0].sku      of the first element of a list
//   `odd name`.x      a name that is no plain one stands in backquotes, with those inside it doubled
//   tags[*].name      of every element of a list or set, where that is allowed
//
// A plain name is a letter or _ and then letters, digits, _ and -, of ASCII. A path begins with a name, since what it
// leads through is a map. There is no space in it outside backquotes, and one way to write it, which ToString has.
//
// Paths have an order: a path stands right before those that go on from it, and names are in the order that the fields
// of a map have. So whoever changes several values of a document, or picks them, goes through sorted paths and the
// document at the same time, once.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "encoding/document.h"

namespace kvarts {

class DocumentPath {
 public:
  static constexpr size_t kMaxSteps = 32;
  static constexpr size_t kMaxTextBytes = 1024;

  struct Step {
    enum class Kind : uint8_t { kName, kIndex, kEach };
    Kind kind;
    std::string name = {};  // of kName; UTF-8, and may be empty
    uint32_t index = 0;     // of kIndex

    friend bool operator==(const Step&, const Step&) = default;
    friend std::strong_ordering operator<=>(const Step& a, const Step& b);
  };

  // Whether [*] may be in it, once.
  enum class Each : uint8_t { kRefused, kAllowed };

  // `invalid_argument` with the path, and the position in bytes of what is wrong.
  static Result<DocumentPath> Parse(std::string_view text, Each each = Each::kRefused);
  // Of the path that a text begins with, for grammars that have paths in them. `end` is where it ends, or where the
  // text is wrong.
  static Result<DocumentPath> ParseFront(std::string_view text, size_t* end);
  // For those who read paths in another syntax. The rules are the same.
  static Result<DocumentPath> Of(std::vector<Step> steps);

  std::string ToString() const;
  const std::vector<Step>& steps() const { return steps_; }
  bool HasEach() const { return each_ != steps_.size(); }

  // What is there; nothing when it is not. For paths without [*].
  std::optional<DocumentView> Find(const DocumentView& document) const { return Follow(document, steps_); }
  // on_value(DocumentView) for what is there, or of a path with [*] for each, in the order of the elements.
  template <class F>
  void ForEach(const DocumentView& document, F&& on_value) const;

  friend bool operator==(const DocumentPath& a, const DocumentPath& b) { return a.steps_ == b.steps_; }
  friend std::strong_ordering operator<=>(const DocumentPath& a, const DocumentPath& b) {
    return a.steps_ <=> b.steps_;
  }

 private:
  class Parser;

  DocumentPath() = default;
  static std::optional<DocumentView> Follow(DocumentView from, std::span<const Step> steps);

  std::vector<Step> steps_;
  size_t each_ = 0;  // which step is [*]; their number if none is
};

// That neither path leads into the other's value, and that no value would have to be a map for one and a list for the
// other: `invalid_argument` with both. Of sorted paths, it holds for all if it holds for neighbours.
Status CheckApart(const DocumentPath& a, const DocumentPath& b);

// Of sorted things with paths, all of which have a step at `level`: takes those off the front that share it.
template <class Thing, class PathOf>
std::span<const Thing> TakeSharing(std::span<const Thing>* sorted, size_t level, PathOf path_of) {
  const DocumentPath::Step& step = path_of(sorted->front()).steps()[level];
  size_t count = 1;
  while (count < sorted->size() && path_of((*sorted)[count]).steps()[level] == step) ++count;
  const std::span<const Thing> sharing = sorted->first(count);
  *sorted = sorted->subspan(count);
  return sharing;
}

template <class F>
void DocumentPath::ForEach(const DocumentView& document, F&& on_value) const {
  const std::span<const Step> steps(steps_);
  const std::optional<DocumentView> found = Follow(document, steps.first(each_));
  if (!found) return;
  if (!HasEach()) {
    on_value(*found);
    return;
  }
  switch (found->kind()) {
    case DocumentKind::kList:
    case DocumentKind::kTextSet:
    case DocumentKind::kNumberSet:
    case DocumentKind::kBinarySet:
      found->ForEachElement([&](const DocumentView& element) {
        if (const auto value = Follow(element, steps.subspan(each_ + 1))) on_value(*value);
      });
      return;
    default:
      return;
  }
}

}  // namespace kvarts
