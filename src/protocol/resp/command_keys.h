// Where the keys of a command are among its words, and what it does with each: for reading them ahead, for COMMAND
// GETKEYS, and for whoever checks who may do what with which key.
//
// A command whose keys lie at fixed places says so in its row. Of others the table of docs tells how they are found; it
// is read once.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "protocol/resp/command.h"

namespace kvarts::resp {

// What is done with a key, as Redis names it.
enum KeyAccess : uint32_t {
  kReadsKey = 1 << 0,        // RO: it is only read
  kReadsAndWrites = 1 << 1,  // RW
  kOverwrites = 1 << 2,      // OW: whatever was there
  kRemoves = 1 << 3,         // RM
  kAccess = 1 << 4,          // what is in it is told
  kUpdate = 1 << 5,
  kInsert = 1 << 6,
  kDelete = 1 << 7,
  kNotKey = 1 << 8,         // a channel: it goes where a key of this name would
  kIncomplete = 1 << 9,     // there may be more
  kVariableFlags = 1 << 10  // less, with some arguments
};

struct KeySpec {
  uint32_t access = 0;
  // Where it begins: at an argument, or behind a word, which is looked for from an argument on; less than zero: from
  // so many before the end, backwards. Neither: that cannot be said beforehand.
  int index = 0;
  std::string_view keyword = {};
  int start_from = 0;
  bool unknown = false;
  // Then a number, and so many keys behind it. Or a range: up to how many behind the beginning, or less than zero, from
  // the end of the arguments; `half`: of what is left, only the first half is keys.
  bool number = false;
  int last = 0;
  int step = 1;
  bool half = false;
};

// Of the command by this name.
const std::vector<KeySpec>& KeySpecsOf(const Command& command);
// In the order in which Redis tells them: "RW", "access".
std::vector<std::string_view> AccessNames(uint32_t access);

struct FoundKey {
  size_t at;  // among the arguments
  uint32_t access;
};
// Of arguments that are as many as the command takes. Nothing when they make no sense: a number of keys is none, or
// more than there are.
std::optional<std::vector<FoundKey>> FindKeys(const Command& command, Arguments arguments);
bool HasKeys(const Command& command);

// Every name that a command reads or writes, as far as its words tell.
template <class Visit>
void ForEachKey(const Command& command, Arguments arguments, Visit visit) {
  if (command.Is(kMovableKeys)) {
    const auto found = FindKeys(command, arguments);
    if (!found) return;
    for (const FoundKey& key : *found) visit(arguments[key.at]);
    return;
  }
  if (command.first_key == 0) return;
  const auto size = static_cast<int>(arguments.size());
  const int last = command.last_key < 0 ? size + command.last_key : command.last_key;
  for (int i = command.first_key; i <= last && i < size; i += command.step) visit(arguments[static_cast<size_t>(i)]);
}

}  // namespace kvarts::resp
