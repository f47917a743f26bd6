#include "protocol/resp/command_keys.h"

#include <algorithm>
#include <charconv>

#include "protocol/resp/arguments.h"
#include "protocol/resp/command_docs.h"
#include "protocol/resp/command_table.h"

namespace kvarts::resp {
namespace {

struct AccessName {
  KeyAccess access;
  std::string_view name;
};
constexpr AccessName kAccessNames[] = {
    {kReadsKey, "RO"},
    {kReadsAndWrites, "RW"},
    {kOverwrites, "OW"},
    {kRemoves, "RM"},
    {kAccess, "access"},
    {kUpdate, "update"},
    {kInsert, "insert"},
    {kDelete, "delete"},
    {kNotKey, "not_key"},
    {kIncomplete, "incomplete"},
    {kVariableFlags, "variable_flags"},
};

int NumberIn(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string_view TakeUpTo(std::string_view* text, std::string_view end) {
  const size_t at = std::min(text->find(end), text->size());
  const std::string_view taken = text->substr(0, at);
  text->remove_prefix(std::min(at + end.size(), text->size()));
  return taken;
}

void ReadWord(std::string_view word, KeySpec* spec) {
  const auto named = std::ranges::find(kAccessNames, word, &AccessName::name);
  if (named != std::end(kAccessNames)) {
    spec->access |= named->access;
  } else if (word == "?") {
    spec->unknown = true;
  } else if (word == "#") {
    spec->number = true;
  } else if (word == "half") {
    spec->half = true;
  } else if (word.starts_with("..")) {
    spec->last = NumberIn(word.substr(2));
  } else if (word.starts_with("/")) {
    spec->step = NumberIn(word.substr(1));
  } else if (const size_t at = word.find('@'); at != std::string_view::npos) {
    spec->keyword = word.substr(0, at);
    spec->start_from = NumberIn(word.substr(at + 1));
  } else {
    spec->index = NumberIn(word);
  }
}

std::vector<KeySpec> ReadSpecs(std::string_view text) {
  std::vector<KeySpec> specs;
  while (!text.empty()) {
    std::string_view part = TakeUpTo(&text, ", ");
    KeySpec& spec = specs.emplace_back();
    while (!part.empty()) ReadWord(TakeUpTo(&part, " "), &spec);
  }
  return specs;
}

// Where a word stands; zero: nowhere.
int FindWord(Arguments arguments, const KeySpec& spec) {
  const auto size = static_cast<int>(arguments.size());
  const bool forward = spec.start_from > 0;
  for (int i = forward ? spec.start_from : size + spec.start_from; i > 0 && i < size; i += forward ? 1 : -1) {
    if (IsWord(arguments[static_cast<size_t>(i)], spec.keyword)) return i;
  }
  return 0;
}

// The keys of one of the specs. False when the arguments make no sense.
bool FindOf(const KeySpec& spec, Arguments arguments, std::vector<FoundKey>* keys) {
  if (spec.unknown) return true;
  const auto size = static_cast<int>(arguments.size());
  int first = spec.index;
  if (!spec.keyword.empty()) {
    const int word = FindWord(arguments, spec);
    if (word == 0) return true;
    first = word + 1;
  }
  if (first >= size) return spec.keyword.empty() ? false : true;
  int last = 0;
  if (spec.number) {
    const auto count = IntegerOf(arguments[static_cast<size_t>(first)]);
    if (!count.has_value() || *count < 1 || *count > size - first - 1) return false;
    ++first;
    last = first + static_cast<int>(*count) - 1;
  } else if (spec.half) {
    last = first + (size - first) / 2 - 1;
  } else {
    last = spec.last < 0 ? size + spec.last : first + spec.last;
  }
  if (last >= size) return false;
  for (int i = first; i <= last; i += spec.step) keys->push_back({static_cast<size_t>(i), spec.access});
  return true;
}

// The last of them counts.
void FindStoreOfSort(Arguments arguments, std::vector<FoundKey>* keys) {
  size_t store = 0;
  for (size_t i = 2; i + 1 < arguments.size(); ++i) {
    if (IsWord(arguments[i], "LIMIT")) {
      i += 2;
    } else if (IsWord(arguments[i], "STORE")) {
      store = ++i;
    } else if (IsWord(arguments[i], "BY") || IsWord(arguments[i], "GET")) {
      ++i;
    }
  }
  if (store != 0) keys->push_back({store, kOverwrites | kUpdate});
}

// What these words do with the key, where that depends on them.
uint32_t AccessWith(const Command& command, Arguments arguments, uint32_t access) {
  const auto has = [&](std::string_view word) {
    const Arguments options = arguments.subspan(std::min<size_t>(command.name == "set" ? 3 : 2, arguments.size()));
    return std::ranges::any_of(options, [&](std::string_view argument) { return IsWord(argument, word); });
  };
  if (command.name == "set") return has("GET") ? kReadsAndWrites | kAccess | kUpdate : kOverwrites | kUpdate;
  if (command.name != "bitfield") return access & ~kVariableFlags;
  return has("SET") || has("INCRBY") ? kReadsAndWrites | kAccess | kUpdate : kReadsKey | kAccess;
}

}  // namespace

const std::vector<KeySpec>& KeySpecsOf(const Command& command) {
  static const auto kAll = [] {
    std::vector<std::vector<KeySpec>> all(CommandCount());
    const auto read = [&](const Command& one) {
      if (const CommandDoc* doc = DocOf(one.name)) all[NumberOf(one)] = ReadSpecs(doc->keys);
    };
    for (const Command& one : AllCommands()) read(one);
    for (const Command& one : AllSubcommands()) read(one);
    return all;
  }();
  return kAll[NumberOf(command)];
}

std::vector<std::string_view> AccessNames(uint32_t access) {
  std::vector<std::string_view> names;
  for (const AccessName& one : kAccessNames) {
    if ((access & one.access) != 0) names.push_back(one.name);
  }
  return names;
}

bool HasKeys(const Command& command) {
  return command.first_key != 0 ||
         std::ranges::any_of(KeySpecsOf(command), [](const KeySpec& spec) { return (spec.access & kNotKey) == 0; });
}

std::optional<std::vector<FoundKey>> FindKeys(const Command& command, Arguments arguments) {
  std::vector<FoundKey> keys;
  for (const KeySpec& spec : KeySpecsOf(command)) {
    if ((spec.access & kNotKey) != 0) continue;
    KeySpec one = spec;
    if ((spec.access & kVariableFlags) != 0) one.access = AccessWith(command, arguments, spec.access);
    if (!FindOf(one, arguments, &keys)) return std::nullopt;
  }
  if (command.name == "sort") FindStoreOfSort(arguments, &keys);
  return keys;
}

}  // namespace kvarts::resp
