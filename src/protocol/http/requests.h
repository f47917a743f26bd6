// What handlers ask of a request, each in one place: its key, its conditions, how durable it wants to be.
#pragma once

#include "model/keys/commands.h"
#include "net/http/target.h"
#include "protocol/http/call.h"

namespace kvarts::http {

// The key in the path, decoded; it lies in the request or in `scratch`.
Result<BytesView> KeyOf(const Call& call, Bytes* scratch);

// If-Match and If-None-Match of a write.
Result<keys::Condition> ConditionOf(const Call& call);

// The header Kvarts-Durability, or the server's default; and in whose name it happens.
Result<RunOptions> RunOptionsOf(const Call& call);

// prefix, or start and end, of a query; everything without either.
KeyRange RangeOf(QueryReader& query);

// Which of the two an answer with one value is to be.
enum class Form : uint8_t { kJson, kRaw };
// `invalid_argument` when Accept allows neither.
Result<Form> FormOf(const Call& call);

// The body as JSON was asked for; refuses other media types.
Status WantJson(const Call& call);

}  // namespace kvarts::http
