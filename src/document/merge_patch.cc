#include "document/cursor.h"
#include "document/update.h"
#include "encoding/document_writer.h"

namespace kvarts {
namespace {

// The fields of a map, one after the other: the name of each, and the cursor before its value, which whoever looks at
// it takes.
class Fields {
 public:
  // Of no map, there are none.
  explicit Fields(DocumentCursor* map) : map_(map), left_(map == nullptr ? 0 : map->Open()) { TakeName(); }

  bool done() const { return left_ == 0; }
  std::string_view name() const { return name_; }
  DocumentCursor* value() const { return map_; }
  // When the value has been taken.
  void Next() {
    --left_;
    TakeName();
  }

 private:
  void TakeName() {
    if (left_ != 0) name_ = map_->TakeName();
  }

  DocumentCursor* const map_;
  uint64_t left_;
  std::string_view name_;
};

void Copy(DocumentCursor* from, DocumentWriter* to) {
  to->Copy(from->value());
  from->Skip();
}

void Merge(DocumentCursor* document, DocumentCursor* patch, DocumentWriter* to);

// Both have the field, or only the patch has it, and then `document` is null.
void MergeField(std::string_view name, DocumentCursor* document, DocumentCursor* patch, DocumentWriter* to) {
  if (patch->kind() != DocumentKind::kNull) {
    Merge(document, patch, &to->Name(name));
    return;
  }
  patch->Skip();
  if (document != nullptr) document->Skip();
}

// Takes the next value of the patch, and of the document, if there is one. The descent is as deep as the patch.
void Merge(DocumentCursor* document, DocumentCursor* patch, DocumentWriter* to) {
  const bool is_merged = patch->kind() == DocumentKind::kMap;
  if (document != nullptr && (!is_merged || document->kind() != DocumentKind::kMap)) {
    document->Skip();
    document = nullptr;
  }
  if (!is_merged) return Copy(patch, to);
  to->BeginMap();
  Fields old_fields(document);
  Fields changes(patch);
  while (!old_fields.done() || !changes.done()) {
    const auto order = changes.done()      ? std::strong_ordering::less
                       : old_fields.done() ? std::strong_ordering::greater
                                           : CompareNames(old_fields.name(), changes.name());
    if (order < 0) {
      Copy(old_fields.value(), &to->Name(old_fields.name()));
    } else {
      MergeField(changes.name(), order == 0 ? old_fields.value() : nullptr, changes.value(), to);
    }
    if (order <= 0) old_fields.Next();
    if (order >= 0) changes.Next();
  }
  to->EndMap();
}

}  // namespace

Result<Bytes> MergePatch(const DocumentView& document, const DocumentView& patch) {
  if (!HasAtMostLevels(patch, kMaxDocumentDepth)) {
    return Error(ErrorCode::kTooLarge, "the patch has too many levels",
                 {{"limit", "max_document_depth"}, {"at_most", std::to_string(kMaxDocumentDepth)}});
  }
  Bytes merged;
  DocumentWriter writer(&merged);
  DocumentCursor from(document);
  DocumentCursor by(patch);
  Merge(&from, &by, &writer);
  return merged;
}

}  // namespace kvarts
