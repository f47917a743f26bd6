// Making, changing and removing users of Redis' protocol: plain functions over a transaction.
//
// They check nothing about who asks, nor what the rules say. A change holds for every command that arrives after its
// commit is acknowledged (users.h).
#pragma once

#include <optional>

#include "core/txn.h"
#include "model/access/user_record.h"

namespace kvarts {

// So many there may be at a time: all of them are kept in memory.
constexpr size_t kMaxUsers = 10'000;

Result<std::optional<UserRecord>> GetUser(Txn& txn, BytesView name);
// `too_large` when it is, or when it is one too many.
Status PutUser(Txn& txn, const UserRecord& user);
// Whether there was one.
Result<bool> EraseUser(Txn& txn, BytesView name);

}  // namespace kvarts
