#include "engine/rocksdb/routing.h"

#include <algorithm>

namespace kvarts {

Profile Routing::Search(BytesView key) const {
  auto after =
      std::ranges::upper_bound(assignments_, key, {}, [](const Assignment& a) { return BytesView(a.range.start); });
  if (after == assignments_.begin()) return Profile::kLookup;
  const Assignment& candidate = *std::prev(after);
  return candidate.range.Contains(key) ? candidate.profile : Profile::kLookup;
}

std::vector<Routing::Segment> Routing::Segments(const KeyRange& range) const {
  std::vector<Segment> segments;
  Bytes at = range.start;
  for (const Assignment& assignment : assignments_) {
    const KeyRange part = assignment.range.Intersect({at, range.end});
    if (part.IsEmpty()) continue;
    if (at < part.start) segments.push_back({{at, part.start}, Profile::kLookup});
    segments.push_back({part, assignment.profile});
    if (!part.HasEnd()) return segments;
    at = part.end;
  }
  const KeyRange last{at, range.end};
  if (!last.IsEmpty()) segments.push_back({last, Profile::kLookup});
  return segments;
}

bool Routing::Has(const KeyRange& range, Profile profile) const {
  return std::ranges::any_of(assignments_,
                             [&](const Assignment& a) { return a.range == range && a.profile == profile; });
}

Result<std::shared_ptr<const Routing>> Routing::With(const KeyRange& range, Profile profile) const {
  for (const Assignment& assignment : assignments_) {
    if (assignment.range.Intersects(range)) {
      return Error(ErrorCode::kInvalidArgument, "the range overlaps one that has a profile",
                   {{"range", range.ToString()}, {"other", assignment.range.ToString()}});
    }
  }
  std::vector<Assignment> more = assignments_;
  more.push_back({range, profile});
  std::ranges::sort(more, {}, [](const Assignment& a) { return BytesView(a.range.start); });
  return std::make_shared<const Routing>(std::move(more));
}

Bytes Routing::Encode() const {
  Bytes bytes;
  AppendVarint(&bytes, assignments_.size());
  for (const Assignment& assignment : assignments_) {
    AppendSized(&bytes, assignment.range.start);
    AppendSized(&bytes, assignment.range.end);
    bytes.push_back(static_cast<char>(assignment.profile));
  }
  return bytes;
}

Result<std::shared_ptr<const Routing>> Routing::Decode(BytesView bytes) {
  const Error damaged(ErrorCode::kCorruption, "the table of profiles is damaged");
  uint64_t count = 0;
  if (!TakeVarint(&bytes, &count)) return damaged;
  std::vector<Assignment> assignments;
  for (uint64_t i = 0; i < count; ++i) {
    BytesView start;
    BytesView end;
    if (!TakeSized(&bytes, &start) || !TakeSized(&bytes, &end) || bytes.empty()) return damaged;
    const auto profile = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    if (profile >= kProfiles) return damaged;
    assignments.push_back({{Bytes(start), Bytes(end)}, static_cast<Profile>(profile)});
  }
  if (!bytes.empty()) return damaged;
  return std::make_shared<const Routing>(std::move(assignments));
}

}  // namespace kvarts
