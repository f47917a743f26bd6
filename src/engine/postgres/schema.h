// The schema of a database: made once, and refused when it is not ours to write to.
#pragma once

#include <string>

#include "engine/postgres/connection.h"

namespace kvarts::postgres {

// On the primary (servers.h). Makes the schema if there is none, under a lock, so that of several processes that begin
// at once one makes it.
Status MakeSchema(const std::string& target, Deadline deadline);

// The same without making one: `not_found` when there is none.
Status FindSchema(const std::string& target, Deadline deadline);

}  // namespace kvarts::postgres
