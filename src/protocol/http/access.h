// Who asks, and whether they may. Without tokens everybody may everything; the server sees to it that then only this
// machine can ask.
#pragma once

#include "model/access/tokens.h"
#include "protocol/http/call.h"

namespace kvarts::http {

// The credential of a request: null when none is needed. `unauthenticated`, or `rate_limited`.
Result<std::shared_ptr<const Credential>> Authenticate(Service& service, const RequestHead& head, Tokens::Last* last);

// `permission_denied` when the request's token does not give the right over the key, or the whole range.
Status Authorize(const Call& call, Right right, BytesView key);
Status Authorize(const Call& call, Right right, const KeyRange& range);
// Over everything, or over a namespace.
Status AuthorizeAdmin(const Call& call);
Status AuthorizeAdmin(const Call& call, std::string_view name_space);

}  // namespace kvarts::http
