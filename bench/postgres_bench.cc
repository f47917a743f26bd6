// Kvarts on PostgreSQL against what one would write by hand: a table with a primary key, asked with prepared statements
// by pgbench. Both use the same server, with the same settings, fsync on and no replica; keys have 22 bytes, values
// 100, and all keys are alike. Kvarts is asked over HTTP on 64 connections; pgbench has as many clients as suit it
// best. Both who ask have as many threads as suit them best. What is best is found by trying.
//
// Nothing is pinned to a core: PostgreSQL shares all of them with those who ask it. What our processes and the
// generator take counts against us, and what pgbench takes against it. Contenders take turns, in both orders.
//
// Puts are measured as they are long after a checkpoint. Behind one, the first change of a page logs all of it: with
// turns that are much shorter than the time between checkpoints, that would be most of what is measured. So every page
// is changed once before, and no checkpoint follows. For the same reason tables are vacuumed between the rounds, and
// not while one of the contenders has its turn.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <optional>

#include "load/generator.h"
#include "load/http_protocol.h"
#include "servers/contenders.h"
#include "servers/postgres.h"
#include "support/contenders.h"
#include "support/measure.h"

namespace kvarts::bench {
namespace {

constexpr size_t kValueBytes = 100;
constexpr uint32_t kConnections = 64;
constexpr std::array<size_t, 3> kProcesses = {1, 2, 4};
constexpr std::array<uint32_t, 2> kThreads = {1, 2};  // of those who ask
// Numbers of 17 digits make keys of 22 bytes with nothing but their prefix before them.
constexpr uint64_t kFirstNumber = 10'000'000'000'000'000;

// As large, and as seldom full, as the table of Kvarts.
constexpr char kMakeTable[] = R"(
CREATE TABLE plain (key text PRIMARY KEY, value bytea NOT NULL, version bigint NOT NULL, expire_at bigint NOT NULL)
  WITH (fillfactor = 80))";
constexpr char kSelect[] = R"(\set number random(:first, :last)
SELECT value, version, expire_at FROM plain WHERE key = 'user:' || :number::text;
)";
constexpr char kUpsert[] = R"(\set number random(:first, :last)
INSERT INTO plain VALUES ('user:' || :number::text, :value, 1, 9223372036854775807)
  ON CONFLICT (key) DO UPDATE SET value = excluded.value, version = plain.version + 1, expire_at = excluded.expire_at;
)";

// What is compared.
struct Kind {
  const char* id;
  const char* what;
  const char* script;  // of pgbench
  bool puts;
  double bound;
};
constexpr Kind kGets = {"pg-get", "GET, raw bytes, against SELECTs of pgbench, requests a second", kSelect, false, 1.5};
constexpr Kind kPuts = {"pg-put", "PUT, `sync`, against upserts of pgbench, requests a second", kUpsert, true, 2};

// CPU time that was spent on a run of pgbench, and how many cores were busy, whoever kept them so.
struct PgbenchCost {
  int64_t postgres = 0;
  int64_t client = 0;
  double busy = 0;
};

// One turn of a contender. Times are CPU for each request, in nanoseconds.
struct Turn {
  double rate = 0;
  double kvarts = 0;
  double postgres = 0;
  double client = 0;  // the generator, or pgbench
  double busy = 0;    // cores of the machine, whoever kept them so

  Sample sample() const { return {kvarts + postgres + client, 1e9 / rate}; }
};

double Cores() { return static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN)); }

// How many cores were busy since it was made.
class BusyCores {
 public:
  double Get() const {
    const Ticks now = Look();
    return Cores() * static_cast<double>(now.busy - before_.busy) / static_cast<double>(now.all - before_.all);
  }

 private:
  struct Ticks {
    uint64_t busy = 0;
    uint64_t all = 0;
  };
  static Ticks Look() {
    std::ifstream in("/proc/stat");
    std::string name;
    in >> name;
    Ticks ticks;
    // User, nice, system, idle, waiting for a disk, and interrupts of both kinds.
    for (int field = 0; field < 7; ++field) {
      uint64_t ticks_of_field = 0;
      in >> ticks_of_field;
      ticks.all += ticks_of_field;
      if (field != 3 && field != 4) ticks.busy += ticks_of_field;
    }
    return ticks;
  }

  const Ticks before_ = Look();
};

// Who took how much of the CPU, over several turns.
class Layers {
 public:
  void Add(const Turn& turn) { turns_.push_back(turn); }
  void Report(const std::string& who, const std::string& client) const;

 private:
  double MedianOf(double Turn::*member) const {
    std::vector<double> values;
    for (const Turn& turn : turns_) values.push_back(turn.*member);
    return Median(values);
  }

  std::vector<Turn> turns_;
};

void Layers::Report(const std::string& who, const std::string& client) const {
  constexpr double kFull = 0.9;
  const std::pair<std::string, double> layers[] = {{"Kvarts", MedianOf(&Turn::kvarts)},
                                                   {"PostgreSQL", MedianOf(&Turn::postgres)},
                                                   {client, MedianOf(&Turn::client)}};
  std::string shares;
  double sum = 0;
  const auto* most = &layers[0];
  for (const auto& layer : layers) {
    if (layer.second == 0) continue;
    shares += fmt::format("{}{} {:.1f} µs", shares.empty() ? "" : ", ", layer.first, layer.second / 1000);
    sum += layer.second;
    if (layer.second > most->second) most = &layer;
  }
  const double busy = MedianOf(&Turn::busy);
  Note(
      fmt::format("{}: CPU for each request: {}; most of it is that of {}. These kept {:.2f} of {:.0f} cores busy, and "
                  "all that ran on the machine {:.2f}: the cores were {}.",
                  who, shares, most->first, sum * MedianOf(&Turn::rate) / 1e9, Cores(), busy,
                  busy >= kFull * Cores() ? "full" : "not full, so that requests waited for something else"));
}

class PostgresBench {
 public:
  explicit PostgresBench(const Arguments& arguments)
      : arguments_(arguments),
        keys_(arguments.full ? 1'000'000 : 100'000),
        rounds_(arguments.RoundsOr(arguments.full ? 7 : 3)),
        seconds_(arguments.full ? 5 : 2),
        scratch_(arguments),
        postgres_(scratch_.Sub("cluster"),
                  {"fsync=on", "synchronous_commit=on", "shared_buffers=1GB", "max_connections=300",
                   "checkpoint_timeout=1h", "max_wal_size=16GB", "autovacuum=off"}) {}

  void Run();

 private:
  load::Settings SettingsOf(const Kind& kind, size_t processes, uint32_t threads) const;
  void StartServers();
  void Fill();
  Turn MeasureKvarts(const Kind& kind, size_t processes, uint32_t threads, double seconds) const;
  load::PgbenchRun RunPgbench(const Kind& kind, const load::PgbenchSettings& settings, PgbenchCost* cost) const;
  // Without what it takes to connect.
  Turn MeasurePgbench(const Kind& kind, const load::PgbenchSettings& settings) const;
  // The number of clients and threads with which it is fastest.
  load::PgbenchSettings BestPgbench(const Kind& kind) const;
  // The number of threads with which the generator is fastest, with one process.
  uint32_t BestThreads(const Kind& kind) const;
  void Compare(const Kind& kind) const;

  const Arguments arguments_;
  const uint64_t keys_;
  const int rounds_;
  const uint32_t seconds_;
  const Scratch scratch_;
  const load::PostgresServer postgres_;
  std::vector<load::ServerProcess> kvarts_;
};

load::Settings PostgresBench::SettingsOf(const Kind& kind, size_t processes, uint32_t threads) const {
  load::HttpSettings http;
  http.value_bytes = kValueBytes;
  http.accept_raw = true;
  if (kind.puts) http.headers = {"Kvarts-Durability: sync"};
  load::Settings settings;
  settings.port = kvarts_[0].port();
  for (size_t i = 1; i < processes; ++i) settings.more_ports.push_back(kvarts_[i].port());
  settings.connections = kConnections;
  settings.threads = threads;
  settings.workload.keys = keys_;
  settings.workload.zipfian = false;
  settings.workload.gets = kind.puts ? 0 : 1;
  settings.workload.puts = kind.puts ? 1 : 0;
  settings.protocol = [http] { return std::make_unique<load::HttpProtocol>(http); };
  return settings;
}

// Those that have no turn do next to nothing.
void PostgresBench::StartServers() {
  const std::string program = load::KvartsProgram();
  for (size_t i = 0; i < kProcesses.back(); ++i) {
    kvarts_.push_back(
        load::StartKvartsOnPostgres(program, scratch_.Sub(fmt::format("kvarts-{}", i)), postgres_.ShardsFile()));
  }
}

void PostgresBench::Fill() {
  load::Settings settings = SettingsOf(kPuts, 1, 1);
  settings.connections = 1;
  settings.pipeline = 4;
  settings.workload.fill_batch = 1000;
  const load::Report filled = load::MakeLoad(settings);
  Check(filled.Errors(false) == 0, "the store cannot be filled: " + filled.first_error);
  postgres_.Execute(
      {kMakeTable,
       fmt::format("INSERT INTO plain SELECT 'user:' || {} + i, convert_to(left(repeat(md5(i::text), 4), {}), "
                   "'UTF8'), 1, 9223372036854775807 FROM generate_series(0, {}) i",
                   kFirstNumber, kValueBytes, keys_ - 1),
       // The second changes every page behind the first.
       "CHECKPOINT", "VACUUM (FREEZE, ANALYZE) plain", "VACUUM (FREEZE, ANALYZE) kvarts.entry"});
}

Turn PostgresBench::MeasureKvarts(const Kind& kind, size_t processes, uint32_t threads, double seconds) const {
  load::Settings settings = SettingsOf(kind, processes, threads);
  settings.seconds = seconds;
  const auto kvarts_nanos = [&] {
    int64_t sum = 0;
    for (size_t i = 0; i < processes; ++i) sum += kvarts_[i].CpuNanos();
    return sum;
  };
  postgres_.WaitUntilIdle();
  const int64_t kvarts_before = kvarts_nanos();
  const int64_t postgres_before = postgres_.CpuNanos();
  const BusyCores busy;
  const load::Report report = load::MakeLoad(settings);
  Turn turn;
  turn.busy = busy.Get();
  Check(report.Errors(false) == 0 && report.answers != 0, "not answered as expected: " + report.first_error);
  const auto requests = static_cast<double>(report.answers);
  turn.rate = report.Rate();
  turn.kvarts = static_cast<double>(kvarts_nanos() - kvarts_before) / requests;
  turn.postgres = static_cast<double>(postgres_.CpuNanos() - postgres_before) / requests;
  turn.client = report.CpuPerRequest();
  return turn;
}

load::PgbenchRun PostgresBench::RunPgbench(const Kind& kind, const load::PgbenchSettings& settings,
                                           PgbenchCost* cost) const {
  postgres_.WaitUntilIdle();
  const int64_t before = postgres_.CpuNanos();
  const BusyCores busy;
  const load::PgbenchRun run = postgres_.RunPgbench(kind.script, settings);
  cost->busy = busy.Get();
  // A process that is just ending has no time that can be seen.
  postgres_.WaitUntilIdle();
  cost->postgres = postgres_.CpuNanos() - before;
  cost->client = run.cpu_nanos;
  return run;
}

Turn PostgresBench::MeasurePgbench(const Kind& kind, const load::PgbenchSettings& settings) const {
  load::PgbenchSettings connects = settings;
  connects.seconds = 0;
  PgbenchCost of_connecting;
  RunPgbench(kind, connects, &of_connecting);
  PgbenchCost cost;
  const load::PgbenchRun run = RunPgbench(kind, settings, &cost);
  const auto requests = static_cast<double>(run.transactions);
  Turn turn;
  turn.busy = cost.busy;
  turn.rate = run.rate;
  turn.postgres = static_cast<double>(cost.postgres - of_connecting.postgres) / requests;
  turn.client = static_cast<double>(cost.client - of_connecting.client) / requests;
  return turn;
}

load::PgbenchSettings PostgresBench::BestPgbench(const Kind& kind) const {
  load::PgbenchSettings tried;
  tried.seconds = arguments_.full ? 3 : 1;
  tried.variables = {fmt::format("first={}", kFirstNumber), fmt::format("last={}", kFirstNumber + keys_ - 1),
                     "value=" + std::string(kValueBytes, 'v')};
  PgbenchCost cost;
  RunPgbench(kind, tried, &cost);  // warm
  load::PgbenchSettings best;
  double best_rate = 0;
  std::string rates;
  for (const uint32_t clients : {8, 16, 32, 64}) {
    for (const uint32_t threads : kThreads) {
      tried.clients = clients;
      tried.threads = threads;
      const double rate = RunPgbench(kind, tried, &cost).rate;
      rates += fmt::format("{}{}/{}: {:.0f} /s", rates.empty() ? "" : ", ", clients, threads, rate);
      if (rate <= best_rate) continue;
      best_rate = rate;
      best = tried;
    }
  }
  Note(fmt::format("{}: pgbench runs with {} clients on {} threads (with clients/threads {}).", kind.id, best.clients,
                   best.threads, rates));
  best.seconds = seconds_;
  return best;
}

uint32_t PostgresBench::BestThreads(const Kind& kind) const {
  for (const size_t processes : kProcesses) MeasureKvarts(kind, processes, 1, 1);  // warm
  uint32_t best = 1;
  double best_rate = 0;
  std::string rates;
  for (const uint32_t threads : kThreads) {
    std::vector<double> tried;
    for (int i = 0; i < 3; ++i) tried.push_back(MeasureKvarts(kind, 1, threads, arguments_.full ? 3 : 1).rate);
    const double rate = Median(tried);
    rates += fmt::format("{}{}: {:.0f} /s", rates.empty() ? "" : ", ", threads, rate);
    if (rate <= best_rate) continue;
    best_rate = rate;
    best = threads;
  }
  Note(fmt::format("{}: the generator runs with {} threads (with {}).", kind.id, best, rates));
  return best;
}

void PostgresBench::Compare(const Kind& kind) const {
  const uint32_t threads = BestThreads(kind);
  const load::PgbenchSettings pgbench = BestPgbench(kind);
  std::array<Rates, kProcesses.size()> rates;
  Comparison cpu({.id = fmt::format("{}-cpu", kind.id), .what = "the same, CPU of all that takes part"});
  std::array<Layers, kProcesses.size()> layers;
  Layers of_pgbench;
  for (int round = 0; round < rounds_; ++round) {
    if (kind.puts) postgres_.Execute({"VACUUM plain", "VACUUM kvarts.entry"});
    Turn reference;
    std::array<Turn, kProcesses.size()> ours;
    const auto measure = [&](size_t i) {
      return [&, i] { ours[i] = MeasureKvarts(kind, kProcesses[i], threads, seconds_); };
    };
    TakeTurns(
        round, [&] { reference = MeasurePgbench(kind, pgbench); }, measure(0), measure(1), measure(2));
    of_pgbench.Add(reference);
    cpu.Add(ours[0].sample(), reference.sample());
    for (size_t i = 0; i < ours.size(); ++i) {
      rates[i].Add(ours[i].sample(), reference.sample());
      layers[i].Add(ours[i]);
    }
  }
  rates[0].Report(kind.id, kind.what, kind.bound);
  cpu.Report();
  for (size_t i = 1; i < rates.size(); ++i) {
    rates[i].Report(fmt::format("{}-{}", kind.id, kProcesses[i]),
                    fmt::format("the same through {} processes", kProcesses[i]), 0);
  }
  for (size_t i = 0; i < layers.size(); ++i) {
    layers[i].Report(fmt::format("{}, Kvarts in {} process{}", kind.id, kProcesses[i], i == 0 ? "" : "es"),
                     "the generator");
  }
  of_pgbench.Report(fmt::format("{}, pgbench", kind.id), "pgbench");
}

void PostgresBench::Run() {
  StartServers();
  Fill();
  if (arguments_.Wants(kGets.id)) Compare(kGets);
  // Last: it changes the data.
  if (arguments_.Wants(kPuts.id)) Compare(kPuts);
}

}  // namespace
}  // namespace kvarts::bench

int main(int argc, char** argv) {
  kvarts::bench::PostgresBench(kvarts::bench::Arguments::Parse(argc, argv)).Run();
  return 0;
}
