#include "protocol/http/routes.h"

#include <algorithm>

#include "protocol/http/handlers.h"

namespace kvarts::http {
namespace {

using In = Parameter::In;

const Parameter kKey{"key", In::kPath, "string", "Any bytes, percent-encoded; slashes may stand as they are."};
const Parameter kPrefix{"prefix", In::kQuery, "string", "Keys that begin with this."};
const Parameter kStart{"start", In::kQuery, "string", "Keys from this one on."};
const Parameter kEnd{"end", In::kQuery, "string", "Keys before this one."};
const Parameter kIfMatch{"If-Match", In::kHeader, "string", "Only if the key has this version; * if it is there."};
const Parameter kIfNoneMatch{"If-None-Match", In::kHeader, "string", "* to write only if there is nothing."};
const Parameter kDurability{"Kvarts-Durability", In::kHeader, "string", "What the answer promises of the write.",
                            "none|interval|sync|quorum|applied"};
const Parameter kPrefer{"Prefer", In::kHeader, "string", "return=minimal for an answer without a body."};
const Parameter kTtl{"ttl", In::kQuery, "number", "Seconds that the value lives, when the body is the value itself."};

const Response kConditionFailed{412, "The condition does not hold; has the current version.", "Problem",
                                "application/problem+json"};
const Response kNotFound{404, "There is nothing under the key.", "Problem", "application/problem+json"};
const Response kWritten{200, "What is under the key now.", "Item"};
const Response kMinimal{204, "Written; the version is the ETag."};

// tidy: long function because it is a table
std::vector<Route> MakeRoutes() {
  return {
      {Method::kGet, "/keys/{key}", "getKey", "Reads a key.", Operation::kGet, Right::kRead, &GetKey,
       {kKey, {"If-None-Match", In::kHeader, "string", "Versions that the client has."}},
       {},
       {{200, "What is under the key.", "Item"},
        {200, "The value itself, if Accept asks for it.", {}, "application/octet-stream"},
        {304, "The client has it."},
        kNotFound}},
      {Method::kPut, "/keys/{key}", "putKey",
       "Writes a key: JSON with a value and a ttl, or, with any other content type, the value itself.",
       Operation::kCommit, Right::kWrite, &PutKey,
       {kKey, kTtl, kIfMatch, kIfNoneMatch, kDurability, kPrefer},
       "PutBody",
       {kWritten, {201, "The key was created.", "Item"}, kMinimal, kConditionFailed}},
      {Method::kDelete, "/keys/{key}", "deleteKey", "Deletes a key.", Operation::kCommit, Right::kWrite, &DeleteKey,
       {kKey, kIfMatch, kDurability, kPrefer},
       {},
       {{200, "It is gone, since this version.", "Deleted"}, kMinimal, kNotFound, kConditionFailed}},
      {Method::kPatch, "/keys/{key}", "patchKey", "Changes a key: its ttl, by an increment, or by appending.",
       Operation::kCommit, Right::kWrite, &PatchKey,
       {kKey, kIfMatch, kDurability, kPrefer},
       "PatchBody",
       {kWritten, kMinimal, kNotFound, kConditionFailed}},
      {Method::kGet, "/keys", "listKeys", "Keys in order, page by page; counts; with Accept: application/x-ndjson all of "
       "them as lines.",
       Operation::kScan, Right::kRead, &ListKeys,
       {kPrefix, kStart, kEnd,
        {"limit", In::kQuery, "integer", "Keys on a page."},
        {"reverse", In::kQuery, "boolean", "From the end."},
        {"cursor", In::kQuery, "string", "Of the page before."},
        {"values", In::kQuery, "boolean", "false for keys alone."},
        {"count", In::kQuery, "string", "Their number instead.", "none|exact|estimate"}},
       {},
       {{200, "A page.", "Page"}, {200, "Lines of items, and a last one with end.", {}, "application/x-ndjson"}}},
      {Method::kDelete, "/keys", "deleteKeys", "Deletes every key of a range.", Operation::kCommit, Right::kWrite,
       &DeleteKeys,
       {kPrefix, kStart, kEnd, kDurability},
       {},
       {{200, "They are gone, since this version.", "Committed"}}},
      {Method::kPost, "/keys/get", "getKeys", "Reads many keys at one instant.", Operation::kGet, Right::kRead, &GetKeys,
       {},
       "KeysBody",
       {{200, "An item or null for each key.", "Items"}}},
      {Method::kPost, "/commit", "commit", "Preconditions and mutations, all or nothing.", Operation::kCommit,
       Right::kWrite, &Commit,
       {kDurability},
       "CommitBody",
       {{200, "Everything was done.", "Committed"}, kConditionFailed}},
      {Method::kGet, "/livez", "live", "Whether the process runs.", Operation::kOther, Right::kNone, &Live,
       {},
       {},
       {{200, "It does.", {}, "text/plain"}}},
      {Method::kGet, "/readyz", "ready", "Whether requests should be sent here.", Operation::kOther, Right::kNone, &Ready,
       {},
       {},
       {{200, "They should.", {}, "text/plain"}, {503, "They should not, and why.", "Problem"}}},
      {Method::kGet, "/openapi.json", "openapi", "This description.", Operation::kOther, Right::kNone, &OpenApi,
       {},
       {},
       {{200, "OpenAPI 3.1."}}},
      // How the server is doing.
      {Method::kGet, "/metrics", "metrics", "Everything that is counted, for Prometheus.", Operation::kOther,
       Right::kAdmin, &GetMetrics,
       {},
       {},
       {{200, "Prometheus' text form.", {}, "text/plain"},
        {200, "If Accept asks for it.", {}, "application/openmetrics-text"}}},
      {Method::kGet, "/stats", "stats", "The figures of the engine and the server.", Operation::kOther, Right::kAdmin,
       &GetStats,
       {},
       {},
       {{200, "One object; the server's own figures are in server.", "Stats"}}},
      {Method::kGet, "/hotkeys", "hotKeys", "The keys and prefixes that are used most right now.", Operation::kOther,
       Right::kAdmin, &GetHotKeys,
       {{"by", In::kQuery, "string", "What is most.", "reads|writes|bytes"},
        {"limit", In::kQuery, "integer", "How many of each."}},
       {},
       {{200, "The hottest first.", "HotKeys"}}},
  };
}

// Whether the path is the route's, and what it has in place of the parameter at the end.
bool Matches(std::string_view pattern, std::string_view path, std::string_view* rest) {
  const size_t brace = pattern.find('{');
  if (brace == std::string_view::npos) return pattern == path;
  if (!path.starts_with(pattern.substr(0, brace))) return false;
  *rest = path.substr(brace);
  return true;
}

}  // namespace

std::span<const Route> Routes() {
  static const std::vector<Route> routes = MakeRoutes();
  return routes;
}

Found FindRoute(Method method, std::string_view path) {
  // The first line of the table is what is asked for most.
  Found found;
  const Method wanted = method == Method::kHead ? Method::kGet : method;
  for (const Route& route : Routes()) {
    std::string_view rest;
    if (!Matches(route.path, path, &rest)) continue;
    found.path_exists = true;
    if (route.method != wanted) continue;
    found.route = &route;
    found.rest = rest;
    return found;
  }
  return found;
}

std::string AllowedMethods(std::string_view path) {
  constexpr std::array<std::pair<Method, std::string_view>, 6> kNames = {{{Method::kGet, "GET, HEAD"},
                                                                          {Method::kPut, "PUT"},
                                                                          {Method::kPost, "POST"},
                                                                          {Method::kDelete, "DELETE"},
                                                                          {Method::kPatch, "PATCH"},
                                                                          {Method::kOptions, "OPTIONS"}}};
  std::string allowed;
  for (const auto& [method, name] : kNames) {
    if (method != Method::kOptions && FindRoute(method, path).route == nullptr) continue;
    if (!allowed.empty()) allowed.append(", ");
    allowed.append(name);
  }
  return allowed;
}

}  // namespace kvarts::http
