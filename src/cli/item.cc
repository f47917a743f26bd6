#include "cli/item.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "cli/text.h"

namespace kvarts::cli {

Result<Item> Item::Of(const JsonObject& object) {
  const std::optional<Bytes> key = object.BytesOf("key");
  if (!key) return Error(ErrorCode::kUnavailable, "the answer is not what a Kvarts server says", {{"missing", "key"}});
  Item item{.key = *key};
  item.value = object.BytesOf("value");
  if (const JsonField* value = object.Find("value"); value != nullptr && value->kind != JsonKind::kText) {
    item.is_json = true;
    item.value = value->text;  // null is a value too
  }
  item.version = object.Text("version");
  item.expiry = object.Text("expiry");
  item.type = object.BytesOf("type").value_or("");
  item.has_envelope = object.Find("envelope") != nullptr;
  return item;
}

std::string Item::About() const {
  std::string about = fmt::format("version {}", Harmless(version));
  if (!expiry.empty()) about.append(fmt::format(", expires {}", Harmless(expiry)));
  if (!type.empty()) about.append(fmt::format(", {}", Harmless(type)));
  if (has_envelope) about.append(", in an envelope");
  return about;
}

std::string ValueForTerminal(BytesView value, size_t at_most) {
  const size_t size = value.size();
  if (!IsUtf8(value)) return ShownShort(value, at_most);
  value = CutText(value, at_most);
  const bool cut = value.size() < size;
  std::string out;
  while (!value.empty()) {
    const size_t end = std::min(value.find('\n'), value.size());
    out.append(Harmless(value.substr(0, end)));
    if (end < value.size()) out.push_back('\n');
    value.remove_prefix(std::min(end + 1, value.size()));
  }
  if (cut) out.append(fmt::format("… ({})", HumanBytes(size)));
  return out;
}

}  // namespace kvarts::cli
