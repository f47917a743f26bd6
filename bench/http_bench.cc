// Kvarts over HTTP against nginx, which serves one static file of the same size: what a server costs that has nothing
// to do. Each has one loop on a core of its own, the generator has the other; 64 connections are kept alive. Contenders
// take turns, in both orders. CPU is that of the server's process, all threads, for each request; of nginx, its worker.
//
// nginx is given the way of sending that suits it best here, found by trying. wrk is the witness: it asks for the same
// keys. Nothing is measured while a server is still busy with what came before.
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string_view>

#include "load/generator.h"
#include "load/http_protocol.h"
#include "load/idle.h"
#include "load/socket.h"
#include "servers/contenders.h"
#include "support/contenders.h"
#include "support/measure.h"

namespace kvarts::bench {
namespace {

constexpr size_t kValueBytes = 100;
constexpr uint32_t kConnections = 64;
constexpr size_t kWrkPaths = 100'000;
constexpr double kIdleBytes = 8192;

// One way of asking a server.
struct Load {
  bool file = false;  // nginx' file
  bool puts = false;
  bool raw = false;   // values are answered as they are
  bool json = false;  // values are put in JSON
  const char* durability = nullptr;
};

class HttpBench {
 public:
  explicit HttpBench(const Arguments& arguments)
      : arguments_(arguments),
        keys_(arguments.full ? 1'000'000 : 100'000),
        rounds_(arguments.RoundsOr(arguments.full ? 9 : 5)),
        seconds_(arguments.full ? 3 : 0.5),
        scratch_(arguments),
        program_(load::KvartsProgram()) {
    std::filesystem::create_directories(scratch_.Sub(""));
  }

  void Run();

 private:
  load::Settings SettingsOf(const load::ServerProcess& server, const Load& load) const;
  // Runs it once: what a request cost.
  Sample Measure(const load::ServerProcess& server, const Load& load, double seconds);
  void Warm(const load::ServerProcess& server, const Load& load) { Measure(server, load, arguments_.full ? 3 : 1); }
  std::string Data(const char* name) const { return scratch_.Sub(name); }

  void StartBestNginx();
  void Fill();
  void CompareGets();
  void CompareWrk(const load::ServerProcess& kvarts);
  void ComparePuts();
  void CompareObserved();
  void MeasureIdle();

  const Arguments arguments_;
  const uint64_t keys_;
  const int rounds_;
  const double seconds_;
  Scratch scratch_;
  const std::string program_;
  std::optional<load::ServerProcess> nginx_;
  load::Report last_;  // of the last measurement
};

load::Settings HttpBench::SettingsOf(const load::ServerProcess& server, const Load& load) const {
  load::HttpSettings http;
  http.value_bytes = kValueBytes;
  http.accept_raw = load.raw;
  http.put_json = load.json;
  if (load.file) http.path = "/file";
  if (load.durability != nullptr) http.headers.push_back(fmt::format("Kvarts-Durability: {}", load.durability));
  load::Settings settings;
  settings.port = server.port();
  settings.connections = kConnections;
  settings.workload.keys = keys_;
  settings.workload.gets = load.file || load.puts ? 0 : 1;
  settings.workload.puts = load.puts ? 1 : 0;
  settings.protocol = [http] { return std::make_unique<load::HttpProtocol>(http); };
  return settings;
}

Sample HttpBench::Measure(const load::ServerProcess& server, const Load& load, double seconds) {
  load::Settings settings = SettingsOf(server, load);
  settings.seconds = seconds;
  server.WaitUntilIdle();
  const int64_t before = server.CpuNanos();
  last_ = load::MakeLoad(settings);
  const auto cpu = static_cast<double>(server.CpuNanos() - before);
  Check(last_.Errors(false) == 0 && last_.answers != 0, "not answered as expected: " + last_.first_error);
  return {cpu / static_cast<double>(last_.answers), 1e9 / last_.Rate()};
}

void HttpBench::StartBestNginx() {
  std::string tried;
  double best = 0;
  const char* chosen = "";
  for (const auto sending :
       {load::NginxSending::kCopied, load::NginxSending::kSendfile, load::NginxSending::kSendfileHeld}) {
    const char* name = load::NginxSendingName(sending);
    auto server =
        load::StartNginx(scratch_.Sub(fmt::format("nginx-{}", static_cast<int>(sending))), sending, kValueBytes);
    std::vector<double> cpu;
    for (int round = 0; round < 3; ++round) cpu.push_back(Measure(server, {.file = true}, seconds_).cpu);
    tried += fmt::format("{}{}: {:.0f} ns", tried.empty() ? "" : ", ", name, Median(cpu));
    if (best != 0 && Median(cpu) >= best) continue;
    best = Median(cpu);
    chosen = name;
    nginx_ = std::move(server);
  }
  Note(fmt::format("nginx runs with {} (CPU for each request with {}).", chosen, tried));
}

void HttpBench::Fill() {
  const auto server = load::StartKvarts(program_, Data("data"));
  load::Settings settings = SettingsOf(server, {.durability = "none"});
  settings.connections = 1;
  settings.pipeline = 4;
  settings.workload.fill_batch = 1000;
  last_ = load::MakeLoad(settings);
  Check(last_.Errors(false) == 0, "the store cannot be filled: " + last_.first_error);
  server.WaitUntilIdle();
}

void HttpBench::CompareGets() {
  const auto kvarts = load::StartKvarts(program_, Data("data"));
  const Load file = {.file = true};
  const Load json;
  const Load raw = {.raw = true};
  Warm(kvarts, json), Warm(kvarts, raw), Warm(*nginx_, file);
  Comparison json_cpu({.id = "http-get", .what = "GET, JSON, against nginx with a file", .bound = 0.95});
  Comparison raw_cpu({.id = "http-get-raw", .what = "GET, raw bytes, against nginx with a file", .bound = 0.85});
  Rates json_rate;
  Rates raw_rate;
  std::string latency;
  double generator = 0;
  for (int round = 0; round < rounds_; ++round) {
    Sample of_file, of_json, of_raw;
    TakeTurns(
        round, [&] { of_file = Measure(*nginx_, file, seconds_); },
        [&] {
          of_json = Measure(kvarts, json, seconds_);
          latency = fmt::format("p50 {}, p99 {}, p99.9 {} µs", last_.latency.Quantile(0.5) / 1000,
                                last_.latency.Quantile(0.99) / 1000, last_.latency.Quantile(0.999) / 1000);
          generator = last_.CpuPerRequest();
        },
        [&] { of_raw = Measure(kvarts, raw, seconds_); });
    json_cpu.Add(of_json, of_file), json_rate.Add(of_json, of_file);
    raw_cpu.Add(of_raw, of_file), raw_rate.Add(of_raw, of_file);
  }
  json_cpu.Report();
  json_rate.Report("http-get-rate", "the same, requests a second", 1.0);
  raw_cpu.Report();
  raw_rate.Report("http-get-raw-rate", "the same, requests a second", 1.15);
  Note(fmt::format("GET, JSON, closed loop of {} connections: {}. The generator took {:.0f} ns for each request.",
                   kConnections, latency, generator));
  CompareWrk(kvarts);
}

void HttpBench::CompareWrk(const load::ServerProcess& kvarts) {
  load::WorkloadSettings workload;
  workload.keys = keys_;
  const load::KeyChooser chooser(workload);
  std::mt19937_64 random(workload.seed);
  std::vector<std::string> keys;
  for (size_t i = 0; i < kWrkPaths; ++i) {
    load::AppendKey(chooser(random), &keys.emplace_back("/keys/"));
  }
  // As many for nginx, so that wrk has as much to do.
  const std::vector<std::string> files(kWrkPaths, "/file");
  const int seconds = arguments_.full ? 3 : 1;
  const auto run = [&](const load::ServerProcess& server, const auto& paths, const char* header) {
    server.WaitUntilIdle();
    return Sample{0, 1e9 / load::RunWrk(scratch_.Sub("wrk"), server.port(), paths, header, kConnections, seconds)};
  };
  Rates json;
  Rates raw;
  for (int round = 0; round < (arguments_.full ? 5 : 2); ++round) {
    Sample of_file, of_json, of_raw;
    TakeTurns(
        round, [&] { of_file = run(*nginx_, files, ""); }, [&] { of_json = run(kvarts, keys, ""); },
        [&] { of_raw = run(kvarts, keys, "Accept: application/octet-stream"); });
    json.Add(of_json, of_file);
    raw.Add(of_raw, of_file);
  }
  json.Report("http-get-wrk", "GET, JSON, requests a second that wrk sees", 0);
  raw.Report("http-get-raw-wrk", "GET, raw bytes, requests a second that wrk sees", 0);
}

void HttpBench::ComparePuts() {
  const auto kvarts = load::StartKvarts(program_, Data("data"));
  const Load file = {.file = true};
  const Load interval = {.puts = true, .durability = "interval"};
  const Load json = {.puts = true, .json = true, .durability = "interval"};
  const Load sync = {.puts = true, .durability = "sync"};
  Warm(kvarts, interval);
  Comparison cpu({.id = "http-put", .what = "PUT, raw bytes, `interval`, against nginx with a file"});
  Rates of_interval;
  Rates of_json;
  Rates of_sync;
  for (int round = 0; round < rounds_; ++round) {
    Sample gets, puts, jsons, syncs;
    TakeTurns(
        round, [&] { gets = Measure(*nginx_, file, seconds_); }, [&] { puts = Measure(kvarts, interval, seconds_); },
        [&] { syncs = Measure(kvarts, sync, seconds_); }, [&] { jsons = Measure(kvarts, json, seconds_); });
    cpu.Add(puts, gets);
    of_interval.Add(puts, gets);
    of_json.Add(jsons, gets);
    of_sync.Add(syncs, puts);
  }
  cpu.Report();
  of_interval.Report("http-put-rate", "the same, requests a second", 0.5);
  of_json.Report("http-put-json-rate", "PUT, JSON, `interval`, requests a second", 0);
  of_sync.Report("http-put-sync-rate", "PUT, `sync`, against `interval`, requests a second", 0.5);
}

// Two servers on copies of the same data. Where a process' memory happens to lie can make as much of a difference as
// what is sought, so they are started anew several times.
void HttpBench::CompareObserved() {
  std::filesystem::copy(Data("data"), Data("copy"), std::filesystem::copy_options::recursive);
  Comparison cpu({.id = "http-observed", .what = "GET with metrics and hot keys, against without", .bound = 1.04});
  const int starts = arguments_.full ? 3 : 1;
  for (int start = 0; start < starts; ++start) {
    const bool swapped = start % 2 == 1;
    const auto with = load::StartKvarts(program_, Data(swapped ? "copy" : "data"));
    const auto without = load::StartKvarts(program_, Data(swapped ? "data" : "copy"),
                                           {"--metrics-enabled=false", "--hotkeys-enabled=false"});
    Warm(with, {}), Warm(without, {});
    for (int round = 0; round < rounds_; ++round) {
      Sample on, off;
      TakeTurns(
          round, [&] { on = Measure(with, {}, seconds_); }, [&] { off = Measure(without, {}, seconds_); });
      cpu.Add(on, off);
    }
  }
  Scratch::Remove(Data("copy"));
  cpu.Report();
}

void HttpBench::MeasureIdle() {
  const uint32_t connections = arguments_.full ? 10'000 : 1000;
  const auto kvarts = load::StartKvarts(program_, Data("data"));
  load::Settings settings = SettingsOf(kvarts, {});
  settings.workload.keys = 1;
  { const load::IdleConnections few(settings, kConnections); }  // what the first ones cost is not theirs
  kvarts.WaitUntilIdle();
  const uint64_t before = kvarts.ResidentBytes();
  const load::IdleConnections idle(settings, connections);
  kvarts.WaitUntilIdle();
  const double each = (static_cast<double>(kvarts.ResidentBytes()) - static_cast<double>(before)) / connections;
  ReportRatios(
      {.id = "http-idle", .what = fmt::format("resident size of each of {} idle connections", connections), .bound = 1},
      fmt::format("{:.1f} KiB", each / 1024), fmt::format("{:.0f} KiB", kIdleBytes / 1024), {each / kIdleBytes});
}

void HttpBench::Run() {
  load::RaiseFileLimit();
  load::PinToGeneratorCore();
  StartBestNginx();
  Fill();
  if (arguments_.Wants("http-get")) CompareGets();
  if (arguments_.Wants("http-observed")) CompareObserved();
  if (arguments_.Wants("http-idle")) MeasureIdle();
  // Last: it changes the data.
  if (arguments_.Wants("http-put")) ComparePuts();
}

}  // namespace
}  // namespace kvarts::bench

int main(int argc, char** argv) {
  kvarts::bench::HttpBench(kvarts::bench::Arguments::Parse(argc, argv)).Run();
  return 0;
}
