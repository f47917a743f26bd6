// The load generator: connections kept busy by one epoll loop a thread, and what came of it.
//
// Closed loop: every connection has a fixed number of requests under way, and sends the next when one is answered; what
// is found is the rate that the server reaches. Open loop: requests are due at a fixed rate whatever the server does,
// and latency counts from the instant at which a request was due, so that a server that stalls pays for all who would
// have come meanwhile. Requests that are due while every connection is busy wait for one; the report has how many still
// did when the time was over.
//
// It must cost less than what it measures: one read and one write a request, one look at the clock, no allocation.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "load/histogram.h"
#include "load/protocol.h"
#include "load/workload.h"

namespace kvarts::load {

struct Settings {
  std::string host = "127.0.0.1";
  uint16_t port = 7700;
  std::vector<uint16_t> more_ports;  // of servers that share the connections with the first, in turn
  uint32_t connections = 64;
  uint32_t threads = 1;   // that share the connections
  uint32_t pipeline = 1;  // requests under way on a connection
  double seconds = 10;    // measured
  double warmup = 0;      // seconds before that, not measured
  uint64_t requests = 0;  // ends after so many, if not zero; with the warm-up's
  double rate = 0;        // requests a second, open loop; zero: closed loop
  bool spin = false;      // ask for events over and over instead of waiting for them
  bool allow_missing = false;
  WorkloadSettings workload;
  // One for each thread.
  std::function<std::unique_ptr<Protocol>()> protocol;
};

struct Report {
  uint64_t sent = 0;     // requests, with those of the warm-up
  uint64_t answers = 0;  // good ones, within the measured time
  uint64_t missing = 0;
  uint64_t unexpected = 0;
  uint64_t broken = 0;      // requests that were never answered, or by something else
  uint64_t unsent = 0;      // requests that were due, and waited for a connection until the end
  uint64_t reconnects = 0;  // after the server closed a connection
  uint64_t bytes_sent = 0;
  uint64_t bytes_received = 0;
  double seconds = 0;
  double cpu_nanos = 0;  // of the generator
  Histogram latency;
  std::string first_error;  // the beginning of the first answer that was not good

  double Rate() const { return seconds == 0 ? 0 : static_cast<double>(answers) / seconds; }
  double CpuPerRequest() const { return sent == 0 ? 0 : cpu_nanos / static_cast<double>(sent); }
  uint64_t Errors(bool allow_missing) const { return unexpected + broken + (allow_missing ? 0 : missing); }
  void Merge(const Report& other);
};

// Runs until the time is over, the requests are made or the fill is done, and every request is answered.
Report MakeLoad(const Settings& settings);

}  // namespace kvarts::load
