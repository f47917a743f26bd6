// The updates are sorted by their paths, which is the order of the document. Those that share a step are a group: they
// all lead into the same value, unless there is only one and its path ends there.
#include "document/update.h"

#include <algorithm>

#include "base/shown.h"
#include "document/cursor.h"
#include "encoding/document_writer.h"

namespace kvarts {
namespace {

using Op = FieldUpdate::Op;
using Step = DocumentPath::Step;
// In the order of their paths; never empty where there is a group.
using Group = std::span<const FieldUpdate* const>;
// Of a field that is written; an element has none.
using Name = std::optional<std::string_view>;

Group TakeGroup(Group* updates, size_t level) {
  return TakeSharing(updates, level, [](const FieldUpdate* update) -> const DocumentPath& { return update->path; });
}

const Step& StepOf(Group group, size_t level) { return group.front()->path.steps()[level]; }

// Whether it is one update, of the value to which its path leads by the step at this level.
bool EndsHere(Group group, size_t level) { return group.front()->path.steps().size() == level + 1; }

// If all do nothing where there is nothing; else one that does not.
const FieldUpdate* OneThatNeedsIt(Group group) {
  const auto found = std::ranges::find_if(
      group, [](const FieldUpdate* update) { return update->op != Op::kRemove && update->op != Op::kRemoveFromSet; });
  return found == group.end() ? nullptr : *found;
}

Error Refused(const char* why, const FieldUpdate& update) {
  return Error(ErrorCode::kInvalidArgument, why, {{"path", Shown(update.path.ToString())}});
}

// What is wrong when what is there is of another kind than the value.
const char* WhyOtherKind(Op op) {
  switch (op) {
    case Op::kIncrement:
      return "what is to be incremented is no number";
    case Op::kAppend:
    case Op::kPrepend:
      return "what is to be appended or prepended to is no list";
    default:
      return "what is to be added to or removed from is no set of that kind";
  }
}

// Writes the document anew, with the updates.
class Updater {
 public:
  explicit Updater(DocumentWriter* to) : to_(*to) {}

  // Takes the next value, into which all of the group lead by their steps at this level. It comes behind the name, if
  // it is that of a field.
  Status Into(DocumentCursor* from, Name name, Group group, size_t level) {
    const DocumentKind kind = from->kind();
    const bool by_name = StepOf(group, level).kind == Step::Kind::kName;
    if (kind != (by_name ? DocumentKind::kMap : DocumentKind::kList)) {
      if (const FieldUpdate* const update = OneThatNeedsIt(group)) {
        return Refused(by_name ? "the path leads through something that is no map"
                               : "the path leads through something that is no list",
                       *update);
      }
      At(name).Copy(from->value());
      from->Skip();
      return {};
    }
    At(name);
    return by_name ? IntoMap(from, group, level) : IntoList(from, group, level);
  }

 private:
  // What is written next has this name, if it is a field.
  DocumentWriter& At(Name name) { return name ? to_.Name(*name) : to_; }

  Status IntoMap(DocumentCursor* from, Group updates, size_t level) {
    to_.BeginMap();
    for (uint64_t left = from->Open(); left != 0; --left) {
      const std::string_view name = from->TakeName();
      while (!updates.empty() && CompareNames(StepOf(updates, level).name, name) < 0) {
        KVARTS_CHECK_OK(Missing(TakeGroup(&updates, level), level));
      }
      if (updates.empty() || StepOf(updates, level).name != name) {
        to_.Name(name).Copy(from->value());
        from->Skip();
      } else {
        KVARTS_CHECK_OK(There(from, name, TakeGroup(&updates, level), level));
      }
    }
    while (!updates.empty()) KVARTS_CHECK_OK(Missing(TakeGroup(&updates, level), level));
    to_.EndMap();
    return {};
  }

  Status IntoList(DocumentCursor* from, Group updates, size_t level) {
    to_.BeginList();
    const uint64_t size = from->Open();
    for (uint64_t index = 0; index < size; ++index) {
      if (updates.empty() || StepOf(updates, level).index != index) {
        to_.Copy(from->value());
        from->Skip();
      } else {
        KVARTS_CHECK_OK(There(from, std::nullopt, TakeGroup(&updates, level), level));
      }
    }
    while (!updates.empty()) KVARTS_CHECK_OK(Missing(TakeGroup(&updates, level), level));
    to_.EndList();
    return {};
  }

  // The group's step leads to the value that comes next.
  Status There(DocumentCursor* from, Name name, Group group, size_t level) {
    if (!EndsHere(group, level)) return Into(from, name, group, level + 1);
    KVARTS_CHECK_OK(Change(*group.front(), name, from->value()));
    from->Skip();
    return {};
  }

  // It leads to nothing.
  Status Missing(Group group, size_t level) {
    if (!EndsHere(group, level)) {
      const FieldUpdate* const update = OneThatNeedsIt(group);
      if (update == nullptr) return {};
      return Refused("the path leads through something that is not there", *update);
    }
    const Step& step = StepOf(group, level);
    const Name name = step.kind == Step::Kind::kName ? Name(step.name) : std::nullopt;
    return Change(*group.front(), name, std::nullopt);
  }

  Status Change(const FieldUpdate& update, Name name, std::optional<DocumentView> old_value) {
    if (update.op == Op::kRemove) return {};
    const DocumentView value(update.value);
    if (!old_value) return update.op == Op::kRemoveFromSet ? Status() : Put(update, name, value);
    if (update.op == Op::kSet) return Put(update, name, value);
    if (update.op == Op::kSetIfMissing) {
      At(name).Copy(*old_value);
      return {};
    }
    if (old_value->kind() != value.kind()) return Refused(WhyOtherKind(update.op), update);
    switch (update.op) {
      case Op::kIncrement:
        return Increment(update, name, *old_value);
      case Op::kAppend:
        return Join(update, name, *old_value, value);
      case Op::kPrepend:
        return Join(update, name, value, *old_value);
      case Op::kAddToSet:
        AddToSet(name, *old_value, value);
        return {};
      default:
        RemoveFromSet(name, *old_value, value);
        return {};
    }
  }

  // Fails when a document cannot be so deep.
  Status CheckDepth(const FieldUpdate& update, const DocumentView& value) const {
    if (HasAtMostLevels(value, kMaxDocumentDepth - to_.depth())) return {};
    return Error(ErrorCode::kTooLarge, "the document would have too many levels",
                 {{"path", Shown(update.path.ToString())},
                  {"limit", "max_document_depth"},
                  {"at_most", std::to_string(kMaxDocumentDepth)}});
  }

  Status Put(const FieldUpdate& update, Name name, const DocumentView& value) {
    KVARTS_CHECK_OK(CheckDepth(update, value));
    At(name).Copy(value);
    return {};
  }

  Status Increment(const FieldUpdate& update, Name name, const DocumentView& old_value) {
    const Result<Decimal> sum = Decimal::Sum(old_value.Number(), DocumentView(update.value).Number());
    if (!sum.has_value()) {
      return Error(ErrorCode::kTooLarge, sum.error().text().data(),  // a constant
                   {{"path", Shown(update.path.ToString())}});
    }
    At(name).Number(*sum);
    return {};
  }

  Status Join(const FieldUpdate& update, Name name, const DocumentView& first, const DocumentView& second) {
    KVARTS_CHECK_OK(CheckDepth(update, DocumentView(update.value)));
    At(name).BeginList();
    for (const DocumentView& list : {first, second}) {
      list.ForEachElement([&](const DocumentView& element) { to_.Copy(element); });
    }
    to_.EndList();
    return {};
  }

  void AddToSet(Name name, const DocumentView& set, const DocumentView& added) {
    At(name).BeginSet();
    ForEachOfTwoSets(set, added, [&](const DocumentView& element, bool, bool) { to_.Copy(element); });
    to_.EndSet();
  }

  void RemoveFromSet(Name name, const DocumentView& set, const DocumentView& removed) {
    bool is_empty = true;
    ForEachOfTwoSets(set, removed, [&](const DocumentView& element, bool in_set, bool in_removed) {
      if (!in_set || in_removed) return;
      if (is_empty) At(name).BeginSet();
      is_empty = false;
      to_.Copy(element);
    });
    if (!is_empty) to_.EndSet();
  }

  // on_element(element, in_a, in_b) for each that is in one or both, in their order.
  template <class OnElement>
  static void ForEachOfTwoSets(const DocumentView& a, const DocumentView& b, OnElement on_element) {
    DocumentCursor in_a(a);
    DocumentCursor in_b(b);
    uint64_t left_in_a = in_a.Open();
    uint64_t left_in_b = in_b.Open();
    while (left_in_a != 0 || left_in_b != 0) {
      const auto order = left_in_b == 0   ? std::strong_ordering::less
                         : left_in_a == 0 ? std::strong_ordering::greater
                                          : in_a.value().bytes() <=> in_b.value().bytes();
      on_element(order <= 0 ? in_a.value() : in_b.value(), order <= 0, order >= 0);
      if (order <= 0) {
        in_a.Skip();
        --left_in_a;
      }
      if (order >= 0) {
        in_b.Skip();
        --left_in_b;
      }
    }
  }

  DocumentWriter& to_;
};

// In the order of their paths, if that is possible.
Result<std::vector<const FieldUpdate*>> Sorted(std::span<const FieldUpdate> updates) {
  if (updates.size() > kMaxUpdates) return TooManyUpdates();
  std::vector<const FieldUpdate*> sorted;
  for (const FieldUpdate& update : updates) {
    if (update.path.HasEach()) return Refused("an update is of one value; [*] has no meaning here", update);
    if (const char* const why = WhyNoValue(update.op, DocumentView(update.value))) return Refused(why, update);
    sorted.push_back(&update);
  }
  std::ranges::sort(sorted, {}, [](const FieldUpdate* update) -> const DocumentPath& { return update->path; });
  for (size_t i = 1; i < sorted.size(); ++i) KVARTS_CHECK_OK(CheckApart(sorted[i - 1]->path, sorted[i]->path));
  return sorted;
}

}  // namespace

Error TooManyUpdates() {
  return Error(ErrorCode::kTooLarge, "there are too many updates",
               {{"limit", "max_updates"}, {"at_most", std::to_string(kMaxUpdates)}});
}

const char* WhyNoValue(Op op, const DocumentView& value) {
  switch (op) {
    case Op::kIncrement:
      return value.kind() == DocumentKind::kNumber ? nullptr : "an increment is a number";
    case Op::kAppend:
    case Op::kPrepend:
      return value.kind() == DocumentKind::kList ? nullptr : "what is appended or prepended is a list";
    case Op::kAddToSet:
    case Op::kRemoveFromSet:
      return IsSet(value.kind()) ? nullptr : "what is added to a set or removed from it is a set";
    default:
      return nullptr;
  }
}

Status CheckUpdates(std::span<const FieldUpdate> updates) {
  KVARTS_CHECK_OK(Sorted(updates));
  return {};
}

Result<Bytes> ApplyUpdates(const DocumentView& document, std::span<const FieldUpdate> updates) {
  KVARTS_TRY(const std::vector<const FieldUpdate*> sorted, Sorted(updates));
  if (sorted.empty()) return Bytes(document.bytes());
  Bytes changed;
  DocumentWriter writer(&changed);
  DocumentCursor from(document);
  KVARTS_CHECK_OK(Updater(&writer).Into(&from, std::nullopt, sorted, 0));
  return changed;
}

}  // namespace kvarts
