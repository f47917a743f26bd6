#include "cli/place.h"

namespace kvarts::cli {

ServerOptions OptionsFor(const Place& place) {
  ServerOptions options;
  options.data = place.data;
  options.shards = place.shards;
  options.engine = place.shards.empty() ? EngineKind::kRocksdb : EngineKind::kPostgres;
  options.limits.max_view_age = kMaxViewAge;
  return options;
}

Result<std::unique_ptr<Engine>> OpenPlace(const Place& place, IfMissing if_missing) {
  auto engine = OpenEngine(OptionsFor(place), if_missing);
  if (engine.has_value() || engine.error().code() != ErrorCode::kNotFound) return engine;
  return Error(ErrorCode::kNotFound, engine.error().text().data(), {{"path", place.ToString()}});
}

OptionSyntax ShardsOption() {
  return {"shards", OptionKind::kPath, "FILE", "PostgreSQL servers, by the file of `kvarts serve`, instead of DIR"};
}

Status CheckPlace(const Arguments& arguments) {
  const bool has_dir = arguments.size() > 0;
  const auto shards = arguments.Text("shards");
  if (has_dir && shards) return Error(ErrorCode::kInvalidArgument, "DIR and --shards exclude each other");
  if (shards && shards->empty()) return Error(ErrorCode::kInvalidArgument, "--shards needs a file");
  if (has_dir || shards) return {};
  return Error(ErrorCode::kInvalidArgument, "an argument is missing", {{"argument", "DIR, or --shards FILE"}});
}

Place PlaceOf(const Arguments& arguments) {
  if (const auto shards = arguments.Text("shards")) return {.data = {}, .shards = *shards};
  return {.data = arguments.at(0), .shards = {}};
}

RocksOptions DirectoryOptions() {
  RocksOptions options;
  options.create_if_missing = false;
  options.limits.max_view_age = kMaxViewAge;
  return options;
}

}  // namespace kvarts::cli
