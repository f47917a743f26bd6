// SecretHash: of bytes that clients choose, for tables in memory. Its secret is another one in every process: who does
// not know it finds no names that all fall into one place of a table, which would make a list of it.
#pragma once

#include <cstddef>

#include "base/bytes.h"

namespace kvarts::structure {

struct SecretHash {
  using is_transparent = void;
  size_t operator()(BytesView bytes) const;
};

}  // namespace kvarts::structure
