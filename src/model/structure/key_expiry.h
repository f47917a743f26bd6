// The job `key_expiry`: takes away keys of databases whose time has come. Nobody sees them any more; until then they
// are stored, and counted.
#pragma once

#include "core/job.h"
#include "core/job_runner.h"
#include "model/structure/databases.h"

namespace kvarts::structure {

// It tells of what it takes away. The databases outlive the runner.
JobKind KeyExpiryKind(Databases& databases);

// Starts it, unless it is there already or nothing is due.
Result<std::optional<JobId>> StartKeyExpiry(Store& store);

}  // namespace kvarts::structure
