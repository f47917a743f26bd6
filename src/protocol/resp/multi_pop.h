// What LMPOP, ZMPOP and those of them that wait say: from which keys, from which end, and how many.
#pragma once

#include "protocol/resp/command.h"

namespace kvarts::resp {

struct MultiPop {
  Arguments keys;
  std::string_view where;  // one of the two words
  uint64_t count = 1;
};

// Of the arguments from the number of keys on.
Result<MultiPop> ReadMultiPop(Arguments arguments, std::string_view word, std::string_view other_word);

}  // namespace kvarts::resp
