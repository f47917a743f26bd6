// One chunk of the job that builds an index (table_jobs.h): reads some rows, puts their entries, and when all are done
// makes the index ready. Writes keep the index meanwhile, so a chunk need not come before or after any of them: it
// rests on the rows that it has read, and is run again if one of them changed.
#pragma once

#include "core/job_runner.h"

namespace kvarts {

Result<JobStep> BuildIndexStep(Txn& txn, const JobRecord& job);

}  // namespace kvarts
