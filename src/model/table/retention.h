// Retention of tables: rows of a time bucket end together (RetentionSpec), and are taken away as ranges of keys, so
// that what that costs does not grow with their number.
//
// All of them have expired by then, and so have their entries in indexes. Those of local indexes lie as their rows do,
// where the time is a partition field, and go by range, too; what is left of entries the engine drops, as it drops
// whatever has expired and is not owned.
#pragma once

#include "core/job_runner.h"

namespace kvarts {

// A chunk of the job that does it for all tables.
Result<JobStep> RetentionStep(Txn& txn, const JobRecord& job);

}  // namespace kvarts
