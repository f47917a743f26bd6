// The one table of routes: what the server dispatches by, what /openapi.json is made of, and what the tests walk.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "protocol/common/loop_metrics.h"
#include "protocol/http/call.h"

namespace kvarts::http {

struct Parameter {
  enum class In : uint8_t { kPath, kQuery, kHeader };
  std::string_view name;
  In in = In::kQuery;
  std::string_view type;  // a type of JSON Schema: "string", "integer", "boolean"
  std::string_view about;
  std::string_view one_of = {};  // if only some words are taken: separated by |
};

struct Response {
  int status;
  std::string_view about;
  std::string_view schema = {};  // the name of a schema in openapi.cc
  std::string_view type = "application/json";
};

struct Route {
  Method method;
  // "/keys/{key}": a key takes the rest of the path, slashes included; other parameters end at the next slash.
  std::string_view path;
  std::string_view name;  // the operationId
  std::string_view about;
  Operation operation;
  std::optional<Right> right;  // that a token must give; nothing: anybody may ask
  Handler handler;
  std::vector<Parameter> parameters = {};
  std::string_view request_schema = {};
  std::vector<Response> responses = {};
  bool takes_raw = false;            // a body of any other type is the value itself
  std::string_view also_takes = {};  // a media type of bodies, besides JSON
};

std::span<const Route> Routes();
// Those of tables, which are a table of their own (table_routes.cc).
std::vector<Route> TableRoutes();

struct Found {
  const Route* route = nullptr;  // null: there is none
  PathValues values = {};
  bool path_exists = false;  // with another method
};
// HEAD finds what GET finds.
Found FindRoute(Method method, std::string_view path);
// "GET, HEAD, PUT": what a path can be asked for.
std::string AllowedMethods(std::string_view path);

}  // namespace kvarts::http
