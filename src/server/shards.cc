#include "server/shards.h"

#include "server/toml_file.h"

namespace kvarts {

Result<std::vector<Shard>> ReadShards(const std::string& path) {
  constexpr std::string_view kPrefix = "shard.";
  constexpr std::string_view kSuffix = ".servers";
  KVARTS_TRY(const std::string text, ReadConfigFile(path));
  const Result<std::vector<TomlItem>> items = ParseToml(text);
  if (!items.has_value()) {
    const Error& error = items.error();
    return Error(
        error.code(), "the file of shards is not TOML",
        {{"path", path}, {"line", std::string(error.field("line"))}, {"cause", std::string(error.field("cause"))}});
  }
  std::vector<Shard> shards;
  for (const TomlItem& item : *items) {
    const std::string_view name = item.name;
    const bool good = name.starts_with(kPrefix) && name.ends_with(kSuffix) &&
                      name.size() > kPrefix.size() + kSuffix.size() && item.kind == TomlItem::Kind::kList &&
                      !item.words.empty();
    if (!good) {
      return Error(ErrorCode::kInvalidArgument, "a file of shards has sections [shard.NAME] with servers = [\"…\", …]",
                   {{"path", path}, {"line", std::to_string(item.line)}, {"name", item.name}});
    }
    const size_t size = name.size() - kPrefix.size() - kSuffix.size();
    shards.push_back({std::string(name.substr(kPrefix.size(), size)), item.words});
  }
  if (shards.empty()) return Error(ErrorCode::kInvalidArgument, "there is no shard in the file", {{"path", path}});
  return shards;
}

}  // namespace kvarts
