// The schema of a database: made once, taken on from an earlier Kvarts, and refused when it is not ours to write to.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/postgres/connection.h"

namespace kvarts::postgres {

struct Schema {
  std::string_view make;                    // the statements that make it as it is now
  std::span<const std::string_view> steps;  // what makes one of version 1 into one of version 2, and so on
  std::string_view functions = {};          // are made, or made anew, behind either

  int version() const { return 1 + static_cast<int>(steps.size()); }
};
Schema CurrentSchema();

// On the primary (servers.h). Makes the schema if there is none, and takes an earlier one on, step by step and all or
// nothing; under a lock, so that of several processes that begin at once one does it.
Status MakeSchema(const std::string& target, const Schema& schema, Deadline deadline);

// Only whether it is there as it is now: `not_found` when there is none.
Status FindSchema(const std::string& target, const Schema& schema, Deadline deadline);

}  // namespace kvarts::postgres
