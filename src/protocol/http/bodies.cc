#include "protocol/http/bodies.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <functional>

#include "base/error_fields.h"
#include "core/user_keys.h"
#include "encoding/json_minify.h"
#include "encoding/json_reader.h"
#include "encoding/json_writer.h"
#include "model/keys/keys.h"
#include "net/http/negotiate.h"
#include "protocol/http/redis_bodies.h"
#include "protocol/http/row_bodies.h"

namespace kvarts::http {
namespace {

using keys::Condition;
using keys::Lifetime;

constexpr std::string_view kBase64 = "_base64";

int64_t MicrosOf(double seconds) { return std::llround(seconds * 1e6); }

// Everything that a body, a mutation or a precondition may say; which of it belongs there is checked afterwards.
struct Fields {
  std::optional<std::string_view> op;
  std::optional<Bytes> key;
  std::optional<keys::NewValue> value;
  std::optional<Lifetime> ttl;
  std::optional<Envelope> envelope;
  std::optional<Bytes> type;
  bool counter = false;
  std::optional<int64_t> by;  // or "increment"
  std::optional<Bytes> append;
  std::optional<KeyRange> prefix;
  std::optional<Bytes> start;
  std::optional<Bytes> end;
  std::optional<Condition> condition;
  std::optional<Version> unchanged_since;
  std::optional<bool> missing_ok;
  bool all = false;
};

std::optional<Version> ReadVersion(JsonReader& json) {
  const auto version = Version::Parse(json.Text());
  json.Require(version.has_value(), "a version is a text of decimal digits");
  return version;
}

keys::NewValue ReadValue(JsonReader& json) {
  if (json.Peek() == JsonKind::kText) return {ValueKind::kBytes, Bytes(json.Text()), {}};
  keys::NewValue value{ValueKind::kJson, {}, {}};
  AppendMinified(&value.bytes, json.Raw());
  return value;
}

Lifetime ReadLifetime(JsonReader& json) {
  if (json.TakeNull()) return {Lifetime::Kind::kForever, {}};
  return ReadSeconds(json);
}

Error Missing(const char* text, const char* field) {
  return Error(ErrorCode::kInvalidArgument, text, {{"field", field}});
}

Envelope ReadEnvelope(JsonReader& json) {
  Envelope envelope;
  json.Object([&](std::string_view name) {
    const auto text = [&](std::string* to) {
      *to = json.Text();
      json.Require(to->size() <= EnvelopeView::kMaxTextBytes, "the text is too long for an envelope");
    };
    if (name == "schemaVersion") {
      envelope.schema = static_cast<uint32_t>(json.Uint(UINT32_MAX));
    } else if (name == "entityType") {
      text(&envelope.type);
    } else if (name == "tenantId") {
      text(&envelope.tenant);
    } else if (name == "updatedBy") {
      text(&envelope.actor);
    } else if (name == "traceId") {
      text(&envelope.trace);
    } else if (name == "commandId") {
      text(&envelope.command);
    } else {
      json.Unknown(name);
    }
  });
  return envelope;
}

void ReadCondition(JsonReader& json, std::string_view name, Fields* fields) {
  json.Require(!fields->condition.has_value(), "only one condition can be given");
  Condition condition;
  if (name == "version") {
    condition.kind = Condition::Kind::kVersionIn;
    condition.versions.push_back(ReadVersion(json).value_or(kNoVersion));
  } else {
    condition.kind = name == "absent" ? Condition::Kind::kAbsent : Condition::Kind::kPresent;
    json.Require(json.Bool(), "a condition can only be true");
  }
  fields->condition = std::move(condition);
}

// What has two names is given by one of them.
bool GivenAlready(std::string_view name, const Fields& fields) {
  if (name.starts_with("key")) return fields.key.has_value();
  if (name.starts_with("value")) return fields.value.has_value();
  if (name.starts_with("append")) return fields.append.has_value();
  if (name.starts_with("prefix")) return fields.prefix.has_value();
  if (name.starts_with("start")) return fields.start.has_value();
  if (name.starts_with("end")) return fields.end.has_value();
  return (name == "by" || name == "increment") && fields.by.has_value();
}

bool ReadOneField(JsonReader& json, std::string_view name, Fields* fields) {
  json.Require(!GivenAlready(name, *fields), "the same is given twice, in two forms");
  if (name == "op") {
    fields->op = json.Text();
  } else if (name == "key") {
    fields->key = json.Text();
  } else if (name == "key_base64") {
    fields->key = json.Base64();
  } else if (name == "value") {
    fields->value = ReadValue(json);
  } else if (name == "value_base64") {
    fields->value = keys::NewValue{ValueKind::kBytes, json.Base64(), {}};
  } else if (name == "ttl") {
    fields->ttl = ReadLifetime(json);
  } else if (name == "envelope") {
    fields->envelope = ReadEnvelope(json);
  } else if (name == "type") {
    fields->type = json.Text();
    json.Require(!fields->type->empty() && MediaType::Parse(*fields->type).has_value(), "a type is a media type");
  } else if (name == "counter") {
    fields->counter = json.Bool();
  } else if (name == "by" || name == "increment") {
    fields->by = json.Int();
  } else if (name == "append") {
    fields->append = json.Text();
  } else if (name == "append_base64") {
    fields->append = json.Base64();
  } else if (name == "prefix") {
    fields->prefix = KeyRange::Prefix(json.Text());
  } else if (name == "prefix_base64") {
    fields->prefix = KeyRange::Prefix(json.Base64());
  } else if (name == "start") {
    fields->start = json.Text();
  } else if (name == "start_base64") {
    fields->start = json.Base64();
  } else if (name == "end") {
    fields->end = json.Text();
  } else if (name == "end_base64") {
    fields->end = json.Base64();
  } else if (name == "absent" || name == "present" || name == "version") {
    ReadCondition(json, name, fields);
  } else if (name == "unchanged_since") {
    fields->unchanged_since = ReadVersion(json);
  } else if (name == "missing_ok") {
    fields->missing_ok = json.Bool();
  } else if (name == "all") {
    fields->all = json.Bool();
  } else {
    return false;
  }
  return true;
}

// Reads an object that may have these fields and no others, unless `other` takes them. What is bytes may be in base64.
Fields ReadFields(JsonReader& json, std::initializer_list<std::string_view> allowed,
                  const std::function<bool(std::string_view)>& other = {}) {
  Fields fields;
  json.Object([&](std::string_view name) {
    if (other && other(name)) return;
    const std::string_view plain = name.substr(0, name.ends_with(kBase64) ? name.size() - kBase64.size() : name.npos);
    if (std::ranges::find(allowed, plain) == allowed.end() || !ReadOneField(json, name, &fields)) json.Unknown(name);
  });
  return fields;
}

// Makes what was given as a JSON integer the value of a counter.
void MakeCounter(JsonReader& json, keys::NewValue* value) {
  int64_t number = 0;
  const char* const end = value->bytes.data() + value->bytes.size();
  const auto [at, failed] = std::from_chars(value->bytes.data(), end, number);
  json.Require(value->kind == ValueKind::kJson && failed == std::errc() && at == end,
               "a counter is an integer of 64 bits");
  *value = {ValueKind::kCounter, CounterValue(number), {}};
}

// Gives bytes their media type.
void MakeTyped(JsonReader& json, BytesView type, keys::NewValue* value) {
  Result<Bytes> typed = TypedValue{type, value->bytes}.Encode();
  json.Require(value->kind == ValueKind::kBytes && typed.has_value(), "only a text or base64 has a type, a short one");
  if (typed.has_value()) *value = {ValueKind::kTyped, *std::move(typed), {}};
}

keys::NewValue TakeValue(JsonReader& json, Fields& fields) {
  json.Require(fields.value.has_value(), "a value is missing");
  keys::NewValue value = fields.value ? std::move(*fields.value) : keys::NewValue();
  json.Require(fields.counter + fields.type.has_value() + fields.envelope.has_value() <= 1,
               "a value is a counter, or has a type or an envelope");
  if (fields.counter) MakeCounter(json, &value);
  if (fields.type) MakeTyped(json, *fields.type, &value);
  if (!fields.envelope) return value;
  // The payload of an envelope is JSON, so a text stands there with its quotes.
  value.envelope = std::move(fields.envelope);
  if (value.kind == ValueKind::kBytes) {
    Bytes quoted;
    AppendJsonText(&quoted, value.bytes);
    value.bytes = std::move(quoted);
  }
  return value;
}

Bytes TakeKey(JsonReader& json, Fields& fields) {
  json.Require(fields.key.has_value(), "a key is missing");
  json.Require(!fields.key || !fields.key->empty(), "the key is empty");
  return fields.key ? std::move(*fields.key) : Bytes();
}

KeyRange TakeRange(JsonReader& json, Fields& fields) {
  json.Require(fields.prefix.has_value() != (fields.start && fields.end), "a range is a prefix, or a start and an end");
  if (fields.prefix) {
    json.Require(!fields.prefix->start.empty(), "a range needs a bound");
    return std::move(*fields.prefix);
  }
  KeyRange range{fields.start.value_or(""), fields.end.value_or("")};
  json.Require(range.HasEnd() && !range.IsEmpty(), "a range must start before it ends");
  return range;
}

// Which groups of fields an operation takes, besides its key or range.
enum Takes : unsigned {
  kValue = 1,
  kTtl = 2,
  kEnvelope = 4,
  kBy = 8,
  kCondition = 16,
  kMissingOk = 32,
  kRange = 64,
  kKey = 128
};

// That nothing is given which the operation would ignore.
void Only(JsonReader& json, const Fields& fields, unsigned takes) {
  const bool value = fields.value || fields.type || fields.counter;
  const unsigned given = (value ? kValue : 0U) | (fields.ttl ? kTtl : 0U) | (fields.envelope ? kEnvelope : 0U) |
                         (fields.by ? kBy : 0U) | (fields.condition ? kCondition : 0U) |
                         (fields.missing_ok ? kMissingOk : 0U) | (fields.key ? kKey : 0U) |
                         (fields.prefix || fields.start || fields.end ? kRange : 0U);
  json.Require((given & ~takes) == 0, "the operation does not take all of these fields");
}

keys::Command MakeCommand(JsonReader& json, Fields& fields) {
  const std::string_view op = fields.op.value_or("");
  const Lifetime keep{Lifetime::Kind::kKeep, {}};
  Condition condition = std::move(fields.condition).value_or(Condition());
  if (op == "put") {
    Only(json, fields, kKey | kValue | kTtl | kEnvelope | kCondition);
    keys::NewValue value = TakeValue(json, fields);
    return keys::Put{TakeKey(json, fields), std::move(value), fields.ttl.value_or(Lifetime()), std::move(condition)};
  }
  if (op == "delete") {
    Only(json, fields, kKey | kCondition | kMissingOk);
    return keys::Delete{TakeKey(json, fields), std::move(condition), fields.missing_ok.value_or(false)};
  }
  if (op == "touch") {
    Only(json, fields, kKey | kTtl | kCondition);
    json.Require(fields.ttl.has_value(), "a ttl is missing");
    return keys::Touch{TakeKey(json, fields), fields.ttl.value_or(keep), std::move(condition)};
  }
  if (op == "increment") {
    Only(json, fields, kKey | kBy | kTtl | kCondition);
    return keys::Increment{TakeKey(json, fields), fields.by.value_or(1), fields.ttl.value_or(keep),
                           std::move(condition)};
  }
  if (op == "append") {
    Only(json, fields, kKey | kValue | kTtl | kCondition);
    keys::NewValue value = TakeValue(json, fields);
    json.Require(value.kind == ValueKind::kBytes && !value.envelope, "only a text can be appended");
    return keys::Append{TakeKey(json, fields), std::move(value.bytes), fields.ttl.value_or(keep), std::move(condition)};
  }
  if (op == "add") {
    Only(json, fields, kKey | kBy);
    return keys::Add{TakeKey(json, fields), fields.by.value_or(1)};
  }
  json.Require(
      op == "delete_range",
      "op is put, delete, touch, increment, append, add, delete_range, put_row, patch_row, delete_row or redis");
  Only(json, fields, kRange);
  return keys::DeleteRange{TakeRange(json, fields)};
}

void ReadMutation(JsonReader& json, CommitBody* commit) {
  constexpr std::string_view kOfRow = "_row";
  RowFields row;
  RedisFields redis;
  const auto of_others = [&](std::string_view name) {
    if (ReadRedisField(json, name, &redis)) return true;
    // What both have: of a row a key is an object.
    if (name == "missing_ok" || (name == "key" && json.Peek() != JsonKind::kObject)) return false;
    return ReadRowField(json, name, &row);
  };
  Fields fields = ReadFields(json,
                             {"op", "key", "value", "type", "counter", "ttl", "envelope", "by", "prefix", "start",
                              "end", "absent", "present", "version", "missing_ok"},
                             of_others);
  const std::string_view op = fields.op.value_or("");
  json.Require(redis.any() == (op == "redis"), "the operation redis, and no other, takes a command");
  if (op == "redis") {
    json.Require(!row.any, "only the operations put_row, patch_row and delete_row take such fields");
    Only(json, fields, 0);
    return TakeRedis(json, std::move(redis), commit);
  }
  if (!op.ends_with(kOfRow)) {
    json.Require(!row.any, "only the operations put_row, patch_row and delete_row take such fields");
    commit->commands.push_back(MakeCommand(json, fields));
    commit->order.push_back(CommitBody::Of::kKey);
    return;
  }
  Only(json, fields, kMissingOk);
  row.missing_ok = fields.missing_ok;
  commit->rows.push_back(MakeRowCommand(json, op.substr(0, op.size() - kOfRow.size()), std::move(row)));
  commit->order.push_back(CommitBody::Of::kRow);
}

keys::Requirement ReadPrecondition(JsonReader& json) {
  Fields fields =
      ReadFields(json, {"key", "absent", "present", "version", "prefix", "start", "end", "unchanged_since"});
  keys::Requirement requirement;
  if (fields.unchanged_since) {
    json.Require(!fields.key && !fields.condition, "a range is a prefix, or a start and an end");
    requirement.range = TakeRange(json, fields);
    requirement.unchanged_since = *fields.unchanged_since;
    return requirement;
  }
  json.Require(fields.condition.has_value(), "a precondition says absent, present, version or unchanged_since");
  requirement.key = TakeKey(json, fields);
  requirement.condition = std::move(fields.condition).value_or(Condition());
  return requirement;
}

}  // namespace

bool TakeBytes(JsonReader& json, std::string_view field, std::string_view name, std::optional<Bytes>* to) {
  if (!field.starts_with(name)) return false;
  const std::string_view form = field.substr(name.size());
  if (!form.empty() && form != kBase64) return false;
  json.Require(!to->has_value(), "the same is given twice, in two forms");
  *to = form.empty() ? Bytes(json.Text()) : json.Base64();
  return true;
}

const char* WhyNoLifetime(double seconds) {
  // Whatever is longer than a clock can show is refused where the clock is known.
  constexpr double kMost = 1e12;
  if (seconds > kMost) return "the ttl is too large; what has none is there for ever";
  if (!(seconds > 0) || MicrosOf(seconds) < 1) return "a ttl is a number of seconds above zero";
  return nullptr;
}

Result<Lifetime> LifetimeOf(double seconds) {
  if (const char* why = WhyNoLifetime(seconds)) return Error(ErrorCode::kInvalidArgument, why);
  return Lifetime::For(Duration::Micros(MicrosOf(seconds)));
}

Lifetime ReadSeconds(JsonReader& json) {
  const double seconds = json.Double();
  const char* why = WhyNoLifetime(seconds);
  json.Require(why == nullptr, why);
  return LifetimeOf(seconds).value_or(Lifetime());
}

Result<keys::Put> ParsePutBody(std::string_view body) {
  JsonReader json(body);
  Fields fields = ReadFields(json, {"value", "type", "counter", "ttl", "envelope"});
  if (!fields.value) {
    KVARTS_CHECK_OK(json.Finish());
    return Missing("a value is missing", "value");
  }
  keys::Put put;
  put.value = TakeValue(json, fields);
  put.lifetime = fields.ttl.value_or(Lifetime());
  KVARTS_CHECK_OK(json.Finish());
  return put;
}

Result<keys::Command> ParsePatchBody(std::string_view body) {
  JsonReader json(body);
  const Fields fields = ReadFields(json, {"ttl", "increment", "append"});
  json.Require(!(fields.by && fields.append), "a change is an increment or an append, not both");
  json.Require(fields.by || fields.append || fields.ttl, "a change is an increment, an append or a ttl");
  KVARTS_CHECK_OK(json.Finish());
  const Lifetime lifetime = fields.ttl.value_or(Lifetime{Lifetime::Kind::kKeep, {}});
  if (fields.by) return keys::Increment{{}, *fields.by, lifetime, {}};
  if (fields.append) return keys::Append{{}, *fields.append, lifetime, {}};
  return keys::Touch{{}, lifetime, {}};
}

Error CommitBody::At(const char* of_list, size_t place, const Error& error) const {
  return requirements.size() + order.size() == 1 ? error : AtPlace(of_list, place, error);
}

Error CommitBody::At(Of of, size_t number, const Error& error) const {
  size_t place = 0;
  for (size_t before = number; order[place] != of || before-- > 0;) ++place;
  return At(list, place, error);
}

Error AtPlace(const char* list, size_t place, const Error& error) {
  return WithField(error, "at", fmt::format("{}[{}]", list, place));
}

Result<CommitBody> ParseCommitBody(std::string_view body, size_t max_operations) {
  JsonReader json(body);
  CommitBody commit;
  // The first that is too many stops the reading.
  size_t operations = 0;
  const auto count = [&] {
    if (++operations <= max_operations) return true;
    json.Refuse(Error(ErrorCode::kTooLarge, "the commit has too many operations",
                      {{"limit", "max_commit_operations"}, {"at_most", std::to_string(max_operations)}}));
    return false;
  };
  json.Object([&](std::string_view name) {
    if (name == "preconditions") {
      json.Array([&] {
        if (count()) commit.requirements.push_back(ReadPrecondition(json));
      });
    } else if (name == "mutations") {
      json.Array([&] {
        if (count()) ReadMutation(json, &commit);
      });
    } else {
      json.Unknown(name);
    }
  });
  KVARTS_CHECK_OK(json.Finish());
  if (commit.order.empty() && commit.requirements.empty()) {
    return Error(ErrorCode::kInvalidArgument, "a commit has preconditions or mutations");
  }
  KVARTS_CHECK_OK(keys::CheckAdds(commit.commands));
  return commit;
}

Result<KeyRange> ParseRangeBody(std::string_view body) {
  JsonReader json(body);
  Fields fields = ReadFields(json, {"prefix", "start", "end", "all"});
  const bool bounds = fields.prefix || fields.start || fields.end;
  json.Require(bounds != fields.all, "a range is a prefix, or a start and an end; everything is \"all\": true");
  KeyRange range;
  if (bounds) range = TakeRange(json, fields);
  KVARTS_CHECK_OK(json.Finish());
  return range;
}

Error TooManyKeys(size_t at_most) {
  return Error(ErrorCode::kTooLarge, "there are too many keys",
               {{"limit", "max_batch_keys"}, {"at_most", std::to_string(at_most)}});
}

Result<std::vector<Bytes>> ParseKeysBody(std::string_view body, size_t at_most) {
  JsonReader json(body);
  std::vector<Bytes> keys;
  bool given = false;
  json.Object([&](std::string_view name) {
    if (name != "keys") return json.Unknown(name);
    given = true;
    json.Array([&] {
      if (keys.size() == at_most) return json.Refuse(TooManyKeys(at_most));
      if (json.Peek() == JsonKind::kObject) {
        Fields fields = ReadFields(json, {"key"});
        keys.push_back(TakeKey(json, fields));
      } else {
        keys.emplace_back(json.Text());
        json.Require(!keys.back().empty(), "the key is empty");
      }
    });
  });
  KVARTS_CHECK_OK(json.Finish());
  if (!given) return Missing("the keys are missing", "keys");
  return keys;
}

}  // namespace kvarts::http
