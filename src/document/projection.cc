#include "document/projection.h"

#include <algorithm>
#include <array>

#include "base/shown.h"
#include "document/cursor.h"
#include "encoding/document_writer.h"

namespace kvarts {
namespace {

using Step = DocumentPath::Step;
using Paths = std::span<const DocumentPath>;

const Step& StepOf(Paths paths, size_t level) { return paths.front().steps()[level]; }

// Picks what the paths lead to. A map or list is begun when the first value is kept that is in it: until then, nobody
// knows whether there is one.
class Picker {
 public:
  explicit Picker(DocumentWriter* to) : to_(*to) {}

  // Takes the next value, into which the paths lead by their steps at this level.
  void Into(DocumentCursor* from, Paths paths, size_t level) {
    const bool by_name = StepOf(paths, level).kind == Step::Kind::kName;
    if (from->kind() != (by_name ? DocumentKind::kMap : DocumentKind::kList)) {
      from->Skip();
      return;
    }
    around_[levels_++] = {by_name, {}};
    if (by_name) {
      PickFields(from, paths, level);
    } else {
      PickElements(from, paths, level);
    }
    if (begun_ == levels_) End();
    --levels_;
  }

 private:
  // What is around the value that comes next.
  struct Level {
    bool is_map;
    std::string_view name;  // of the field, in a map
  };

  void PickFields(DocumentCursor* from, Paths paths, size_t level) {
    for (uint64_t left = from->Open(); left != 0; --left) {
      const std::string_view name = from->TakeName();
      while (!paths.empty() && CompareNames(StepOf(paths, level).name, name) < 0) Take(&paths, level);
      around_[levels_ - 1].name = name;
      Pick(from, !paths.empty() && StepOf(paths, level).name == name ? Take(&paths, level) : Paths(), level);
    }
  }

  void PickElements(DocumentCursor* from, Paths paths, size_t level) {
    const uint64_t size = from->Open();
    for (uint64_t index = 0; index < size; ++index) {
      Pick(from, !paths.empty() && StepOf(paths, level).index == index ? Take(&paths, level) : Paths(), level);
    }
  }

  // Takes the next value. Of the paths, if there are any, the steps at this level lead to it.
  void Pick(DocumentCursor* from, Paths paths, size_t level) {
    if (!paths.empty() && paths.front().steps().size() > level + 1) return Into(from, paths, level + 1);
    if (!paths.empty()) Keep(from->value());
    from->Skip();
  }

  void Keep(const DocumentView& value) {
    Begin();
    WriteName(around_[levels_ - 1]);
    to_.Copy(value);
  }

  // All that is around the value, as far as it is not begun yet.
  void Begin() {
    for (; begun_ < levels_; ++begun_) {
      if (begun_ > 0) WriteName(around_[begun_ - 1]);
      if (around_[begun_].is_map) {
        to_.BeginMap();
      } else {
        to_.BeginList();
      }
    }
  }

  void WriteName(const Level& level) {
    if (level.is_map) to_.Name(level.name);
  }

  void End() {
    --begun_;
    if (around_[begun_].is_map) {
      to_.EndMap();
    } else {
      to_.EndList();
    }
  }

  static Paths Take(Paths* paths, size_t level) {
    return TakeSharing(paths, level, [](const DocumentPath& path) -> const DocumentPath& { return path; });
  }

  DocumentWriter& to_;
  std::array<Level, DocumentPath::kMaxSteps> around_;
  size_t levels_ = 0;
  size_t begun_ = 0;  // of the levels
};

}  // namespace

Result<Projection> Projection::Parse(std::span<const std::string> texts) {
  std::vector<DocumentPath> paths;
  for (const std::string& text : texts.first(std::min(texts.size(), kMaxPaths + 1))) {
    KVARTS_TRY(DocumentPath path, DocumentPath::Parse(text));
    paths.push_back(std::move(path));
  }
  return Of(std::move(paths));
}

Result<Projection> Projection::Of(std::vector<DocumentPath> paths) {
  if (paths.empty()) return Error(ErrorCode::kInvalidArgument, "a projection has at least one path");
  if (paths.size() > kMaxPaths) return TooManyPaths();
  std::ranges::sort(paths);
  for (size_t i = 0; i < paths.size(); ++i) {
    if (paths[i].HasEach()) {
      return Error(ErrorCode::kInvalidArgument, "[*] has no meaning here", {{"path", Shown(paths[i].ToString())}});
    }
    if (i > 0) KVARTS_CHECK_OK(CheckApart(paths[i - 1], paths[i]));
  }
  return Projection(std::move(paths));
}

Error Projection::TooManyPaths() {
  return Error(ErrorCode::kTooLarge, "a projection has too many paths",
               {{"limit", "max_projection_paths"}, {"at_most", std::to_string(kMaxPaths)}});
}

Bytes Projection::Apply(const DocumentView& document) const {
  Bytes picked;
  DocumentWriter writer(&picked);
  DocumentCursor from(document);
  Picker(&writer).Into(&from, paths_, 0);
  if (picked.empty()) writer.BeginMap().EndMap();
  return picked;
}

}  // namespace kvarts
