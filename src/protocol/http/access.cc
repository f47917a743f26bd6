#include "protocol/http/access.h"

#include "net/http/characters.h"

namespace kvarts::http {
namespace {

constexpr std::string_view kBearer = "bearer ";

// Whether a name could be somebody else's domain that was made to point here. Addresses and names without a dot
// cannot.
bool MayBeForeign(std::string_view host) {
  if (host.starts_with('[')) return false;
  host = host.substr(0, host.find(':'));
  if (host.find('.') == std::string_view::npos || host.ends_with(".localhost")) return false;
  return host.find_first_not_of("0123456789.") != std::string_view::npos;
}

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
  if (!EqualsIgnoringCase(given.substr(0, kBearer.size()), kBearer))
    return Error(ErrorCode::kUnauthenticated, "only Bearer tokens are known");
  KVARTS_TRY(std::shared_ptr<const Credential> who, service.tokens.Check(given.substr(kBearer.size()), last));
  KVARTS_CHECK_OK(who->Admit(service.clock.Now()));
  return who;
}

Status CheckOrigin(const Service& service, const RequestHead& head, const RequestInfo& info) {
  const bool reads = info.method == Method::kGet || info.method == Method::kHead;
  if (head.Has(Field::kOrigin) && info.cors_origin == nullptr && !reads) {
    return Denied("pages of this origin may not call: http.cors_origins names those that may");
  }
  if (!service.tokens_required.load(std::memory_order_relaxed) && MayBeForeign(head.host())) {
    return Denied("without tokens, the host must be an address or localhost");
  }
  return {};
}

Status AuthorizeRoute(const Credential* who, Method method, Right right) {
  if (who == nullptr || method == Method::kGet || who->AllowsSome(right)) return {};
  switch (right) {
    case Right::kRead:
      return Denied("the token may not read anything");
    case Right::kWrite:
      return Denied("the token may not write anything");
    case Right::kAdmin:
      return Denied("the token may not administer anything");
  }
  std::unreachable();
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

Status AuthorizeTables(const Call& call, Right right, std::string_view path) {
  if (!call.info.who || call.info.who->AllowsTables(right, path)) return {};
  const Error::Field where = {"tables", std::string(path)};
  switch (right) {
    case Right::kRead:
      return Error(ErrorCode::kPermissionDenied, "the token may not read these rows", {where});
    case Right::kWrite:
      return Error(ErrorCode::kPermissionDenied, "the token may not write these rows", {where});
    case Right::kAdmin:
      return Error(ErrorCode::kPermissionDenied, "the token may not administer this", {where});
  }
  std::unreachable();
}

Status AuthorizeDeclaration(const Call& call, std::string_view path) {
  if (AuthorizeTables(call, Right::kAdmin, path).has_value()) return {};
  return AuthorizeTables(call, Right::kRead, path);
}

Status AuthorizeFigures(const Call& call) {
  if (!call.info.who || call.info.who->Allows(Right::kRead, KeyRange())) return {};
  return Denied("the token may not read everything, which is what these figures are about");
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
