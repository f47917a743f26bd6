#include "protocol/http/access.h"

namespace kvarts::http {
namespace {

constexpr std::string_view kBearer = "Bearer ";

Error Denied(const char* text) { return Error(ErrorCode::kPermissionDenied, text); }

std::string NamespaceOf(const Call& call, BytesView key) {
  NamespaceTable::Reading reading;
  call.service.catalog.current().Read(key, &reading);
  return reading.verdict == NamespaceTable::Verdict::kGoverned ? reading.space->spec.name : std::string();
}

// The namespace that the whole range lies in: one that has its region to itself, or none.
std::string NamespaceOf(const Call& call, const KeyRange& range) {
  const NamespaceTable& table = call.service.catalog.current();
  for (const NamespaceTable::Entry& entry : table.entries()) {
    if (entry->Region().Contains(range) && Neighbours(table, *entry).empty()) return entry->spec.name;
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const Credential>> Authenticate(Service& service, const RequestHead& head, Tokens::Last* last) {
  if (service.local_only) return std::shared_ptr<const Credential>();
  if (!service.tokens_required.load(std::memory_order_relaxed)) {
    if (!service.tokens.any()) return std::shared_ptr<const Credential>();
    service.tokens_required = true;
  }
  const std::string_view given = head.authorization();
  if (given.empty()) return Error(ErrorCode::kUnauthenticated, "a token is needed: Authorization: Bearer TOKEN");
  if (!given.starts_with(kBearer)) return Error(ErrorCode::kUnauthenticated, "only Bearer tokens are known");
  KVARTS_TRY(std::shared_ptr<const Credential> who, service.tokens.Check(given.substr(kBearer.size()), last));
  KVARTS_CHECK_OK(who->Admit(service.clock.Now()));
  return who;
}

Status Authorize(const Call& call, Right right, BytesView key) {
  if (!call.info.who) return {};
  if (call.info.who->Allows(right, key)) return {};
  if (call.info.who->Allows(right, key, NamespaceOf(call, key))) return {};
  return Denied(right == Right::kRead ? "the token may not read this key" : "the token may not write this key");
}

Status Authorize(const Call& call, Right right, const KeyRange& range) {
  if (!call.info.who) return {};
  if (call.info.who->Allows(right, range)) return {};
  if (call.info.who->Allows(right, range, NamespaceOf(call, range))) return {};
  return Denied(right == Right::kRead ? "the token may not read this range" : "the token may not write this range");
}

Status AuthorizeAdmin(const Call& call) {
  if (!call.info.who || call.info.who->AllowsAdmin()) return {};
  return Denied("the token may not administer this server");
}

Status AuthorizeAdmin(const Call& call, std::string_view name_space) {
  if (!call.info.who || call.info.who->AllowsAdmin(name_space)) return {};
  return Denied("the token may not administer this namespace");
}

}  // namespace kvarts::http
