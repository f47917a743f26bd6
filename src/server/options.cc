#include "server/options.h"

#include <algorithm>
#include <thread>

namespace kvarts {

ServerOptions Effective(ServerOptions options) {
  // A key that is percent-encoded has three bytes for each of its own; the rest is for the route and parameters.
  constexpr uint64_t kTargetAllowance = 1024;
  if (options.http.max_target_bytes == 0) {
    options.http.max_target_bytes = 3 * options.limits.max_key_bytes + kTargetAllowance;
  }
  if (options.loops == 0) options.loops = std::max(1U, std::thread::hardware_concurrency());
  return options;
}

}  // namespace kvarts
