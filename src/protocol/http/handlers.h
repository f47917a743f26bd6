// The handlers that the table of routes names, by family.
#pragma once

#include "protocol/http/call.h"

namespace kvarts::http {

// key_handlers.cc: one key.
Status GetKey(Call& call);
Result<std::unique_ptr<WriteOp>> PutKey(Call& call);
Result<std::unique_ptr<WriteOp>> DeleteKey(Call& call);
Result<std::unique_ptr<WriteOp>> PatchKey(Call& call);

// batch_handlers.cc: many keys at once.
Result<std::unique_ptr<SlowOp>> GetKeys(Call& call);
Result<std::unique_ptr<WriteOp>> Commit(Call& call);

// range_handlers.cc: ranges of keys.
Result<std::unique_ptr<SlowOp>> ListKeys(Call& call);
Result<std::unique_ptr<WriteOp>> DeleteKeys(Call& call);

// system_handlers.cc: the server itself.
Status Live(Call& call);
Status Ready(Call& call);
Status OpenApi(Call& call);

// metrics_handlers.cc: how it is doing.
Result<std::unique_ptr<SlowOp>> GetMetrics(Call& call);
Result<std::unique_ptr<SlowOp>> GetStats(Call& call);
Result<std::unique_ptr<SlowOp>> GetHotKeys(Call& call);

}  // namespace kvarts::http
