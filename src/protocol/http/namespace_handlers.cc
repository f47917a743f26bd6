// Namespaces: declared, looked at, moved into and dropped; and how a key is read.
#include "encoding/json_reader.h"
#include "encoding/json_writer.h"
#include "net/http/target.h"
#include "protocol/http/access.h"
#include "protocol/http/bodies.h"
#include "protocol/http/catalog_items.h"
#include "protocol/http/handlers.h"
#include "protocol/http/requests.h"
#include "protocol/http/work_op.h"

namespace kvarts::http {
namespace {

constexpr double kMicros = 1e6;

Duration SecondsOf(JsonReader& json) {
  const double seconds = json.Double();
  json.Require(seconds > 0 && seconds < 1e12, "a duration is a number of seconds above zero");
  return Duration::Micros(static_cast<int64_t>(seconds * kMicros));
}

double InSeconds(Duration duration) { return static_cast<double>(duration.micros) / kMicros; }

EnvelopeRule ReadEnvelopeRule(JsonReader& json) {
  EnvelopeRule rule;
  json.Object([&](std::string_view name) {
    if (name == "required") {
      rule.required = json.Bool();
    } else if (name == "types") {
      json.Array([&] { rule.types.emplace_back(json.Text()); });
    } else if (name == "min_schema") {
      rule.min_schema = static_cast<uint32_t>(json.Uint(UINT32_MAX));
    } else if (name == "max_schema") {
      rule.max_schema = static_cast<uint32_t>(json.Uint(UINT32_MAX));
    } else {
      json.Unknown(name);
    }
  });
  return rule;
}

RetentionRule ReadRetention(JsonReader& json) {
  RetentionRule rule;
  json.Object([&](std::string_view name) {
    if (name == "field") {
      rule.field = json.Text();
    } else if (name == "keep") {
      rule.keep = SecondsOf(json);
    } else {
      json.Unknown(name);
    }
  });
  return rule;
}

Result<NamespaceSpec> ParseSpec(std::string name, std::string_view body) {
  JsonReader json(body);
  NamespaceSpec spec;
  spec.name = std::move(name);
  std::string grammar;
  json.Object([&](std::string_view field) {
    if (field == "grammar") {
      grammar = json.Text();
    } else if (field == "partition") {
      spec.partition_field = json.Text();
    } else if (field == "tenant") {
      if (!json.TakeNull()) spec.tenant_field = json.Text();
    } else if (field == "max_key_bytes") {
      if (!json.TakeNull()) spec.max_key_bytes = json.Uint();
    } else if (field == "max_value_bytes") {
      if (!json.TakeNull()) spec.max_value_bytes = json.Uint();
    } else if (field == "default_ttl") {
      if (!json.TakeNull()) spec.default_ttl = SecondsOf(json);
    } else if (field == "profile") {
      const auto profile = ParseProfile(json.Text());
      json.Require(profile.has_value(), "a profile is lookup, ingest or window");
      spec.profile = profile.value_or(Profile::kLookup);
    } else if (field == "envelope") {
      spec.envelope = ReadEnvelopeRule(json);
    } else if (field == "retention") {
      if (!json.TakeNull()) spec.retention = ReadRetention(json);
    } else if (field == "feed") {
      spec.feed = json.Bool();
    } else {
      json.Unknown(field);
    }
  });
  json.Require(!grammar.empty(), "a grammar is missing");
  KVARTS_CHECK_OK(json.Finish());
  KVARTS_TRY(spec.grammar, Grammar::Parse(grammar));
  return spec;
}

void WriteEnvelopeRule(JsonWriter& json, const EnvelopeRule& rule) {
  json.Name("envelope").BeginObject().Field("required", rule.required).Name("types").BeginArray();
  for (const std::string& type : rule.types) json.Text(type);
  json.EndArray();
  if (rule.min_schema) json.Field("min_schema", *rule.min_schema);
  if (rule.max_schema) json.Field("max_schema", *rule.max_schema);
  json.EndObject();
}

void WriteNamespace(JsonWriter& json, const Namespace& space) {
  const NamespaceSpec& spec = space.spec;
  json.BeginObject().Field("name", spec.name).Field("grammar", spec.grammar.ToString());
  json.Field("partition", spec.partition_field);
  if (spec.tenant_field) json.Field("tenant", *spec.tenant_field);
  if (spec.max_key_bytes) json.Field("max_key_bytes", *spec.max_key_bytes);
  if (spec.max_value_bytes) json.Field("max_value_bytes", *spec.max_value_bytes);
  if (spec.default_ttl) json.Field("default_ttl", InSeconds(*spec.default_ttl));
  json.Field("profile", ProfileName(spec.profile));
  WriteEnvelopeRule(json, spec.envelope);
  if (spec.retention) {
    json.Name("retention").BeginObject().Field("field", spec.retention->field);
    json.Field("keep", InSeconds(spec.retention->keep)).EndObject();
  }
  json.Field("feed", spec.feed).Field("state", space.state == Namespace::State::kActive ? "active" : "dropping");
  json.Field("version", space.version.ToString()).EndObject();
}

WorkOp::Reply NamespaceReply(const Namespace& space) {
  WorkOp::Reply reply;
  JsonWriter json(&reply.body);
  WriteNamespace(json, space);
  return reply;
}

// The name in "/namespaces/{name}" and what follows it.
Result<std::string> NameOf(const Call& call) {
  KVARTS_TRY(std::string name, PercentDecode(call.values[0]));
  KVARTS_CHECK_OK(CheckNamespaceName(name));
  return name;
}

// The version that a conditional change of a namespace asks for.
Result<std::optional<Version>> IfVersion(const Call& call) {
  KVARTS_TRY(const keys::Condition condition, ConditionOf(call));
  switch (condition.kind) {
    case keys::Condition::Kind::kNone:
      return std::optional<Version>();
    case keys::Condition::Kind::kAbsent:
      return std::optional(kNoVersion);
    case keys::Condition::Kind::kVersionIn:
      if (condition.versions.size() == 1) return std::optional(condition.versions.front());
      break;
    case keys::Condition::Kind::kPresent:
      break;
  }
  return Error(ErrorCode::kInvalidArgument, "of a namespace, If-Match is one version");
}

WorkOp::Reply ExplainReply(const KeyExplanation& explained) {
  using Verdict = KeyExplanation::Verdict;
  WorkOp::Reply reply;
  JsonWriter json(&reply.body);
  json.BeginObject().BytesField("key", explained.key);
  json.Field("verdict", explained.verdict == Verdict::kFree       ? "free"
                        : explained.verdict == Verdict::kGoverned ? "governed"
                                                                  : "refused");
  json.Name("namespaces").BeginArray();
  for (const std::string& name : explained.namespaces) json.Text(name);
  json.EndArray();
  if (!explained.grammar.empty()) json.BytesField("grammar", explained.grammar);
  json.Name("fields").BeginArray();
  for (const KeyExplanation::Field& field : explained.fields) {
    json.BeginObject().Field("name", field.name).Field("type", field.type).Field("position", field.position);
    json.BytesField("value", field.value).EndObject();
  }
  json.EndArray();
  if (explained.problem) {
    json.Name("problem").BeginObject().Field("position", explained.problem->position);
    if (!explained.problem->field.empty()) json.Field("field", explained.problem->field);
    json.BytesField("expected", explained.problem->expected).EndObject();
  }
  if (explained.partition) json.BytesField("partition", *explained.partition);
  if (explained.tenant) json.BytesField("tenant", *explained.tenant);
  if (explained.verdict == Verdict::kGoverned) json.Field("profile", ProfileName(explained.profile));
  json.BytesField("text", explained.ToString()).EndObject();
  return reply;
}

}  // namespace

Result<std::unique_ptr<SlowOp>> ListNamespaces(Call& call) {
  KVARTS_CHECK_OK(AuthorizeAdmin(call));
  return OnWorkers([&catalog = call.service.catalog]() -> Result<WorkOp::Reply> {
    KVARTS_TRY(const std::vector<Namespace> spaces, catalog.List());
    WorkOp::Reply reply;
    JsonWriter json(&reply.body);
    json.BeginObject().Name("items").BeginArray();
    for (const Namespace& space : spaces) WriteNamespace(json, space);
    json.EndArray().EndObject();
    return reply;
  });
}

Result<std::unique_ptr<SlowOp>> GetNamespace(Call& call) {
  KVARTS_TRY(std::string name, NameOf(call));
  KVARTS_CHECK_OK(AuthorizeAdmin(call, name));
  return OnWorkers([&catalog = call.service.catalog, name = std::move(name)]() -> Result<WorkOp::Reply> {
    KVARTS_TRY(const Namespace space, catalog.Get(name));
    return NamespaceReply(space);
  });
}

Result<std::unique_ptr<SlowOp>> PutNamespace(Call& call) {
  KVARTS_CHECK_OK(WantJson(call));
  KVARTS_TRY(std::string name, NameOf(call));
  KVARTS_CHECK_OK(AuthorizeAdmin(call, name));
  KVARTS_TRY(NamespaceSpec spec, ParseSpec(std::move(name), call.body));
  Catalog::DeclareOptions options;
  KVARTS_TRY(options.if_version, IfVersion(call));
  KVARTS_TRY(options.run, RunOptionsOf(call));
  return OnWorkers([&catalog = call.service.catalog, spec, options]() -> Result<WorkOp::Reply> {
    KVARTS_TRY(const Namespace space, catalog.Declare(spec, options));
    return NamespaceReply(space);
  });
}

Result<std::unique_ptr<SlowOp>> DeleteNamespace(Call& call) {
  KVARTS_TRY(std::string name, NameOf(call));
  KVARTS_CHECK_OK(AuthorizeAdmin(call, name));
  QueryReader query(call.head.query());
  Catalog::DropOptions options;
  options.erase = query.Flag("erase");
  KVARTS_CHECK_OK(query.Finish());
  KVARTS_TRY(options.if_version, IfVersion(call));
  KVARTS_TRY(options.run, RunOptionsOf(call));
  return OnWorkers([&catalog = call.service.catalog, name, options]() -> Result<WorkOp::Reply> {
    KVARTS_TRY(const Catalog::Dropped dropped, catalog.Drop(name, options));
    return StartedReply(dropped.job);
  });
}

Result<std::unique_ptr<SlowOp>> MoveIntoNamespace(Call& call) {
  KVARTS_CHECK_OK(WantJson(call));
  KVARTS_CHECK_OK(AuthorizeAdmin(call));
  Catalog::MoveSpec spec;
  KVARTS_TRY(spec.target, NameOf(call));
  std::optional<Bytes> source;
  JsonReader json(call.body);
  json.Object([&](std::string_view field) {
    if (TakeBytes(json, field, "from", &source) || TakeBytes(json, field, "to", &spec.target_prefix)) return;
    if (field == "throttle") {
      spec.throttle = static_cast<uint32_t>(json.Uint(UINT32_MAX));
    } else {
      json.Unknown(field);
    }
  });
  spec.source = std::move(source).value_or("");
  json.Require(!spec.source.empty(), "what is moved is missing: from");
  KVARTS_CHECK_OK(json.Finish());
  return OnWorkers([&catalog = call.service.catalog, spec]() -> Result<WorkOp::Reply> {
    KVARTS_TRY(const JobId job, catalog.StartMove(spec));
    return StartedReply(job);
  });
}

Result<std::unique_ptr<SlowOp>> DropBucket(Call& call) {
  KVARTS_CHECK_OK(WantJson(call));
  KVARTS_TRY(std::string name, NameOf(call));
  KVARTS_CHECK_OK(AuthorizeAdmin(call, name));
  std::optional<Bytes> given;
  std::string bucket;
  JsonReader json(call.body);
  json.Object([&](std::string_view field) {
    if (TakeBytes(json, field, "leading", &given)) return;
    if (field == "bucket") {
      bucket = json.Text();
    } else {
      json.Unknown(field);
    }
  });
  KVARTS_CHECK_OK(json.Finish());
  const Bytes leading = std::move(given).value_or("");
  return OnWorkers([&catalog = call.service.catalog, name, leading, bucket]() -> Result<WorkOp::Reply> {
    KVARTS_TRY(const Catalog::Dropped dropped, catalog.DropBucket(name, leading, bucket));
    return StartedReply(dropped.job);
  });
}

Result<std::unique_ptr<SlowOp>> ExplainKey(Call& call) {
  Bytes scratch;
  KVARTS_TRY(const BytesView key, KeyOf(call, &scratch));
  KVARTS_CHECK_OK(Authorize(call, Right::kRead, key));
  return OnWorkers([&catalog = call.service.catalog, key = Bytes(key)]() -> Result<WorkOp::Reply> {
    KVARTS_TRY(const KeyExplanation explained, catalog.Explain(key));
    return ExplainReply(explained);
  });
}

}  // namespace kvarts::http
