#include "base/process_stats.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string>

namespace kvarts {
namespace {

std::string FileText(const char* path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

std::string_view TakeWord(std::string_view* text) {
  const size_t start = std::min(text->find_first_not_of(' '), text->size());
  const size_t end = std::min(text->find_first_of(" \n", start), text->size());
  const std::string_view word = text->substr(start, end - start);
  text->remove_prefix(end);
  return word;
}

uint64_t Number(std::string_view word) {
  uint64_t number = 0;
  std::from_chars(word.data(), word.data() + word.size(), number);
  return number;
}

uint64_t CountFds() {
  DIR* const dir = opendir("/proc/self/fd");
  if (dir == nullptr) return 0;
  uint64_t count = 0;
  while (const dirent* entry = readdir(dir)) count += entry->d_name[0] != '.' ? 1 : 0;
  closedir(dir);
  return count - 1;  // without the one that was counted with
}

}  // namespace

void ProcessStats::ReadStat(std::string_view stat, std::string_view system_stat, uint64_t ticks, uint64_t page) {
  // "4711 (the name (with anything)) S 1 …": what follows the last bracket is the state, field 3 of proc(5).
  const size_t bracket = stat.rfind(')');
  if (bracket == std::string_view::npos || ticks == 0) return;
  stat.remove_prefix(bracket + 1);
  constexpr size_t kFirst = 3;
  constexpr size_t kLast = 24;
  std::array<uint64_t, kLast + 1> fields{};
  for (size_t i = kFirst; i <= kLast; ++i) fields[i] = Number(TakeWord(&stat));
  const auto seconds = [&](uint64_t count) { return static_cast<double>(count) / static_cast<double>(ticks); };
  cpu_seconds = seconds(fields[14] + fields[15]);
  threads = fields[20];
  virtual_bytes = fields[23];
  resident_bytes = fields[24] * page;
  const size_t boot = system_stat.find("\nbtime ");
  if (boot == std::string_view::npos) return;
  system_stat.remove_prefix(boot + 7);
  start_seconds = static_cast<double>(Number(TakeWord(&system_stat))) + seconds(fields[22]);
}

ProcessStats ProcessStats::Take() {
  ProcessStats stats;
  stats.ReadStat(FileText("/proc/self/stat"), FileText("/proc/stat"), static_cast<uint64_t>(sysconf(_SC_CLK_TCK)),
                 static_cast<uint64_t>(sysconf(_SC_PAGESIZE)));
  stats.open_fds = CountFds();
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) stats.max_fds = limit.rlim_cur;
  return stats;
}

}  // namespace kvarts
