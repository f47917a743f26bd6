// The engine that options of a server name. Servers and commands open their store here, and nowhere else.
#pragma once

#include <memory>

#include "base/result.h"
#include "engine/engine.h"
#include "server/options.h"

namespace kvarts {

// What becomes of a store that is not there.
enum class IfMissing : uint8_t { kCreate, kRefuse };

// Errors say which part of the configuration is wrong, or what is the matter with the data; `not_found` when there is
// no store, and none is to be made.
Result<std::unique_ptr<Engine>> OpenEngine(const ServerOptions& options, IfMissing if_missing = IfMissing::kCreate);

}  // namespace kvarts
