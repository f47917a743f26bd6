// What a job is about, by the names that it has now: for people, and for programs that look at jobs.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/job_record.h"
#include "engine/engine.h"
#include "model/table/table_jobs.h"

namespace kvarts {

struct JobSubject {
  std::string table;       // "acme/shop/orders"
  std::string index = {};  // of a job that is about one index
};

// Looks up those of many jobs; for one thread, and no longer than its view.
class JobSubjects {
 public:
  explicit JobSubjects(View& view) : view_(view) {}

  // Nothing of a job that is about no table, or about one that is gone, or that the catalog cannot read: a job is what
  // mends damage, and is looked at when there is some.
  Result<std::optional<JobSubject>> Of(const JobRecord& job);

 private:
  struct Found {
    TablePtr table = nullptr;  // null: it is gone, or damaged
    std::string path = {};
  };
  Result<Found> Find(const IndexPlace& place);
  Result<Found> Read(const IndexPlace& place);

  View& view_;
  std::map<TableId, Found> found_;
};

}  // namespace kvarts
