#include "support/measure.h"

#include <fmt/format.h>
#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

namespace kvarts::bench {
namespace {

int64_t ReadClock(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::string FirstWord(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string word;
  in >> word;
  return word;
}

std::string Spread(const std::vector<double>& values) {
  const auto [low, high] = std::ranges::minmax(values);
  return fmt::format("{:.2f} ({:.2f}–{:.2f})", Median(values), low, high);
}

std::string Times(const std::vector<Sample>& samples) {
  std::vector<double> cpu;
  std::vector<double> wall;
  for (const Sample& sample : samples) {
    cpu.push_back(sample.cpu);
    wall.push_back(sample.wall);
  }
  return fmt::format("{:.0f} / {:.0f} ns", Median(cpu), Median(wall));
}

std::string Bound(const Target& target) {
  if (target.bound == 0) return "–";
  return fmt::format("{} {}", target.at_most ? "≤" : "≥", target.bound);
}

bool Met(const Target& target, double ratio) {
  return target.bound == 0 || (target.at_most ? ratio <= target.bound : ratio >= target.bound);
}

// The columns that bench/run makes a table of.
void PrintLine(const Target& target, const std::string& ours, const std::string& reference, const std::string& cpu,
               const std::string& wall, bool met) {
  const char* verdict = target.bound == 0 ? "–" : (met ? "met" : "not met");
  fmt::print("RESULT\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", target.id, target.what, ours, reference, cpu, wall,
             Bound(target), verdict);
  std::fflush(stdout);
}

}  // namespace

int64_t ProcessCpuNanos() { return ReadClock(CLOCK_PROCESS_CPUTIME_ID); }
int64_t ThreadCpuNanos() { return ReadClock(CLOCK_THREAD_CPUTIME_ID); }
int64_t WallNanos() { return ReadClock(CLOCK_MONOTONIC); }

int64_t ForegroundCpuNanos() {
  int64_t background = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (!FirstWord(task.path() / "comm").starts_with("rocksdb:")) continue;
    const std::string on_cpu = FirstWord(task.path() / "schedstat");
    if (!on_cpu.empty()) background += std::stoll(on_cpu);
  }
  return ProcessCpuNanos() - background;
}

void WaitUntilIdle() {
  constexpr auto kLook = std::chrono::milliseconds(30);
  constexpr int64_t kQuietNanos = 1'500'000;  // in one look: 5 % of a core
  constexpr int kMaxLooks = 10'000;
  int quiet = 0;
  for (int look = 0; look < kMaxLooks && quiet < 3; ++look) {
    const int64_t before = ProcessCpuNanos();
    std::this_thread::sleep_for(kLook);
    quiet = ProcessCpuNanos() - before < kQuietNanos ? quiet + 1 : 0;
  }
}

Sample OnThreads(const char* name, int threads, uint64_t operations, const std::function<void(int)>& body) {
  std::vector<int64_t> cpu(static_cast<size_t>(threads));
  std::vector<std::thread> running;
  const int64_t began = WallNanos();
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      pthread_setname_np(pthread_self(), name);
      const int64_t before = ThreadCpuNanos();
      body(i);
      cpu[static_cast<size_t>(i)] = ThreadCpuNanos() - before;
    });
  }
  for (std::thread& thread : running) thread.join();
  const auto wall = static_cast<double>(WallNanos() - began);
  double sum = 0;
  for (const int64_t one : cpu) sum += static_cast<double>(one);
  const auto count = static_cast<double>(operations);
  return {sum / count, wall / count};
}

Sample WithBackground(uint64_t operations, const std::function<void()>& body) {
  WaitUntilIdle();
  const int64_t cpu = ProcessCpuNanos();
  const int64_t wall = WallNanos();
  body();
  const auto took = static_cast<double>(WallNanos() - wall);
  WaitUntilIdle();
  const auto spent = static_cast<double>(ProcessCpuNanos() - cpu);
  const auto count = static_cast<double>(operations);
  return {spent / count, took / count};
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

void Comparison::Add(const Sample& ours, const Sample& reference) {
  ours_.push_back(ours);
  reference_.push_back(reference);
}

bool Comparison::Report() const {
  std::vector<double> cpu;
  std::vector<double> wall;
  for (size_t i = 0; i < ours_.size(); ++i) {
    cpu.push_back(ours_[i].cpu / reference_[i].cpu);
    wall.push_back(ours_[i].wall / reference_[i].wall);
  }
  const bool met = Met(target_, Median(target_.by_wall ? wall : cpu));
  PrintLine(target_, Times(ours_), Times(reference_), Spread(cpu), Spread(wall), met);
  return met;
}

void Rates::Add(const Sample& ours, const Sample& reference) {
  ours_.push_back(1e9 / ours.wall);
  reference_.push_back(1e9 / reference.wall);
  ratios_.push_back(reference.wall / ours.wall);
}

bool Rates::Report(const std::string& id, const std::string& what, double bound) const {
  return ReportRatios({.id = id, .what = what, .bound = bound, .at_most = false, .by_wall = true},
                      fmt::format("{:.0f} /s", Median(ours_)), fmt::format("{:.0f} /s", Median(reference_)), ratios_);
}

bool ReportRatios(const Target& target, const std::string& ours, const std::string& reference,
                  const std::vector<double>& ratios) {
  const bool met = Met(target, Median(ratios));
  PrintLine(target, ours, reference, target.by_wall ? "–" : Spread(ratios), target.by_wall ? Spread(ratios) : "–", met);
  return met;
}

void Note(const std::string& text) {
  fmt::print("NOTE\t{}\n", text);
  std::fflush(stdout);
}

}  // namespace kvarts::bench
