#include "core/job_kinds.h"

#include "core/fields.h"

namespace kvarts {
namespace {

constexpr const char* kEraseRange = "erase_range";

Result<KeyRange> DecodeRange(BytesView parameters) {
  FieldReader fields(parameters);
  KeyRange range;
  range.start = fields.Sized();
  range.end = fields.Sized();
  KVARTS_CHECK_OK(fields.Finish("the parameters of a job are damaged"));
  return range;
}

}  // namespace

JobSpec EraseRangeJob(const KeyRange& range) {
  JobSpec spec;
  spec.kind = kEraseRange;
  AppendSized(&spec.parameters, range.start);
  AppendSized(&spec.parameters, range.end);
  return spec;
}

// The cursor is where what is left begins.
JobKind EraseRangeKind(size_t chunk_keys) {
  const auto step = [chunk_keys](Txn& txn, const JobRecord& job) -> Result<JobStep> {
    ScanRequest request;
    KVARTS_TRY(request.range, DecodeRange(job.parameters));
    if (!job.cursor.empty()) request.range.start = job.cursor;
    request.keys_only = true;
    request.max_entries = chunk_keys;
    KVARTS_TRY(const ScanPage page, txn.Scan(request));
    for (size_t i = 0; i < page.size(); ++i) txn.Erase(page[i].key);
    JobStep done;
    done.done = page.size();
    done.finished = !page.rest().has_value();
    if (page.rest()) done.cursor = page.rest()->start;
    return done;
  };
  return {kEraseRange, step};
}

}  // namespace kvarts
