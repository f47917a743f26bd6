// kvarts config: every option of the server, with its value and where that came from.
#include <fmt/format.h>
#include <unistd.h>

#include "base/utf8.h"
#include "cli/command.h"
#include "cli/error_text.h"
#include "cli/server_config.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "encoding/json_writer.h"

namespace kvarts::cli {
namespace {

std::string ConfigTable(const LoadedConfig& config) {
  Table table({Table::Align::kLeft, Table::Align::kLeft, Table::Align::kLeft});
  const ServerOptions effective = Effective(config.options);
  for (const Option& option : OptionTable()) {
    const Origin& origin = config.OriginOf(option);
    const std::string value = option.Text(effective);
    const std::string given = option.Text(config.options);
    // What was given stands beside what it comes to.
    const std::string from = Shown(origin.ToString()) + (given == value ? "" : fmt::format(", by {}", given));
    table.Add({std::string(option.name), value, origin.kind == Origin::Kind::kDefault ? Dim(from) : Bold(from)});
  }
  return table.ToString();
}

void AddValue(const Option& option, const ServerOptions& options, JsonWriter* json) {
  const std::vector<std::string> words = option.Words(options);
  if (option.type == OptionType::kList) {
    json->BeginArray();
    for (const std::string& word : words) json->Text(IsUtf8(word) ? word : Shown(word));
    json->EndArray();
  } else if (option.type == OptionType::kBool) {
    json->Bool(words.front() == "true");
  } else if (option.type == OptionType::kCount) {
    json->Number(*ParseCount(words.front()));
  } else {
    json->Text(IsUtf8(words.front()) ? words.front() : Shown(words.front()));
  }
}

// {"listen": {"value": […], "origin": "file", "place": "kvarts.toml:3"}, …}; with "effective" where the value is a zero
// that stands for another.
std::string ConfigJson(const LoadedConfig& config) {
  std::string out;
  JsonWriter json(&out);
  const ServerOptions effective = Effective(config.options);
  json.BeginObject();
  for (const Option& option : OptionTable()) {
    const Origin& origin = config.OriginOf(option);
    const std::string words = origin.ToString();
    json.Name(option.name).BeginObject().Name("value");
    AddValue(option, config.options, &json);
    if (option.Words(effective) != option.Words(config.options)) {
      json.Name("effective");
      AddValue(option, effective, &json);
    }
    json.Field("origin", words.substr(0, words.find(' ')));
    if (!origin.place.empty()) json.Field("place", Shown(origin.place));
    json.EndObject();
  }
  json.EndObject();
  return out + "\n";
}

// A file by itself: what the environment adds is not its fault.
int CheckFile(const std::string& path) {
  const Result<LoadedConfig> loaded = kvarts::LoadConfig({.file = path});
  if (!loaded.has_value()) {
    Print(fmt::format("{}\n", ErrorText(loaded.error())));
    return kExitFound;
  }
  uint64_t set = 0;
  for (const Origin& origin : loaded->origins) set += origin.kind == Origin::Kind::kFile ? 1 : 0;
  Print(fmt::format("{}: ok, {} set\n", Shown(path), Counted(set, "option", "options")));
  return kExitOk;
}

Status CheckArguments(const Arguments& arguments) {
  if (arguments.Has("check") && arguments.Has("default")) {
    return Error(ErrorCode::kInvalidArgument, "--check and --default are two different things");
  }
  return {};
}

Syntax MakeSyntax() {
  Syntax syntax = {.arguments = {},
                   .options = {{"json", OptionKind::kFlag, {}, "one JSON object instead of a table"},
                               {"default", OptionKind::kFlag, {}, "print a file with every option and its default"},
                               {"check", OptionKind::kPath, "FILE", "say what is wrong with a file, and end with 3"}},
                   .description =
                       "Prints every option of the server with the value that counts and where it came\n"
                       "from: a flag, the environment, a file, or the default. Flags win over the\n"
                       "environment, the environment over the file. Where a 0 stands for a number that\n"
                       "follows from others, that number is shown.\n\n"
                       "  kvarts config --default > kvarts.toml\n"
                       "  kvarts config --check kvarts.toml\n"
                       "  KVARTS_LOOPS=2 kvarts config --config kvarts.toml --data /srv/kvarts\n",
                   .check = &CheckArguments};
  for (const OptionSyntax& option : ServerSyntaxOptions()) syntax.options.push_back(option);
  return syntax;
}

}  // namespace

const Syntax& ConfigSyntax() {
  static const Syntax kSyntax = MakeSyntax();
  return kSyntax;
}

Result<int> RunConfig(const Arguments& arguments) {
  if (arguments.Has("default")) {
    Print(DefaultConfigFile());
    return kExitOk;
  }
  if (const auto file = arguments.Text("check")) return CheckFile(*file);
  KVARTS_TRY(const LoadedConfig config, LoadConfig(arguments, environ));
  Print(arguments.Has("json") ? ConfigJson(config) : ConfigTable(config));
  for (const std::string& note : config.notes) PrintError(fmt::format("kvarts: {}\n", note));
  return kExitOk;
}

}  // namespace kvarts::cli
