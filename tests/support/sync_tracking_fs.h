// A file system beneath RocksDB for tests: it knows what has been synced, loses the rest as a power failure would, and
// fails or holds up operations on demand. Safe from any thread.
//
// The files lie on the real file system; only what is promised about them is played here. A sync makes what was written
// before it began durable; RangeSync promises nothing. Names (files made, renamed, deleted) are durable when their
// directory has been synced, and are lost in the reverse order of their making. What was deleted is kept in a folder
// beside the data until then, so that it can come back. Not played: loss of synced bytes, and RocksDB's LOG file.
#pragma once

#include <rocksdb/file_system.h>

#include <array>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace kvarts::test {

enum class FileKind : uint8_t {
  kLog,       // the write-ahead log
  kTable,     // SST files
  kBlob,      // blob files
  kManifest,  // MANIFEST-*
  kCurrent,   // CURRENT, also while it is being written
  kOther,     // OPTIONS, IDENTITY
};
constexpr size_t kFileKinds = 6;
FileKind KindOfFile(const std::string& path);

enum class FileOp : uint8_t { kCreate, kAppend, kSync, kRangeSync, kRename, kDelete, kSyncDirectory };
constexpr size_t kFileOps = 7;

// What is to fail: operations of one sort on files of one kind. For kSyncDirectory the kind is kOther.
struct Fault {
  FileOp op = FileOp::kSync;
  FileKind kind = FileKind::kLog;
  uint64_t skip = 0;      // so many succeed first,
  uint64_t times = 1;     // then so many fail
  bool no_space = false;  // as a full disk does; else as a broken one
  bool torn = false;      // an append that fails has written half of its bytes
};

// What becomes of bytes that were not synced.
struct PowerLoss {
  enum class Tail : uint8_t {
    kGone,     // all of them are lost
    kKept,     // none is, as if everything had just been written back
    kCut,      // some of the first ones are there
    kZeros,    // each page of 4 KiB is there, or reads as zeros
    kGarbage,  // each page is there, or reads as anything; only in logs, elsewhere as kZeros
  };
  Tail tail = Tail::kGone;
  uint64_t seed = 0;
};

class SyncTrackingFs final : public rocksdb::FileSystemWrapper {
 public:
  SyncTrackingFs();

  // From here on every change fails. What is under way ends first.
  void PowerOff();
  // The same for a process that is about to end: whoever wants to change something waits for that. (A RocksDB with
  // asserts does not survive errors in every place, and no program sees errors when the power fails.)
  void PowerOffForGood();
  // Changes the files to what a power failure leaves. Only after PowerOff; the process may go on or end.
  void LoseUnsynced(const PowerLoss& loss);

  // Bytes in files of this kind that a power failure could take.
  uint64_t unsynced(FileKind kind) const;

  void Inject(const Fault& fault);
  void ClearFaults();
  // How many operations have failed by Inject.
  uint64_t failed() const;
  // Operations of this sort wait until Release.
  void Hold(FileOp op, FileKind kind);
  void Release();
  // How many operations of this sort began, those that failed included.
  uint64_t count(FileOp op, FileKind kind) const;

  static const char* kClassName() { return "KvartsSyncTrackingFs"; }
  const char* Name() const override { return kClassName(); }

  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus ReopenWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                       std::unique_ptr<rocksdb::FSWritableFile>* file,
                                       rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus ReuseWritableFile(const std::string& path, const std::string& old_path,
                                      const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSWritableFile>* file,
                                      rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewDirectory(const std::string& path, const rocksdb::IOOptions& options,
                                 std::unique_ptr<rocksdb::FSDirectory>* directory,
                                 rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus DeleteFile(const std::string& path, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus LinkFile(const std::string& from, const std::string& to, const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override;

 private:
  class File;
  class Directory;
  // How much of a file was written, and how much of that is durable. Both under mutex_.
  struct Extent {
    uint64_t written = 0;
    uint64_t synced = 0;
  };
  // A change of names that its directory does not have durably.
  struct NameChange {
    enum class Kind : uint8_t { kMade, kDeleted, kRenamed } kind;
    std::string path;
    std::string to;     // of a rename
    std::string grave;  // where the file lies that was deleted or replaced; empty if there was none
    uint64_t number = 0;
  };
  // Permission to carry out an operation: while it lives, the power stays on.
  struct Turn {
    struct End {
      void operator()(SyncTrackingFs* owner) const { owner->EndTurn(); }
    };
    std::unique_ptr<SyncTrackingFs, End> owner;
    rocksdb::IOStatus status;
    bool torn = false;
  };
  Turn Begin(FileOp op, FileKind kind);
  void EndTurn();
  std::string Bury(const std::string& path);
  void Note(NameChange change);
  // The directory was synced when its last change was this one.
  void NamesDurable(const std::string& directory, uint64_t last);

  bool for_good_ = false;  // under mutex_
  mutable std::mutex mutex_;
  std::condition_variable released_;
  std::condition_variable ended_;
  uint64_t turns_ = 0;  // under way
  bool off_ = false;
  std::map<std::string, std::shared_ptr<Extent>> extents_;  // of files written here
  std::map<std::string, std::vector<NameChange>> changes_;  // by directory
  std::vector<Fault> faults_;
  std::vector<std::pair<FileOp, FileKind>> held_;
  std::array<std::array<uint64_t, kFileKinds>, kFileOps> counts_{};
  uint64_t failed_ = 0;
  uint64_t graves_ = 0;
  uint64_t last_change_ = 0;
};

// Leaves of the file's bytes from `synced` to `written` what the loss leaves.
void LoseTail(const std::string& path, uint64_t synced, uint64_t written, const PowerLoss& loss);

}  // namespace kvarts::test
