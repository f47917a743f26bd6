#include "protocol/http/routes.h"

#include <algorithm>
#include <iterator>

#include "protocol/http/handlers.h"

namespace kvarts::http {
namespace {

using In = Parameter::In;

constexpr std::nullopt_t kAnybody = std::nullopt;

const Parameter kKey{"key", In::kPath, "string", "Any bytes, percent-encoded; slashes may stand as they are."};
const Parameter kPrefix{"prefix", In::kQuery, "string", "Keys that begin with this."};
const Parameter kStart{"start", In::kQuery, "string", "Keys from this one on."};
const Parameter kEnd{"end", In::kQuery, "string", "Keys before this one."};
const Parameter kIfMatch{"If-Match", In::kHeader, "string", "Only if the key has this version; * if it is there."};
const Parameter kIfNoneMatch{"If-None-Match", In::kHeader, "string", "* to write only if there is nothing."};
const Parameter kDurability{"Kvarts-Durability", In::kHeader, "string", "What the answer promises of the write.",
                            "none|interval|sync|quorum|applied"};
const Parameter kConsistency{"Kvarts-Consistency", In::kHeader, "string", "How new what is read must be.",
                             "eventual|session|strong"};
const Parameter kSession{"Kvarts-Session", In::kHeader, "string",
                         "Of a write's answer: with consistency session that write is seen. Else by the cookie."};
const Parameter kConsistent{"consistent", In::kQuery, "boolean", "true for consistency strong."};
const Parameter kPrefer{"Prefer", In::kHeader, "string", "return=minimal for an answer without a body."};
const Parameter kTtl{"ttl", In::kQuery, "number", "Seconds that the value lives, when the body is the value itself."};

const Parameter kName{"name", In::kPath, "string", "Of a namespace."};
const Parameter kId{"id", In::kPath, "string", "Of the token or the job."};

constexpr std::string_view kProblem = "application/problem+json";
const Response kConditionFailed{412, "The condition does not hold; has the current version.", "Problem", kProblem};
const Response kNotFound{404, "There is no such thing.", "Problem", kProblem};
const Response kWritten{200, "What is under the key now.", "Item"};
const Response kMinimal{204, "Written; the version is the ETag."};

// tidy: long function because it is a table
std::vector<Route> MakeRoutes() {
  return {
      {Method::kGet,
       "/keys/{key}",
       "getKey",
       "Reads a key.",
       Operation::kGet,
       Right::kRead,
       &GetKey,
       {kKey,
        kConsistent,
        kIfMatch,
        {"If-None-Match", In::kHeader, "string", "Tags that the client has."},
        kConsistency,
        kSession},
       {},
       {{200, "What is under the key.", "Item"},
        {200, "The value itself, if Accept asks for that or for its own type.", {}, "application/octet-stream"},
        {304, "The client has it."},
        kNotFound,
        kConditionFailed}},
      {Method::kPut,
       "/keys/{key}",
       "putKey",
       "Writes a key: JSON with a value and a ttl, or, with any other content type, the value itself.",
       Operation::kCommit,
       Right::kWrite,
       &PutKey,
       {kKey, kTtl, kIfMatch, kIfNoneMatch, kDurability, kPrefer},
       "PutBody",
       {kWritten, {201, "The key was created.", "Item"}, kMinimal, kConditionFailed},
       true},
      {Method::kDelete,
       "/keys/{key}",
       "deleteKey",
       "Deletes a key.",
       Operation::kCommit,
       Right::kWrite,
       &DeleteKey,
       {kKey, kIfMatch, kDurability, kPrefer},
       {},
       {{200, "It is gone, since this version.", "Deleted"}, kMinimal, kNotFound, kConditionFailed}},
      {Method::kPatch,
       "/keys/{key}",
       "patchKey",
       "Changes a key: its ttl, by an increment, or by appending.",
       Operation::kCommit,
       Right::kWrite,
       &PatchKey,
       {kKey, kIfMatch, kDurability, kPrefer},
       "PatchBody",
       {kWritten, kMinimal, kNotFound, kConditionFailed}},
      {Method::kGet,
       "/keys",
       "listKeys",
       "Keys in order, page by page; counts; with Accept: application/x-ndjson all of "
       "them as lines.",
       Operation::kScan,
       Right::kRead,
       &ListKeys,
       {kPrefix,
        kStart,
        kEnd,
        {"limit", In::kQuery, "integer", "Keys on a page."},
        {"reverse", In::kQuery, "boolean", "From the end."},
        {"cursor", In::kQuery, "string", "Of the page before."},
        {"values", In::kQuery, "boolean", "false for keys alone."},
        {"count", In::kQuery, "string", "Their number instead.", "none|exact|estimate"},
        kConsistent,
        kConsistency,
        kSession},
       {},
       {{200, "A page.", "Page"}, {200, "Lines of items, and a last one with end.", {}, "application/x-ndjson"}}},
      {Method::kDelete,
       "/keys",
       "deleteKeys",
       "Deletes every key of a range.",
       Operation::kCommit,
       Right::kWrite,
       &DeleteKeys,
       {kPrefix, kStart, kEnd, kDurability},
       {},
       {{200, "They are gone, since this version.", "Committed"}}},
      {Method::kPost,
       "/keys/get",
       "getKeys",
       "Reads many keys at one instant.",
       Operation::kGet,
       Right::kRead,
       &GetKeys,
       {kConsistent, kConsistency, kSession},
       "KeysBody",
       {{200, "An item or null for each key.", "Items"}}},
      {Method::kPost,
       "/commit",
       "commit",
       "Preconditions and mutations, all or nothing.",
       Operation::kCommit,
       Right::kWrite,
       &Commit,
       {kDurability},
       "CommitBody",
       {{200, "Everything was done.", "Committed"}, kConditionFailed}},
      {Method::kGet,
       "/watch",
       "watch",
       "What changes in a range: events with Accept: text/event-stream, else by long polls.",
       Operation::kOther,
       Right::kRead,
       &WatchKeys,
       {kPrefix,
        kStart,
        kEnd,
        {"since", In::kQuery, "string", "VERSION or VERSION.INDEX: the changes after it; only where there is a feed."},
        {"wait", In::kQuery, "integer", "Seconds that a long poll waits."},
        {"before", In::kQuery, "boolean", "Also what was there before, from a feed."},
        {"Last-Event-ID", In::kHeader, "string", "As since."}},
       {},
       {{200, "Changes, and where to go on.", "Changes"}, {200, "Events.", {}, "text/event-stream"}}},
      {Method::kGet,
       "/namespaces",
       "listNamespaces",
       "All namespaces.",
       Operation::kOther,
       Right::kAdmin,
       &ListNamespaces,
       {},
       {},
       {{200, "In the order of their names.", "Namespaces"}}},
      {Method::kGet,
       "/namespaces/{name}",
       "getNamespace",
       "One namespace.",
       Operation::kOther,
       Right::kAdmin,
       &GetNamespace,
       {kName},
       {},
       {{200, "Its declaration.", "Namespace"}, kNotFound}},
      {Method::kPut,
       "/namespaces/{name}",
       "putNamespace",
       "Declares a namespace, or changes it.",
       Operation::kOther,
       Right::kAdmin,
       &PutNamespace,
       {kName, kIfMatch, kIfNoneMatch},
       "Namespace",
       {{200, "As it is declared now.", "Namespace"},
        {412, "There are keys in the way, or it has another version.", "Problem", kProblem}}},
      {Method::kDelete,
       "/namespaces/{name}",
       "deleteNamespace",
       "Drops a namespace.",
       Operation::kOther,
       Right::kAdmin,
       &DeleteNamespace,
       {kName, {"erase", In::kQuery, "boolean", "With all its keys."}, kIfMatch},
       {},
       {{200, "It is gone.", "Started"}, {202, "A job erases its keys.", "Started"}, kNotFound}},
      {Method::kPost,
       "/namespaces/{name}/move",
       "moveIntoNamespace",
       "Moves what lies under a prefix into the namespace.",
       Operation::kOther,
       Right::kAdmin,
       &MoveIntoNamespace,
       {kName},
       "MoveBody",
       {{202, "A job does it.", "Started"}, kNotFound}},
      {Method::kPost,
       "/namespaces/{name}/drop-bucket",
       "dropBucket",
       "Erases a bucket of a namespace with retention.",
       Operation::kOther,
       Right::kAdmin,
       &DropBucket,
       {kName},
       "BucketBody",
       {{200, "It is gone.", "Started"}, {202, "A job erases it.", "Started"}, kNotFound}},
      {Method::kGet,
       "/explain/{key}",
       "explainKey",
       "How a key is read.",
       Operation::kOther,
       Right::kRead,
       &ExplainKey,
       {kKey},
       {},
       {{200, "Its namespace and fields, or why it is refused.", "Explanation"}}},
      {Method::kGet,
       "/tokens",
       "listTokens",
       "All tokens, without their secrets.",
       Operation::kOther,
       Right::kAdmin,
       &ListTokens,
       {},
       {},
       {{200, "In the order of their ids.", "Tokens"}}},
      {Method::kPost,
       "/tokens",
       "createToken",
       "Makes a token.",
       Operation::kOther,
       Right::kAdmin,
       &CreateToken,
       {},
       "TokenBody",
       {{201, "Its text is shown this once.", "Token"}}},
      {Method::kDelete,
       "/tokens/{id}",
       "deleteToken",
       "Revokes a token.",
       Operation::kOther,
       Right::kAdmin,
       &DeleteToken,
       {kId},
       {},
       {{200, "It is not valid any more.", "Token"}, kNotFound}},
      {Method::kPatch,
       "/tokens/{id}",
       "patchToken",
       "Disables a token, or enables it again.",
       Operation::kOther,
       Right::kAdmin,
       &PatchToken,
       {kId},
       "TokenPatch",
       {{200, "As it is now.", "Token"}, kNotFound}},
      {Method::kGet,
       "/jobs",
       "listJobs",
       "Jobs, in the order in which they were started.",
       Operation::kOther,
       Right::kAdmin,
       &ListJobs,
       {{"after", In::kQuery, "string", "The id of a job: those after it."},
        {"limit", In::kQuery, "integer", "Jobs on a page."}},
       {},
       {{200, "A page.", "Jobs"}}},
      {Method::kGet,
       "/jobs/{id}",
       "getJob",
       "One job.",
       Operation::kOther,
       Right::kAdmin,
       &GetJob,
       {kId},
       {},
       {{200, "Its state and progress.", "Job"}, kNotFound}},
      {Method::kPost,
       "/jobs/{id}/pause",
       "pauseJob",
       "Pauses a job.",
       Operation::kOther,
       Right::kAdmin,
       &PauseJob,
       {kId},
       {},
       {{200, "As it is now.", "Job"}, kNotFound}},
      {Method::kPost,
       "/jobs/{id}/resume",
       "resumeJob",
       "Lets a paused or failed job go on.",
       Operation::kOther,
       Right::kAdmin,
       &ResumeJob,
       {kId},
       {},
       {{200, "As it is now.", "Job"}, kNotFound}},
      {Method::kPost,
       "/jobs/{id}/cancel",
       "cancelJob",
       "Stops a job for good.",
       Operation::kOther,
       Right::kAdmin,
       &CancelJob,
       {kId},
       {},
       {{200, "As it is now.", "Job"}, kNotFound}},
      {Method::kPost,
       "/compact",
       "compact",
       "Rewrites a range so that what is dead in it goes away.",
       Operation::kOther,
       Right::kAdmin,
       &CompactRange,
       {},
       "RangeBody",
       {{200, "It is done.", "Done"}}},
      {Method::kGet,
       "/",
       "about",
       "What this is, and where it is described.",
       Operation::kOther,
       kAnybody,
       &About,
       {},
       {},
       {{200, "Its name and version.", "About"}}},
      {Method::kGet,
       "/livez",
       "live",
       "Whether the process runs.",
       Operation::kOther,
       kAnybody,
       &Live,
       {},
       {},
       {{200, "It does.", {}, "text/plain"}}},
      {Method::kGet,
       "/readyz",
       "ready",
       "Whether requests should be sent here.",
       Operation::kOther,
       kAnybody,
       &Ready,
       {},
       {},
       {{200, "They should.", {}, "text/plain"}, {503, "They should not, and why.", "Problem", kProblem}}},
      {Method::kGet,
       "/openapi.json",
       "openapi",
       "This description.",
       Operation::kOther,
       kAnybody,
       &OpenApi,
       {},
       {},
       {{200, "OpenAPI 3.1."}}},
      // How the server is doing.
      {Method::kGet,
       "/metrics",
       "metrics",
       "Everything that is counted, for Prometheus.",
       Operation::kOther,
       Right::kRead,
       &GetMetrics,
       {},
       {},
       {{200, "Prometheus' text form.", {}, "text/plain"},
        {200, "If Accept asks for it.", {}, "application/openmetrics-text"}}},
      {Method::kGet,
       "/stats",
       "stats",
       "The figures of the engine and the server.",
       Operation::kOther,
       Right::kAdmin,
       &GetStats,
       {},
       {},
       {{200, "One object; the server's own figures are in server.", "Stats"}}},
      {Method::kGet,
       "/hotkeys",
       "hotKeys",
       "The keys, prefixes and namespaces that are used most right now.",
       Operation::kOther,
       Right::kAdmin,
       &GetHotKeys,
       {{"by", In::kQuery, "string", "What is most.", "reads|writes|bytes"},
        {"limit", In::kQuery, "integer", "How many of each."},
        {"namespace", In::kQuery, "string", "Only keys and prefixes of this one; (none) for those of none."}},
       {},
       {{200, "The hottest first.", "HotKeys"}}},
  };
}

// Whether the path is the route's, and what it has in place of the parameters. A key takes all that is left, anything
// else ends at the next slash.
bool Matches(std::string_view pattern, std::string_view path, PathValues* values) {
  for (std::string_view& value : *values) {
    const size_t open = pattern.find('{');
    if (open == std::string_view::npos) return pattern == path;
    if (!path.starts_with(pattern.substr(0, open))) return false;
    pattern.remove_prefix(open);
    path.remove_prefix(open);
    value = path;
    if (pattern == "{key}") return true;
    value = path.substr(0, path.find('/'));
    pattern.remove_prefix(pattern.find('}') + 1);
    path.remove_prefix(value.size());
  }
  return pattern == path;
}

std::vector<Route> AllRoutes() {
  std::vector<Route> routes = MakeRoutes();
  std::ranges::move(TableRoutes(), std::back_inserter(routes));
  return routes;
}

}  // namespace

std::span<const Route> Routes() {
  static const std::vector<Route> routes = AllRoutes();
  return routes;
}

Found FindRoute(Method method, std::string_view path) {
  // The first line of the table is what is asked for most.
  Found found;
  const Method wanted = method == Method::kHead ? Method::kGet : method;
  for (const Route& route : Routes()) {
    PathValues values;
    if (!Matches(route.path, path, &values)) continue;
    found.path_exists = true;
    if (route.method != wanted) continue;
    found.route = &route;
    found.values = values;
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
