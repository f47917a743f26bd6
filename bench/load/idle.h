// Connections that have asked once and are then held open without a word, to see what they cost the server.
#pragma once

#include <cstdint>
#include <vector>

#include "load/generator.h"

namespace kvarts::load {

class IdleConnections {
 public:
  // Opens them one after the other; each makes the workload's next request and has its whole answer.
  IdleConnections(const Settings& settings, uint32_t connections);
  ~IdleConnections();
  IdleConnections(const IdleConnections&) = delete;
  IdleConnections& operator=(const IdleConnections&) = delete;

 private:
  std::vector<int> fds_;
};

}  // namespace kvarts::load
