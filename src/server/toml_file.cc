#include "server/toml_file.h"

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_UNRELEASED_FEATURES 0
#include <toml++/toml.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace kvarts {
namespace {

// The word of a value that an option can take; false when there is none.
bool TakeWord(const toml::node& node, std::vector<std::string>* words) {
  if (const auto* text = node.as_string()) {
    words->push_back(text->get());
  } else if (const auto* number = node.as_integer()) {
    words->push_back(std::to_string(number->get()));
  } else if (const auto* flag = node.as_boolean()) {
    words->emplace_back(flag->get() ? "true" : "false");
  } else {
    return false;
  }
  return true;
}

void Flatten(const toml::table& table, const std::string& prefix, std::vector<TomlItem>* items) {
  for (const auto& [key, node] : table) {
    TomlItem item{.name = prefix + std::string(key.str()), .line = key.source().begin.line, .words = {}};
    if (const toml::table* section = node.as_table()) {
      // The parser bounds how deep tables nest.
      Flatten(*section, item.name + ".", items);
      if (!section->empty()) continue;
      item.kind = TomlItem::Kind::kSection;
    } else if (const toml::array* list = node.as_array()) {
      const bool good = std::ranges::all_of(
          *list, [&](const toml::node& each) { return each.is_string() && TakeWord(each, &item.words); });
      item.kind = good ? TomlItem::Kind::kList : TomlItem::Kind::kOther;
    } else if (!TakeWord(node, &item.words)) {
      item.kind = TomlItem::Kind::kOther;
    }
    items->push_back(std::move(item));
  }
}

}  // namespace

Result<std::vector<TomlItem>> ParseToml(std::string_view text) {
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    return Error(ErrorCode::kInvalidArgument, "the file is not TOML",
                 {{"line", std::to_string(parsed.error().source().begin.line)},
                  {"cause", std::string(parsed.error().description())}});
  }
  std::vector<TomlItem> items;
  Flatten(parsed.table(), {}, &items);
  std::ranges::stable_sort(items, {}, &TomlItem::line);
  return items;
}

Result<std::string> ReadConfigFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text(kMaxConfigBytes + 1, '\0');
  if (in) in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad() || (!in && !in.eof())) {
    return Error(errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kUnavailable,
                 "the configuration file cannot be read", {{"path", path}, {"cause", std::strerror(errno)}});
  }
  text.resize(static_cast<size_t>(in.gcount()));
  if (text.size() > kMaxConfigBytes) {
    return Error(ErrorCode::kTooLarge, "the configuration file is too large",
                 {{"path", path}, {"at_most", std::to_string(kMaxConfigBytes)}});
  }
  return text;
}

}  // namespace kvarts
