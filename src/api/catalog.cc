// Projects and datasets of the public interface, and the jobs of a database.
#include "api/table_service.h"
#include "kvarts/database.h"

namespace kvarts {
namespace {

Names ToNames(const NamesPage& page) {
  Names names;
  for (const NamedId& named : page.names) names.names.push_back(named.name);
  names.more = page.more;
  return names;
}

}  // namespace

Status Project::Create() {
  KVARTS_CHECK_OK(CheckCatalogName(name_));
  KVARTS_TRY(Tables* const tables, service_->Open());
  KVARTS_CHECK_OK(tables->CreateProject(name_, service_->RunOptionsOf({})));
  return {};
}

Status Project::Rename(std::string_view new_name) {
  KVARTS_CHECK_OK(CheckCatalogName(new_name));
  KVARTS_TRY(Tables* const tables, service_->Open());
  KVARTS_CHECK_OK(tables->RenameProject(name_, new_name, service_->RunOptionsOf({})));
  name_ = new_name;
  return {};
}

Status Project::Drop() {
  KVARTS_TRY(Tables* const tables, service_->Open());
  return tables->DropProject(name_, service_->RunOptionsOf({}));
}

Result<Names> Project::ListDatasets(std::string_view after, size_t limit) const {
  KVARTS_TRY(Tables* const tables, service_->Open());
  KVARTS_TRY(const NamesPage page, tables->ListDatasets(name_, after, limit));
  return ToNames(page);
}

Status Dataset::Create() {
  KVARTS_CHECK_OK(CheckCatalogName(name_));
  KVARTS_TRY(Tables* const tables, service_->Open());
  KVARTS_CHECK_OK(tables->CreateDataset({project_, name_}, service_->RunOptionsOf({})));
  return {};
}

Status Dataset::Rename(std::string_view new_name) {
  KVARTS_CHECK_OK(CheckCatalogName(new_name));
  KVARTS_TRY(Tables* const tables, service_->Open());
  KVARTS_CHECK_OK(tables->RenameDataset({project_, name_}, new_name, service_->RunOptionsOf({})));
  name_ = new_name;
  return {};
}

Status Dataset::Drop() {
  KVARTS_TRY(Tables* const tables, service_->Open());
  return tables->DropDataset({project_, name_}, service_->RunOptionsOf({}));
}

Result<Names> Dataset::ListTables(std::string_view after, size_t limit) const {
  KVARTS_TRY(Tables* const tables, service_->Open());
  KVARTS_TRY(const NamesPage page, tables->ListTables({project_, name_}, after, limit));
  return ToNames(page);
}

Result<Names> TableService::ListProjects(std::string_view after, size_t limit) {
  KVARTS_TRY(Tables* const tables, Open());
  KVARTS_TRY(const NamesPage page, tables->ListProjects(after, limit));
  return ToNames(page);
}

Result<Job> TableService::WaitForJob(std::string_view id, std::optional<Duration> patience) {
  const std::optional<Uuid> uuid = Uuid::Parse(id);
  if (!uuid) return Error(ErrorCode::kInvalidArgument, "this is no id of a job", {{"id", Escaped(id)}});
  // Jobs are worked on once tables are open.
  KVARTS_CHECK_OK(Open());
  KVARTS_TRY(const JobRecord record, Jobs(store_).Wait({*uuid}, {.patience = patience}));
  Job job;
  job.id = record.id.ToString();
  job.kind = record.kind;
  job.state = JobStateName(record.state);
  job.done = record.done;
  job.total = record.total;
  if (record.error) job.error = record.error->text;
  return job;
}

}  // namespace kvarts
