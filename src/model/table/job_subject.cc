#include "model/table/job_subject.h"

#include <algorithm>

#include "model/table/catalog_rows.h"

namespace kvarts {

Result<JobSubjects::Found> JobSubjects::Read(const IndexPlace& place) {
  Found found;
  KVARTS_TRY(found.table, ReadTable(view_, place.project, place.dataset, place.table));
  if (found.table == nullptr) return found;
  KVARTS_TRY(const std::string project, ProjectName(view_, place.project));
  KVARTS_TRY(const std::string dataset, DatasetName(view_, place.project, place.dataset));
  found.path = project + '/' + dataset + '/' + found.table->stored().name;
  return found;
}

Result<JobSubjects::Found> JobSubjects::Find(const IndexPlace& place) {
  const auto known = found_.find(place.table);
  if (known != found_.end()) return known->second;
  Result<Found> found = Read(place);
  if (!found.has_value() && found.error().code() == ErrorCode::kCorruption) found = Found();
  if (!found.has_value()) return found;
  return found_.emplace(place.table, *std::move(found)).first->second;
}

Result<std::optional<JobSubject>> JobSubjects::Of(const JobRecord& job) {
  const std::optional<IndexPlace> place = PlaceOfJob(job);
  if (!place) return std::optional<JobSubject>();
  KVARTS_TRY(const Found found, Find(*place));
  if (found.table == nullptr) return std::optional<JobSubject>();
  JobSubject subject{found.path};
  const auto index = std::ranges::find(found.table->indexes(), place->index, &TableIndex::number);
  if (index != found.table->indexes().end()) subject.index = index->spec.name;
  return std::optional<JobSubject>(std::move(subject));
}

}  // namespace kvarts
