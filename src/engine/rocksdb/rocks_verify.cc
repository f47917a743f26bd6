#include "engine/rocksdb/rocks_verify.h"

#include <rocksdb/file_system.h>
#include <rocksdb/metadata.h>
#include <rocksdb/sst_file_reader.h>

#include <string_view>

#include "engine/rocksdb/in_rocks.h"
#include "engine/rocksdb/masked_crc.h"
#include "engine/rocksdb/value_codec.h"

namespace kvarts {
namespace {

// A blob file: a header, records, and a footer if the file was finished. A record is a header with the sizes of key and
// value, an expiry, the checksum of these and that of what follows; then key and value.
constexpr uint64_t kBlobFileHeader = 30;
constexpr uint64_t kBlobFileFooter = 32;
constexpr uint64_t kBlobHeader = 32;
constexpr uint64_t kBlobSizes = 24;

// While it lives, what compaction replaces stays.
class FilesStay {
 public:
  explicit FilesStay(rocksdb::DB& db) : db_(db), stay_(db.DisableFileDeletions().ok()) {}
  ~FilesStay() {
    if (stay_) db_.EnableFileDeletions(false).PermitUncheckedError();
  }
  FilesStay(const FilesStay&) = delete;
  FilesStay& operator=(const FilesStay&) = delete;

 private:
  rocksdb::DB& db_;
  const bool stay_;
};

class Verifier {
 public:
  Verifier(RocksStore& store, std::string data_path, size_t at_most)
      : store_(store), options_(store.db->GetOptions()), data_path_(std::move(data_path)), at_most_(at_most) {}

  std::vector<Error> Run() {
    {
      const FilesStay stay(*store_.db);
      VerifyFiles();
    }
    for (size_t i = 0; i < kProfiles; ++i) InRocks([&] { VerifyEntries(i); });
    return std::move(found_);
  }

 private:
  bool Enough() const { return found_.size() >= at_most_; }
  void Note(const char* text, std::initializer_list<Error::Field> fields) {
    if (!Enough()) found_.emplace_back(ErrorCode::kCorruption, text, fields);
  }
  // Damage, or that the system fails: what RocksDB says of a file.
  void Note(const char* damaged, const std::string& path, const rocksdb::Status& status) {
    if (status.ok() || Enough()) return;
    const Error error = FromRocks(status);
    found_.emplace_back(error.code(), error.code() == ErrorCode::kCorruption ? damaged : "a file cannot be read",
                        std::initializer_list<Error::Field>{{"file", path}, {"cause", status.ToString()}});
  }
  std::string PathOf(std::string_view name) const {
    return data_path_ + "/" + std::string(name.substr(name.find_first_not_of('/')));
  }

  void VerifyFiles() {
    std::vector<rocksdb::ColumnFamilyMetaData> families;
    store_.db->GetAllColumnFamilyMetaData(&families);
    for (const rocksdb::ColumnFamilyMetaData& family : families) {
      for (const rocksdb::LevelMetaData& level : family.levels) {
        for (const rocksdb::SstFileMetaData& table : level.files) VerifyTable(PathOf(table.name));
      }
      for (const rocksdb::BlobMetaData& blobs : family.blob_files)
        VerifyBlobs(PathOf(blobs.blob_file_name), blobs.blob_file_size);
    }
  }

  void VerifyTable(const std::string& path) {
    if (Enough()) return;
    rocksdb::SstFileReader reader(options_);
    rocksdb::Status status = reader.Open(path);
    if (status.ok()) status = reader.VerifyChecksum();
    Note("a data file is damaged", path, status);
  }

  void VerifyBlobs(const std::string& path, uint64_t expected) {
    uint64_t size = 0;
    std::unique_ptr<rocksdb::RandomAccessFile> file;
    rocksdb::Env* env = store_.db->GetEnv();
    rocksdb::Status status = env->GetFileSize(path, &size);
    if (status.ok() && size != expected) {
      Note("a blob file is not as long as it was",
           {{"file", path}, {"bytes", std::to_string(size)}, {"expected", std::to_string(expected)}});
    }
    if (status.ok()) status = env->NewRandomAccessFile(path, &file, {});
    for (uint64_t at = kBlobFileHeader; status.ok() && at + kBlobFileFooter < size && !Enough();) {
      uint64_t next = 0;
      status = VerifyBlob(path, *file, size, at, &next);
      at = next;
    }
    Note("a blob file is damaged", path, status);
  }

  // Verifies the record at `at`; `next` is where the one behind it begins.
  rocksdb::Status VerifyBlob(const std::string& path, const rocksdb::RandomAccessFile& file, uint64_t size, uint64_t at,
                             uint64_t* next) {
    *next = size;
    rocksdb::Slice read;
    char header[kBlobHeader];
    rocksdb::Status status = file.Read(at, kBlobHeader, &read, header);
    if (!status.ok()) return status;
    const bool whole = read.size() == kBlobHeader && MaskedCrc(read.ToStringView().substr(0, kBlobSizes)) ==
                                                         LoadLittle<uint32_t>(read.data() + kBlobSizes);
    const uint64_t key_size = whole ? LoadLittle<uint64_t>(read.data()) : 0;
    const uint64_t value_size = whole ? LoadLittle<uint64_t>(read.data() + 8) : 0;
    const uint64_t left = size - at - kBlobHeader;
    const std::string offset = std::to_string(at);
    if (!whole || key_size > left || value_size > left - key_size) {
      Note("a blob file is damaged from here on", {{"file", path}, {"offset", offset}});
      return status;
    }
    const uint64_t bytes = key_size + value_size;
    const auto expected = LoadLittle<uint32_t>(read.data() + kBlobSizes + 4);
    buffer_.resize(bytes);
    status = file.Read(at + kBlobHeader, bytes, &read, buffer_.data());
    if (!status.ok()) return status;
    if (MaskedCrc(read.ToStringView()) != expected) {
      Note("a large value is damaged",
           {{"key", Escaped(read.ToStringView().substr(0, key_size))}, {"file", path}, {"offset", offset}});
    }
    *next = at + kBlobHeader + bytes;
    return status;
  }

  void VerifyEntries(size_t profile) {
    const auto point = store_.CurrentPoint();
    rocksdb::ReadOptions how;
    how.snapshot = point->snapshot;
    how.verify_checksums = true;
    how.fill_cache = false;
    const std::unique_ptr<rocksdb::Iterator> it(store_.db->NewIterator(how, store_.families[profile]));
    Bytes last;
    for (it->SeekToFirst(); it->Valid() && !Enough(); it->Next()) {
      const BytesView key = it->key().ToStringView();
      last = key;
      ValueHeader header;
      BytesView value;
      if (!DecodeStored(it->value().ToStringView(), &header, &value)) {
        Note("a stored value has a damaged header", {{"key", Escaped(key)}});
      } else if (header.version > point->version) {
        Note("a stored value has a version that was never issued", {{"key", Escaped(key)}});
      } else if (static_cast<size_t>(point->routing->ProfileOf(key)) != profile) {
        Note("a key lies outside the column family of its profile", {{"key", Escaped(key)}});
      }
    }
    if (!it->status().ok()) {
      Note("entries cannot be read from here on", {{"behind", Escaped(last)}, {"cause", it->status().ToString()}});
    }
  }

  RocksStore& store_;
  const rocksdb::Options options_;
  const std::string data_path_;
  const size_t at_most_;
  std::vector<Error> found_;
  Bytes buffer_;
};

}  // namespace

std::vector<Error> VerifyStored(RocksStore& store, const std::string& data_path, size_t at_most) {
  return Verifier(store, data_path, at_most).Run();
}

}  // namespace kvarts
