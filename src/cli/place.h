// Where a store is that a command opens in its own process: in a data directory, or on the PostgreSQL servers that a
// file of shards names. Whatever opens one, as an engine or with a server in front of it, does it here.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "cli/arguments.h"
#include "engine/engine.h"
#include "engine/rocksdb/directory.h"
#include "engine/rocksdb/rocks_engine.h"
#include "server/open_engine.h"

namespace kvarts::cli {

// A command looks at one state of the store for as long as it takes.
constexpr Duration kMaxViewAge = Duration::Seconds(24 * 60 * 60);

struct Place {
  std::string data;    // the directory; else empty
  std::string shards;  // the file that names the servers (server/shards.h); else empty

  bool IsDirectory() const { return shards.empty(); }
  bool IsNamed() const { return !data.empty() || !shards.empty(); }
  // For people: what was named.
  const std::string& ToString() const { return shards.empty() ? data : shards; }
};

// Of the options of a server, those that say where its store is and for how long it may be looked at.
ServerOptions OptionsFor(const Place& place);

// One that is not there is `not_found` unless it is made.
Result<std::unique_ptr<Engine>> OpenPlace(const Place& place, IfMissing if_missing = IfMissing::kRefuse);

// Of a command whose DIR may be left out for --shards: the option, whether the two are as they should be, and what they
// name.
OptionSyntax ShardsOption();
Status CheckPlace(const Arguments& arguments);
Place PlaceOf(const Arguments& arguments);

// What commands that are about directories alone open one with: it is not made.
RocksOptions DirectoryOptions();

}  // namespace kvarts::cli
