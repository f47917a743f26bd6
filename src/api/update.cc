#include "api/access.h"
#include "document/items.h"
#include "encoding/document_writer.h"

namespace kvarts {
namespace {

using Op = FieldUpdate::Op;

constexpr uint8_t ToInt(Op op) { return static_cast<uint8_t>(op); }

Result<FieldUpdate> Make(Op op, std::string_view path, const Item& value) {
  KVARTS_TRY(DocumentPath parsed, DocumentPath::Parse(path));
  FieldUpdate update{op, std::move(parsed)};
  if (op == Op::kRemove) return update;
  DocumentWriter writer(&update.value);
  // What is appended is a list.
  const bool wraps = op == Op::kAppend || op == Op::kPrepend;
  if (wraps) writer.BeginList();
  KVARTS_CHECK_OK(WriteItem(value, &writer));
  if (wraps) writer.EndList();
  if (const char* why = WhyNoValue(op, DocumentView(update.value))) {
    return Error(ErrorCode::kInvalidArgument, why, {{"path", std::string(path)}});
  }
  return update;
}

}  // namespace

Update::Update() : parts_(std::make_unique<Parts>()) {}
Update::Update(Update&&) noexcept = default;
Update& Update::operator=(Update&&) noexcept = default;
Update::~Update() = default;

Update& Update::Add(uint8_t op, std::string_view path, const Item& value) {
  if (!parts_->wrong.has_value()) return *this;
  Result<FieldUpdate> made = Make(static_cast<Op>(op), path, value);
  if (made.has_value()) {
    parts_->updates.push_back(*std::move(made));
  } else {
    parts_->wrong = std::move(made).error();
  }
  return *this;
}

Update& Update::Set(std::string_view path, const Item& value) { return Add(ToInt(Op::kSet), path, value); }
Update& Update::SetIfMissing(std::string_view path, const Item& value) {
  return Add(ToInt(Op::kSetIfMissing), path, value);
}
Update& Update::Remove(std::string_view path) { return Add(ToInt(Op::kRemove), path, nullptr); }
Update& Update::Increment(std::string_view path, const Item& by) { return Add(ToInt(Op::kIncrement), path, by); }
Update& Update::Append(std::string_view path, const Item& element) { return Add(ToInt(Op::kAppend), path, element); }
Update& Update::Prepend(std::string_view path, const Item& element) { return Add(ToInt(Op::kPrepend), path, element); }
Update& Update::AddToSet(std::string_view path, const Document& set) { return Add(ToInt(Op::kAddToSet), path, set); }
Update& Update::RemoveFromSet(std::string_view path, const Document& set) {
  return Add(ToInt(Op::kRemoveFromSet), path, set);
}

Result<std::vector<FieldUpdate>> UpdateAccess::UpdatesOf(const Update& update) {
  KVARTS_CHECK_OK(update.parts_->wrong);
  return update.parts_->updates;
}

}  // namespace kvarts
