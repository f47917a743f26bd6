// Commands on whole databases, and those that go through their keys.
#include <algorithm>

#include "model/structure/glob.h"
#include "model/structure/names.h"
#include "protocol/resp/arguments.h"
#include "protocol/resp/handlers.h"
#include "protocol/resp/scan_options.h"
#include "protocol/resp/service.h"

namespace kvarts::resp {
namespace {

// ASYNC or SYNC, which are one.
Status CheckFlushMode(Arguments arguments) {
  const bool right = arguments.size() == 1 ||
                     (arguments.size() == 2 && (IsWord(arguments[1], "ASYNC") || IsWord(arguments[1], "SYNC")));
  return right ? Status() : Wrong(kSyntaxError);
}

bool IsType(structure::Type type, std::string_view wanted) {
  if (wanted.empty()) return true;
  const std::string_view name = TypeName(type);
  return std::ranges::equal(name, wanted,
                            [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b - 'A' + 'a' : b); });
}

}  // namespace

Status DbSize(DataCall& call) {
  KVARTS_TRY(const uint64_t count, call.keys.CountKeys(call.database));
  call.reply.Int(static_cast<int64_t>(count));
  return {};
}

Status FlushDb(DataCall& call) {
  KVARTS_CHECK_OK(CheckFlushMode(call.arguments));
  KVARTS_CHECK_OK(call.keys.FlushDatabases({&call.database, 1}));
  call.reply.Simple("OK");
  return {};
}

Status FlushAll(DataCall& call) {
  KVARTS_CHECK_OK(CheckFlushMode(call.arguments));
  std::vector<uint32_t> all;
  for (uint32_t number = 0; number < structure::kDatabases; ++number) all.push_back(number);
  KVARTS_CHECK_OK(call.keys.FlushDatabases(all));
  call.reply.Simple("OK");
  return {};
}

Status SwapDb(DataCall& call) {
  KVARTS_TRY(const int32_t given, IntOf(call.arguments[1], "invalid first DB index"));
  KVARTS_TRY(const int32_t other, IntOf(call.arguments[2], "invalid second DB index"));
  KVARTS_TRY(const uint32_t first, CheckedDatabase(given));
  KVARTS_TRY(const uint32_t second, CheckedDatabase(other));
  KVARTS_CHECK_OK(call.keys.SwapDatabases(first, second));
  call.reply.Simple("OK");
  return {};
}

Status Keys(DataCall& call) {
  structure::NameScan scan(call.keys, call.database, call.arguments[1]);
  std::vector<Bytes> found;
  while (!scan.done()) {
    KVARTS_CHECK_OK(
        scan.Next(structure::NameScan::kMaxPage, [&](BytesView name, structure::Type) { found.emplace_back(name); }));
  }
  call.reply.Array(found.size());
  for (const Bytes& name : found) call.reply.Bulk(name);
  return {};
}

Status Scan(DataCall& call) {
  KVARTS_TRY(const uint64_t cursor, CursorOf(call.arguments[1]));
  KVARTS_TRY(const ScanOptions options, ReadScanOptions(call.arguments.subspan(2), true));
  structure::NameScan scan(call.keys, call.database, options.pattern);
  if (const std::optional<Bytes> place = call.service.cursors.Find(cursor)) scan.GoOnFrom(*place);
  std::vector<Bytes> found;
  const auto count = std::min<uint64_t>(static_cast<uint64_t>(options.count), structure::NameScan::kMaxPage);
  KVARTS_CHECK_OK(scan.Next(count, [&](BytesView name, structure::Type type) {
    if (IsType(type, options.type)) found.emplace_back(name);
  }));
  const uint64_t next = scan.done() ? 0 : call.service.cursors.Remember(scan.place());
  call.reply.Array(2).Bulk(std::to_string(next)).Array(found.size());
  for (const Bytes& name : found) call.reply.Bulk(name);
  return {};
}

}  // namespace kvarts::resp
