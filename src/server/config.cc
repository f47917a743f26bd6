#include "server/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/nearest.h"
#include "base/shown.h"
#include "server/toml_file.h"

namespace kvarts {
namespace {

// "lots: not a size; …", "7: the value is too small (from 8MiB to 64TiB)", "snyc: not one of the choices (…); did you
// mean sync?"
std::string ProblemText(const Error& error) {
  std::string text = Shown(error.field("word")) + ": " + std::string(error.text());
  for (const std::string_view fact : {"range", "choices"}) {
    if (!error.field(fact).empty()) text.append(fmt::format(" ({})", error.field(fact)));
  }
  if (!error.field("nearest").empty()) text.append(fmt::format("; did you mean {}?", error.field("nearest")));
  return text;
}

class Loader {
 public:
  explicit Loader(const ConfigSources& sources) : sources_(sources) { loaded_.origins.resize(OptionTable().size()); }

  Result<LoadedConfig> Load() {
    ApplyFile();
    ApplyEnvironment();
    ApplyFlags();
    // Between options only when each is right: a value that was refused is not the one that was meant.
    if (problems_.empty()) problems_ = ConfigProblems(loaded_.options);
    if (problems_.empty()) return std::move(loaded_);
    return Error(ErrorCode::kInvalidArgument, "the configuration is wrong",
                 {{"problems", fmt::format("{}", fmt::join(problems_, "\n"))}});
  }

 private:
  void Set(const Option& option, std::span<const std::string> words, Origin::Kind kind, std::string place) {
    const Status set = option.Set(loaded_.options, words);
    if (!set.has_value()) {
      problems_.push_back(fmt::format("{}: {}: {}", place, option.name, ProblemText(set.error())));
      return;
    }
    loaded_.origins[static_cast<size_t>(&option - OptionTable().data())] = {kind, std::move(place)};
  }

  void ApplyFile() {
    loaded_.file = sources_.file.value_or("");
    const auto named = sources_.environment.find(kConfigEnvironment);
    if (!sources_.file && named != sources_.environment.end()) loaded_.file = named->second;
    if (loaded_.file.empty() && !sources_.file) return;
    const Result<std::string> text = ReadConfigFile(loaded_.file);
    if (!text.has_value()) {
      problems_.push_back(fmt::format("{}: {}: {}", loaded_.file, text.error().text(), text.error().field("cause")));
      return;
    }
    const Result<std::vector<TomlItem>> items = ParseToml(*text);
    if (!items.has_value()) {
      problems_.push_back(fmt::format("{}:{}: {}; {}", loaded_.file, items.error().field("line"), items.error().text(),
                                      items.error().field("cause")));
      return;
    }
    for (const TomlItem& item : *items) ApplyItem(item);
  }

  void ApplyItem(const TomlItem& item) {
    std::string place = fmt::format("{}:{}", loaded_.file, item.line);
    const Option* option = FindOption(item.name);
    if (option == nullptr) {
      const bool known_section = item.kind == TomlItem::Kind::kSection &&
                                 std::ranges::find(OptionTable(), item.name, &Option::Section) != OptionTable().end();
      if (!known_section) problems_.push_back(fmt::format("{}: {}", place, Unknown(item)));
      return;
    }
    if (item.kind == TomlItem::Kind::kOther || item.kind == TomlItem::Kind::kSection) {
      problems_.push_back(
          fmt::format("{}: {}: not a value that an option takes; texts stand in quotes", place, item.name));
    } else if (item.kind == TomlItem::Kind::kList && option->type != OptionType::kList) {
      problems_.push_back(fmt::format("{}: {}: takes one value, not a list", place, item.name));
    } else {
      Set(*option, item.words, Origin::Kind::kFile, std::move(place));
    }
  }

  static std::string Unknown(const TomlItem& item) {
    std::string text = fmt::format("there is no such option: {}", Shown(item.name));
    const std::string_view nearest = NearestOption(item.name);
    if (!nearest.empty()) text.append(fmt::format("; did you mean {}?", nearest));
    return text;
  }

  void ApplyEnvironment() {
    std::vector<std::string> known = {std::string(kConfigEnvironment)};
    for (const Option& option : OptionTable()) {
      known.push_back(option.Environment());
      const auto found = sources_.environment.find(known.back());
      if (found == sources_.environment.end()) continue;
      Set(option, Words(option, found->second), Origin::Kind::kEnvironment, known.back());
    }
    NoteAlmostKnown(known);
  }

  void NoteAlmostKnown(const std::vector<std::string>& known) {
    constexpr std::string_view kPrefix = "KVARTS_";
    // Without what all of them begin with, which would make them all alike.
    std::vector<std::string_view> names(known.begin(), known.end());
    for (std::string_view& name : names) name.remove_prefix(kPrefix.size());
    for (const auto& [name, value] : sources_.environment) {
      if (!name.starts_with(kPrefix) || std::ranges::find(known, name) != known.end()) continue;
      const std::string_view nearest = Nearest(std::string_view(name).substr(kPrefix.size()), names);
      if (nearest.empty()) continue;
      loaded_.notes.push_back(fmt::format("{} is no option; did you mean {}{}?", Shown(name), kPrefix, nearest));
    }
  }

  static std::vector<std::string> Words(const Option& option, std::string_view text) {
    if (option.type != OptionType::kList) return {std::string(text)};
    std::vector<std::string> words;
    while (!text.empty()) {
      const size_t comma = std::min(text.find(','), text.size());
      words.emplace_back(text.substr(0, comma));
      text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return words;
  }

  void ApplyFlags() {
    for (const Option& option : OptionTable()) {
      const auto found = sources_.flags.find(option.Flag());
      if (found == sources_.flags.end()) continue;
      Set(option, found->second, Origin::Kind::kFlag, "--" + option.Flag());
    }
  }

  const ConfigSources& sources_;
  LoadedConfig loaded_;
  std::vector<std::string> problems_;
};

}  // namespace

std::string Origin::ToString() const {
  switch (kind) {
    case Kind::kDefault:
      return "default";
    case Kind::kFile:
      return "file " + place;
    case Kind::kEnvironment:
      return "environment " + place;
    case Kind::kFlag:
      return "flag " + place;
  }
  std::unreachable();
}

std::map<std::string, std::string, std::less<>> EnvironmentOf(const char* const* block) {
  std::map<std::string, std::string, std::less<>> environment;
  for (; block != nullptr && *block != nullptr; ++block) {
    const std::string_view entry = *block;
    const size_t equals = entry.find('=');
    if (equals == std::string_view::npos) continue;
    environment.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return environment;
}

Result<LoadedConfig> LoadConfig(const ConfigSources& sources) { return Loader(sources).Load(); }

}  // namespace kvarts
