// MEMORY: what is used for what.
#include <fmt/format.h>

#include <algorithm>

#include "base/process_stats.h"
#include "protocol/resp/allocator_stats.h"
#include "protocol/resp/arguments.h"
#include "protocol/resp/handlers.h"
#include "protocol/resp/object_facts.h"
#include "protocol/resp/service.h"

namespace kvarts::resp {
namespace {

constexpr size_t kMaxAllocatorText = 64 << 10;

}  // namespace

Status MemoryUsage(DataCall& call) {
  size_t samples = kDefaultSamples;
  for (size_t i = 3; i < call.arguments.size(); ++i) {
    if (!IsWord(call.arguments[i], "SAMPLES") || i + 1 == call.arguments.size()) return Wrong(kSyntaxError);
    KVARTS_TRY(const int64_t wanted, IntegerOf(call.arguments[++i]));
    if (wanted < 0) return Wrong(kSyntaxError);
    samples = static_cast<size_t>(wanted);
  }
  KVARTS_TRY(structure::Key * key, call.Open(2));
  if (!key->exists()) {
    call.reply.Null();
    return {};
  }
  KVARTS_TRY(const uint64_t bytes, BytesOf(*key, samples));
  call.reply.Int(static_cast<int64_t>(bytes));
  return {};
}

Status MemoryStats(DataCall& call) {
  KVARTS_TRY(const EngineStats engine, call.service.store.engine().Stats());
  const AllocatorStats allocator = AllocatorStats::Take();
  uint64_t keys = 0;
  for (uint32_t number = 0; number < structure::kDatabases; ++number) {
    KVARTS_TRY(const uint64_t count, call.keys.CountKeys(number));
    keys += count;
  }
  const std::pair<std::string_view, uint64_t> figures[] = {
      {"peak.allocated", call.service.NotePeak(allocator.allocated)},
      {"total.allocated", allocator.allocated},
      {"keys.count", keys},
      {"dataset.bytes", engine.live_bytes},
      {"allocator.allocated", allocator.allocated},
      {"allocator.active", allocator.active},
      {"allocator.resident", allocator.resident},
      {"engine.bytes", engine.memory_bytes},
      {"engine.budget", engine.memory_budget_bytes},
      {"process.resident", ProcessStats::Take().resident_bytes},
  };
  call.reply.Map(std::size(figures));
  for (const auto& [name, value] : figures) call.reply.Bulk(name).Int(static_cast<int64_t>(value));
  return {};
}

Status MemoryDoctor(WorkCall& call) {
  KVARTS_TRY(const EngineStats engine, call.service.store.engine().Stats());
  const uint64_t resident = ProcessStats::Take().resident_bytes;
  std::string text = fmt::format("The process takes {} MiB.\n", resident >> 20);
  if (engine.memory_budget_bytes != 0) {
    text += fmt::format("Of that, caches and write buffers take {} MiB of the {} MiB that they may.\n",
                        engine.memory_bytes >> 20, engine.memory_budget_bytes >> 20);
  }
  if (engine.memory_bytes > engine.memory_budget_bytes && engine.memory_budget_bytes != 0) {
    text += "That is more than memory_budget says: views that stay open for long keep memory.\n";
  }
  call.reply.Verbatim("txt", text);
  return {};
}

Status MemoryPurge(WorkCall& call) {
  PurgeAllocator();
  call.reply.Simple("OK");
  return {};
}

Status MemoryMallocStats(WorkCall& call) {
  const std::string text = AllocatorText(kMaxAllocatorText);
  call.reply.Verbatim("txt", text.empty() ? "Stats not supported for the current allocator" : text);
  return {};
}

}  // namespace kvarts::resp
