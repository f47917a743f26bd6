#include "engine/rocksdb/rocks_verify.h"

#include <rocksdb/file_system.h>
#include <rocksdb/metadata.h>
#include <rocksdb/sst_file_reader.h>

#include <algorithm>
#include <string_view>

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

class Verifier {
 public:
  Verifier(RocksStore& store, std::string data_path, size_t at_most)
      : store_(store), data_path_(std::move(data_path)), at_most_(at_most) {}

  std::vector<Error> Run() {
    // What compaction replaces meanwhile stays until it has been read.
    store_.db->DisableFileDeletions().PermitUncheckedError();
    VerifyFiles();
    for (size_t i = 0; i < kProfiles; ++i) VerifyEntries(i);
    store_.db->EnableFileDeletions(false).PermitUncheckedError();
    return std::move(found_);
  }

 private:
  bool Enough() const { return found_.size() >= at_most_; }
  void Note(const char* text, std::initializer_list<Error::Field> fields) {
    if (!Enough()) found_.emplace_back(ErrorCode::kCorruption, text, fields);
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
      for (const rocksdb::BlobMetaData& blobs : family.blob_files) VerifyBlobs(PathOf(blobs.blob_file_name));
    }
  }

  void VerifyTable(const std::string& path) {
    if (Enough()) return;
    rocksdb::SstFileReader reader(store_.db->GetOptions());
    rocksdb::Status status = reader.Open(path);
    if (status.ok()) status = reader.VerifyChecksum();
    if (!status.ok()) Note("a data file is damaged", {{"file", path}, {"cause", status.ToString()}});
  }

  void VerifyBlobs(const std::string& path) {
    uint64_t size = 0;
    std::unique_ptr<rocksdb::RandomAccessFile> file;
    rocksdb::Env* env = store_.db->GetEnv();
    rocksdb::Status status = env->GetFileSize(path, &size);
    if (status.ok()) status = env->NewRandomAccessFile(path, &file, {});
    for (uint64_t at = kBlobFileHeader; status.ok() && at + kBlobFileFooter < size && !Enough();) {
      uint64_t next = 0;
      status = VerifyBlob(path, *file, size, at, &next);
      at = next;
    }
    if (!status.ok()) Note("a blob file cannot be read", {{"file", path}, {"cause", status.ToString()}});
  }

  // Verifies the record at `at`; `next` is where the one behind it begins.
  rocksdb::Status VerifyBlob(const std::string& path, const rocksdb::RandomAccessFile& file, uint64_t size, uint64_t at,
                             uint64_t* next) {
    *next = size;
    rocksdb::Slice read;
    char header[kBlobHeader];
    rocksdb::Status status = file.Read(at, kBlobHeader, &read, header);
    if (!status.ok()) return status;
    const BytesView sizes = read.ToStringView().substr(0, kBlobSizes);
    const uint64_t left = size - at - kBlobHeader;
    const std::string offset = std::to_string(at);
    if (read.size() < kBlobHeader || MaskedCrc(sizes) != LoadLittle<uint32_t>(read.data() + kBlobSizes) ||
        LoadLittle<uint64_t>(read.data()) > left ||
        LoadLittle<uint64_t>(read.data() + 8) > left - LoadLittle<uint64_t>(read.data())) {
      Note("a blob file is damaged from here on", {{"file", path}, {"offset", offset}});
      return status;
    }
    const auto key_size = LoadLittle<uint64_t>(read.data());
    const uint64_t bytes = key_size + LoadLittle<uint64_t>(read.data() + 8);
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
