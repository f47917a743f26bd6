// Damaged, cut-off and missing data files: the open or the read says `corruption`, what is still good can be read, and
// nothing wrong is ever returned.
#include <fmt/format.h>

#include <filesystem>
#include <random>

#include "fault_test_base.h"

namespace kvarts::test {
namespace {

namespace fs = std::filesystem;

class DamageTest : public FaultTest {
 protected:
  static constexpr int kKeys = 2000;
  static std::string Key(int i) { return fmt::format("k{:04}", i); }
  static std::string ValueOf(int i) {
    return fmt::format("{}:{}", i, std::string(100, static_cast<char>('a' + i % 26)));
  }

  // A store whose keys are in one data file, and a large value in a blob file.
  void SetUp() override {
    options.blob_min_bytes = 4 << 10;
    Open();
    std::vector<Mutation> mutations;
    for (int i = 0; i < kKeys; ++i) mutations.push_back(Mutation::Put(Key(i), ValueOf(i)));
    mutations.push_back(Mutation::Put("large", std::string(20'000, 'L')));
    ASSERT_TRUE(Commit(std::move(mutations)));
    ASSERT_TRUE(engine().Compact(KeyRange::All()));
    Close();
    // The next open puts what is left in the log into files of its own.
    Open();
    Keep();
  }

  // The largest file of that kind: the one with the keys.
  std::string Largest(FileKind kind) const {
    std::string largest;
    for (const std::string& path : FilesOf(kind)) {
      if (largest.empty() || fs::file_size(path) > fs::file_size(largest)) largest = path;
    }
    return largest;
  }
  // What is found wrong with the files, a line each.
  std::string Found() {
    std::string lines;
    for (const Error& error : engine().VerifyFiles()) {
      EXPECT_EQ(error.code(), ErrorCode::kCorruption);
      lines += error.ToString() + "\n";
    }
    return lines;
  }
  // Every key reads as it was written, or as `corruption`. How many do the latter.
  int DamagedKeys() {
    int damaged = 0;
    for (int i = 0; i < kKeys; ++i) {
      const auto record = GetOne(engine(), Key(i));
      if (!record) {
        EXPECT_EQ(record.error().code(), ErrorCode::kCorruption) << record.error();
        ++damaged;
        continue;
      }
      EXPECT_TRUE(*record && (*record)->value == ValueOf(i)) << Key(i);
    }
    return damaged;
  }
};

TEST_F(DamageTest, AGoodStoreVerifies) {
  Open();
  EXPECT_EQ(DamagedKeys(), 0);
  EXPECT_EQ(Found(), "");
}

TEST_F(DamageTest, AFlippedByteInADataFileIsNoticed) {
  const std::string file = Largest(FileKind::kTable);
  const size_t size = fs::file_size(file);
  bool some_opened = false;
  for (size_t at = 100; at < size; at += size / 12) {
    SCOPED_TRACE(at);
    Restore();
    FlipBytes(file, at);
    std::string text;
    const std::string code = OpenCode(&text);
    // Data is read when it is asked for; a file whose end is damaged cannot be opened at all.
    ASSERT_TRUE(code == "ok" || code == "corruption") << text;
    if (code != "ok") continue;
    some_opened = true;
    Open();
    EXPECT_NE(Found(), "");
    EXPECT_LT(DamagedKeys(), kKeys);
    const auto page = (*engine().OpenView())->Scan({});
    EXPECT_TRUE(page || page.error().code() == ErrorCode::kCorruption);
  }
  EXPECT_TRUE(some_opened);
}

TEST_F(DamageTest, ADamagedPlaceDoesNotStopWritesElsewhere) {
  const std::string file = Largest(FileKind::kTable);
  FlipBytes(file, 100);
  Open();
  EXPECT_GT(DamagedKeys(), 0);
  EXPECT_EQ(PutCode("new", "value"), "ok");
  EXPECT_EQ(Value("new"), "value");
  EXPECT_EQ(Value(Key(kKeys - 1)), ValueOf(kKeys - 1));
  // Overwriting does not need what was there.
  EXPECT_EQ(PutCode(Key(0), "again"), "ok");
  EXPECT_EQ(Value(Key(0)), "again");
}

TEST_F(DamageTest, ACompactionThatMeetsDamageLosesNothing) {
  const std::string file = Largest(FileKind::kTable);
  FlipBytes(file, 100);
  Open();
  const int damaged = DamagedKeys();
  EXPECT_EQ(CodeOf(engine().Compact(KeyRange::All())), "corruption");
  WaitUntil([this] { return !engine().health().writable; });
  EXPECT_EQ(engine().health().reason, "stored data is damaged; the store must be checked");
  const auto refused = Commit({Mutation::Put("new", "value")});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(DamagedKeys(), damaged);
  Open();
  EXPECT_EQ(DamagedKeys(), damaged);
}

TEST_F(DamageTest, ACutOffDataFileIsRefused) {
  const std::string file = Largest(FileKind::kTable);
  for (const size_t size : {fs::file_size(file) - 1, fs::file_size(file) / 2, size_t{0}}) {
    SCOPED_TRACE(size);
    Restore();
    CutTo(file, size);
    std::string text;
    EXPECT_EQ(OpenCode(&text), "corruption") << text;
  }
  Restore();
  Open();
  EXPECT_EQ(DamagedKeys(), 0);
}

TEST_F(DamageTest, AMissingDataFileIsRefused) {
  const std::string file = Largest(FileKind::kTable);
  fs::remove(file);
  std::string text;
  EXPECT_EQ(OpenCode(&text), "corruption") << text;
  EXPECT_NE(text.find(fs::path(file).stem()), std::string::npos) << text;
}

TEST_F(DamageTest, ADamagedBlobFileIsNoticed) {
  const std::string blob = Largest(FileKind::kBlob);
  ASSERT_FALSE(blob.empty());
  // Compressed, so small; somewhere in the value.
  FlipBytes(blob, fs::file_size(blob) / 2);
  Open();
  EXPECT_EQ(CodeOf(GetOne(engine(), "large")), "corruption");
  EXPECT_NE(Found(), "");
  EXPECT_EQ(DamagedKeys(), 0);
}

TEST_F(DamageTest, EveryDamagedPlaceIsNamed) {
  options.blob_min_bytes = 100;
  Open();
  const auto noise = [](unsigned seed) {  // does not compress
    std::string bytes;
    for (std::mt19937 random(seed); bytes.size() < 2000;) bytes.push_back(static_cast<char>(random()));
    return bytes;
  };
  ASSERT_TRUE(
      Commit({Mutation::Put("one", noise(1)), Mutation::Put("two", noise(2)), Mutation::Put("three", noise(3))}));
  Open();  // which moves them out of the log
  Close();
  const std::string table = Largest(FileKind::kTable);
  FlipBytes(table, 100);
  const std::string blob = FilesOf(FileKind::kBlob).back();
  for (const unsigned seed : {1, 3}) FlipBytes(blob, ReadBytes(blob).find(noise(seed).substr(0, 100)) + 50);
  Open();
  const std::string found = Found();
  EXPECT_NE(found.find("a data file is damaged (file=" + table), std::string::npos) << found;
  for (const std::string key : {"one", "three"}) {
    EXPECT_NE(found.find("a large value is damaged (key=" + key + ", file=" + blob), std::string::npos) << found;
  }
  EXPECT_EQ(found.find("key=two"), std::string::npos) << found;
  EXPECT_NE(found.find("entries cannot be read from here on"), std::string::npos) << found;
}

TEST_F(DamageTest, ABlobFileWhoseSizesAreDamagedIsNamed) {
  const std::string blob = Largest(FileKind::kBlob);
  FlipBytes(blob, 30);
  Open();
  EXPECT_NE(Found().find("a blob file is damaged from here on (file=" + blob + ", offset=30"), std::string::npos);
}

TEST_F(DamageTest, ACutOffOrMissingBlobFileIsNoticed) {
  const std::string blob = Largest(FileKind::kBlob);
  for (const bool missing : {false, true}) {
    SCOPED_TRACE(missing);
    Restore();
    if (missing) {
      fs::remove(blob);
    } else {
      CutTo(blob, fs::file_size(blob) / 2);
    }
    std::string text;
    const std::string code = OpenCode(&text);
    if (code == "ok") {
      Open();
      EXPECT_EQ(CodeOf(GetOne(engine(), "large")), "corruption");
      EXPECT_NE(Found(), "");
      EXPECT_EQ(DamagedKeys(), 0);
    } else {
      EXPECT_EQ(code, "corruption") << text;
    }
  }
}

TEST_F(DamageTest, ADamagedManifestIsRefused) {
  const std::string manifest = FilesOf(FileKind::kManifest).back();
  const size_t size = fs::file_size(manifest);
  for (size_t at = 0; at < size; at += size / 15 + 1) {
    SCOPED_TRACE(at);
    Restore();
    FlipBytes(manifest, at);
    std::string text;
    EXPECT_EQ(OpenCode(&text), "corruption") << text;
    FlipBytes(manifest, at);
    Open();
    EXPECT_EQ(Value(Key(7)), ValueOf(7));
  }
}

TEST_F(DamageTest, ACutOffManifestIsRefusedOrHarmless) {
  const std::string manifest = FilesOf(FileKind::kManifest).back();
  const size_t size = fs::file_size(manifest);
  for (size_t left = 0; left < size; left += size / 15 + 1) {
    SCOPED_TRACE(left);
    Restore();
    CutTo(manifest, left);
    std::string text;
    const std::string code = OpenCode(&text);
    if (code == "ok") {
      Open();
      EXPECT_EQ(DamagedKeys(), 0);
      EXPECT_EQ(Value("large"), std::string(20'000, 'L'));
    } else {
      EXPECT_EQ(code, "corruption") << text;
    }
  }
}

TEST_F(DamageTest, WithoutCurrentItIsRefused) {
  for (const char* name : {"CURRENT", "MANIFEST"}) {
    SCOPED_TRACE(name);
    Restore();
    const std::string file = name == std::string("CURRENT") ? data() + "/CURRENT" : FilesOf(FileKind::kManifest).back();
    fs::remove(file);
    std::string text;
    EXPECT_EQ(OpenCode(&text), "corruption") << text;
  }
  for (const char* text : {"", "MANIFEST-999999\n", "garbage"}) {
    SCOPED_TRACE(text);
    Restore();
    WriteBytes(data() + "/CURRENT", text);
    std::string error;
    EXPECT_EQ(OpenCode(&error), "corruption") << error;
  }
}

}  // namespace
}  // namespace kvarts::test
