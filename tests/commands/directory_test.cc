// Directories that cannot be opened: each says why, and nothing is made or changed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "commands/kvarts_process.h"
#include "engine/rocksdb/directory.h"
#include "kvarts/database.h"
#include "support/temp_dir.h"

namespace kvarts::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Directory : public testing::Test {
 protected:
  // Every command that wants a directory that is there.
  void ExpectRefused(const std::string& dir, const std::string& message) {
    for (const std::string command : {"check", "dump", "stats", "upgrade"}) {
      const Ran ran = RunKvarts({command, dir});
      EXPECT_EQ(ran.code, 1) << command;
      EXPECT_THAT(ran.err, HasSubstr("kvarts: " + message)) << command;
    }
  }

  // The data directory somewhere under a folder.
  static std::string DataIn(const std::string& folder) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.path().filename() == "KVARTS") return entry.path().parent_path();
    }
    return folder;
  }

  TempDir temp_;
};

TEST_F(Directory, MissingIsNotMade) {
  ExpectRefused(temp_ / "none", "there is no data directory: " + temp_ / "none");
  EXPECT_FALSE(std::filesystem::exists(temp_ / "none"));
  const Ran shell = RunScript(temp_ / "none", "get a\n", {"--no-create"});
  EXPECT_EQ(shell.code, 1);
  EXPECT_FALSE(std::filesystem::exists(temp_ / "none"));
}

TEST_F(Directory, WhatCannotBeLookedAtIsNotCalledMissing) {
  std::filesystem::create_symlink("loop", temp_ / "loop");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"get", "a", "--data", temp_ / "loop"}, {"check", temp_ / "loop"}}) {
    const Ran ran = RunKvarts(words);
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.err, AllOf(HasSubstr("cannot look at the data directory: " + temp_ / "loop"),
                               HasSubstr("Too many levels of symbolic links")));
  }
  if (getuid() == 0) return;  // whom no mode keeps out
  ASSERT_EQ(RunKvarts({"put", "a", "x", "--data", temp_ / "shut/data"}).code, 0);
  std::filesystem::permissions(temp_ / "shut", std::filesystem::perms::none);
  const Ran ran = RunKvarts({"get", "a", "--data", temp_ / "shut/data"});
  std::filesystem::permissions(temp_ / "shut", std::filesystem::perms::owner_all);
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("Permission denied"));
}

TEST_F(Directory, IsMadeForItsOwnerAlone) {
  using enum std::filesystem::perms;
  const auto mode = [&](const std::string& name) { return std::filesystem::status(temp_ / name).permissions(); };
  const mode_t before = umask(022);
  ASSERT_EQ(RunKvarts({"put", "a", "x", "--data", temp_ / "above/data"}).code, 0);
  ASSERT_EQ(RunKvarts({"put", "a", "x", "--data", temp_ / "slash/"}).code, 0);
  ASSERT_EQ(RunScript(temp_ / "shell", "put a b\n").code, 0);
  EXPECT_EQ(mode("above/data"), owner_all);
  EXPECT_EQ(mode("slash"), owner_all);
  EXPECT_EQ(mode("shell"), owner_all);
  EXPECT_EQ(mode("above"), owner_all | group_read | group_exec | others_read | others_exec);
  // One that is there is its owner's business.
  std::filesystem::create_directory(temp_ / "shared");
  std::filesystem::permissions(temp_ / "shared", owner_all | group_all);
  ASSERT_EQ(RunKvarts({"put", "a", "x", "--data", temp_ / "shared"}).code, 0);
  EXPECT_EQ(mode("shared"), owner_all | group_all);
  umask(before);
}

TEST_F(Directory, MayBeNamedFromWhereOneStands) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(std::filesystem::path(temp_ / "."));
  for (const std::string dir : {"near", "./dotted", "far/away"}) {
    EXPECT_EQ(RunKvarts({"put", "a", "x", "--data", dir}).code, 0) << dir;
    EXPECT_EQ(RunKvarts({"get", "a", "--data", dir}).out, "x") << dir;
  }
  std::filesystem::current_path(before);
}

TEST_F(Directory, EmptyIsNotTakenForAStore) {
  std::filesystem::create_directory(temp_ / "empty");
  ExpectRefused(temp_ / "empty", "there is no data directory");
  EXPECT_TRUE(std::filesystem::is_empty(temp_ / "empty"));
}

TEST_F(Directory, NotOursIsLeftAlone) {
  std::filesystem::create_directory(temp_ / "photos");
  std::ofstream(temp_ / "photos/cat.jpg") << "meow";
  const std::string message = "the directory holds files that are not Kvarts': " + temp_ / "photos";
  ExpectRefused(temp_ / "photos", message);
  EXPECT_THAT(RunScript(temp_ / "photos", "put a b\n").err, HasSubstr(message));
  std::ofstream(temp_ / "file") << "meow";
  ExpectRefused(temp_ / "file", "the data directory is not a directory: " + temp_ / "file");
}

TEST_F(Directory, WithoutANameIsRefused) { ExpectRefused("", "a data directory needs a name"); }

TEST_F(Directory, WithoutItsStampIsRefused) {
  ASSERT_EQ(RunScript(temp_ / "data", "put a b\n").code, 0);
  std::filesystem::remove(temp_ / "data/KVARTS");
  const std::string message = "the data directory has data but no stamp, the file KVARTS: " + temp_ / "data";
  const Ran shell = RunScript(temp_ / "data", "get a\n");
  EXPECT_EQ(shell.code, 1);
  EXPECT_THAT(shell.err, HasSubstr(message));
  const Ran check = RunKvarts({"check", temp_ / "data"});
  EXPECT_EQ(check.code, 3);
  EXPECT_THAT(check.out, HasSubstr(message));
}

TEST_F(Directory, OfANewerFormatIsRefusedByNumber) {
  ASSERT_EQ(RunScript(temp_ / "data", "put a b\n").code, 0);
  std::ofstream(temp_ / "data/KVARTS") << "kvarts data directory\nformat 99\nengine rocksdb\n"
                                          "id 0190b7e2-7cb0-7123-8456-0123456789ab\n";
  ExpectRefused(temp_ / "data",
                "the data directory has a format that this program does not know: " + temp_ / "data" + " (format 99, ");
}

TEST_F(Directory, InUseIsSaid) {
  const auto held = Database::Open(temp_ / "data");
  ASSERT_TRUE(held) << held.error();
  ExpectRefused(temp_ / "data", "the data directory is in use by another process: " + temp_ / "data");
  EXPECT_EQ(RunScript(temp_ / "data", "get a\n").code, 1);
}

TEST_F(Directory, OfThePreviousFormatIsUpgradedWhenAsked) {
  const std::string golden =
      std::string(KVARTS_SOURCE_DIR) + "/tests/golden/format-" + std::to_string(kFormatVersion - 1) + ".tar";
  if (!std::filesystem::exists(golden)) GTEST_SKIP() << "there is no earlier format";
  std::filesystem::create_directory(temp_ / "old");
  ASSERT_EQ(std::system(("tar -xf " + golden + " -C " + temp_ / "old").c_str()), 0);
  const std::string dir = DataIn(temp_ / "old");
  for (const std::string command : {"check", "dump", "stats"}) {
    const Ran refused = RunKvarts({command, dir});
    EXPECT_EQ(refused.code, 1);
    EXPECT_THAT(refused.err, HasSubstr("must be upgraded first (kvarts upgrade): " + dir));
  }
  const Ran upgraded = RunKvarts({"upgrade", dir});
  EXPECT_EQ(upgraded.code, 0) << upgraded.err;
  EXPECT_THAT(upgraded.out, HasSubstr("from format " + std::to_string(kFormatVersion - 1) + " to format " +
                                      std::to_string(kFormatVersion)));
  EXPECT_THAT(RunKvarts({"upgrade", dir}).out, HasSubstr("nothing to do"));
  const Ran stats = RunKvarts({"stats", dir});
  EXPECT_EQ(stats.code, 0) << stats.err;
}

TEST_F(Directory, UpgradeLeavesWhatIsUpToDate) {
  ASSERT_EQ(RunScript(temp_ / "data", "put a b\n").code, 0);
  const Ran ran = RunKvarts({"upgrade", temp_ / "data"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("nothing to do"));
}

}  // namespace
}  // namespace kvarts::test
