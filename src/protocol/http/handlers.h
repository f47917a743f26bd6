// The handlers that the table of routes names, by family.
#pragma once

#include "protocol/http/call.h"

namespace kvarts::http {

// key_handlers.cc: one key.
Status GetKey(Call& call);
Result<std::unique_ptr<WriteOp>> PutKey(Call& call);
Result<std::unique_ptr<WriteOp>> DeleteKey(Call& call);
Result<std::unique_ptr<WriteOp>> PatchKey(Call& call);

// batch_handlers.cc: many keys at once, and rows.
Result<std::unique_ptr<SlowOp>> GetKeys(Call& call);
Result<std::unique_ptr<WriteOp>> Commit(Call& call);
Result<std::unique_ptr<WriteOp>> BatchRows(Call& call);

// range_handlers.cc: ranges of keys.
Result<std::unique_ptr<SlowOp>> ListKeys(Call& call);
Result<std::unique_ptr<WriteOp>> DeleteKeys(Call& call);

// watch_handlers.cc: changes.
Result<std::unique_ptr<SlowOp>> WatchKeys(Call& call);

// namespace_handlers.cc: declarations.
Result<std::unique_ptr<SlowOp>> ListNamespaces(Call& call);
Result<std::unique_ptr<SlowOp>> GetNamespace(Call& call);
Result<std::unique_ptr<SlowOp>> PutNamespace(Call& call);
Result<std::unique_ptr<SlowOp>> DeleteNamespace(Call& call);
Result<std::unique_ptr<SlowOp>> MoveIntoNamespace(Call& call);
Result<std::unique_ptr<SlowOp>> DropBucket(Call& call);
Result<std::unique_ptr<SlowOp>> ExplainKey(Call& call);

// catalog_handlers.cc: projects and datasets.
Result<std::unique_ptr<SlowOp>> ListProjects(Call& call);
Result<std::unique_ptr<SlowOp>> GetProject(Call& call);
Result<std::unique_ptr<SlowOp>> PutProject(Call& call);
Result<std::unique_ptr<SlowOp>> PatchProject(Call& call);
Result<std::unique_ptr<SlowOp>> DeleteProject(Call& call);
Result<std::unique_ptr<SlowOp>> ListDatasets(Call& call);
Result<std::unique_ptr<SlowOp>> GetDataset(Call& call);
Result<std::unique_ptr<SlowOp>> PutDataset(Call& call);
Result<std::unique_ptr<SlowOp>> PatchDataset(Call& call);
Result<std::unique_ptr<SlowOp>> DeleteDataset(Call& call);

// table_handlers.cc: tables and their indexes.
Result<std::unique_ptr<SlowOp>> ListTables(Call& call);
Result<std::unique_ptr<SlowOp>> GetTable(Call& call);
Result<std::unique_ptr<SlowOp>> PutTable(Call& call);
Result<std::unique_ptr<SlowOp>> PatchTable(Call& call);
Result<std::unique_ptr<SlowOp>> DeleteTable(Call& call);
Result<std::unique_ptr<SlowOp>> ListIndexes(Call& call);
Result<std::unique_ptr<SlowOp>> GetIndex(Call& call);
Result<std::unique_ptr<SlowOp>> PutIndex(Call& call);
Result<std::unique_ptr<SlowOp>> DeleteIndex(Call& call);

// drift_handlers.cc: whether indexes are as the rows say.
Result<std::unique_ptr<SlowOp>> VerifyTable(Call& call);
Result<std::unique_ptr<SlowOp>> RepairTable(Call& call);
Result<std::unique_ptr<SlowOp>> UndoRepair(Call& call);
Result<std::unique_ptr<SlowOp>> ListFindings(Call& call);

// row_handlers.cc: one row.
Status GetRow(Call& call);
Result<std::unique_ptr<WriteOp>> PutRowAt(Call& call);
Result<std::unique_ptr<WriteOp>> PostRow(Call& call);
Result<std::unique_ptr<WriteOp>> DeleteRowAt(Call& call);
Result<std::unique_ptr<WriteOp>> PatchRowAt(Call& call);

// row_query_handlers.cc: many rows.
Result<std::unique_ptr<SlowOp>> GetRows(Call& call);
Result<std::unique_ptr<SlowOp>> QueryTable(Call& call);
Result<std::unique_ptr<SlowOp>> ListRows(Call& call);
Result<std::unique_ptr<SlowOp>> SplitRows(Call& call);

// admin_handlers.cc: what operators ask for.
Result<std::unique_ptr<SlowOp>> ListTokens(Call& call);
Result<std::unique_ptr<SlowOp>> CreateToken(Call& call);
Result<std::unique_ptr<SlowOp>> DeleteToken(Call& call);
Result<std::unique_ptr<SlowOp>> PatchToken(Call& call);
Result<std::unique_ptr<SlowOp>> ListJobs(Call& call);
Result<std::unique_ptr<SlowOp>> GetJob(Call& call);
Result<std::unique_ptr<SlowOp>> PauseJob(Call& call);
Result<std::unique_ptr<SlowOp>> ResumeJob(Call& call);
Result<std::unique_ptr<SlowOp>> CancelJob(Call& call);
Result<std::unique_ptr<SlowOp>> CompactRange(Call& call);

// system_handlers.cc: the server itself.
Status Live(Call& call);
Status Ready(Call& call);
Status About(Call& call);
Status OpenApi(Call& call);

// metrics_handlers.cc: how it is doing.
Result<std::unique_ptr<SlowOp>> GetMetrics(Call& call);
Result<std::unique_ptr<SlowOp>> GetStats(Call& call);
Result<std::unique_ptr<SlowOp>> GetHotKeys(Call& call);

}  // namespace kvarts::http
