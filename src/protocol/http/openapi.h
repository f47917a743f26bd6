// The OpenAPI 3.1 description of the server, made from the table of routes.
#pragma once

#include "base/bytes.h"

namespace kvarts::http {

Bytes OpenApiDocument();

}  // namespace kvarts::http
