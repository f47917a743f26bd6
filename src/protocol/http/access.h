// Who asks, and whether they may. Without tokens everybody may everything; the server sees to it that then only this
// machine can ask.
#pragma once

#include "model/access/tokens.h"
#include "protocol/http/call.h"

namespace kvarts::http {

// The credential of a request: null when none is needed. `unauthenticated`, or `rate_limited`.
Result<std::shared_ptr<const Credential>> Authenticate(Service& service, const RequestHead& head, Tokens::Last* last);

// Against pages in a browser of this machine that call what they should not, by themselves or through a domain that was
// made to point here: `permission_denied`.
Status CheckOrigin(const Service& service, const RequestHead& head, const RequestInfo& info);

// What a request needs for its route before it is known what it is about: that the token gives the right over anything
// at all. Of a GET nobody keeps a body, and what it shows is for the handler to decide.
Status AuthorizeRoute(const Credential* who, Method method, Right right);

// `permission_denied` when the request's token does not give the right over the key, or the whole range.
Status Authorize(const Call& call, Right right, BytesView key);
Status Authorize(const Call& call, Right right, const KeyRange& range);
// Over all that is in a project, a dataset or a table: "acme/metrics/events". Empty: over all projects.
Status AuthorizeTables(const Call& call, Right right, std::string_view path);
// To see how they are declared: who may read them, or administer them, may.
Status AuthorizeDeclaration(const Call& call, std::string_view path);
// That it gives read over everything: for figures, which are about all keys.
Status AuthorizeFigures(const Call& call);
// Over everything, or over a namespace.
Status AuthorizeAdmin(const Call& call);
Status AuthorizeAdmin(const Call& call, std::string_view name_space);

}  // namespace kvarts::http
