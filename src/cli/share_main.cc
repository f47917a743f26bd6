// kvarts_share DIR: writes what is installed under share/ and follows from the tables of the binary: manual pages and
// completions. Run by the build.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "cli/completion.h"
#include "cli/man.h"

namespace {

bool Write(const std::filesystem::path& path, const std::string& text) {
  std::error_code failed;
  std::filesystem::create_directories(path.parent_path(), failed);
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out.fail()) return true;
  fmt::print(stderr, "kvarts_share: {} cannot be written\n", path.string());
  return false;
}

bool WriteAll(const std::filesystem::path& dir) {
  using namespace kvarts::cli;
  bool good = Write(dir / "man/man1/kvarts.1", ManOverview(AllCommands())) &&
              Write(dir / "man/man5/kvarts.toml.5", ManOfConfig()) &&
              Write(dir / "bash-completion/completions/kvarts", BashCompletion(AllCommands())) &&
              Write(dir / "zsh/vendor-completions/_kvarts", ZshCompletion(AllCommands())) &&
              Write(dir / "fish/vendor_completions.d/kvarts.fish", FishCompletion(AllCommands()));
  for (const Command& command : AllCommands()) {
    good = good && Write(dir / fmt::format("man/man1/kvarts-{}.1", command.name), ManOfCommand(command));
  }
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: kvarts_share DIR\n");
    return 2;
  }
  return WriteAll(argv[1]) ? 0 : 1;
}
