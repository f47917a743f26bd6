// Any text is refused as a path, a condition, a list of updates or a patch, or is one: a path and a condition print and
// are read back as the same, and whatever is done by them to a document gives a document. The first line is the text,
// the rest the document, in JSON or as it is stored.
// links: kvarts_document
#include <algorithm>
#include <cstdint>

#include "document/condition.h"
#include "document/projection.h"
#include "document/update.h"
#include "encoding/document_json.h"
#include "support/expect.h"

namespace {

using namespace kvarts;  // NOLINT: a target has one subject

// It goes to the first thing that is wrong: a place in the text.
void ExpectPlace(const Error& error, std::string_view text) {
  if (error.code() == ErrorCode::kTooLarge) return;
  Expect(error.code() == ErrorCode::kInvalidArgument, "a text is refused as such");
  Expect(std::stoul(std::string(error.field("position"))) <= text.size(), "what is wrong is in the text");
}

void ProjectTo(const DocumentPath& path, const DocumentView& document) {
  const std::optional<DocumentView> found = path.Find(document);
  const Result<Projection> projection = Projection::Of({path});
  Expect(projection.has_value(), "one path is a projection");
  const Bytes picked = projection->Apply(document);
  Expect(CheckDocument(picked).has_value(), "what is picked is a document");
  const bool only_names = std::ranges::all_of(
      path.steps(), [](const DocumentPath::Step& step) { return step.kind == DocumentPath::Step::Kind::kName; });
  const std::optional<DocumentView> there = path.Find(DocumentView(picked));
  Expect(!only_names || there.has_value() == found.has_value(), "a value is picked if it is there");
  Expect(!only_names || !there || *there == *found, "and stays where it is");
  Expect(found || picked == "\xa0", "nothing is picked where nothing is");
}

void SetAt(const DocumentPath& path, const DocumentView& document, const DocumentView& value) {
  const FieldUpdate set[] = {{FieldUpdate::Op::kSet, path, Bytes(value.bytes())}};
  const Result<Bytes> updated = ApplyUpdates(document, set);
  if (!updated.has_value()) return;
  Expect(CheckDocument(*updated).has_value(), "what is set makes a document");
  const std::optional<DocumentView> found = path.Find(document);
  const std::optional<DocumentView> now = path.Find(DocumentView(*updated));
  Expect(!found || (now && *now == value), "a value that is set is there");
  const FieldUpdate back[] = {{FieldUpdate::Op::kSet, path, found ? Bytes(found->bytes()) : Bytes()}};
  Expect(!found || *ApplyUpdates(DocumentView(*updated), back) == document.bytes(), "and can be set back");
}

void TryPath(std::string_view text, const DocumentView& document) {
  const Result<DocumentPath> path = DocumentPath::Parse(text, DocumentPath::Each::kAllowed);
  if (!path.has_value()) return ExpectPlace(path.error(), text);
  const Result<DocumentPath> again = DocumentPath::Parse(path->ToString(), DocumentPath::Each::kAllowed);
  Expect(again.has_value() && *again == *path, "a path that is printed is read as the same");
  size_t visited = 0;
  path->ForEach(document, [&](const DocumentView& value) {
    Expect(CheckDocument(value.bytes()).has_value(), "a part of a document is one");
    ++visited;
  });
  if (path->HasEach()) return;
  Expect(visited == (path->Find(document) ? 1 : 0), "a value is found once");
  ProjectTo(*path, document);
  SetAt(*path, document, document);
}

void TryCondition(std::string_view text, const DocumentView& document) {
  const Result<Condition> condition = Condition::Parse(text);
  if (!condition.has_value()) return ExpectPlace(condition.error(), text);
  const Result<Condition> again = Condition::Parse(condition->ToString());
  Expect(again.has_value() && *again == *condition, "a condition that is printed is read as the same");
  Expect(again->ToString() == condition->ToString(), "a condition is printed in one way");
  const bool holds = condition->Holds(document);
  Expect(again->Holds(document) == holds, "equal conditions hold of the same documents");
  const Result<Condition> opposite = Condition::Not(*condition);
  Expect(!opposite.has_value() || opposite->Holds(document) != holds, "it holds or it does not");
}

void TryUpdates(std::string_view text, const DocumentView& document) {
  JsonReader json(text);
  std::vector<FieldUpdate> updates = ReadUpdates(json);
  if (!json.Finish().has_value()) return;
  const Result<Bytes> updated = ApplyUpdates(document, updates);
  std::ranges::reverse(updates);
  const Result<Bytes> again = ApplyUpdates(document, updates);
  Expect(again.has_value() == updated.has_value(), "the order of updates does not matter");
  if (!updated.has_value()) return;
  Expect(CheckUpdates(updates).has_value(), "what can be applied is right");
  Expect(CheckDocument(*updated).has_value(), "what is updated is a document");
  Expect(*again == *updated, "the order of updates does not matter");
}

void TryPatch(const DocumentView& patch, const DocumentView& document) {
  const Result<Bytes> merged = MergePatch(document, patch);
  Expect(merged.has_value(), "a document is a patch");
  Expect(CheckDocument(*merged).has_value(), "what is merged is a document");
  Expect(*MergePatch(DocumentView(*merged), patch) == *merged, "a patch changes nothing the second time");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const BytesView input(reinterpret_cast<const char*>(data), size);
  const size_t line = std::min(input.find('\n'), input.size());
  const std::string_view text = input.substr(0, line);
  const BytesView rest = input.substr(std::min(line + 1, input.size()));
  Bytes document = DocumentFromJson(rest).value_or(Bytes(rest));
  if (!CheckDocument(document).has_value()) document = "\xa0";
  TryPath(text, DocumentView(document));
  TryCondition(text, DocumentView(document));
  TryUpdates(text, DocumentView(document));
  if (const Result<Bytes> patch = DocumentFromJson(text)) TryPatch(DocumentView(*patch), DocumentView(document));
  return 0;
}
