// What is on disk, and when: SAVE and its like, WAITAOF, and how durable the writes of a connection are.
//
// There are no snapshots and no log of commands here: what is acknowledged is in the log of the engine, and to save is
// to have all of that on disk.
#include "base/stopwatch.h"
#include "protocol/resp/arguments.h"
#include "protocol/resp/command_names.h"
#include "protocol/resp/handlers.h"
#include "protocol/resp/service.h"
#include "protocol/resp/session.h"

namespace kvarts::resp {
namespace {

constexpr const char* kSaving = "Background save already in progress";

Status SaveNow(Service& service) {
  const Stopwatch watch;
  const Status saved = service.store.engine().Sync();
  service.saves.failed = !saved.has_value();
  service.saves.took_seconds = watch.Elapsed().micros / 1'000'000;
  if (!saved.has_value()) return saved;
  service.saves.last_seconds = static_cast<int64_t>(service.clock.Now().micros / 1'000'000);
  service.saves.count.fetch_add(1);
  return {};
}

Status SaveLater(Service& service) {
  if (service.saves.running.exchange(true)) return Wrong(kSaving);
  const auto work = [&service] {
    (void)SaveNow(service);
    service.saves.running = false;
  };
  if (service.workers.Submit(work, WorkerPool::Lane::kLong)) return {};
  service.saves.running = false;
  return Error(ErrorCode::kOverloaded, "too much work is waiting");
}

// How durable this connection's writes are.
Durability DurabilityOf(const ClientCall& call) {
  return call.session.durability.value_or(call.service.settings.durability());
}

}  // namespace

Status Save(WorkCall& call) {
  if (call.service.saves.running.exchange(true)) return Wrong(kSaving);
  const Status saved = SaveNow(call.service);
  call.service.saves.running = false;
  KVARTS_CHECK_OK(saved);
  call.reply.Simple("OK");
  return {};
}

Status BgSave(ClientCall& call) {
  const size_t size = call.arguments.size();
  if (size > 2 || (size == 2 && !IsWord(call.arguments[1], "SCHEDULE"))) return Wrong(kSyntaxError);
  KVARTS_CHECK_OK(SaveLater(call.service));
  call.reply.Simple("Background saving started");
  return {};
}

// There is no log to rewrite; its purpose, that nothing be lost, is served.
Status BgRewriteAof(ClientCall& call) {
  if (!SaveLater(call.service).has_value()) return Wrong("Background append only file rewriting already in progress");
  call.reply.Simple("Background append only file rewriting started");
  return {};
}

Status LastSave(ClientCall& call) {
  call.reply.Int(call.service.saves.last_seconds);
  return {};
}

// What this connection has written was committed before this command: all of it is on disk when the engine says so of
// all that was acknowledged. Replicas that have it are not counted: who wants to wait for them chooses `quorum`.
Status WaitAof(WorkCall& call) {
  KVARTS_TRY(const int64_t local, IntegerOf(call.arguments[1]));
  KVARTS_TRY(const int64_t replicas, IntegerOf(call.arguments[2]));
  KVARTS_TRY(const int64_t timeout, IntegerOf(call.arguments[3], "timeout is not an integer or out of range"));
  if (local < 0 || local > 1 || replicas < 0) return Wrong("value is out of range, must be positive");
  if (timeout < 0) return Wrong("timeout is negative");
  const bool persistent = call.service.store.engine().capabilities().persistent;
  if (local > 0 && !persistent) {
    return Wrong("WAITAOF cannot be used when numlocal is set but appendonly is disabled.");
  }
  if (persistent) KVARTS_CHECK_OK(call.service.store.engine().Sync());
  call.reply.Array(2).Int(persistent ? 1 : 0).Int(0);
  return {};
}

Status KvartsDurability(ClientCall& call) {
  if (call.arguments.size() > 3) return Wrong("wrong number of arguments for 'kvarts|durability' command");
  if (call.arguments.size() == 2) {
    call.reply.Bulk(DurabilityName(DurabilityOf(call)));
    return {};
  }
  if (IsWord(call.arguments[2], "DEFAULT")) {
    call.session.durability.reset();
  } else {
    std::optional<Durability> wanted;
    for (const Durability one :
         {Durability::kNone, Durability::kInterval, Durability::kSync, Durability::kQuorum, Durability::kApplied}) {
      if (IsWord(call.arguments[2], UpperCase(DurabilityName(one)))) wanted = one;
    }
    if (!wanted) return Wrong("durability is one of none, interval, sync, quorum, applied and default");
    if (*wanted > call.service.store.engine().strongest()) return Wrong("there are no replicas that can promise this");
    call.session.durability = wanted;
  }
  call.reply.Simple("OK");
  return {};
}

}  // namespace kvarts::resp
