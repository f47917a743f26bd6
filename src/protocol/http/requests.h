// What handlers ask of a request, each in one place: its key, its conditions, how durable it wants to be.
#pragma once

#include <optional>

#include "model/keys/commands.h"
#include "net/http/target.h"
#include "protocol/http/call.h"

namespace kvarts::http {

// The key in the path, decoded; it lies in the request or in `scratch`.
Result<BytesView> KeyOf(const Call& call, Bytes* scratch);

// If-Match and If-None-Match of a write.
Result<keys::Condition> ConditionOf(const Call& call);
// If-Match, whose tags may be of any form.
Result<keys::Condition> MatchOf(std::string_view if_match);

// The header Kvarts-Durability, or the server's default; and in whose name it happens.
Result<RunOptions> RunOptionsOf(const Call& call);

// Whether Prefer asks for an answer to a write without a body.
bool WantsMinimal(const Call& call);

// How new what is read must be: by Kvarts-Consistency, by `consistent` in the query, or by the server's default; and
// what the session has seen, by Kvarts-Session or the cookie. Notes whether that costs more.
Result<Freshness> FreshnessOf(Call& call, bool consistent);
// The same of a request whose query has no other parameter.
Result<Freshness> FreshnessOf(Call& call);

// prefix, or start and end, of a query; everything without either.
KeyRange RangeOf(QueryReader& query);

// How a key is answered: as an item of JSON, or as the value itself.
enum class Form : uint8_t { kJson, kRaw };
// The form that Accept asks for of a value whose own media type is `type`: as JSON, which is what we prefer, or by
// itself under its own type or as octets. An error (406) when none of these is acceptable.
Result<Form> FormOf(std::optional<std::string_view> accept, std::string_view type);

// The body as JSON was asked for; refuses other media types.
Status WantJson(const Call& call);

}  // namespace kvarts::http
