// Random commands for the differential test. A template is a line of words: those in capitals stand for themselves,
// those in braces are made up, what stands in brackets may be left out, and of what has bars between one is taken.
#pragma once

#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvarts::test {

enum class Comparison : uint8_t {
  kExact,
  kUnordered,  // the elements of an array, a set or a map, in any order
  kSeconds,    // a time, which both have read from their own clock
  kMillis,
  kScan,    // a cursor and an array, in any order
  kNoMore,  // a count, in which Redis has keys that have expired, and are still there
  kKind,    // of what kind it is: what it says is the server's own, or by chance; errors are the same
};
// Of an array, a set or a map as RespClient gives it.
std::vector<std::string> ElementsOf(std::string_view array);
bool Alike(const std::string& ours, const std::string& theirs, Comparison how);

struct CommandTemplate {
  std::string_view name;
  std::string_view words;  // behind the name
  Comparison comparison = Comparison::kExact;
};
std::span<const CommandTemplate> CommandTemplates();

class CommandMaker {
 public:
  explicit CommandMaker(uint64_t seed) : random_(seed) {}

  const CommandTemplate& Choose(std::span<const CommandTemplate> from) { return from[Below(from.size())]; }
  std::vector<std::string> Make(const CommandTemplate& command);
  static const std::vector<std::string>& Keys();

 private:
  uint64_t Below(uint64_t end) { return random_() % end; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }
  // Appends what a part of a template stands for.
  void Expand(std::string_view part, std::vector<std::string>* words);
  std::string Value(std::string_view kind);
  std::string Integer();

  std::mt19937_64 random_;
};

}  // namespace kvarts::test
