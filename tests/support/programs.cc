#include "support/programs.h"

#include "support/child_process.h"
#include "support/files.h"
#include "support/temp_dir.h"

namespace kvarts::test {

ProgramRun RunProgram(const std::vector<std::string>& words, const std::string& input) {
  const TempDir files;
  WriteBytes(files / "in", input);
  ChildProcess program(words, {.in = files / "in", .out = files / "out", .err = files / "err"});
  const int code = program.Wait();
  return {code, ReadBytes(files / "out"), ReadBytes(files / "err")};
}

ProgramRun RunShell(const std::string& line) { return RunProgram({"sh", "-c", "exec 2>&1\n" + line}); }

bool Installed(const std::string& program) { return RunShell("command -v " + program).code == 0; }

}  // namespace kvarts::test
