// The seam between the generator and what is spoken. A protocol writes requests, and finds in what came back where an
// answer ends and whether it is the one that was hoped for; connections, time and counting are the generator's. One
// object serves all connections of a thread, so what it keeps is for all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "load/workload.h"

namespace kvarts::load {

enum class Verdict : uint8_t {
  kPartial,     // the answer is not whole
  kGood,        // as expected
  kMissing,     // there is no such key
  kUnexpected,  // any other answer
  kBroken,      // no answer of this protocol: the connection is of no use any more
};

struct Answer {
  Verdict verdict = Verdict::kPartial;
  // What the answer takes up. Of a partial one: how much must be there before it is worth while to look again.
  size_t bytes = 0;
  bool closes = false;  // the server will answer no more on this connection
};

class Protocol {
 public:
  virtual ~Protocol() = default;
  virtual void AppendRequest(const Operation& operation, std::string* out) const = 0;
  // Looks at the first answer in `in`, which is one to a request of that kind.
  virtual Answer Look(OperationKind asked, std::string_view in) const = 0;
};

}  // namespace kvarts::load
