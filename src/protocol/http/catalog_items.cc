#include "protocol/http/catalog_items.h"

#include "encoding/document_json.h"
#include "encoding/json_reader.h"
#include "encoding/tuple_text.h"
#include "model/table/description.h"
#include "net/http/target.h"
#include "protocol/http/requests.h"

namespace kvarts::http {
namespace {

constexpr size_t kMaxNamesPage = 1000;

}  // namespace

WorkOp::Reply NamesReply(std::string_view what, const NamesPage& page) {
  WorkOp::Reply reply;
  JsonWriter json(&reply.body);
  json.BeginObject().Name(what).BeginArray();
  for (const NamedId& named : page.names) {
    json.BeginObject();
    WriteIdentity(json, named.name, named.id);
    json.EndObject();
  }
  json.EndArray().Name("next");
  if (page.more) {
    json.Text(page.names.back().name);
  } else {
    json.Null();
  }
  json.EndObject();
  return reply;
}

WorkOp::Reply IdentityReply(int status, std::string_view name, const Uuid& id) {
  WorkOp::Reply reply;
  reply.status = status;
  JsonWriter json(&reply.body);
  json.BeginObject();
  WriteIdentity(json, name, id);
  json.EndObject();
  return reply;
}

WorkOp::Reply StartedReply(const std::optional<JobId>& job) {
  WorkOp::Reply reply;
  JsonWriter json(&reply.body);
  json.BeginObject().Name("job");
  if (job) {
    reply.status = 202;
    json.Text(job->ToString());
  } else {
    json.Null();
  }
  json.EndObject();
  return reply;
}

void WriteFindings(JsonWriter& json, std::span<const Finding> findings) {
  json.Name("findings").BeginArray();
  for (const Finding& finding : findings) {
    const auto document = [&](std::string_view name, const Bytes& bytes) {
      if (bytes.empty()) return;
      json.Name(name);
      WriteDocument(DocumentView(bytes), &json);
    };
    json.BeginObject().Field("number", finding.number).Field("kind", finding.kind);
    if (!finding.index.empty()) json.Field("index", finding.index);
    document("row", finding.row);
    document("other", finding.other);
    if (!finding.key.empty()) json.BytesField("entry", TupleToString(finding.key));
    document("there", finding.there);
    document("expected", finding.expected);
    json.EndObject();
  }
  json.EndArray();
}

Result<NamesQuery> NamesQueryOf(const Call& call) {
  QueryReader query(call.head.query());
  NamesQuery names{std::string(query.Get("after", "")),
                   query.Uint("limit", call.service.options.default_page, 1, kMaxNamesPage)};
  KVARTS_CHECK_OK(query.Finish());
  if (!names.after.empty()) KVARTS_CHECK_OK(CheckCatalogName(names.after));
  return names;
}

Result<bool> MustBeNew(const Call& call) {
  KVARTS_TRY(const WriteCondition condition, ConditionOf(call));
  switch (condition.kind) {
    case WriteCondition::Kind::kNone:
      return false;
    case WriteCondition::Kind::kAbsent:
      return true;
    case WriteCondition::Kind::kPresent:
    case WriteCondition::Kind::kVersionIn:
      break;
  }
  return Error(ErrorCode::kInvalidArgument, "here, the only condition is If-None-Match: *", {{"header", "If-Match"}});
}

Error IsThere(const Error& error) {
  return Error(ErrorCode::kPreconditionFailed, "it is there already",
               {{"name", std::string(error.field("name"))}, {"id", std::string(error.field("id"))}});
}

Status CheckEmptyBody(const Call& call) {
  if (call.body.empty()) return {};
  KVARTS_CHECK_OK(WantJson(call));
  JsonReader json(call.body);
  json.Object([&](std::string_view name) { json.Unknown(name); });
  return json.Finish();
}

Status CheckNoQuery(const Call& call) {
  if (call.head.query().empty()) return {};
  return QueryReader(call.head.query()).Finish();
}

Result<std::string> ParseNewName(std::string_view body) {
  JsonReader json(body);
  std::optional<std::string> given;
  json.Object([&](std::string_view name) {
    if (name == "name") {
      given = json.Text();
    } else {
      json.Unknown(name);
    }
  });
  json.Require(given.has_value(), "the new name is missing");
  KVARTS_CHECK_OK(json.Finish());
  KVARTS_CHECK_OK(CheckCatalogName(*given));
  return *std::move(given);
}

}  // namespace kvarts::http
