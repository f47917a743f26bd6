#include "support/sync_tracking_fs.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <utility>

#include "base/bytes.h"

namespace kvarts::test {
namespace {

namespace fs = std::filesystem;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

constexpr uint64_t kPage = 4096;

std::string DirectoryOf(const std::string& path) { return fs::path(path).parent_path(); }

std::string WithoutSlash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string GraveyardOf(const std::string& directory) { return directory + ".deleted"; }

// A write of the test itself must not fail silently.
void Require(bool done, const std::string& path) {
  if (!done) throw std::runtime_error("the test cannot change " + path);
}

uint64_t SizeOf(const std::string& path) {
  std::error_code missing;
  const auto size = fs::file_size(path, missing);
  return missing ? 0 : size;
}

}  // namespace

FileKind KindOfFile(const std::string& path) {
  const std::string name = fs::path(path).filename();
  if (name.ends_with(".log")) return FileKind::kLog;
  if (name.ends_with(".sst")) return FileKind::kTable;
  if (name.ends_with(".blob")) return FileKind::kBlob;
  if (name.starts_with("MANIFEST-")) return FileKind::kManifest;
  if (name == "CURRENT" || (name.ends_with(".dbtmp") && !name.starts_with("OPTIONS"))) return FileKind::kCurrent;
  return FileKind::kOther;
}

void LoseTail(const std::string& path, uint64_t synced, uint64_t written, const PowerLoss& loss) {
  written = std::min(written, SizeOf(path));
  if (written <= synced || loss.tail == PowerLoss::Tail::kKept) return;
  std::mt19937_64 random(loss.seed ^ std::hash<std::string>()(fs::path(path).filename()));
  const uint64_t length = synced + random() % (written - synced + 1);
  const uint64_t left = loss.tail == PowerLoss::Tail::kGone ? synced : length;
  Require(truncate(path.c_str(), static_cast<off_t>(left)) == 0, path);
  if (loss.tail == PowerLoss::Tail::kGone || loss.tail == PowerLoss::Tail::kCut) return;
  const bool garbage = loss.tail == PowerLoss::Tail::kGarbage && KindOfFile(path) == FileKind::kLog;
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  Require(fd >= 0, path);
  for (uint64_t at = synced; at < left; at = (at / kPage + 1) * kPage) {
    if (random() % 2 == 0) continue;
    const uint64_t end = std::min(left, (at / kPage + 1) * kPage);
    Bytes page(end - at, '\0');
    if (garbage) std::ranges::generate(page, [&] { return static_cast<char>(random()); });
    Require(pwrite(fd, page.data(), page.size(), static_cast<off_t>(at)) == static_cast<ssize_t>(page.size()), path);
  }
  close(fd);
}

class SyncTrackingFs::File final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  File(SyncTrackingFs& owner, FileKind kind, std::shared_ptr<Extent> extent,
       std::unique_ptr<rocksdb::FSWritableFile> file)
      : FSWritableFileOwnerWrapper(std::move(file)), owner_(owner), kind_(kind), extent_(std::move(extent)) {}

  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options, IODebugContext* debug) override {
    const Turn turn = owner_.Begin(FileOp::kAppend, kind_);
    if (turn.status.ok()) return Written(data.size(), target()->Append(data, options, debug));
    if (turn.torn) {
      const rocksdb::Slice half(data.data(), data.size() / 2);
      Written(half.size(), target()->Append(half, options, debug)).PermitUncheckedError();
    }
    return turn.status;
  }
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options, const rocksdb::DataVerificationInfo&,
                  IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  IOStatus PositionedAppend(const rocksdb::Slice&, uint64_t, const IOOptions&, IODebugContext*) override {
    return IOStatus::NotSupported("only appends are tracked");
  }
  IOStatus PositionedAppend(const rocksdb::Slice&, uint64_t, const IOOptions&, const rocksdb::DataVerificationInfo&,
                            IODebugContext*) override {
    return IOStatus::NotSupported("only appends are tracked");
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    return Synced([&] { return target()->Sync(options, debug); });
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return Synced([&] { return target()->Fsync(options, debug); });
  }
  IOStatus RangeSync(uint64_t offset, uint64_t bytes, const IOOptions& options, IODebugContext* debug) override {
    const Turn turn = owner_.Begin(FileOp::kRangeSync, kind_);
    return turn.status.ok() ? target()->RangeSync(offset, bytes, options, debug) : turn.status;
  }

 private:
  IOStatus Written(uint64_t bytes, IOStatus status) {
    const std::lock_guard lock(owner_.mutex_);
    if (status.ok()) extent_->written += bytes;
    return status;
  }
  template <class Call>
  IOStatus Synced(const Call& call) {
    const Turn turn = owner_.Begin(FileOp::kSync, kind_);
    if (!turn.status.ok()) return turn.status;
    uint64_t durable = 0;
    {
      const std::lock_guard lock(owner_.mutex_);
      durable = extent_->written;
    }
    IOStatus status = call();
    const std::lock_guard lock(owner_.mutex_);
    if (status.ok()) extent_->synced = std::max(extent_->synced, durable);
    return status;
  }

  SyncTrackingFs& owner_;
  const FileKind kind_;
  const std::shared_ptr<Extent> extent_;
};

class SyncTrackingFs::Directory final : public rocksdb::FSDirectoryWrapper {
 public:
  Directory(SyncTrackingFs& owner, std::string path, std::unique_ptr<rocksdb::FSDirectory> directory)
      : FSDirectoryWrapper(std::move(directory)), owner_(owner), path_(std::move(path)) {}

  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return Synced([&] { return FSDirectoryWrapper::Fsync(options, debug); });
  }
  // The options say why; whatever it is, all names are asked to be durable.
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* debug,
                               const rocksdb::DirFsyncOptions&) override {
    return Synced([&] { return FSDirectoryWrapper::Fsync(options, debug); });
  }

 private:
  template <class Call>
  IOStatus Synced(const Call& call) {
    const Turn turn = owner_.Begin(FileOp::kSyncDirectory, FileKind::kOther);
    if (!turn.status.ok()) return turn.status;
    uint64_t last = 0;
    {
      const std::lock_guard lock(owner_.mutex_);
      last = owner_.last_change_;
    }
    IOStatus status = call();
    if (status.ok()) owner_.NamesDurable(path_, last);
    return status;
  }

  SyncTrackingFs& owner_;
  const std::string path_;
};

SyncTrackingFs::SyncTrackingFs() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}

void SyncTrackingFs::PowerOff() {
  std::unique_lock lock(mutex_);
  off_ = true;
  released_.notify_all();
  // Operations that had their turn before are waited for.
  ended_.wait(lock, [this] { return turns_ == 0; });
}

void SyncTrackingFs::PowerOffForGood() {
  {
    const std::lock_guard lock(mutex_);
    for_good_ = true;
  }
  PowerOff();
}

void SyncTrackingFs::LoseUnsynced(const PowerLoss& loss) {
  const std::lock_guard lock(mutex_);
  for (const auto& [path, extent] : extents_) LoseTail(path, extent->synced, extent->written, loss);
  std::mt19937_64 random(loss.seed);
  for (auto& [directory, changes] : changes_) {
    size_t kept = loss.tail == PowerLoss::Tail::kGone ? 0 : random() % (changes.size() + 1);
    if (loss.tail == PowerLoss::Tail::kKept) kept = changes.size();
    for (; changes.size() > kept; changes.pop_back()) {
      const NameChange& last = changes.back();
      if (last.kind == NameChange::Kind::kMade) Require(unlink(last.path.c_str()) == 0, last.path);
      if (last.kind == NameChange::Kind::kRenamed) {
        Require(rename(last.to.c_str(), last.path.c_str()) == 0, last.to);
      }
      const std::string& back = last.kind == NameChange::Kind::kRenamed ? last.to : last.path;
      if (!last.grave.empty()) Require(rename(last.grave.c_str(), back.c_str()) == 0, last.grave);
    }
    fs::remove_all(GraveyardOf(directory));
  }
  extents_.clear();
  changes_.clear();
}

uint64_t SyncTrackingFs::unsynced(FileKind kind) const {
  const std::lock_guard lock(mutex_);
  uint64_t bytes = 0;
  for (const auto& [path, extent] : extents_) {
    if (KindOfFile(path) == kind) bytes += extent->written - extent->synced;
  }
  return bytes;
}

void SyncTrackingFs::Inject(const Fault& fault) {
  const std::lock_guard lock(mutex_);
  faults_.push_back(fault);
}

void SyncTrackingFs::ClearFaults() {
  const std::lock_guard lock(mutex_);
  faults_.clear();
}

uint64_t SyncTrackingFs::failed() const {
  const std::lock_guard lock(mutex_);
  return failed_;
}

void SyncTrackingFs::Hold(FileOp op, FileKind kind) {
  const std::lock_guard lock(mutex_);
  held_.emplace_back(op, kind);
}

void SyncTrackingFs::Release() {
  {
    const std::lock_guard lock(mutex_);
    held_.clear();
  }
  released_.notify_all();
}

uint64_t SyncTrackingFs::count(FileOp op, FileKind kind) const {
  const std::lock_guard lock(mutex_);
  return counts_[static_cast<size_t>(op)][static_cast<size_t>(kind)];
}

SyncTrackingFs::Turn SyncTrackingFs::Begin(FileOp op, FileKind kind) {
  Turn turn;
  std::unique_lock lock(mutex_);
  ++counts_[static_cast<size_t>(op)][static_cast<size_t>(kind)];
  released_.wait(lock, [&] { return off_ || std::ranges::find(held_, std::pair(op, kind)) == held_.end(); });
  if (off_) {
    if (for_good_) {
      lock.unlock();
      while (true) pause();
    }
    turn.status = IOStatus::IOError("the power is off");
    return turn;
  }
  for (Fault& fault : faults_) {
    if (fault.op != op || fault.kind != kind) continue;
    if (fault.skip > 0) {
      --fault.skip;
    } else if (fault.times > 0) {
      --fault.times;
      ++failed_;
      turn.torn = fault.torn;
      turn.status = fault.no_space ? IOStatus::NoSpace("injected") : IOStatus::IOError("injected");
      // As the real file system says it.
      turn.status.SetRetryable(fault.no_space);
      break;
    }
  }
  ++turns_;
  turn.owner.reset(this);
  return turn;
}

void SyncTrackingFs::EndTurn() {
  const std::lock_guard lock(mutex_);
  if (--turns_ == 0) ended_.notify_all();
}

std::string SyncTrackingFs::Bury(const std::string& path) {
  const std::string graveyard = GraveyardOf(DirectoryOf(path));
  fs::create_directories(graveyard);
  std::string grave = graveyard + "/" + std::to_string(++graves_);
  Require(link(path.c_str(), grave.c_str()) == 0, path);
  return grave;
}

void SyncTrackingFs::Note(NameChange change) {
  change.number = ++last_change_;
  changes_[DirectoryOf(change.path)].push_back(std::move(change));
}

void SyncTrackingFs::NamesDurable(const std::string& directory, uint64_t last) {
  const std::lock_guard lock(mutex_);
  std::erase_if(changes_[directory], [&](const NameChange& change) {
    if (change.number > last) return false;
    if (!change.grave.empty()) unlink(change.grave.c_str());
    extents_.erase(change.grave);
    return true;
  });
}

IOStatus SyncTrackingFs::NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                         std::unique_ptr<rocksdb::FSWritableFile>* file, IODebugContext* debug) {
  const Turn turn = Begin(FileOp::kCreate, KindOfFile(path));
  if (!turn.status.ok()) return turn.status;
  const std::lock_guard lock(mutex_);
  // A file that is there is replaced, which is a deletion first.
  if (fs::exists(path)) {
    Note({NameChange::Kind::kDeleted, path, "", Bury(path)});
    unlink(path.c_str());
  }
  IOStatus status = target()->NewWritableFile(path, options, file, debug);
  if (!status.ok()) return status;
  auto extent = std::make_shared<Extent>();
  extents_[path] = extent;
  Note({NameChange::Kind::kMade, path, "", ""});
  *file = std::make_unique<File>(*this, KindOfFile(path), extent, std::move(*file));
  return status;
}

IOStatus SyncTrackingFs::ReopenWritableFile(const std::string&, const rocksdb::FileOptions&,
                                            std::unique_ptr<rocksdb::FSWritableFile>*, IODebugContext*) {
  return IOStatus::NotSupported("only new files are tracked");
}

IOStatus SyncTrackingFs::ReuseWritableFile(const std::string&, const std::string&, const rocksdb::FileOptions&,
                                           std::unique_ptr<rocksdb::FSWritableFile>*, IODebugContext*) {
  return IOStatus::NotSupported("only new files are tracked");
}

IOStatus SyncTrackingFs::NewDirectory(const std::string& path, const IOOptions& options,
                                      std::unique_ptr<rocksdb::FSDirectory>* directory, IODebugContext* debug) {
  IOStatus status = target()->NewDirectory(path, options, directory, debug);
  if (status.ok()) *directory = std::make_unique<Directory>(*this, WithoutSlash(path), std::move(*directory));
  return status;
}

IOStatus SyncTrackingFs::DeleteFile(const std::string& path, const IOOptions& options, IODebugContext* debug) {
  const Turn turn = Begin(FileOp::kDelete, KindOfFile(path));
  if (!turn.status.ok()) return turn.status;
  const std::lock_guard lock(mutex_);
  if (!fs::exists(path)) return target()->DeleteFile(path, options, debug);
  const std::string grave = Bury(path);
  IOStatus status = target()->DeleteFile(path, options, debug);
  if (!status.ok()) return status;
  Note({NameChange::Kind::kDeleted, path, "", grave});
  if (auto extent = extents_.extract(path)) extents_[grave] = extent.mapped();
  return status;
}

IOStatus SyncTrackingFs::RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                                    IODebugContext* debug) {
  const Turn turn = Begin(FileOp::kRename, KindOfFile(to));
  if (!turn.status.ok()) return turn.status;
  const std::lock_guard lock(mutex_);
  const std::string grave = fs::exists(to) ? Bury(to) : "";
  IOStatus status = target()->RenameFile(from, to, options, debug);
  if (!status.ok()) return status;
  Note({NameChange::Kind::kRenamed, from, to, grave});
  if (auto replaced = extents_.extract(to)) extents_[grave] = replaced.mapped();
  if (auto extent = extents_.extract(from)) extents_[to] = extent.mapped();
  return status;
}

IOStatus SyncTrackingFs::LinkFile(const std::string& from, const std::string& to, const IOOptions& options,
                                  IODebugContext* debug) {
  const Turn turn = Begin(FileOp::kCreate, KindOfFile(to));
  if (!turn.status.ok()) return turn.status;
  IOStatus status = target()->LinkFile(from, to, options, debug);
  const std::lock_guard lock(mutex_);
  if (status.ok()) Note({NameChange::Kind::kMade, to, "", ""});
  return status;
}

}  // namespace kvarts::test
