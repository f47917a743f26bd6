// The servers that are compared: nginx with a static file, which is what a server costs that does nothing, and Kvarts.
#pragma once

#include <string>
#include <vector>

#include "servers/process.h"

namespace kvarts::load {

// How nginx sends a small file. Which of these is the cheapest depends on the kernel: the benchmark tries them all.
enum class NginxSending : uint8_t {
  kCopied,       // read, and written together with the head of the answer
  kSendfile,     // two calls, and two segments
  kSendfileHeld  // two calls, held back until they make one segment
};
const char* NginxSendingName(NginxSending sending);

// One worker that serves `bytes` bytes under /file. It is spared whatever it need not do: logs, limits on a
// connection's requests, and opening the file anew.
ServerProcess StartNginx(const std::string& dir, NginxSending sending, size_t bytes);

// One loop on a data directory.
ServerProcess StartKvarts(const std::string& program, const std::string& data,
                          const std::vector<std::string>& more = {});
// On a PostgreSQL server that others use too: pinned to no core, with as many loops as it starts by itself. `data` is
// a folder of its own, for what it keeps besides.
ServerProcess StartKvartsOnPostgres(const std::string& program, const std::string& data, const std::string& shards);
// The binary beside the one that is running, or what KVARTS_BENCH_SERVER names.
std::string KvartsProgram();

// What wrk, which others wrote, finds on as many connections: requests a second. The paths are asked for in turn.
double RunWrk(const std::string& dir, uint16_t port, const std::vector<std::string>& paths, const std::string& header,
              uint32_t connections, int seconds);

}  // namespace kvarts::load
