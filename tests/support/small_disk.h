// A small file system in memory, mounted for a test, which can really be full. Needs root, to mount it: a test without
// one skips itself.
#pragma once

#include <cstdint>
#include <string>

#include "support/temp_dir.h"

namespace kvarts::test {

class SmallDisk {
 public:
  explicit SmallDisk(uint64_t bytes);
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return mounted_; }
  std::string operator/(const std::string& name) const { return dir_ / ("disk/" + name); }

  uint64_t Free() const;
  // Takes up room until only so much is left, all at once.
  void LeaveOnly(uint64_t bytes) const;
  // Gives back what LeaveOnly has taken.
  void GiveBack() const;

 private:
  const TempDir dir_;
  bool mounted_ = false;
};

}  // namespace kvarts::test
