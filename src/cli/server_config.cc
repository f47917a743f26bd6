#include "cli/server_config.h"

#include <fmt/format.h>

#include <deque>

namespace kvarts::cli {
namespace {

struct KindOfType {
  OptionKind kind;
  std::string_view value_name;
};

KindOfType KindOf(OptionType type) {
  switch (type) {
    case OptionType::kText:
      return {OptionKind::kText, "TEXT"};
    case OptionType::kPath:
      return {OptionKind::kPath, "PATH"};
    case OptionType::kBool:
      return {OptionKind::kChoice, "BOOL"};
    case OptionType::kCount:
      return {OptionKind::kCount, "N"};
    case OptionType::kSize:
      return {OptionKind::kSize, "SIZE"};
    case OptionType::kDuration:
      return {OptionKind::kDuration, "TIME"};
    case OptionType::kChoice:
      return {OptionKind::kChoice, "WORD"};
    case OptionType::kList:
      return {OptionKind::kList, "TEXT"};
  }
  std::unreachable();
}

// A syntax borrows its texts; these are made once and stay.
struct Texts {
  std::deque<std::string> kept;
  std::string_view Keep(std::string text) { return kept.emplace_back(std::move(text)); }
};

std::vector<OptionSyntax> MakeOptions(Texts& texts) {
  std::vector<OptionSyntax> options = {
      {"config", OptionKind::kPath, "FILE", "read options from a TOML file; KVARTS_CONFIG names one too"}};
  const ServerOptions defaults;
  for (const Option& option : OptionTable()) {
    const auto [kind, value_name] = KindOf(option.type);
    const std::string value = option.Text(defaults);
    std::string help(option.help);
    if (kind == OptionKind::kList) help.append("; may be given several times");
    if (!value.empty()) help.append(fmt::format(" (default {})", value));
    options.push_back({.name = texts.Keep(option.Flag()),
                       .kind = kind,
                       .value_name = value_name,
                       .help = texts.Keep(std::move(help)),
                       .choices = option.Choices(),
                       .at_least = option.at_least});
  }
  return options;
}

}  // namespace

std::vector<OptionSyntax> ServerSyntaxOptions() {
  static auto* const kTexts = new Texts;
  static const std::vector<OptionSyntax> kOptions = MakeOptions(*kTexts);
  return kOptions;
}

Result<LoadedConfig> LoadConfig(const Arguments& arguments, const char* const* environment) {
  ConfigSources sources{.environment = EnvironmentOf(environment), .file = arguments.Text("config")};
  for (const Option& option : OptionTable()) {
    const std::string flag = option.Flag();
    if (arguments.Has(flag)) sources.flags[flag] = arguments.Texts(flag);
  }
  return kvarts::LoadConfig(sources);
}

}  // namespace kvarts::cli
