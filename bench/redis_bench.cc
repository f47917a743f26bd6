// Kvarts beside redis-server over Redis' protocol, in one run: both servers on one core, the generator on the other,
// and they take turns, in both orders. Ratios are of rates, where more is better; beside them stands the CPU of the
// server's process for each request, all threads.
//
// Keys have 22 bytes, values 100; 50 connections. Durability is compared as it is promised: `none` with no append-only
// file, `interval` with one that is synced every second, `sync` with one that is synced before an answer.
// redis-benchmark is the witness. A command that a server does not know yet is left out, and that is said.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>

#include "load/generator.h"
#include "load/resp_protocol.h"
#include "load/socket.h"
#include "servers/contenders.h"
#include "servers/redis.h"
#include "support/contenders.h"
#include "support/measure.h"

namespace kvarts::bench {
namespace {

constexpr size_t kValueBytes = 100;
constexpr uint32_t kConnections = 50;
constexpr uint32_t kDeep = 16;
constexpr size_t kMiB = 1 << 20;

// One way of asking a server.
struct Load {
  std::string id;
  std::string what;
  double bound = 0;  // of the ratio of rates; zero: for information only
  std::string get = {};
  std::string put = {};  // if it is given, that is what is asked
  uint32_t pipeline = 1;
  bool zipfian = true;
  uint64_t keys = 0;  // zero: as many as there are
};

// A contender of each kind, on data of its own.
struct Servers {
  load::ServerProcess kvarts;
  load::ServerProcess redis;
};

class RedisBench {
 public:
  explicit RedisBench(const Arguments& arguments)
      : arguments_(arguments),
        keys_(arguments.full ? 1'000'000 : 100'000),
        rounds_(arguments.RoundsOr(arguments.full ? 9 : 3)),
        seconds_(arguments.full ? 3 : 0.5),
        scratch_(arguments),
        program_(load::KvartsProgram()) {
    std::filesystem::create_directories(scratch_.Sub(""));
  }

  void Run();

 private:
  Servers Start(const char* durability, load::AppendOnly append_only, size_t hot_cache);
  load::Settings SettingsOf(const load::ServerProcess& server, const Load& load) const;
  Sample Measure(const load::ServerProcess& server, const Load& load, double seconds);
  // Whether both know the command that it asks for.
  static bool Known(const Servers& servers, const Load& load);
  // Puts `keys` keys by a template into both.
  void Fill(const Servers& servers, const std::string& put, uint64_t keys);
  // Answers how long a request took ours, in nanoseconds: the median.
  double Compare(const Servers& servers, const Load& load);
  void CompareWitness(const Servers& servers, const char* test, const Load& load);
  // How long each of them takes to answer one command, in milliseconds.
  static double MillisOf(const load::ServerProcess& server, const std::vector<std::string>& words);

  void CompareDurabilities();
  void CompareCaches();
  void CompareStructures();
  // What each took ours: in nanoseconds, and the first command after a restart in milliseconds.
  struct Ranks {
    double rank = 0;
    double range = 0;
    double first = 0;
  };
  Ranks CompareRanksAmong(uint64_t members);
  static void ReportGrowth(const std::string& id, const std::string& what, double few, double many, double bound);
  void CompareRanks();
  void CompareDrops();
  void CompareLargerThanMemory();

  const Arguments arguments_;
  const uint64_t keys_;
  const int rounds_;
  const double seconds_;
  Scratch scratch_;
  const std::string program_;
  int started_ = 0;
};

Servers RedisBench::Start(const char* durability, load::AppendOnly append_only, size_t hot_cache) {
  const std::string dir = scratch_.Sub(fmt::format("servers-{}", ++started_));
  std::filesystem::create_directories(dir);
  const size_t budget = std::max<size_t>(512 * kMiB, 3 * hot_cache);
  return {load::StartKvarts(program_, dir + "/kvarts",
                            {"--durability", durability, "--hot-cache", std::to_string(hot_cache), "--memory-budget",
                             std::to_string(budget)}),
          load::StartRedis(dir + "/redis", append_only)};
}

load::Settings RedisBench::SettingsOf(const load::ServerProcess& server, const Load& load) const {
  load::RespSettings resp;
  resp.value_bytes = kValueBytes;
  if (!load.get.empty()) resp.get = load.get;
  if (!load.put.empty()) resp.put = load.put;
  load::Settings settings;
  settings.port = server.port();
  settings.connections = kConnections;
  settings.pipeline = load.pipeline;
  settings.allow_missing = true;  // of a list that is empty
  settings.workload.keys = load.keys != 0 ? load.keys : keys_;
  settings.workload.zipfian = load.zipfian;
  settings.workload.gets = load.put.empty() ? 1 : 0;
  settings.workload.puts = load.put.empty() ? 0 : 1;
  settings.protocol = [resp] { return std::make_unique<load::RespProtocol>(resp); };
  return settings;
}

Sample RedisBench::Measure(const load::ServerProcess& server, const Load& load, double seconds) {
  load::Settings settings = SettingsOf(server, load);
  settings.seconds = seconds;
  server.WaitUntilIdle();
  const int64_t before = server.CpuNanos();
  const load::Report report = load::MakeLoad(settings);
  const auto cpu = static_cast<double>(server.CpuNanos() - before);
  Check(report.Errors(true) == 0 && report.answers != 0, "not answered as expected: " + report.first_error);
  return {cpu / static_cast<double>(report.answers), 1e9 / report.Rate()};
}

bool RedisBench::Known(const Servers& servers, const Load& load) {
  const std::string& line = load.put.empty() ? load.get : load.put;
  const std::string name = line.empty() ? "GET" : line.substr(0, line.find(' '));
  const std::string said = load::Ask(servers.kvarts.port(), {name});
  if (said.find("unknown command") == said.npos) return true;
  Note(fmt::format("{} is left out: Kvarts does not know {}.", load.id, name));
  return false;
}

void RedisBench::Fill(const Servers& servers, const std::string& put, uint64_t keys) {
  for (const load::ServerProcess* server : {&servers.redis, &servers.kvarts}) {
    load::Settings settings = SettingsOf(*server, {.id = "fill", .what = "", .put = put, .keys = keys});
    settings.connections = 4;
    settings.pipeline = 256;
    settings.workload.fill_batch = 1;
    const load::Report report = load::MakeLoad(settings);
    Check(report.Errors(true) == 0, "a server cannot be filled: " + report.first_error);
    server->WaitUntilIdle();
  }
}

double RedisBench::Compare(const Servers& servers, const Load& load) {
  if (!arguments_.Wants(load.id) || !Known(servers, load)) return 0;
  const double warm = arguments_.full ? 5 : 1;
  Measure(servers.kvarts, load, warm), Measure(servers.redis, load, warm);
  Rates rates;
  Comparison cpu({.id = load.id + "-cpu", .what = "the same, CPU of the server"});
  std::vector<double> took;
  for (int round = 0; round < rounds_; ++round) {
    Sample ours, theirs;
    TakeTurns(
        round, [&] { ours = Measure(servers.kvarts, load, seconds_); },
        [&] { theirs = Measure(servers.redis, load, seconds_); });
    rates.Add(ours, theirs);
    cpu.Add(ours, theirs);
    took.push_back(ours.wall);
  }
  rates.Report(load.id, load.what + ", requests a second", load.bound);
  cpu.Report();
  return Median(took);
}

void RedisBench::CompareWitness(const Servers& servers, const char* test, const Load& load) {
  if (!arguments_.Wants(load.id)) return;
  const uint64_t requests = (arguments_.full ? 500'000u : 50'000u) * load.pipeline;
  Rates rates;
  const auto run = [&](const load::ServerProcess& server) {
    server.WaitUntilIdle();
    return Sample{0, 1e9 / load::RunRedisBenchmark(server.port(), test, kConnections, load.pipeline, keys_, requests,
                                                   kValueBytes)};
  };
  for (int round = 0; round < (arguments_.full ? 5 : 2); ++round) {
    Sample ours, theirs;
    TakeTurns(
        round, [&] { ours = run(servers.kvarts); }, [&] { theirs = run(servers.redis); });
    rates.Add(ours, theirs);
  }
  rates.Report(load.id + "-witness", load.what + ", requests a second that redis-benchmark sees", 0);
}

double RedisBench::MillisOf(const load::ServerProcess& server, const std::vector<std::string>& words) {
  const int64_t began = WallNanos();
  const std::string answer = load::Ask(server.port(), words);
  const double took = static_cast<double>(WallNanos() - began) / 1e6;
  Check(!answer.starts_with('-'), words[0] + " is refused: " + answer);
  return took;
}

void RedisBench::CompareDurabilities() {
  struct Promise {
    const char* ours;
    const char* theirs;
    load::AppendOnly append_only;
    double deep_bound;
  };
  const Promise promises[] = {{"none", "no append-only file", load::AppendOnly::kOff, 0},
                              {"interval", "everysec", load::AppendOnly::kEverySecond, 0.5},
                              {"sync", "always", load::AppendOnly::kAlways, 0.6}};
  for (const Promise& promise : promises) {
    const Servers servers = Start(promise.ours, promise.append_only, 512 * kMiB);
    Fill(servers, "SET {key} {value}", keys_);
    const std::string which = fmt::format("`{}` against {}", promise.ours, promise.theirs);
    const std::string set = "SET {key} {value}";
    const auto id = [&](const char* name) { return fmt::format("redis-{}-{}", name, promise.ours); };
    Compare(servers, {id("get"), "GET, one at a time, " + which, 1.0, "GET {key}"});
    Compare(servers, {id("set"), "SET, one at a time, " + which, 1.0, "", set});
    const Load deep{id("set-16"), "SET, 16 at a time, " + which, promise.deep_bound, "", set, kDeep};
    Compare(servers, deep);
    CompareWitness(servers, "set", deep);
  }
}

void RedisBench::CompareCaches() {
  size_t used = 0;
  {
    const Servers servers = Start("none", load::AppendOnly::kOff, 1024 * kMiB);
    Fill(servers, "SET {key} {value}", keys_);
    const std::string memory = load::Ask(servers.redis.port(), {"INFO", "memory"});
    used = std::stoul(memory.substr(memory.find("used_memory:") + 12));
    const Load all{"redis-get-16", "GET, 16 at a time, uniform, all in the cache", 1.0, "GET {key}", "", kDeep, false};
    Compare(servers, all);
    CompareWitness(servers, "get", all);
  }
  const Servers servers = Start("none", load::AppendOnly::kOff, used / 4);
  Fill(servers, "SET {key} {value}", keys_);
  Note(fmt::format("Redis used {} MiB for {} keys; hot-value cache of a quarter of that.", used / kMiB, keys_));
  Compare(servers,
          {"redis-get-16-zipfian", "GET, 16 at a time, zipfian, a quarter of the memory", 0.8, "GET {key}", "", kDeep});
  Compare(servers, {"redis-get-16-uniform", "GET, 16 at a time, uniform, a quarter of the memory", 0.4, "GET {key}", "",
                    kDeep, false});
}

void RedisBench::CompareStructures() {
  const Servers servers = Start("interval", load::AppendOnly::kEverySecond, 512 * kMiB);
  Fill(servers, "HSET hash {key} {value}", keys_);
  Compare(servers, {"redis-hget", "HGET of one of many fields, 16 at a time", 0.5, "HGET hash {key}", "", kDeep});
  Compare(servers,
          {"redis-hset", "HSET of one of many fields, 16 at a time", 0.2, "", "HSET hash {key} {value}", kDeep});
  Compare(servers, {"redis-hset-small", "HSET into small hashes, 16 at a time", 0, "", "HSET {key} f {value}", kDeep});
  Compare(servers, {"redis-lpush", "LPUSH to one list, 16 at a time", 0.5, "", "LPUSH list {value}", kDeep});
  Compare(servers, {"redis-lpop", "LPOP from that list, 16 at a time", 0.5, "LPOP list", "", kDeep});
  const Load add{"redis-zadd", "ZADD of one of many members, 16 at a time", 0.1, "", "ZADD set {number} {key}", kDeep};
  if (!Known(servers, add)) return;
  Fill(servers, add.put, keys_);
  Compare(servers, add);
  Compare(servers, {"redis-zrange", "ZRANGE 0 9 of many members, 16 at a time", 0.4, "ZRANGE set 0 9", "", kDeep});
}

RedisBench::Ranks RedisBench::CompareRanksAmong(uint64_t members) {
  const std::string id = fmt::format("redis-rank-{}", members);
  Ranks took;
  std::string dir;
  {
    const Servers servers = Start("interval", load::AppendOnly::kEverySecond, 256 * kMiB);
    dir = scratch_.Sub(fmt::format("servers-{}", started_));
    Fill(servers, "ZADD set {number} {key}", members);
    took.rank = Compare(
        servers, {id, fmt::format("ZRANK among {} members", members), 0, "ZRANK set {key}", "", 1, false, members});
    const uint64_t middle = members / 2;
    took.range = Compare(servers, {id + "-range", fmt::format("ZRANGE of ten in the middle of {}", members), 0,
                                   fmt::format("ZRANGE set {} {}", middle, middle + 9)});
  }
  // Redis has read everything back into memory before it answers; that time is not the command's.
  const auto redis = load::StartRedis(dir + "/redis", load::AppendOnly::kEverySecond);
  std::string member;
  load::AppendKey(members / 2, &member);
  const double theirs = MillisOf(redis, {"ZRANK", "set", member});
  std::vector<double> first;
  for (int round = 0; round < rounds_; ++round) {
    const auto kvarts = load::StartKvarts(program_, dir + "/kvarts");
    first.push_back(MillisOf(kvarts, {"ZRANK", "set", member}));
  }
  took.first = Median(first);
  ReportRatios({.id = id + "-first", .what = fmt::format("ZRANK among {}, first after a restart", members)},
               fmt::format("{:.2f} ms", took.first), fmt::format("{:.2f} ms", theirs), {took.first / theirs});
  return took;
}

// A line of how ours grows with what there is.
void RedisBench::ReportGrowth(const std::string& id, const std::string& what, double few, double many, double bound) {
  ReportRatios({.id = id, .what = what + ", many against few", .bound = bound}, fmt::format("{:.3f} ms", many),
               fmt::format("{:.3f} ms", few), {many / few});
}

void RedisBench::CompareRanks() {
  if (!arguments_.Wants("redis-rank")) return;
  const Ranks few = CompareRanksAmong(10'000);
  const Ranks many = CompareRanksAmong(arguments_.full ? 10'000'000 : keys_);
  constexpr double kMillis = 1e6;
  ReportGrowth("redis-rank-growth", "ZRANK", few.rank / kMillis, many.rank / kMillis, 3);
  ReportGrowth("redis-rank-growth-range", "ZRANGE in the middle", few.range / kMillis, many.range / kMillis, 3);
  ReportGrowth("redis-rank-growth-first", "ZRANK, first after a restart", few.first, many.first, 3);
}

void RedisBench::CompareDrops() {
  if (!arguments_.Wants("redis-del")) return;
  std::vector<double> took;
  for (const uint64_t members : {uint64_t{10}, arguments_.full ? uint64_t{10'000'000} : keys_}) {
    const Servers servers = Start("interval", load::AppendOnly::kEverySecond, 256 * kMiB);
    Fill(servers, "HSET hash {key} {value}", members);
    // The first command of a server after it was filled is none that is compared.
    load::Ask(servers.kvarts.port(), {"EXISTS", "none"});
    const double ours = MillisOf(servers.kvarts, {"DEL", "hash"});
    const double theirs = MillisOf(servers.redis, {"DEL", "hash"});
    took.push_back(ours);
    ReportRatios(
        {.id = fmt::format("redis-del-{}", members), .what = fmt::format("DEL of a hash of {} fields", members)},
        fmt::format("{:.2f} ms", ours), fmt::format("{:.2f} ms", theirs), {ours / theirs});
  }
  ReportGrowth("redis-del-growth", "DEL of a hash", took[0], took[1], 2);
}

// What Redis has no answer to: twenty times as much data as memory.
void RedisBench::CompareLargerThanMemory() {
  if (!arguments_.full || !arguments_.Wants("redis-large")) return;
  constexpr uint64_t kBytes = 10'000'000'000;
  constexpr size_t kLargeValue = 1000;
  const auto kvarts = load::StartKvarts(program_, scratch_.Sub("large"),
                                        {"--durability", "interval", "--memory-budget", std::to_string(512 * kMiB)});
  load::RespSettings resp;
  resp.value_bytes = kLargeValue;
  load::Settings settings = SettingsOf(kvarts, {.id = "redis-large", .what = "", .keys = kBytes / kLargeValue});
  settings.protocol = [resp] { return std::make_unique<load::RespProtocol>(resp); };
  load::Settings fill = settings;
  fill.connections = 4;
  fill.pipeline = 256;
  fill.workload.fill_batch = 1;
  const load::Report filled = load::MakeLoad(fill);
  Check(filled.Errors(true) == 0, "10 GB cannot be filled in: " + filled.first_error);
  kvarts.WaitUntilIdle();
  settings.seconds = 30;
  const load::Report got = load::MakeLoad(settings);
  Check(got.Errors(false) == 0, "not answered as expected: " + got.first_error);
  const double used = static_cast<double>(kvarts.ResidentBytes()) / static_cast<double>(512 * kMiB);
  ReportRatios({.id = "redis-large", .what = "resident size with 10 GB of data, against the budget", .bound = 1.15},
               fmt::format("{} MiB", kvarts.ResidentBytes() / kMiB), "512 MiB budget", {used});
  Note(fmt::format("10 GB: {:.0f} SETs a second as it was filled; zipfian GETs: {:.0f} a second, p99 {} µs.",
                   filled.Rate(), got.Rate(), got.latency.Quantile(0.99) / 1000));
}

void RedisBench::Run() {
  load::RaiseFileLimit();
  load::PinToGeneratorCore();
  CompareDurabilities();
  CompareCaches();
  CompareStructures();
  CompareRanks();
  CompareDrops();
  CompareLargerThanMemory();
}

}  // namespace
}  // namespace kvarts::bench

int main(int argc, char** argv) {
  kvarts::bench::RedisBench(kvarts::bench::Arguments::Parse(argc, argv)).Run();
  return 0;
}
