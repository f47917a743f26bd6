#include "protocol/http/openapi.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <map>

#include "encoding/json_minify.h"
#include "encoding/json_writer.h"
#include "protocol/http/problem.h"
#include "protocol/http/routes.h"

namespace kvarts::http {
namespace {

struct Schema {
  std::string_view name;
  std::string_view json;
};

// tidy: long function because it is a table
constexpr auto kSchemas = std::to_array<Schema>({
    {"Item", R"({"type":"object","required":["version","expiry"],"properties":{
      "key":{"type":"string"},"key_base64":{"type":"string","contentEncoding":"base64"},
      "value":{},"value_base64":{"type":"string","contentEncoding":"base64"},
      "version":{"type":"string","pattern":"^[0-9]+$"},"expiry":{"type":["string","null"],"format":"date-time"},
      "type":{"type":"string","description":"The media type that the value was written with."},
      "counter":{"const":true},"envelope":{"$ref":"#/components/schemas/Envelope"},
      "marks":{"type":"array","items":{"enum":["misapplied","saturated"]},
        "description":"What went wrong with an add: it met no counter, or its sum was held at the edge of 64 bits."}}})"},
    {"Items", R"({"type":"object","required":["items"],"properties":{
      "items":{"type":"array","items":{"oneOf":[{"$ref":"#/components/schemas/Item"},{"type":"null"}]}}}})"},
    {"Page", R"({"type":"object","properties":{
      "items":{"type":"array","items":{"$ref":"#/components/schemas/Item"}},"cursor":{"type":["string","null"]},
      "count":{"type":"integer"},"exact":{"type":"boolean"}}})"},
    {"Deleted", R"({"type":"object","required":["version"],"properties":{
      "key":{"type":"string"},"key_base64":{"type":"string"},"version":{"type":"string"}}})"},
    {"Committed", R"({"type":"object","required":["version"],"properties":{"version":{"type":"string"},
      "results":{"type":"array","items":{"type":"object"}}}})"},
    {"PutBody", R"({"type":"object","properties":{"value":{},"value_base64":{"type":"string"},
      "type":{"type":"string"},"counter":{"type":"boolean"},
      "ttl":{"type":["number","null"],"exclusiveMinimum":0},"envelope":{"$ref":"#/components/schemas/Envelope"}}})"},
    {"PatchBody", R"({"type":"object","properties":{"ttl":{"type":["number","null"]},"increment":{"type":"integer"},
      "append":{"type":"string"},"append_base64":{"type":"string"}}})"},
    {"KeysBody", R"({"type":"object","required":["keys"],"properties":{"keys":{"type":"array","items":{
      "oneOf":[{"type":"string"},{"type":"object","properties":{"key_base64":{"type":"string"}}}]}}}})"},
    {"CommitBody", R"({"type":"object","properties":{
      "preconditions":{"type":"array","items":{"type":"object","properties":{"key":{"type":"string"},
        "key_base64":{"type":"string"},"absent":{"const":true},"present":{"const":true},"version":{"type":"string"},
        "prefix":{"type":"string"},"prefix_base64":{"type":"string"},"start":{"type":"string"},
        "start_base64":{"type":"string"},"end":{"type":"string"},"end_base64":{"type":"string"},
        "unchanged_since":{"type":"string"}}}},
      "mutations":{"type":"array","items":{"type":"object","required":["op"],"properties":{
        "op":{"enum":["put","delete","touch","increment","append","add","delete_range",
          "put_row","patch_row","delete_row","redis"]},"key":{"type":["string","object"]},
        "key_base64":{"type":"string"},"value":{},"value_base64":{"type":"string"},"ttl":{"type":["number","null"]},
        "type":{"type":"string"},"counter":{"type":"boolean"},"by":{"type":"integer"},"prefix":{"type":"string"},
        "prefix_base64":{"type":"string"},"start":{"type":"string"},"start_base64":{"type":"string"},
        "end":{"type":"string"},"end_base64":{"type":"string"},
        "absent":{"const":true},"present":{"const":true},"version":{"type":"string"},
        "missing_ok":{"type":"boolean"},"envelope":{"$ref":"#/components/schemas/Envelope"},
        "database":{"type":"integer"},"command":{"type":"array"},"expect":{"type":["string","integer","null"]}},
        "description":"An operation on a row has the fields of a RowCommand, one of Redis database, command and expect."}}}})"},
    {"Envelope", R"({"type":"object","properties":{"schemaVersion":{"type":"integer"},"entityType":{"type":"string"},
      "tenantId":{"type":"string"},"updatedBy":{"type":"string"},"traceId":{"type":"string"},
      "commandId":{"type":"string"}}})"},
    {"Changes", R"({"type":"object","properties":{"changes":{"type":"array","items":{"type":"object"}},
      "next":{"type":["string","null"]}}})"},
    {"Namespace", R"({"type":"object","required":["grammar"],"properties":{"name":{"type":"string"},
      "grammar":{"type":"string"},"partition":{"type":"string"},"tenant":{"type":["string","null"]},
      "max_key_bytes":{"type":["integer","null"]},"max_value_bytes":{"type":["integer","null"]},
      "default_ttl":{"type":["number","null"]},"profile":{"enum":["lookup","ingest","window"]},
      "envelope":{"type":"object","properties":{"required":{"type":"boolean"},
        "types":{"type":"array","items":{"type":"string"}},"min_schema":{"type":"integer"},
        "max_schema":{"type":"integer"}}},
      "retention":{"type":["object","null"],"properties":{"field":{"type":"string"},"keep":{"type":"number"}}},
      "feed":{"type":"boolean"},"state":{"type":"string"},"version":{"type":"string"}}})"},
    {"Namespaces", R"({"type":"object","properties":{
      "items":{"type":"array","items":{"$ref":"#/components/schemas/Namespace"}}}})"},
    {"MoveBody", R"({"type":"object","properties":{"from":{"type":"string"},"from_base64":{"type":"string"},
      "to":{"type":"string"},"to_base64":{"type":"string"},"throttle":{"type":"integer"}}})"},
    {"BucketBody", R"({"type":"object","properties":{"leading":{"type":"string"},
      "leading_base64":{"type":"string"},"bucket":{"type":"string"}}})"},
    {"RangeBody", R"({"type":"object","properties":{"prefix":{"type":"string"},"prefix_base64":{"type":"string"},
      "start":{"type":"string"},"start_base64":{"type":"string"},"end":{"type":"string"},
      "end_base64":{"type":"string"},"all":{"const":true}}})"},
    {"About", R"({"type":"object","required":["name","version","openapi"],"properties":{"name":{"const":"kvarts"},
      "version":{"type":"string"},"openapi":{"type":"string","description":"Where this document is."}}})"},
    {"Started", R"({"type":"object","properties":{"job":{"type":["string","null"]}}})"},
    {"Done", R"({"type":"object","properties":{"ok":{"const":true}}})"},
    {"Explanation", R"({"type":"object","properties":{"key":{"type":"string"},
      "verdict":{"enum":["free","governed","refused"]},"namespaces":{"type":"array","items":{"type":"string"}},
      "grammar":{"type":"string"},"fields":{"type":"array","items":{"type":"object"}},"problem":{"type":"object"},
      "partition":{"type":"string"},"tenant":{"type":"string"},"profile":{"type":"string"},
      "text":{"type":"string"}}})"},
    {"TokenBody", R"({"type":"object","required":["name","scopes"],"properties":{"name":{"type":"string"},
      "scopes":{"type":"array","items":{"type":"string"}},"ttl":{"type":"number"},"rate":{"type":"integer"},
      "burst":{"type":"integer"}}})"},
    {"TokenPatch", R"({"type":"object","required":["disabled"],"properties":{"disabled":{"type":"boolean"}}})"},
    {"Token", R"({"type":"object","properties":{"token":{"type":"string"},"id":{"type":"string"},
      "name":{"type":"string"},"scopes":{"type":"array","items":{"type":"string"}},"created":{"type":"string"},
      "expiry":{"type":["string","null"]},"rate":{"type":"integer"},"burst":{"type":"integer"},
      "disabled":{"type":"boolean"}}})"},
    {"Tokens", R"({"type":"object","properties":{
      "items":{"type":"array","items":{"$ref":"#/components/schemas/Token"}}}})"},
    {"Job", R"({"type":"object","properties":{"id":{"type":"string"},"kind":{"type":"string"},
      "table":{"type":"string","description":"acme/shop/orders"},"index":{"type":"string"},
      "state":{"enum":["queued","running","paused","done","failed","cancelled"]},"done":{"type":"integer"},
      "total":{"type":["integer","null"]},"throttle":{"type":"integer"},"error":{"type":"object"},
      "created":{"type":"string"},"updated":{"type":"string"}}})"},
    {"Jobs", R"({"type":"object","properties":{"items":{"type":"array","items":{"$ref":"#/components/schemas/Job"}},
      "next":{"type":["string","null"]}}})"},
    {"Stats", R"({"type":"object","required":["server"],"properties":{"server":{"type":"object"}}})"},
    {"HotKeys", R"({"type":"object","required":["keys","prefixes"],"properties":{
      "keys":{"type":"array","items":{"$ref":"#/components/schemas/HotKey"}},
      "prefixes":{"type":"array","items":{"$ref":"#/components/schemas/HotKey"}},
      "namespaces":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},
        "reads_per_second":{"type":"number"},"writes_per_second":{"type":"number"},
        "bytes_per_second":{"type":"number"}}}},
      "reads_per_second":{"type":"number"},"writes_per_second":{"type":"number"}}})"},
    {"HotKey", R"({"type":"object","properties":{"key":{"type":"string"},"key_base64":{"type":"string"},
      "cut":{"const":true},"namespace":{"type":"string"},"reads_per_second":{"type":"number"},"writes_per_second":{"type":"number"},
      "bytes_per_second":{"type":"number"}}})"},
    {"CatalogItem", R"({"type":"object","required":["name","id","created"],"properties":{"name":{"type":"string"},
      "id":{"type":"string","format":"uuid"},"created":{"type":["string","null"],"format":"date-time"}}})"},
    {"Projects", R"({"type":"object","properties":{
      "projects":{"type":"array","items":{"$ref":"#/components/schemas/CatalogItem"}},
      "next":{"type":["string","null"]}}})"},
    {"Datasets", R"({"type":"object","properties":{
      "datasets":{"type":"array","items":{"$ref":"#/components/schemas/CatalogItem"}},
      "next":{"type":["string","null"]}}})"},
    {"Tables", R"({"type":"object","properties":{
      "tables":{"type":"array","items":{"$ref":"#/components/schemas/CatalogItem"}},
      "next":{"type":["string","null"]}}})"},
    {"NameBody", R"({"type":"object","required":["name"],"properties":{"name":{"type":"string"}}})"},
    {"KeyFields", R"({"type":"array","items":{"oneOf":[{"type":"string"},{"type":"object","required":["name"],
      "properties":{"name":{"type":"string"},
        "type":{"enum":["text","number","binary","bool","timestamp","uuid"]},"order":{"enum":["asc","desc"]},
        "min_length":{"type":"integer"},"max_length":{"type":"integer"},"pattern":{"type":"string"}}}]}})"},
    {"TableSpec", R"({"type":"object","required":["key"],"properties":{
      "key":{"type":"object","required":["partition"],"properties":{
        "partition":{"$ref":"#/components/schemas/KeyFields"},"sort":{"$ref":"#/components/schemas/KeyFields"}}},
      "indexes":{"type":"array","items":{"$ref":"#/components/schemas/IndexSpec"}},
      "ttl":{"type":["object","null"],"properties":{"field":{"type":"string"},"default":{"type":"number"}}},
      "retention":{"type":["object","null"],"required":["field","keep"],"properties":{"field":{"type":"string"},
        "bucket":{"type":"number"},"keep":{"type":"number"}}},
      "schema":{"description":"JSON Schema that rows must follow."},
      "profile":{"enum":["lookup","ingest","window"]}}})"},
    {"TablePatch", R"({"type":"object","properties":{"name":{"type":"string"},
      "ttl":{"type":["object","null"],"properties":{"field":{"type":"string"},"default":{"type":"number"}}},
      "retention":{"type":"object"},
      "schema":{}}})"},
    {"Table", R"({"allOf":[{"$ref":"#/components/schemas/CatalogItem"},{"type":"object","properties":{
      "project":{"type":"string"},"dataset":{"type":"string"},"number":{"type":"integer"},"key":{"type":"object"},
      "ttl":{"type":"object"},"retention":{"type":"object"},"schema":{},"schemaVersion":{"type":"integer"},"profile":{"type":"string"},
      "indexes":{"type":"array","items":{"$ref":"#/components/schemas/Index"}}}}]})"},
    {"IndexFields", R"({"type":"array","items":{"oneOf":[{"type":"string"},{"type":"object","required":["path"],
      "properties":{"path":{"type":"string"},
        "type":{"enum":["text","number","binary","bool","timestamp","uuid"]},"order":{"enum":["asc","desc"]},
        "trim":{"type":"boolean"},"lower":{"type":"boolean"}}}]}})"},
    {"IndexSpec", R"({"type":"object","properties":{"name":{"type":"string"},"local":{"type":"boolean"},
      "unique":{"type":"boolean"},"sparse":{"type":"boolean"},
      "partition":{"$ref":"#/components/schemas/IndexFields"},"sort":{"$ref":"#/components/schemas/IndexFields"},
      "where":{"type":["string","null"]},
      "include":{"oneOf":[{"enum":["key","all"]},{"type":"array","items":{"type":"string"}}]},
      "throttle":{"type":"integer","description":"Rows a second that the job adds; 0 is no limit."}}})"},
    {"Index", R"({"type":"object","properties":{"name":{"type":"string"},"local":{"type":"boolean"},
      "unique":{"type":"boolean"},"sparse":{"type":"boolean"},"partition":{"type":"array"},"sort":{"type":"array"},
      "where":{"type":"string"},"include":{},"state":{"enum":["building","ready","dropping"]},
      "job":{"type":["string","null"]},
      "progress":{"type":"object","properties":{"state":{"type":"string"},"done":{"type":"integer"},
        "total":{"type":["integer","null"]},"error":{"type":"string"}}},
      "findings":{"type":"array","items":{"$ref":"#/components/schemas/Finding"}}}})"},
    {"Indexes", R"({"type":"object","properties":{
      "indexes":{"type":"array","items":{"$ref":"#/components/schemas/Index"}}}})"},
    {"VerifyBody", R"({"type":"object","properties":{"throttle":{"type":"integer",
      "description":"Rows and entries a second; 0 is no limit."}}})"},
    {"RepairBody", R"({"type":"object","properties":{"verified":{"type":"string","format":"uuid"},
      "throttle":{"type":"integer"}}})"},
    {"UndoBody", R"({"type":"object","required":["repair"],"properties":{
      "repair":{"type":"string","format":"uuid"}}})"},
    {"Finding", R"({"type":"object","required":["number","kind"],"properties":{"number":{"type":"integer"},
      "kind":{"enum":["missing","wrong_value","wrong_expiry","spurious","damaged","duplicate","refused"]},
      "index":{"type":"string"},"row":{"type":"object"},"other":{"type":"object"},"entry":{"type":"string"},
      "there":{},"expected":{}}})"},
    {"Findings", R"({"type":"object","properties":{
      "findings":{"type":"array","items":{"$ref":"#/components/schemas/Finding"}},
      "next":{"type":["integer","null"]}}})"},
    {"Row", R"({"type":"object","required":["key","value","version","expiry"],"properties":{
      "key":{"type":"object"},"value":{"type":"object"},"version":{"type":"string","pattern":"^[0-9]+$"},
      "updatedAt":{"type":"string","format":"date-time"},"updatedBy":{"type":"string"},"trace":{"type":"string"},
      "schemaVersion":{"type":"integer"},"expiry":{"type":["string","null"],"format":"date-time"}}})"},
    {"RowBody", R"({"type":"object","description":"The row. $binary, $set, $number and $map say what JSON lacks."})"},
    {"RowPatch", R"({"type":"object","properties":{"update":{"$ref":"#/components/schemas/RowUpdate"},
      "patch":{"type":"object"}}})"},
    {"RowUpdate", R"({"type":"object","properties":{"set":{"type":"object"},"set_if_missing":{"type":"object"},
      "remove":{"type":"array","items":{"type":"string"}},"increment":{"type":"object"},"append":{"type":"object"},
      "prepend":{"type":"object"},"add_to_set":{"type":"object"},"remove_from_set":{"type":"object"}}})"},
    {"RowWritten", R"({"type":"object","required":["key","version"],"properties":{"key":{"type":"object"},
      "version":{"type":"string"},"before":{"type":["object","null"]},"after":{"type":["object","null"]},
      "expiry":{"type":["string","null"]}}})"},
    {"RowKeysBody", R"({"type":"object","required":["keys"],"properties":{
      "keys":{"type":"array","items":{"type":"object"}},"fields":{"type":"array","items":{"type":"string"}}}})"},
    {"Rows", R"({"type":"object","required":["rows"],"properties":{
      "rows":{"type":"array","items":{"oneOf":[{"$ref":"#/components/schemas/Row"},{"type":"null"}]}}}})"},
    {"Bound", R"({"type":"object","required":["value"],"properties":{"value":{},"inclusive":{"type":"boolean"}}})"},
    {"RowQuery", R"({"type":"object","required":["partition"],"properties":{"index":{"type":"string"},
      "partition":{"type":"object"},"sort":{"type":"array"},"from":{"$ref":"#/components/schemas/Bound"},
      "to":{"$ref":"#/components/schemas/Bound"},"prefix":{},"reverse":{"type":"boolean"},
      "filter":{"type":["string","null"]},"fields":{"type":["array","null"],"items":{"type":"string"}},
      "limit":{"type":"integer"},"maxBytes":{"type":"integer"},"cursor":{"type":["string","null"]}}})"},
    {"RowPage", R"({"type":"object","required":["rows","cursor","examined"],"properties":{
      "rows":{"type":"array","items":{"$ref":"#/components/schemas/Row"}},"cursor":{"type":["string","null"]},
      "examined":{"type":"integer"}}})"},
    {"SplitBody", R"({"type":"object","required":["parts"],"properties":{"parts":{"type":"integer"},
      "filter":{"type":["string","null"]}}})"},
    {"Cursors", R"({"type":"object","properties":{"cursors":{"type":"array","items":{"type":"string"}}}})"},
    {"RowCommand", R"({"type":"object","required":["op","table"],"properties":{"op":{"enum":["put","patch","delete"]},
      "table":{"type":"object","required":["project","dataset","table"],"properties":{"project":{"type":"string"},
        "dataset":{"type":"string"},"table":{"type":"string"}}},
      "row":{"$ref":"#/components/schemas/RowBody"},"key":{"type":"object"},"patch":{"type":"object"},
      "update":{"$ref":"#/components/schemas/RowUpdate"},"ifVersion":{"type":"string"},"ifAbsent":{"const":true},
      "ifPresent":{"const":true},"where":{"type":"string"},"make":{"type":"boolean"},
      "missing_ok":{"type":"boolean"},"return":{"enum":["before","after"]}}})"},
    {"RowBatch", R"({"type":"object","required":["commands"],"properties":{
      "commands":{"type":"array","items":{"$ref":"#/components/schemas/RowCommand"}}}})"},
    {"Problem", R"({"type":"object","required":["type","title","status","detail"],"properties":{
      "type":{"type":"string"},"title":{"type":"string"},"status":{"type":"integer"},"detail":{"type":"string"},
      "field":{"type":"string","description":"Of the body: what is wrong in it."},
      "parameter":{"type":"string","description":"Of the query: what is wrong in it."},
      "at":{"type":"string","description":"Of several commands or keys: which it is."},
      "position":{"type":"integer","description":"The byte of the body, the key, the grammar, the condition or the path where it went wrong."},
      "key":{"type":"string"},"key_base64":{"type":"string","contentEncoding":"base64"},
      "version":{"type":["string","null"],"description":"The current one; null when there is nothing."},
      "limit":{"type":"string","description":"The limit that was met."},"at_most":{"type":"integer"},
      "retry_after_us":{"type":"integer"},"advice":{"type":"string"}},
      "additionalProperties":{"type":["string","integer","null"]}})"},
});

std::string_view MethodName(Method method) {
  switch (method) {
    case Method::kGet:
      return "get";
    case Method::kPut:
      return "put";
    case Method::kPost:
      return "post";
    case Method::kDelete:
      return "delete";
    case Method::kPatch:
      return "patch";
    default:
      return "options";
  }
}

void WriteParameter(JsonWriter& json, const Parameter& parameter) {
  constexpr std::array<std::string_view, 3> kIn = {"path", "query", "header"};
  json.BeginObject().Field("name", parameter.name).Field("in", kIn[static_cast<size_t>(parameter.in)]);
  json.Field("description", parameter.about);
  if (parameter.in == Parameter::In::kPath) json.Field("required", true);
  json.Name("schema").BeginObject().Field("type", parameter.type);
  if (!parameter.one_of.empty()) {
    json.Name("enum").BeginArray();
    std::string_view left = parameter.one_of;
    while (!left.empty()) {
      const size_t bar = std::min(left.find('|'), left.size());
      json.Text(left.substr(0, bar));
      left.remove_prefix(std::min(bar + 1, left.size()));
    }
    json.EndArray();
  }
  json.EndObject().EndObject();
}

void WriteContent(JsonWriter& json, std::string_view type, std::string_view schema) {
  json.Name(type).BeginObject();
  if (!schema.empty()) {
    json.Name("schema").BeginObject().Field("$ref", fmt::format("#/components/schemas/{}", schema)).EndObject();
  }
  json.EndObject();
}

// Of a HEAD there is no content.
void WriteResponses(JsonWriter& json, const Route& route, bool head) {
  std::map<int, std::vector<const Response*>> by_status;
  for (const Response& response : route.responses) by_status[response.status].push_back(&response);
  json.Name("responses").BeginObject();
  for (const auto& [status, responses] : by_status) {
    json.Name(std::to_string(status)).BeginObject().Field("description", responses.front()->about);
    if (status != 204 && status != 304 && !head) {
      json.Name("content").BeginObject();
      for (const Response* response : responses) WriteContent(json, response->type, response->schema);
      json.EndObject();
    }
    json.EndObject();
  }
  json.Name("default").BeginObject().Field("description", "What went wrong.");
  if (!head) {
    json.Name("content").BeginObject();
    WriteContent(json, kProblemType, "Problem");
    json.EndObject();
  }
  json.EndObject().EndObject();
}

void WriteRequestBody(JsonWriter& json, const Route& route) {
  json.Name("requestBody").BeginObject().Field("required", true).Name("content").BeginObject();
  WriteContent(json, "application/json", route.request_schema);
  if (route.takes_raw) WriteContent(json, "*/*", {});
  if (!route.also_takes.empty()) WriteContent(json, route.also_takes, {});
  json.EndObject().EndObject();
}

// getKey becomes headKey, and live headLive.
std::string HeadName(std::string_view name) {
  if (name.starts_with("get")) name.remove_prefix(3);
  std::string head = fmt::format("head{}", name);
  head[4] = static_cast<char>(std::toupper(static_cast<unsigned char>(head[4])));
  return head;
}

// Of a route that serves GET, its HEAD as well.
void WriteOperation(JsonWriter& json, const Route& route, bool head = false) {
  json.Name(head ? "head" : MethodName(route.method)).BeginObject();
  json.Field("operationId", head ? HeadName(route.name) : std::string(route.name));
  json.Field("summary", head ? fmt::format("{} Without the body.", route.about) : std::string(route.about));
  if (!route.parameters.empty()) {
    json.Name("parameters").BeginArray();
    for (const Parameter& parameter : route.parameters) WriteParameter(json, parameter);
    json.EndArray();
  }
  if (!route.request_schema.empty()) WriteRequestBody(json, route);
  WriteResponses(json, route, head);
  json.EndObject();
}

}  // namespace

Bytes OpenApiDocument() {
  Bytes document;
  JsonWriter json(&document);
  json.BeginObject().Field("openapi", "3.1.0").Name("info").BeginObject();
  json.Field("title", "Kvarts").Field("version", KVARTS_VERSION);
  json.Field("description", "An ordered, versioned, expiring, transactional key-value database.").EndObject();
  std::map<std::string_view, std::vector<const Route*>> by_path;
  for (const Route& route : Routes()) by_path[route.path].push_back(&route);
  json.Name("paths").BeginObject();
  for (const auto& [path, routes] : by_path) {
    json.Name(path).BeginObject();
    for (const Route* route : routes) {
      WriteOperation(json, *route);
      if (route->method == Method::kGet) WriteOperation(json, *route, true);
    }
    json.EndObject();
  }
  json.EndObject().Name("components").BeginObject().Name("schemas").BeginObject();
  for (const Schema& schema : kSchemas) {
    // Written by hand above, with line breaks to be read by.
    json.Name(schema.name).Raw(Minified(schema.json).value_or("{}"));
  }
  json.EndObject().Name("securitySchemes").BeginObject().Name("token").BeginObject();
  json.Field("type", "http").Field("scheme", "bearer").EndObject().EndObject().EndObject().EndObject();
  return document;
}

}  // namespace kvarts::http
