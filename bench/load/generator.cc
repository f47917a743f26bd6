#include "load/generator.h"

#include <algorithm>
#include <thread>
#include <vector>

#include "load/socket.h"
#include "load/worker.h"

namespace kvarts::load {

void Report::Merge(const Report& other) {
  sent += other.sent;
  answers += other.answers;
  missing += other.missing;
  unexpected += other.unexpected;
  broken += other.broken;
  unsent += other.unsent;
  reconnects += other.reconnects;
  bytes_sent += other.bytes_sent;
  bytes_received += other.bytes_received;
  seconds = std::max(seconds, other.seconds);
  cpu_nanos += other.cpu_nanos;
  latency.Merge(other.latency);
  if (first_error.empty()) first_error = other.first_error;
}

Report MakeLoad(const Settings& settings) {
  const KeyChooser chooser(settings.workload);
  std::vector<std::unique_ptr<Worker>> workers;
  for (uint32_t i = 0; i < settings.threads; ++i) workers.push_back(std::make_unique<Worker>(settings, chooser, i));
  std::vector<Report> reports(settings.threads);
  std::vector<std::thread> threads;
  const int64_t began = NowNanos();
  for (uint32_t i = 1; i < settings.threads; ++i) {
    threads.emplace_back([&, i] { reports[i] = workers[i]->Run(began); });
  }
  reports[0] = workers[0]->Run(began);
  for (std::thread& thread : threads) thread.join();
  for (uint32_t i = 1; i < settings.threads; ++i) reports[0].Merge(reports[i]);
  return std::move(reports[0]);
}

}  // namespace kvarts::load
