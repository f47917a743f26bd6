#include "document/cursor.h"

namespace kvarts {
namespace {

// Takes the next value, or stops where it is too deep.
bool Take(DocumentCursor* from, size_t levels) {
  const DocumentKind kind = from->kind();
  if (kind < DocumentKind::kList || IsSet(kind)) {
    from->Skip();
    return levels > 0 || !IsSet(kind);
  }
  if (levels == 0) return false;
  for (uint64_t left = from->Open(); left != 0; --left) {
    if (kind == DocumentKind::kMap) from->TakeName();
    if (!Take(from, levels - 1)) return false;
  }
  return true;
}

}  // namespace

bool HasAtMostLevels(const DocumentView& value, size_t levels) {
  DocumentCursor cursor(value);
  return Take(&cursor, levels);
}

}  // namespace kvarts
