#include "protocol/resp/info_text.h"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "base/lower_case.h"
#include "base/process_stats.h"
#include "protocol/resp/allocator_stats.h"
#include "protocol/resp/command_table.h"
#include "protocol/resp/service.h"
#include "protocol/resp/versions.h"

namespace kvarts::resp {
namespace {

// What is asked for once, whichever sections need it.
struct Facts {
  DataCall& call;
  Service& service;
  ProcessStats process = ProcessStats::Take();
  EngineStats engine = {};
};

class Lines {
 public:
  explicit Lines(std::string* text) : text_(*text) {}
  template <class Value>
  Lines& Add(std::string_view name, const Value& value) {
    fmt::format_to(std::back_inserter(text_), "{}:{}\r\n", name, value);
    return *this;
  }
  // With a line for people.
  Lines& AddBytes(std::string_view name, uint64_t bytes) {
    Add(name, bytes);
    return Add(std::string(name) + "_human", Human(bytes));
  }

 private:
  static std::string Human(uint64_t bytes) {
    constexpr std::string_view kUnits = "KMGTP";
    auto number = static_cast<double>(bytes);
    if (bytes < 1024) return fmt::format("{}B", bytes);
    size_t unit = 0;
    for (number /= 1024; number >= 1024 && unit + 1 < kUnits.size(); number /= 1024) ++unit;
    return fmt::format("{:.2f}{}", number, kUnits[unit]);
  }

  std::string& text_;
};

Status Server(Facts& facts, Lines lines) {
  constexpr uint64_t kDay = 86'400;
  utsname system{};
  ::uname(&system);
  const Service& service = facts.service;
  const uint64_t now = service.clock.Now().micros;
  const uint64_t uptime = (now - std::min(now, service.started.micros)) / 1'000'000;
  lines.Add("redis_version", kRedisVersion).Add("server_name", "kvarts").Add("kvarts_version", KVARTS_VERSION);
  lines.Add("redis_mode", "standalone")
      .Add("os", fmt::format("{} {} {}", system.sysname, system.release, system.machine));
  lines.Add("arch_bits", 8 * sizeof(void*)).Add("multiplexing_api", "epoll").Add("process_id", ::getpid());
  lines.Add("tcp_port", service.port.load()).Add("server_time_usec", now).Add("uptime_in_seconds", uptime);
  lines.Add("uptime_in_days", uptime / kDay).Add("hz", 4).Add("configured_hz", 4);
  lines.Add("kvarts_engine", service.store.engine().capabilities().name);
  return {};
}

Status Clients(Facts& facts, Lines lines) {
  const Service& service = facts.service;
  lines.Add("connected_clients", service.clients.size()).Add("cluster_connections", 0);
  lines.Add("maxclients", service.listener == nullptr ? 0 : service.listener->max_connections());
  lines.Add("blocked_clients", service.blocked.size() + service.pause.size());
  lines.Add("tracking_clients", service.tracking.counts().clients);
  lines.Add("pubsub_clients", service.channels.clients());
  return {};
}

Status Memory(Facts& facts, Lines lines) {
  const AllocatorStats allocator = AllocatorStats::Take();
  const uint64_t resident = facts.process.resident_bytes;
  const uint64_t used = allocator.allocated != 0 ? allocator.allocated : resident;
  const uint64_t peak = facts.service.NotePeak(used);
  lines.AddBytes("used_memory", used).AddBytes("used_memory_rss", resident).AddBytes("used_memory_peak", peak);
  lines.Add("used_memory_peak_perc",
            fmt::format("{:.2f}%", 100.0 * static_cast<double>(used) / static_cast<double>(peak)));
  lines.Add("used_memory_dataset", facts.engine.memory_bytes);
  lines.Add("allocator_allocated", allocator.allocated).Add("allocator_active", allocator.active);
  lines.Add("allocator_resident", allocator.resident);
  lines.AddBytes("total_system_memory",
                 static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)));
  lines.AddBytes("maxmemory", 0).Add("maxmemory_policy", "noeviction");
  const double ratio = static_cast<double>(resident) / static_cast<double>(std::max<uint64_t>(used, 1));
  lines.Add("mem_fragmentation_ratio", fmt::format("{:.2f}", ratio));
  lines.Add("mem_allocator", allocator.allocated != 0 ? "jemalloc" : "libc");
  lines.Add("kvarts_memory_budget", facts.engine.memory_budget_bytes);
  return {};
}

Status Persistence(Facts& facts, Lines lines) {
  const Service& service = facts.service;
  const bool writable = facts.engine.writable;
  lines.Add("loading", 0).Add("async_loading", 0);
  lines.Add("rdb_bgsave_in_progress", service.saves.running ? 1 : 0);
  lines.Add("rdb_last_save_time", service.saves.last_seconds.load());
  lines.Add("rdb_last_bgsave_status", service.saves.failed ? "err" : "ok");
  lines.Add("rdb_last_bgsave_time_sec", service.saves.took_seconds.load());
  lines.Add("rdb_saves", service.saves.count.load());
  lines.Add("aof_enabled", service.store.engine().capabilities().persistent ? 1 : 0);
  lines.Add("aof_rewrite_in_progress", 0).Add("aof_last_bgrewrite_status", "ok");
  lines.Add("aof_last_write_status", writable ? "ok" : "err").Add("aof_current_size", facts.engine.log_bytes);
  lines.Add("kvarts_durability", DurabilityName(service.settings.durability()));
  lines.Add("kvarts_stored_bytes", facts.engine.live_bytes + facts.engine.stale_bytes);
  return {};
}

Status Stats(Facts& facts, Lines lines) {
  const Service& service = facts.service;
  uint64_t errors = 0;
  for (const auto& [kind, count] : service.statistics.Errors()) errors += count;
  lines.Add("total_connections_received", service.next_client.load() - 1);
  lines.Add("total_commands_processed", service.statistics.commands());
  lines.Add("instantaneous_ops_per_sec", service.rate.per_second());
  lines.Add("total_net_input_bytes", service.bytes_in.load()).Add("total_net_output_bytes", service.bytes_out.load());
  lines.Add("rejected_connections", service.listener == nullptr ? 0 : service.listener->counts().refused.load());
  lines.Add("sync_full", 0).Add("sync_partial_ok", 0).Add("sync_partial_err", 0);
  lines.Add("evicted_keys", 0).Add("evicted_clients", 0);
  lines.Add("pubsub_channels", service.channels.Count(Listening::kChannel));
  lines.Add("pubsub_patterns", service.channels.Count(Listening::kPattern));
  lines.Add("pubsubshard_channels", service.channels.Count(Listening::kShard));
  lines.Add("client_output_buffer_limit_disconnections", service.cut_off.load());
  lines.Add("latest_fork_usec", 0).Add("total_forks", 0);
  const Tracking::Counts tracked = service.tracking.counts();
  lines.Add("tracking_total_keys", tracked.keys).Add("tracking_total_items", tracked.items);
  lines.Add("tracking_total_prefixes", tracked.prefixes);
  lines.Add("total_error_replies", errors);
  return {};
}

Status Replication(Facts&, Lines lines) {
  lines.Add("role", "master").Add("connected_slaves", 0).Add("master_failover_state", "no-failover");
  lines.Add("master_replid", std::string(40, '0')).Add("master_replid2", std::string(40, '0'));
  lines.Add("master_repl_offset", 0).Add("second_repl_offset", -1).Add("repl_backlog_active", 0);
  lines.Add("repl_backlog_size", 0).Add("repl_backlog_first_byte_offset", 0).Add("repl_backlog_histlen", 0);
  return {};
}

Status Cpu(Facts&, Lines lines) {
  const auto seconds = [](const timeval& time) { return fmt::format("{}.{:06}", time.tv_sec, time.tv_usec); };
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  lines.Add("used_cpu_sys", seconds(used.ru_stime)).Add("used_cpu_user", seconds(used.ru_utime));
  lines.Add("used_cpu_sys_children", "0.000000").Add("used_cpu_user_children", "0.000000");
  return {};
}

Status Modules(Facts&, Lines) { return {}; }

template <class Visit>
void ForEachUsed(const Service& service, Visit visit) {
  const auto look = [&](const Command& command) {
    const Statistics::Figures figures = service.statistics.Of(command);
    if (figures.latency.Count() + figures.rejected + figures.failed != 0) visit(command, figures);
  };
  std::ranges::for_each(AllCommands(), look);
  std::ranges::for_each(AllSubcommands(), look);
}

Status CommandStats(Facts& facts, Lines lines) {
  ForEachUsed(facts.service, [&](const Command& command, const Statistics::Figures& figures) {
    const uint64_t calls = figures.latency.Count();
    const double micros = figures.latency.Sum() * 1e6;
    const double each = calls == 0 ? 0 : micros / static_cast<double>(calls);
    lines.Add("cmdstat_" + std::string(command.name),
              fmt::format("calls={},usec={},usec_per_call={:.2f},rejected_calls={},failed_calls={}", calls,
                          static_cast<uint64_t>(micros), each, figures.rejected, figures.failed));
  });
  return {};
}

Status ErrorStats(Facts& facts, Lines lines) {
  for (const auto& [kind, count] : facts.service.statistics.Errors()) {
    lines.Add("errorstat_" + kind, fmt::format("count={}", count));
  }
  return {};
}

Status LatencyStats(Facts& facts, Lines lines) {
  ForEachUsed(facts.service, [&](const Command& command, const Statistics::Figures& figures) {
    if (figures.latency.Count() == 0) return;
    const auto micros = [&](double share) { return figures.latency.Quantile(share) * 1e6; };
    lines.Add("latency_percentiles_usec_" + std::string(command.name),
              fmt::format("p50={:.3f},p99={:.3f},p99.9={:.3f}", micros(0.5), micros(0.99), micros(0.999)));
  });
  return {};
}

Status ClusterState(Facts&, Lines lines) {
  lines.Add("cluster_enabled", 0);
  return {};
}

// When keys expire is not counted.
Status Keyspace(Facts& facts, Lines lines) {
  for (uint32_t number = 0; number < structure::kDatabases; ++number) {
    KVARTS_TRY(const uint64_t keys, facts.call.keys.CountKeys(number));
    if (keys != 0) lines.Add(fmt::format("db{}", number), fmt::format("keys={},expires=0,avg_ttl=0", keys));
  }
  return {};
}

struct Section {
  std::string_view name;  // as it is asked for
  std::string_view title;
  Status (*write)(Facts& facts, Lines lines);
  bool by_default = true;
  bool asks_engine = false;
};

// In Redis' order.
constexpr Section kSections[] = {
    {"server", "Server", Server},
    {"clients", "Clients", Clients},
    {"memory", "Memory", Memory, true, true},
    {"persistence", "Persistence", Persistence, true, true},
    {"stats", "Stats", Stats},
    {"replication", "Replication", Replication},
    {"cpu", "CPU", Cpu},
    {"modules", "Modules", Modules},
    {"commandstats", "Commandstats", CommandStats, false},
    {"errorstats", "Errorstats", ErrorStats},
    {"latencystats", "Latencystats", LatencyStats, false},
    {"cluster", "Cluster", ClusterState},
    {"keyspace", "Keyspace", Keyspace},
};

bool IsAsked(const Section& section, Arguments asked) {
  if (asked.empty()) return section.by_default;
  return std::ranges::any_of(asked, [&](std::string_view word) {
    const std::string lower = LowerCase(word);
    return lower == section.name || lower == "all" || lower == "everything" ||
           (lower == "default" && section.by_default);
  });
}

}  // namespace

Result<std::string> InfoText(DataCall& call, Arguments sections) {
  Facts facts{call, call.service};
  const auto asks = [&](const Section& section) { return section.asks_engine && IsAsked(section, sections); };
  if (std::ranges::any_of(kSections, asks)) {
    KVARTS_TRY(facts.engine, call.service.store.engine().Stats());
  }
  std::string text;
  for (const Section& section : kSections) {
    if (!IsAsked(section, sections)) continue;
    if (section.write == LatencyStats && call.service.settings[Number::kCountLatency] == 0) continue;
    if (!text.empty()) text += "\r\n";
    fmt::format_to(std::back_inserter(text), "# {}\r\n", section.title);
    KVARTS_CHECK_OK(section.write(facts, Lines(&text)));
  }
  return text;
}

}  // namespace kvarts::resp
