#include "engine/rocksdb/directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <utility>
#include <vector>

namespace kvarts {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "kvarts data directory";
constexpr const char* kStampName = "/KVARTS";
constexpr const char* kLockName = "/LOCK";

Error SystemError(const char* text, const std::string& path) {
  return Error(ErrorCode::kUnavailable, text, {{"path", path}, {"cause", std::strerror(errno)}});
}

// A descriptor that is closed at the end of its scope.
class File {
 public:
  File(const std::string& path, int flags) : fd_(open(path.c_str(), flags | O_CLOEXEC, 0644)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

Status SyncPath(const std::string& path) {
  const File file(path, O_RDONLY);
  if (file.fd() < 0 || fsync(file.fd()) != 0) return SystemError("cannot sync", path);
  return {};
}

Error SystemError(const char* text, const std::string& path, const std::error_code& problem) {
  return Error(ErrorCode::kUnavailable, text, {{"path", path}, {"cause", problem.message()}});
}

Result<bool> Exists(const std::string& path) {
  std::error_code problem;
  const bool exists = fs::exists(path, problem);
  if (problem) return SystemError("cannot look at the data directory", path, problem);
  return exists;
}

Result<bool> HoldsOtherFiles(const std::string& dir) {
  std::error_code problem;
  for (fs::directory_iterator it(dir, problem), end; !problem && it != end; it.increment(problem)) {
    const std::string name = it->path().filename();
    if (name != "LOCK" && name != "KVARTS.new") return true;
  }
  if (problem) return SystemError("cannot look at the data directory", dir, problem);
  return false;
}

uint64_t RandomSalt() {
  std::random_device random;
  return (uint64_t{random()} << 32 | random()) | 1;  // zero stands for none
}

template <class Number>
bool ParseNumber(std::string_view text, Number* number) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return problem == std::errc() && end == text.data() + text.size();
}

// Makes the directory, for its owner alone, and those above it that are missing, each an entry on disk of the one
// above.
Status MakeDirectories(const std::string& dir) {
  constexpr mode_t kOwnerOnly = 0700;
  constexpr mode_t kAsUsual = 0777;  // less the umask
  std::error_code problem;
  fs::path whole = fs::absolute(dir, problem);
  if (!problem) whole = fs::weakly_canonical(whole, problem);
  if (problem) return SystemError("cannot make the data directory", dir, problem);
  if (!whole.has_filename()) whole = whole.parent_path();  // "data/" is data
  std::vector<fs::path> missing;
  for (fs::path path = whole; !fs::exists(path, problem) && path.has_relative_path(); path = path.parent_path()) {
    missing.push_back(path);
  }
  for (auto path = missing.rbegin(); path != missing.rend(); ++path) {
    // Another process may be making it, too.
    if (mkdir(path->c_str(), *path == whole ? kOwnerOnly : kAsUsual) != 0 && errno != EEXIST) {
      return SystemError("cannot make the data directory", dir);
    }
  }
  for (const fs::path& path : missing) KVARTS_CHECK_OK(SyncPath(path.parent_path().string()));
  return {};
}

}  // namespace

std::string Stamp::Encode() const {
  std::string text = fmt::format("{}\nformat {}\nengine {}\n", kMagic, format, engine);
  if (salt != 0) text.append(fmt::format("salt {}\n", salt));
  text.append(fmt::format("id {}\n", id.ToString()));  // without it a stamp is none: what stands before it is whole
  if (unfinished) text.append("unfinished\n");
  if (closed) text.append(fmt::format("closed {} {}\n", closed->number, closed->bytes));
  return text;
}

Result<Stamp> Stamp::Decode(std::string_view text) {
  const Error not_ours(ErrorCode::kInvalidArgument, "the directory has a KVARTS file that is not a stamp");
  if (!text.ends_with('\n')) return not_ours;
  std::istringstream in{std::string(text)};
  std::string line;
  if (!std::getline(in, line) || line != kMagic) return not_ours;
  Stamp stamp;
  stamp.format = 0;
  stamp.engine.clear();
  std::optional<Uuid> id;
  while (std::getline(in, line)) {
    const size_t space = line.find(' ');
    const std::string name = line.substr(0, space);
    const std::string value = space == std::string::npos ? "" : line.substr(space + 1);
    if (name == "format") {
      if (!ParseNumber(value, &stamp.format)) return not_ours;
    } else if (name == "engine") {
      stamp.engine = value;
    } else if (name == "id") {
      id = Uuid::Parse(value);
      if (!id) return not_ours;
    } else if (name == "unfinished") {
      stamp.unfinished = true;
    } else if (name == "salt") {
      if (!ParseNumber(value, &stamp.salt)) return not_ours;
    } else if (name == "closed") {
      const size_t between = value.find(' ');
      ClosedLog& closed = stamp.closed.emplace();
      if (between == std::string::npos || !ParseNumber(value.substr(0, between), &closed.number) ||
          !ParseNumber(value.substr(between + 1), &closed.bytes)) {
        return not_ours;
      }
    }  // Lines of later formats are passed over: the format number decides.
  }
  if (stamp.format < 1 || stamp.engine.empty() || !id) return not_ours;
  stamp.id = *id;
  return stamp;
}

Result<std::optional<Stamp>> ReadStamp(const std::string& dir) {
  const std::string path = dir + kStampName;
  KVARTS_TRY(const bool exists, Exists(path));
  if (!exists) return std::optional<Stamp>();
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) return SystemError("cannot read the stamp of the data directory", path);
  KVARTS_TRY(Stamp stamp, Stamp::Decode(text.str()));
  return std::optional<Stamp>(std::move(stamp));
}

DataDirectory::DataDirectory(DataDirectory&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)), stamp_(std::move(other.stamp_)) {}

DataDirectory::~DataDirectory() {
  if (lock_ >= 0) close(lock_);
}

Status DataDirectory::Restamp(const Stamp& stamp) {
  const std::string fresh = path_ + "/KVARTS.new";
  {
    std::ofstream out(fresh, std::ios::binary | std::ios::trunc);
    out << stamp.Encode();
    out.close();
    if (!out) return SystemError("cannot write the stamp of the data directory", fresh);
  }
  KVARTS_CHECK_OK(SyncPath(fresh));
  if (rename(fresh.c_str(), (path_ + kStampName).c_str()) != 0) {
    return SystemError("cannot write the stamp of the data directory", path_);
  }
  KVARTS_CHECK_OK(SyncPath(path_));
  stamp_ = stamp;
  return {};
}

Result<DataDirectory> DataDirectory::Open(const std::string& dir, bool create, Timestamp now) {
  if (dir.empty()) return Error(ErrorCode::kInvalidArgument, "a data directory needs a name");
  std::error_code problem;
  KVARTS_TRY(const bool exists, Exists(dir));
  if (!exists) {
    if (!create) return Error(ErrorCode::kNotFound, "there is no data directory", {{"path", dir}});
    KVARTS_CHECK_OK(MakeDirectories(dir));
  }
  if (!fs::is_directory(dir, problem)) {
    return Error(ErrorCode::kInvalidArgument, "the data directory is not a directory", {{"path", dir}});
  }
  KVARTS_TRY(std::optional<Stamp> stamp, ReadStamp(dir));
  KVARTS_TRY(const bool others, stamp ? Result<bool>(false) : HoldsOtherFiles(dir));
  if (others && fs::exists(dir + kLockName, problem) && fs::exists(dir + "/data/CURRENT", problem)) {
    return Error(ErrorCode::kCorruption, "the data directory has data but no stamp, the file KVARTS", {{"path", dir}});
  }
  if (others) {
    return Error(ErrorCode::kInvalidArgument, "the directory holds files that are not Kvarts'", {{"path", dir}});
  }
  if (!stamp && !create) return Error(ErrorCode::kNotFound, "there is no data directory", {{"path", dir}});
  File lock(dir + kLockName, O_RDWR | O_CREAT);
  if (lock.fd() < 0) return SystemError("cannot open the lock of the data directory", dir + kLockName);
  if (flock(lock.fd(), LOCK_EX | LOCK_NB) != 0) {
    return Error(ErrorCode::kUnavailable, "the data directory is in use by another process", {{"path", dir}});
  }
  DataDirectory directory(dir, lock.Release());
  // Once more, under the lock: another process may have been making it.
  KVARTS_TRY(stamp, ReadStamp(dir));
  if (stamp) {
    directory.stamp_ = *stamp;
    return directory;
  }
  Stamp fresh;
  fresh.id = Uuid::Version7(now);
  fresh.salt = RandomSalt();
  fresh.unfinished = true;
  KVARTS_CHECK_OK(directory.Restamp(fresh));
  return directory;
}

}  // namespace kvarts
