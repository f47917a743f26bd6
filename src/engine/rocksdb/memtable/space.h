// Where the memory of a memtable comes from. None of it is given back before all of it is.
#pragma once

#include <cstddef>

namespace kvarts::memtable {

class Space {
 public:
  virtual ~Space() = default;
  // Aligned to eight bytes.
  virtual char* Allocate(size_t bytes) = 0;
};

}  // namespace kvarts::memtable
