#include "protocol/resp/tracked_reads.h"

#include <vector>

#include "protocol/resp/command_keys.h"

namespace kvarts::resp {

// CLIENT CACHING is about the command behind it, or about all of a transaction; in one, too, and then every read
// counts.
void TrackedReads::Begin(Batch& batch, bool whole) {
  const TrackingOptions& options = *session_.tracking;
  bool said_within = false;
  if (whole) {
    batch.ForEachCommand([&](const Command& command, Arguments) {
      said_within = said_within || command.name == "client|caching" || command.name == "client|tracking";
    });
  }
  std::vector<std::string_view> keys;
  batch.ForEachCommand([&](const Command& command, Arguments arguments) {
    const bool left_out = (options.opt_in && !session_.caching) || (options.opt_out && session_.caching);
    if (!whole) session_.caching = false;
    if (options.broadcast || !command.Is(kReadOnly) || (left_out && !said_within)) return;
    ForEachKey(command, arguments, [&](std::string_view key) { keys.push_back(key); });
  });
  began_ = true;
  service_.tracking.Begin(session_.id, keys);
}

}  // namespace kvarts::resp
