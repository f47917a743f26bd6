#include "protocol/resp/client_facts.h"

#include <fmt/format.h>

namespace kvarts::resp {

// What Redis tells of how its buffers are kept has no like here, and is zero.
std::string ClientFacts::Line() const {
  std::string line = fmt::format("id={} addr={} laddr={} fd={} name={} age={} idle={} flags={} db={}", id, address,
                                 local, socket, name, age_seconds, idle_seconds, flags, database);
  fmt::format_to(std::back_inserter(line), " sub={} psub={} ssub={} multi={}", channels, patterns, shard_channels,
                 queued);
  fmt::format_to(std::back_inserter(line), " qbuf={} qbuf-free=0 argv-mem={} multi-mem={} rbs=0 rbp=0", input_bytes,
                 argument_bytes, queued_bytes);
  fmt::format_to(std::back_inserter(line),
                 " obl={} oll={} omem={} tot-mem={} events={} cmd={} user={} redir={} resp={}", output_bytes, messages,
                 message_bytes, total_bytes, sends ? "rw" : "r", command.empty() ? "NULL" : command, user,
                 redirected_to, version);
  return line;
}

}  // namespace kvarts::resp
