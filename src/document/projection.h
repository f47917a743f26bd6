// Projection: the parts of a document that somebody asks for. What is kept stays where it is: of a.b there is a map
// with the field a, which has only b. Of a list there are only the elements that were asked for, and they move up. What
// is not there is left out, and so is what would only be empty because of that; the whole is a map, if an empty one.
//
// A projection is a value, and safe to use from any thread. It goes through a document once, and allocates what it
// writes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "document/path.h"
#include "encoding/document.h"

namespace kvarts {

class Projection {
 public:
  static constexpr size_t kMaxPaths = 100;

  // At least one path, none of which leads into the value of another: `invalid_argument` with what is wrong, or
  // `too_large`.
  static Result<Projection> Parse(std::span<const std::string> paths);
  static Result<Projection> Of(std::vector<DocumentPath> paths);
  static Error TooManyPaths();

  Bytes Apply(const DocumentView& document) const;

  // In their order, whatever it was that they came in.
  const std::vector<DocumentPath>& paths() const { return paths_; }
  friend bool operator==(const Projection&, const Projection&) = default;

 private:
  explicit Projection(std::vector<DocumentPath> paths) : paths_(std::move(paths)) {}

  std::vector<DocumentPath> paths_;  // sorted
};

}  // namespace kvarts
