#include "fault_test_base.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <thread>

namespace kvarts::test {

namespace fs = std::filesystem;

FaultTest::FaultTest() : clock_(std::make_shared<ManualClock>(kTestStart)), files_(std::make_shared<SyncTrackingFs>()) {
  options.clock = clock_;
  options.file_system = files_;
  options.memory_budget = 8 << 20;
  options.hot_cache_bytes = 0;
  options.keeper_interval = Duration::Millis(2);
  options.version_reserve = Duration::Millis(20);
  options.min_free_disk_bytes = 0;
}

void FaultTest::Open() {
  engine_.reset();
  auto opened = TryOpen();
  // Nothing that follows makes sense without it.
  if (!opened) throw std::runtime_error(opened.error().ToString());
  engine_ = *std::move(opened);
}

void FaultTest::LosePower(const PowerLoss& loss) {
  files_->PowerOff();
  Close();
  files_->LoseUnsynced(loss);
  options.file_system = files_ = std::make_shared<SyncTrackingFs>();
}

void FaultTest::Keep() {
  Close();
  fs::remove_all(temp_ / "kept");
  fs::copy(dir(), temp_ / "kept", fs::copy_options::recursive);
}

void FaultTest::Restore() {
  Close();
  fs::remove_all(dir());
  fs::copy(temp_ / "kept", dir(), fs::copy_options::recursive);
}

std::string FaultTest::OpenCode(std::string* text) {
  Close();
  const auto opened = TryOpen();
  if (text != nullptr && !opened) *text = opened.error().ToString();
  return CodeOf(opened);
}

Result<Committed> FaultTest::Commit(std::vector<Mutation> mutations, Durability durability) {
  kvarts::Commit commit = MakeCommit(std::move(mutations));
  commit.durability = durability;
  return CommitAndWait(engine(), std::move(commit));
}

Version FaultTest::Put(BytesView key, BytesView value, Durability durability) {
  const auto outcome = Commit({Mutation::Put(key, value)}, durability);
  EXPECT_TRUE(outcome) << outcome.error();
  return outcome ? outcome->version : kNoVersion;
}

Version FaultTest::Put(BytesView key, BytesView value, Timestamp expiry) {
  const auto outcome = Commit({Mutation::Put(key, value, expiry)});
  EXPECT_TRUE(outcome) << outcome.error();
  return outcome ? outcome->version : kNoVersion;
}

std::string FaultTest::Value(BytesView key, const ReadOptions& read) {
  const auto record = GetOne(engine(), key, read);
  if (!record) return record.error().ToString();
  return *record ? (*record)->value : "absent";
}

std::string FaultTest::Contents() {
  const auto view = engine().OpenView();
  return view ? ShownScan(**view) : view.error().ToString();
}

std::vector<std::string> FaultTest::FilesOf(FileKind kind) const {
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(data())) {
    if (KindOfFile(entry.path()) == kind) paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  return paths;
}

void FaultTest::WaitUntil(const std::function<bool()>& so) {
  while (!so()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

void FlipBytes(const std::string& path, size_t at, size_t count) {
  std::string bytes = ReadBytes(path);
  ASSERT_LE(at + count, bytes.size()) << path;
  for (size_t i = at; i < at + count; ++i) bytes[i] = static_cast<char>(~bytes[i]);
  WriteBytes(path, bytes);
}

void CutTo(const std::string& path, size_t size) { fs::resize_file(path, size); }

}  // namespace kvarts::test
