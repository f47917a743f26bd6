// SLOWLOG and LATENCY: what took long.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "protocol/resp/arguments.h"
#include "protocol/resp/command_names.h"
#include "protocol/resp/command_table.h"
#include "protocol/resp/handlers.h"
#include "protocol/resp/service.h"

namespace kvarts::resp {
namespace {

constexpr int64_t kShownByDefault = 10;

// Redis' buckets end at powers of two of a microsecond; so do ours, but for the first. All of them up to the first that
// takes everything in.
void WriteBuckets(ReplyWriter& reply, const HistogramSnapshot& latency) {
  std::vector<std::pair<int64_t, uint64_t>> buckets;
  const uint64_t count = latency.Count();
  uint64_t before = 0;
  for (const double seconds : LatencyHistogram::Boundaries()) {
    const uint64_t at_most = latency.CountAtMost(seconds);
    if (at_most > before) buckets.emplace_back(std::llround(seconds * 1e6), at_most);
    before = at_most;
    if (at_most == count) break;
  }
  reply.Map(2).Bulk("calls").Int(static_cast<int64_t>(count)).Bulk("histogram_usec").Map(buckets.size());
  for (const auto& [micros, at_most] : buckets) reply.Int(micros).Int(static_cast<int64_t>(at_most));
}

void AddUsed(const Statistics& statistics, const Command& command,
             std::vector<std::pair<std::string_view, HistogramSnapshot>>* used) {
  HistogramSnapshot latency = statistics.Of(command).latency;
  if (latency.Count() != 0) used->emplace_back(command.name, latency);
}

// How high a time stands among others, from blank to full.
std::string Bar(const LatencyEvents::Event& event) {
  constexpr std::string_view kLevels = "_.-o#";
  int64_t highest = 1;
  for (const LatencyEvents::Time& time : event.times) highest = std::max(highest, time.millis);
  std::string bar;
  for (const LatencyEvents::Time& time : event.times) {
    bar.push_back(kLevels[static_cast<size_t>(time.millis * static_cast<int64_t>(kLevels.size() - 1) / highest)]);
  }
  return bar;
}

}  // namespace

Status SlowLogGet(ClientCall& call) {
  if (call.arguments.size() > 3) {
    return WrongWith("unknown subcommand or wrong number of arguments for ",
                     "'" + std::string(call.arguments[1]) + "'. Try SLOWLOG HELP.");
  }
  int64_t count = kShownByDefault;
  if (call.arguments.size() == 3) {
    constexpr const char* kWrongCount = "count should be greater than or equal to -1";
    KVARTS_TRY(count, IntegerOf(call.arguments[2], kWrongCount));
    if (count < -1) return Wrong(kWrongCount);
  }
  const std::vector<SlowLog::Entry> entries = call.service.slow_log.Latest(static_cast<size_t>(count));
  call.reply.Array(entries.size());
  for (const SlowLog::Entry& entry : entries) {
    call.reply.Array(6).Int(entry.id).Int(entry.at_seconds).Int(entry.micros).Array(entry.words.size());
    for (const std::string& word : entry.words) call.reply.Bulk(word);
    call.reply.Bulk(entry.client).Bulk(entry.client_name);
  }
  return {};
}

Status SlowLogLen(ClientCall& call) {
  call.reply.Int(static_cast<int64_t>(call.service.slow_log.size()));
  return {};
}

Status SlowLogReset(ClientCall& call) {
  call.service.slow_log.Clear();
  call.reply.Simple("OK");
  return {};
}

Status LatencyLatest(ClientCall& call) {
  const auto events = call.service.latency_events.All();
  call.reply.Array(events.size());
  for (const auto& [kind, event] : events) {
    const LatencyEvents::Time& last = event.times.back();
    call.reply.Array(4).Bulk(kind).Int(last.at_seconds).Int(last.millis).Int(event.longest);
  }
  return {};
}

Status LatencyHistory(ClientCall& call) {
  const auto events = call.service.latency_events.All();
  const auto found = events.find(call.arguments[2]);
  if (found == events.end()) {
    call.reply.Array(0);
    return {};
  }
  call.reply.Array(found->second.times.size());
  for (const LatencyEvents::Time& time : found->second.times) call.reply.Array(2).Int(time.at_seconds).Int(time.millis);
  return {};
}

Status LatencyReset(ClientCall& call) {
  size_t forgotten = 0;
  if (call.arguments.size() == 2) forgotten = call.service.latency_events.ForgetAll();
  for (const std::string_view kind : call.arguments.subspan(2)) {
    forgotten += call.service.latency_events.Forget(kind) ? 1 : 0;
  }
  call.reply.Int(static_cast<int64_t>(forgotten));
  return {};
}

Status LatencyGraph(ClientCall& call) {
  const auto events = call.service.latency_events.All();
  const auto found = events.find(call.arguments[2]);
  if (found == events.end()) {
    return WrongWith("No samples available for event ", "'" + std::string(call.arguments[2]) + "'");
  }
  int64_t lowest = found->second.longest;
  int64_t highest = 0;
  for (const LatencyEvents::Time& time : found->second.times) {
    lowest = std::min(lowest, time.millis);
    highest = std::max(highest, time.millis);
  }
  call.reply.Verbatim("txt", fmt::format("{} - high {} ms, low {} ms (all time high {} ms)\n{}\n", found->first,
                                         highest, lowest, found->second.longest, Bar(found->second)));
  return {};
}

Status LatencyDoctor(ClientCall& call) {
  const int64_t threshold = call.service.settings[Number::kLatencyMillis];
  const auto events = call.service.latency_events.All();
  std::string text;
  if (threshold == 0) {
    text = "Nothing is listened for: CONFIG SET latency-monitor-threshold <milliseconds> says from when on.\n";
  } else if (events.empty()) {
    text = fmt::format("Nothing took {} ms or longer.\n", threshold);
  }
  for (const auto& [kind, event] : events) {
    int64_t sum = 0;
    for (const LatencyEvents::Time& time : event.times) sum += time.millis;
    text += fmt::format("{}: {} times, {} ms on average, {} ms at most. SLOWLOG GET shows which commands.\n", kind,
                        event.times.size(), sum / static_cast<int64_t>(event.times.size()), event.longest);
  }
  call.reply.Verbatim("txt", text);
  return {};
}

Status LatencyHistogramOf(ClientCall& call) {
  const Statistics& statistics = call.service.statistics;
  std::vector<std::pair<std::string_view, HistogramSnapshot>> used;
  const Arguments names = call.arguments.subspan(2);
  const auto add = [&](const Command& command) {
    AddUsed(statistics, command, &used);
    for (const Command& sub : SubcommandsOf(command)) AddUsed(statistics, sub, &used);
  };
  for (const std::string_view name : names) {
    if (const Command* command = FindCommand(name)) add(*command);
  }
  if (names.empty()) {
    for (const Command& command : AllCommands()) add(command);
  }
  call.reply.Map(used.size());
  for (const auto& [name, latency] : used) {
    call.reply.Bulk(name);
    WriteBuckets(call.reply, latency);
  }
  return {};
}

}  // namespace kvarts::resp
