// Projects and datasets: made, looked at, renamed and dropped.
#include "protocol/http/access.h"
#include "protocol/http/catalog_items.h"
#include "protocol/http/handlers.h"
#include "protocol/http/requests.h"
#include "protocol/http/table_requests.h"

namespace kvarts::http {
namespace {

// 201 with what `create` makes, or 200 with what `get` finds where it was already.
template <class Create, class Get>
Result<WorkOp::Reply> CreateOrGet(bool must_be_new, const Create& create, const Get& get) {
  const auto created = create();
  if (created.has_value()) return IdentityReply(201, created->name, created->id.uuid);
  if (created.error().code() != ErrorCode::kAlreadyExists) return created.error();
  if (must_be_new) return IsThere(created.error());
  KVARTS_TRY(const auto there, get());
  return IdentityReply(200, there.name, there.id.uuid);
}

// Who renames says how both places are.
Result<std::string> NewNameFor(const Call& call, std::string_view project) {
  KVARTS_CHECK_OK(CheckNoQuery(call));
  KVARTS_CHECK_OK(WantJson(call));
  KVARTS_TRY(std::string name, ParseNewName(call.body));
  const std::string path = project.empty() ? name : std::string(project) + '/' + name;
  KVARTS_CHECK_OK(AuthorizeTables(call, Right::kAdmin, path));
  return name;
}

}  // namespace

Result<std::unique_ptr<SlowOp>> ListProjects(Call& call) {
  KVARTS_CHECK_OK(AuthorizeDeclaration(call, {}));
  KVARTS_TRY(NamesQuery query, NamesQueryOf(call));
  return OnWorkers([&tables = call.service.tables, query = std::move(query)]() -> Result<WorkOp::Reply> {
    KVARTS_TRY(const NamesPage page, tables.ListProjects(query.after, query.limit));
    return NamesReply("projects", page);
  });
}

Result<std::unique_ptr<SlowOp>> GetProject(Call& call) {
  KVARTS_TRY(std::string name, ProjectOf(call));
  KVARTS_CHECK_OK(AuthorizeDeclaration(call, name));
  KVARTS_CHECK_OK(CheckNoQuery(call));
  return OnWorkers([&tables = call.service.tables, name = std::move(name)]() -> Result<WorkOp::Reply> {
    KVARTS_TRY(const ProjectInfo project, tables.GetProject(name));
    return IdentityReply(200, project.name, project.id.uuid);
  });
}

Result<std::unique_ptr<SlowOp>> PutProject(Call& call) {
  KVARTS_TRY(std::string name, ProjectOf(call));
  KVARTS_CHECK_OK(AuthorizeTables(call, Right::kAdmin, name));
  KVARTS_CHECK_OK(CheckNoQuery(call));
  KVARTS_CHECK_OK(CheckEmptyBody(call));
  KVARTS_TRY(const bool must_be_new, MustBeNew(call));
  KVARTS_TRY(RunOptions options, RunOptionsOf(call));
  return OnWorkers([&tables = call.service.tables, name = std::move(name), must_be_new, options = std::move(options)] {
    return CreateOrGet(
        must_be_new, [&] { return tables.CreateProject(name, options); }, [&] { return tables.GetProject(name); });
  });
}

Result<std::unique_ptr<SlowOp>> PatchProject(Call& call) {
  KVARTS_TRY(std::string name, ProjectOf(call));
  KVARTS_CHECK_OK(AuthorizeTables(call, Right::kAdmin, name));
  KVARTS_TRY(std::string new_name, NewNameFor(call, {}));
  KVARTS_TRY(RunOptions options, RunOptionsOf(call));
  return OnWorkers([&tables = call.service.tables, name = std::move(name), new_name = std::move(new_name),
                    options = std::move(options)]() -> Result<WorkOp::Reply> {
    KVARTS_CHECK_OK(tables.RenameProject(name, new_name, options));
    KVARTS_TRY(const ProjectInfo project, tables.GetProject(new_name));
    return IdentityReply(200, project.name, project.id.uuid);
  });
}

Result<std::unique_ptr<SlowOp>> DeleteProject(Call& call) {
  KVARTS_TRY(std::string name, ProjectOf(call));
  KVARTS_CHECK_OK(AuthorizeTables(call, Right::kAdmin, name));
  KVARTS_CHECK_OK(CheckNoQuery(call));
  KVARTS_TRY(RunOptions options, RunOptionsOf(call));
  return OnWorkers(
      [&tables = call.service.tables, name = std::move(name), options = std::move(options)]() -> Result<WorkOp::Reply> {
        KVARTS_CHECK_OK(tables.DropProject(name, options));
        return StartedReply(std::nullopt);
      });
}

Result<std::unique_ptr<SlowOp>> ListDatasets(Call& call) {
  KVARTS_TRY(std::string project, ProjectOf(call));
  KVARTS_CHECK_OK(AuthorizeDeclaration(call, project));
  KVARTS_TRY(NamesQuery query, NamesQueryOf(call));
  return OnWorkers([&tables = call.service.tables, project = std::move(project),
                    query = std::move(query)]() -> Result<WorkOp::Reply> {
    KVARTS_TRY(const NamesPage page, tables.ListDatasets(project, query.after, query.limit));
    return NamesReply("datasets", page);
  });
}

Result<std::unique_ptr<SlowOp>> GetDataset(Call& call) {
  KVARTS_TRY(DatasetPath path, DatasetOf(call));
  KVARTS_CHECK_OK(AuthorizeDeclaration(call, ScopePath(path)));
  KVARTS_CHECK_OK(CheckNoQuery(call));
  return OnWorkers([&tables = call.service.tables, path = std::move(path)]() -> Result<WorkOp::Reply> {
    KVARTS_TRY(const DatasetInfo dataset, tables.GetDataset(path));
    return IdentityReply(200, dataset.name, dataset.id.uuid);
  });
}

Result<std::unique_ptr<SlowOp>> PutDataset(Call& call) {
  KVARTS_TRY(DatasetPath path, DatasetOf(call));
  KVARTS_CHECK_OK(AuthorizeTables(call, Right::kAdmin, ScopePath(path)));
  KVARTS_CHECK_OK(CheckNoQuery(call));
  KVARTS_CHECK_OK(CheckEmptyBody(call));
  KVARTS_TRY(const bool must_be_new, MustBeNew(call));
  KVARTS_TRY(RunOptions options, RunOptionsOf(call));
  return OnWorkers([&tables = call.service.tables, path = std::move(path), must_be_new, options = std::move(options)] {
    return CreateOrGet(
        must_be_new, [&] { return tables.CreateDataset(path, options); }, [&] { return tables.GetDataset(path); });
  });
}

Result<std::unique_ptr<SlowOp>> PatchDataset(Call& call) {
  KVARTS_TRY(DatasetPath path, DatasetOf(call));
  KVARTS_CHECK_OK(AuthorizeTables(call, Right::kAdmin, ScopePath(path)));
  KVARTS_TRY(std::string new_name, NewNameFor(call, path.project));
  KVARTS_TRY(RunOptions options, RunOptionsOf(call));
  return OnWorkers([&tables = call.service.tables, path = std::move(path), new_name = std::move(new_name),
                    options = std::move(options)]() -> Result<WorkOp::Reply> {
    KVARTS_CHECK_OK(tables.RenameDataset(path, new_name, options));
    KVARTS_TRY(const DatasetInfo dataset, tables.GetDataset({path.project, new_name}));
    return IdentityReply(200, dataset.name, dataset.id.uuid);
  });
}

Result<std::unique_ptr<SlowOp>> DeleteDataset(Call& call) {
  KVARTS_TRY(DatasetPath path, DatasetOf(call));
  KVARTS_CHECK_OK(AuthorizeTables(call, Right::kAdmin, ScopePath(path)));
  KVARTS_CHECK_OK(CheckNoQuery(call));
  KVARTS_TRY(RunOptions options, RunOptionsOf(call));
  return OnWorkers(
      [&tables = call.service.tables, path = std::move(path), options = std::move(options)]() -> Result<WorkOp::Reply> {
        KVARTS_CHECK_OK(tables.DropDataset(path, options));
        return StartedReply(std::nullopt);
      });
}

}  // namespace kvarts::http
