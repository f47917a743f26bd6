#include "support/small_disk.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>

namespace kvarts::test {

namespace fs = std::filesystem;
namespace {

constexpr int kTries = 100;

}  // namespace

SmallDisk::SmallDisk(uint64_t bytes) {
  const std::string point = *this / "";
  fs::create_directory(point);
  mounted_ = mount("kvarts-test", point.c_str(), "tmpfs", 0, ("size=" + std::to_string(bytes)).c_str()) == 0;
}

SmallDisk::~SmallDisk() {
  if (mounted_) umount2((*this / "").c_str(), MNT_DETACH);
}

uint64_t SmallDisk::Free() const { return fs::space(*this / "").available; }

void SmallDisk::LeaveOnly(uint64_t bytes) const {
  const int ballast = open((*this / "ballast").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  // Others take and give back room meanwhile.
  int failed = 0;
  for (int tries = 0; tries < kTries; ++tries) {
    const uint64_t room = Free();
    failed = room > bytes ? posix_fallocate(ballast, 0, static_cast<off_t>(room - bytes)) : 0;
    if (failed == 0) break;
  }
  close(ballast);
  if (failed != 0) throw std::runtime_error("cannot take up room");
}

void SmallDisk::GiveBack() const { fs::remove(*this / "ballast"); }

}  // namespace kvarts::test
