// The Debian package and the unit in it, held against the tools that will read them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "cli/command.h"
#include "support/temp_dir.h"

namespace kvarts::test {
namespace {

using testing::HasSubstr;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

struct Answer {
  int code = -1;
  std::string out;
};

Answer Sh(const std::string& line) {
  Answer answer;
  FILE* pipe = popen((line + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return answer;
  std::array<char, 4096> buffer{};
  for (size_t n = 0; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) answer.out.append(buffer.data(), n);
  answer.code = WEXITSTATUS(pclose(pipe));
  return answer;
}

bool Installed(const std::string& program) { return Sh("command -v " + program).code == 0; }

TEST(Package, HasWhatAServiceNeeds) {
  if (kSanitized) GTEST_SKIP() << "packages are made of the release";
  if (!Installed("dpkg-shlibdeps")) GTEST_SKIP() << "dpkg-dev is not installed";
  const TempDir dir;
  const Answer packed = Sh("cd " + dir.path().string() +
                           " && cpack --config " KVARTS_BINARY_DIR "/CPackConfig.cmake -B " + (dir / "made"));
  ASSERT_EQ(packed.code, 0) << packed.out;
  const std::string deb = dir / "made/kvarts_" KVARTS_VERSION "_*.deb";

  const std::string files = Sh("dpkg-deb -c " + deb).out;
  for (const std::string path :
       {"-rwxr-xr-x root/root .* ./usr/bin/kvarts", "-rw-r--r-- root/root .* ./etc/kvarts/kvarts.toml",
        "-rw-r--r-- root/root .* ./usr/lib/systemd/system/kvarts.service", ".* ./usr/share/man/man1/kvarts.1.gz",
        ".* ./usr/share/man/man5/kvarts.toml.5.gz", ".* ./usr/share/bash-completion/completions/kvarts",
        ".* ./usr/share/zsh/vendor-completions/_kvarts", ".* ./usr/share/fish/vendor_completions.d/kvarts.fish",
        ".* ./usr/share/kvarts/prometheus/kvarts-alerts.yml", ".* ./usr/share/doc/kvarts/copyright"}) {
    EXPECT_THAT(files, testing::ContainsRegex(path + "\n"));
  }
  for (const cli::Command& command : cli::AllCommands()) {
    EXPECT_THAT(files, HasSubstr("./usr/share/man/man1/kvarts-" + std::string(command.name) + ".1.gz\n"));
  }
  EXPECT_EQ(Sh("dpkg-deb -I " + deb + " conffiles").out, "/etc/kvarts/kvarts.toml\n");
  const std::string depends = Sh("dpkg-deb -f " + deb + " Depends").out;
  for (const char* library : {"libc6", "librocksdb", "adduser"}) EXPECT_THAT(depends, HasSubstr(library));

  // The binary in it is whole, and its scripts are scripts.
  ASSERT_EQ(Sh("dpkg-deb -x " + deb + " " + (dir / "root")).code, 0);
  EXPECT_THAT(Sh(dir / "root/usr/bin/kvarts config --check " + (dir / "root/etc/kvarts/kvarts.toml")).out,
              HasSubstr(": ok, 0 options set"));
  ASSERT_EQ(Sh("dpkg-deb -e " + deb + " " + (dir / "control")).code, 0);
  for (const char* script : {"postinst", "prerm", "postrm"}) {
    EXPECT_EQ(Sh("test -x " + (dir / "control/") + script + " && sh -n " + (dir / "control/") + script).code, 0)
        << script;
  }
}

TEST(Unit, IsValidAndHardened) {
  if (kSanitized || !Installed("systemd-analyze")) GTEST_SKIP() << "systemd-analyze is not installed";
  const TempDir dir;
  std::ifstream in(KVARTS_SOURCE_DIR "/packaging/kvarts.service");
  std::ostringstream text;
  text << in.rdbuf();
  std::string unit = text.str();
  const std::string program = "/usr/bin/kvarts";
  ASSERT_NE(unit.find(program), std::string::npos);
  // verify wants the program to be there.
  unit.replace(unit.find(program), program.size(), KVARTS_BINARY_DIR "/kvarts");
  std::ofstream(dir / "kvarts.service") << unit;
  const Answer verified = Sh("systemd-analyze verify --man=no " + (dir / "kvarts.service"));
  EXPECT_EQ(verified.code, 0);
  EXPECT_EQ(verified.out, "");
  // Of 10, where 10 is a service without any guard; the threshold is in tenths.
  const Answer secure =
      Sh("systemd-analyze security --no-pager --offline=true --threshold=20 " + (dir / "kvarts.service"));
  EXPECT_EQ(secure.code, 0) << secure.out;
}

}  // namespace
}  // namespace kvarts::test
