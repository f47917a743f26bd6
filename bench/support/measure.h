// How things are measured and reported. A contender is run for several rounds, taking turns with the others; what
// counts is the median of the rounds' ratios, with the smallest and largest beside it. CPU time is that of all threads,
// and is what is judged on a machine that others use too; wall time stands beside it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kvarts::bench {

// What one operation cost, in nanoseconds.
struct Sample {
  double cpu = 0;
  double wall = 0;
};

// CPU time of the process, all threads.
int64_t ProcessCpuNanos();
// CPU time of the calling thread.
int64_t ThreadCpuNanos();
int64_t WallNanos();
// CPU time of the process without RocksDB's background threads: flushes and compactions.
int64_t ForegroundCpuNanos();
// Returns when the process has nothing to do: what a contender left behind is not counted for the next.
void WaitUntilIdle();

// Runs `body(thread)` on several threads at once. The sample is what one of `operations` cost; CPU time is that of
// these threads alone.
Sample OnThreads(const char* name, int threads, uint64_t operations, const std::function<void(int)>& body);
// Runs `body` and waits until what it caused in the background is done; CPU time is that of the whole process.
Sample WithBackground(uint64_t operations, const std::function<void()>& body);

double Median(std::vector<double> values);

// One line of the table: what was measured and what it must reach.
struct Target {
  std::string id;    // of the line in RESULTS.md
  std::string what;  // for people
  double bound = 0;  // of the ratio; zero when the line is for information only
  bool at_most = true;
  bool by_wall = false;  // judged by wall time: what is measured is waiting
};

// Rounds of ours against the reference.
class Comparison {
 public:
  explicit Comparison(Target target) : target_(std::move(target)) {}
  void Add(const Sample& ours, const Sample& reference);
  // Prints the line. False when the target is not met.
  bool Report() const;

 private:
  Target target_;
  std::vector<Sample> ours_;
  std::vector<Sample> reference_;
};

// Rounds of ours against the reference by rates, where more is better, from the wall times of a request.
class Rates {
 public:
  void Add(const Sample& ours, const Sample& reference);
  // Prints the line. False when the rate is not `bound` times that of the reference.
  bool Report(const std::string& id, const std::string& what, double bound) const;

 private:
  std::vector<double> ours_, reference_, ratios_;
};

// What is to be measured in turns: calls them all, and in every other round from behind.
template <class... Measured>
void TakeTurns(int round, const Measured&... measured) {
  const std::function<void()> all[] = {measured...};
  const size_t n = sizeof...(measured);
  for (size_t i = 0; i < n; ++i) all[round % 2 == 0 ? i : n - 1 - i]();
}

// A line whose figures are no times: `ours` and `reference` are shown as they are, the ratios are judged.
bool ReportRatios(const Target& target, const std::string& ours, const std::string& reference,
                  const std::vector<double>& ratios);

// A figure that belongs to no target.
void Note(const std::string& text);

}  // namespace kvarts::bench
