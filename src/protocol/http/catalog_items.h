// What the catalog of tables has, as answers show it, and what its handlers share.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "encoding/json_writer.h"
#include "model/table/findings.h"
#include "model/table/tables.h"
#include "protocol/http/work_op.h"

namespace kvarts::http {

// {"projects": […], "next": …}: by the name of what they are.
WorkOp::Reply NamesReply(std::string_view what, const NamesPage& page);
WorkOp::Reply IdentityReply(int status, std::string_view name, const Uuid& id);
// {"job": …}: 200, or 202 with the job that does the rest.
WorkOp::Reply StartedReply(const std::optional<JobId>& job);

// "findings": […], each with its kind and index, the row that it is about and the one in its place, and of an entry its
// key, what is there and what should be.
void WriteFindings(JsonWriter& json, std::span<const Finding> findings);

// limit and after of a list.
struct NamesQuery {
  std::string after;
  size_t limit;
};
Result<NamesQuery> NamesQueryOf(const Call& call);

// Whether what is put must be new, by If-None-Match: *. Nothing in the catalog has versions to match.
Result<bool> MustBeNew(const Call& call);
// What is answered to one that must be new and is there.
Error IsThere(const Error& error);
// That a body, if there is one, is an empty object.
Status CheckEmptyBody(const Call& call);
Status CheckNoQuery(const Call& call);
// {"name": …}, of what can only be renamed.
Result<std::string> ParseNewName(std::string_view body);

}  // namespace kvarts::http
