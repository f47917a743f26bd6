// The job `structure_erase`: takes away members of collections that were dropped, and databases that were flushed while
// something hung on their keys. Nobody can come upon either any more.
#pragma once

#include "core/job.h"
#include "core/job_runner.h"

namespace kvarts::structure {

// `whole`: a range goes in one piece, as on engines where that costs nothing.
JobKind StructureEraseKind(bool whole);

// Starts it, unless it is there already or there is nothing to take away.
Result<std::optional<JobId>> StartStructureErase(Store& store);

}  // namespace kvarts::structure
