// What the user sees when the data directory is in use, missing, not ours, of another format, half made or not
// writable. Nothing is ever changed in a directory that is refused.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "engine/rocksdb/directory.h"
#include "fault_test_base.h"
#include "support/child_process.h"

namespace kvarts::test {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;

class DirectoryTest : public FaultTest {
 protected:
  std::string stamp() const { return dir() + "/KVARTS"; }

  // Names and bytes of all that is in the directory.
  std::map<std::string, std::string> Files() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(dir())) {
      files[entry.path()] = entry.is_regular_file() ? ReadBytes(entry.path()) : "";
    }
    return files;
  }
  // The error of an open that must change nothing but the lock file.
  Error Refused() {
    auto before = Files();
    const auto opened = TryOpen();
    EXPECT_FALSE(opened);
    auto after = Files();
    before.erase(dir() + "/LOCK");
    after.erase(dir() + "/LOCK");
    EXPECT_EQ(before, after);
    return opened ? Error(ErrorCode::kInternal, "it was opened") : opened.error();
  }
  std::string RefusedCode() { return std::string(ErrorCodeName(Refused().code())); }
  // A store with one key in it.
  void Make() {
    Open();
    Put("key", "value");
    Close();
  }
  // How another process fares.
  static int OpenElsewhere(std::vector<std::string> words) {
    words.insert(words.begin(), KVARTS_BINARY_DIR "/open_store");
    return ChildProcess(words).Wait();
  }
  static int ExitOf(ErrorCode code) { return 10 + static_cast<int>(code); }
};

TEST_F(DirectoryTest, InUseByTheSameProcessIsUnavailable) {
  Open();
  const auto second = TryOpen();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(second.error().text(), "the data directory is in use by another process");
  EXPECT_EQ(second.error().field("path"), dir());
  Put("key", "value");
  Close();
  Open();
  EXPECT_EQ(Value("key"), "value");
}

TEST_F(DirectoryTest, InUseByAnotherProcessIsUnavailable) {
  Open();
  Put("key", "value");
  EXPECT_EQ(OpenElsewhere({dir()}), ExitOf(ErrorCode::kUnavailable));
  Put("key", "newer");
  Close();
  EXPECT_EQ(OpenElsewhere({dir()}), 0);
  Open();
  EXPECT_EQ(Value("key"), "newer");
}

TEST_F(DirectoryTest, MissingIsNotFoundUnlessItMayBeMade) {
  options.create_if_missing = false;
  EXPECT_EQ(CodeOf(TryOpen()), "not_found");
  EXPECT_FALSE(fs::exists(dir()));
  fs::create_directory(dir());
  EXPECT_EQ(RefusedCode(), "not_found");
  options.create_if_missing = true;
  Open();
  EXPECT_EQ(Contents(), "");
}

TEST_F(DirectoryTest, ParentsAreMade) {
  const std::string deep = dir() + "/a/b/c";
  const auto opened = OpenRocksEngine(deep, options);
  EXPECT_TRUE(opened) << opened.error();
}

TEST_F(DirectoryTest, WithOtherFilesIsRefused) {
  fs::create_directory(dir());
  WriteBytes(dir() + "/letter.txt", "dear diary");
  const Error error = Refused();
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(error.text(), "the directory holds files that are not Kvarts'");
  EXPECT_FALSE(fs::exists(dir() + "/LOCK"));
}

TEST_F(DirectoryTest, AFileIsRefused) {
  WriteBytes(dir(), "not a directory");
  const auto opened = TryOpen();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(ReadBytes(dir()), "not a directory");
}

TEST_F(DirectoryTest, BelowAFileIsRefused) {
  WriteBytes(dir(), "not a directory");
  const auto opened = OpenRocksEngine(dir() + "/store", options);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), ErrorCode::kUnavailable) << opened.error();
}

TEST_F(DirectoryTest, AStampOfANewerFormatIsRefused) {
  Make();
  Stamp newer = *Stamp::Decode(ReadBytes(stamp()));
  newer.format = kFormatVersion + 1;
  WriteBytes(stamp(), newer.Encode() + "something new\n");
  const Error error = Refused();
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(error.field("format"), std::to_string(kFormatVersion + 1));
}

TEST_F(DirectoryTest, AStampOfAnotherEngineIsRefused) {
  Make();
  Stamp other = *Stamp::Decode(ReadBytes(stamp()));
  other.engine = "postgres";
  WriteBytes(stamp(), other.Encode());
  const Error error = Refused();
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(error.field("engine"), "postgres");
}

TEST_F(DirectoryTest, AStampThatIsGarbageIsRefused) {
  Make();
  const std::string good = ReadBytes(stamp());
  const std::string magic = "kvarts data directory\n";
  for (const std::string& bad :
       std::vector<std::string>{"", "garbage", "\xff\xfe\n", magic, magic + "format\n", magic + "format x\n",
                                magic + "format -1\n", magic + "format 99999999999999999999\n", good + "format 1x\n",
                                good + "id 12\n", good + "closed 1\n", good + "closed 1 x\n"}) {
    SCOPED_TRACE(Escaped(bad));
    WriteBytes(stamp(), bad);
    EXPECT_EQ(RefusedCode(), "invalid_argument");
  }
  // Nothing of a good stamp may be missing, but for the line that a clean close adds.
  for (size_t size = 0; size < good.size(); ++size) {
    SCOPED_TRACE(size);
    if (size == good.find("closed")) continue;
    WriteBytes(stamp(), good.substr(0, size));
    EXPECT_EQ(RefusedCode(), "invalid_argument");
  }
  WriteBytes(stamp(), good);
  Open();
  EXPECT_EQ(Value("key"), "value");
}

TEST_F(DirectoryTest, DataWithoutAStampIsRefused) {
  Make();
  fs::remove(stamp());
  EXPECT_EQ(RefusedCode(), "corruption");
}

TEST_F(DirectoryTest, AStampWithoutDataIsCorruption) {
  Make();
  fs::rename(data(), dir() + ".aside");
  EXPECT_EQ(RefusedCode(), "corruption");
  fs::rename(dir() + ".aside", data());
  Open();
  EXPECT_EQ(Value("key"), "value");
}

TEST_F(DirectoryTest, MakingItMayBeCutOffAnywhere) {
  Stamp unfinished;
  unfinished.id = Uuid::Version7(clock().Now());
  unfinished.unfinished = true;
  Stamp finished = unfinished;
  finished.unfinished = false;
  const std::string fresh = dir() + "/KVARTS.new";
  const std::vector<std::function<void()>> steps = {
      [&] { fs::create_directory(dir()); },
      [&] { WriteBytes(dir() + "/LOCK", ""); },
      [&] { WriteBytes(fresh, unfinished.Encode().substr(0, 30)); },
      [&] { WriteBytes(fresh, unfinished.Encode()); },
      [&] { fs::rename(fresh, stamp()); },
      [&] { fs::create_directory(data()); },
      [&] { WriteBytes(data() + "/MANIFEST-000001", "half a manif"); },
      [&] { WriteBytes(data() + "/CURRENT", "MANIFEST-000001\n"); },
      [&] { WriteBytes(data() + "/000004.log", std::string(5000, 'x')); },
      [&] { WriteBytes(fresh, finished.Encode().substr(0, 30)); },
      [&] { WriteBytes(fresh, finished.Encode()); },
  };
  for (size_t count = 1; count <= steps.size(); ++count) {
    SCOPED_TRACE(count);
    Close();
    fs::remove_all(dir());
    for (size_t i = 0; i < count; ++i) steps[i]();
    Open();
    Put("key", "value");
    Open();
    EXPECT_EQ(Contents(), "key=value");
  }
}

TEST_F(DirectoryTest, WhatWasClosedBeforeItWasMadeSaysNothingOfTheStore) {
  Stamp unfinished;
  unfinished.id = Uuid::Version7(clock().Now());
  unfinished.unfinished = true;
  unfinished.closed = {4, 17};  // the number of a new store's log
  fs::create_directory(dir());
  WriteBytes(stamp(), unfinished.Encode());
  Open();
  EXPECT_EQ(ReadBytes(stamp()).find("closed"), std::string::npos);
  LosePower();
  EXPECT_EQ(OpenCode(), "ok");
}

// The same with the real thing: operations of one sort fail from the n-th on.
TEST_F(DirectoryTest, MakingItMayFailAnywhere) {
  SyncTrackingFs& good = files();
  ASSERT_EQ(OpenCode(), "ok");
  for (const FileOp op : {FileOp::kCreate, FileOp::kAppend, FileOp::kSync, FileOp::kRename, FileOp::kSyncDirectory}) {
    for (size_t i = 0; i < kFileKinds; ++i) {
      const auto kind = static_cast<FileKind>(i);
      for (uint64_t skip = 0; skip < good.count(op, kind); ++skip) {
        SCOPED_TRACE(fmt::format("operation {} on kind {}, from the {}-th on", static_cast<int>(op), i, skip));
        fs::remove_all(dir());
        const auto failing = std::make_shared<SyncTrackingFs>();
        failing->Inject({.op = op, .kind = kind, .skip = skip, .times = UINT64_MAX});
        RocksOptions with_faults = options;
        with_faults.file_system = failing;
        {
          const auto opened = OpenRocksEngine(dir(), with_faults);
          // RocksDB does without its file of options; nothing else may be missing.
          EXPECT_TRUE(!opened || failing->failed() == 0 || kind == FileKind::kOther);
        }
        RocksOptions without_faults = options;
        without_faults.file_system = nullptr;
        const auto opened = OpenRocksEngine(dir(), without_faults);
        EXPECT_TRUE(opened) << opened.error();
      }
    }
  }
}

TEST_F(DirectoryTest, NotWritableIsUnavailable) {
  if (getuid() != 0) GTEST_SKIP() << "needs root, to become somebody else";
  Make();
  const std::string top = fs::path(dir()).parent_path();
  chmod(top.c_str(), 0755);
  chmod(dir().c_str(), 0755);
  const auto files = Files();
  EXPECT_EQ(OpenElsewhere({dir(), std::to_string(kNobody)}), ExitOf(ErrorCode::kUnavailable));
  EXPECT_EQ(OpenElsewhere({top + "/new", std::to_string(kNobody)}), ExitOf(ErrorCode::kUnavailable));
  EXPECT_EQ(Files(), files);
  Open();
  EXPECT_EQ(Value("key"), "value");
}

TEST_F(DirectoryTest, NotReadableIsUnavailable) {
  if (getuid() != 0) GTEST_SKIP() << "needs root, to become somebody else";
  Make();
  // The directory's parent cannot be entered.
  EXPECT_EQ(OpenElsewhere({dir(), std::to_string(kNobody)}), ExitOf(ErrorCode::kUnavailable));
  // The parent can be entered, the directory cannot.
  chmod(fs::path(dir()).parent_path().c_str(), 0755);
  chmod(dir().c_str(), 0700);
  EXPECT_EQ(OpenElsewhere({dir(), std::to_string(kNobody)}), ExitOf(ErrorCode::kUnavailable));
  // It can be listed, but nothing in it can be read.
  chmod(dir().c_str(), 0755);
  chmod(stamp().c_str(), 0600);
  EXPECT_EQ(OpenElsewhere({dir(), std::to_string(kNobody)}), ExitOf(ErrorCode::kUnavailable));
}

}  // namespace
}  // namespace kvarts::test
