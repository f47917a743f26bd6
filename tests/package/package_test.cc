// The Debian package and the unit in it, held against the tools that will read them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command.h"
#include "support/files.h"
#include "support/programs.h"
#include "support/temp_dir.h"

namespace kvarts::test {
namespace {

using testing::HasSubstr;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

TEST(Package, HasWhatAServiceNeeds) {
  if (kSanitized) GTEST_SKIP() << "packages are made of the release";
  if (!Installed("dpkg-shlibdeps")) GTEST_SKIP() << "dpkg-dev is not installed";
  const TempDir dir;
  const ProgramRun packed = RunShell("cd " + dir.path().string() +
                                     " && cpack --config " KVARTS_BINARY_DIR "/CPackConfig.cmake -B " + (dir / "made"));
  ASSERT_EQ(packed.code, 0) << packed.out;
  const std::string deb = dir / "made/kvarts_" KVARTS_VERSION "_*.deb";

  const std::string files = RunShell("dpkg-deb -c " + deb).out;
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
  EXPECT_EQ(RunShell("dpkg-deb -I " + deb + " conffiles").out, "/etc/kvarts/kvarts.toml\n");
  const std::string depends = RunShell("dpkg-deb -f " + deb + " Depends").out;
  for (const char* library : {"libc6", "librocksdb", "adduser"}) EXPECT_THAT(depends, HasSubstr(library));

  // The binary in it is whole, and its scripts are scripts.
  ASSERT_EQ(RunShell("dpkg-deb -x " + deb + " " + (dir / "root")).code, 0);
  EXPECT_THAT(RunShell(dir / "root/usr/bin/kvarts config --check " + (dir / "root/etc/kvarts/kvarts.toml")).out,
              HasSubstr(": ok, 0 options set"));
  ASSERT_EQ(RunShell("dpkg-deb -e " + deb + " " + (dir / "control")).code, 0);
  for (const char* script : {"postinst", "prerm", "postrm"}) {
    EXPECT_EQ(RunShell("test -x " + (dir / "control/") + script + " && sh -n " + (dir / "control/") + script).code, 0)
        << script;
  }
}

TEST(Unit, IsValidAndHardened) {
  if (kSanitized || !Installed("systemd-analyze")) GTEST_SKIP() << "systemd-analyze is not installed";
  const TempDir dir;
  std::string unit = ReadBytes(KVARTS_SOURCE_DIR "/packaging/kvarts.service");
  const std::string program = "/usr/bin/kvarts";
  ASSERT_NE(unit.find(program), std::string::npos);
  // verify wants the program to be there.
  unit.replace(unit.find(program), program.size(), KVARTS_BINARY_DIR "/kvarts");
  WriteBytes(dir / "kvarts.service", unit);
  const ProgramRun verified = RunShell("systemd-analyze verify --man=no " + (dir / "kvarts.service"));
  EXPECT_EQ(verified.code, 0);
  EXPECT_EQ(verified.out, "");
  // Of 10, where 10 is a service without any guard; the threshold is in tenths.
  const ProgramRun secure =
      RunShell("systemd-analyze security --no-pager --offline=true --threshold=20 " + (dir / "kvarts.service"));
  EXPECT_EQ(secure.code, 0) << secure.out;
}

}  // namespace
}  // namespace kvarts::test
