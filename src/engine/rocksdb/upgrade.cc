#include "engine/rocksdb/upgrade.h"

#include "engine/rocksdb/in_rocks.h"
#include "engine/rocksdb/meta.h"

namespace kvarts {

Status CheckFormat(const DataDirectory& directory, bool upgrade) {
  const Stamp& stamp = directory.stamp();
  const auto refuse = [&](const char* text) {
    return Error(ErrorCode::kInvalidArgument, text,
                 {{"path", directory.path()},
                  {"format", std::to_string(stamp.format)},
                  {"current", std::to_string(kFormatVersion)}});
  };
  if (stamp.engine != "rocksdb") {
    return Error(ErrorCode::kInvalidArgument, "the data directory belongs to another engine",
                 {{"path", directory.path()}, {"engine", stamp.engine}});
  }
  if (stamp.format > kFormatVersion) return refuse("the data directory has a format that this program does not know");
  if (stamp.format < kFormatVersion - 1) {
    return refuse("the data directory is too old for this program; upgrade it with the releases in between");
  }
  if (stamp.format < kFormatVersion && !upgrade) {
    return refuse("the data directory has an older format and must be upgraded first (kvarts upgrade)");
  }
  return {};
}

Status UpgradeFormat(DataDirectory& directory, RocksStore& store) {
  if (directory.stamp().format == kFormatVersion) return {};
  Stamp upgraded = directory.stamp();
  upgraded.format = kFormatVersion;
  KVARTS_CHECK_OK(WriteIdentity(upgraded, store));
  return directory.Restamp(upgraded);
}

Status WriteIdentity(const Stamp& stamp, RocksStore& store) {
  rocksdb::WriteOptions how;
  how.sync = true;
  const rocksdb::Status status =
      InRocks([&] { return store.db->Put(how, store.meta, ToSlice(kMetaIdentity), stamp.id.ToString()); });
  return status.ok() ? Status{} : FromRocks(status);
}

Status CheckIdentity(const DataDirectory& directory, RocksStore& store) {
  std::string identity;
  const rocksdb::Status status =
      InRocks([&] { return store.db->Get({}, store.meta, ToSlice(kMetaIdentity), &identity); });
  if (!status.ok() && !status.IsNotFound()) return FromRocks(status);
  if (identity == directory.stamp().id.ToString()) return {};
  return Error(ErrorCode::kCorruption, "the data in the directory are not those of its stamp",
               {{"path", directory.path()}, {"stamp", directory.stamp().id.ToString()}, {"data", identity}});
}

}  // namespace kvarts
