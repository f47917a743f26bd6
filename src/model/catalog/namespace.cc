#include "model/catalog/namespace.h"

#include <algorithm>

#include "core/envelope.h"
#include "core/fields.h"
#include "core/keyspace.h"

namespace kvarts {
namespace {

constexpr uint8_t kFormat = 1;
constexpr std::string_view kSettingsName = "namespace";
constexpr std::string_view kStampName = "catalog";

constexpr unsigned kHasTenant = 1;
constexpr unsigned kHasMaxKey = 2;
constexpr unsigned kHasMaxValue = 4;
constexpr unsigned kHasTtl = 8;
constexpr unsigned kEnvelopeRequired = 16;
constexpr unsigned kHasMinSchema = 32;
constexpr unsigned kHasMaxSchema = 64;
constexpr unsigned kHasRetention = 128;
constexpr unsigned kHasFeed = 256;
constexpr unsigned kAllFlags = 511;

// The longest that anything may be kept: what a clock can show.
constexpr uint64_t kMaxMicros = kLastTimestamp.micros;

Error Refused(const char* why, std::string_view field, std::string is) {
  return Error(ErrorCode::kInvalidArgument, why, {{"field", std::string(field)}, {"is", std::move(is)}});
}

Status CheckLimit(const std::optional<uint64_t>& limit, std::string_view field, uint64_t at_most) {
  if (!limit || (*limit > 0 && *limit <= at_most)) return {};
  return Error(ErrorCode::kInvalidArgument, "a namespace's limit must lie between one and the store's own",
               {{"field", std::string(field)}, {"is", std::to_string(*limit)}, {"at_most", std::to_string(at_most)}});
}

Status CheckDuration(Duration duration, std::string_view field) {
  if (duration.micros > 0 && static_cast<uint64_t>(duration.micros) <= kMaxMicros) return {};
  return Refused("a duration must be positive and end before the year 2255", field,
                 std::to_string(duration.micros) + "us");
}

Status CheckEnvelopeRule(const EnvelopeRule& rule) {
  if (!rule.required && (!rule.types.empty() || rule.min_schema || rule.max_schema)) {
    return Refused("types and schema versions are for a required envelope", "envelope.required", "false");
  }
  if (rule.types.size() > NamespaceSpec::kMaxTypes) {
    return Error(ErrorCode::kTooLarge, "there are too many entity types",
                 {{"field", "envelope.types"},
                  {"limit", "max_entity_types"},
                  {"at_most", std::to_string(NamespaceSpec::kMaxTypes)}});
  }
  for (const std::string& type : rule.types) {
    if (type.empty() || type.size() > EnvelopeView::kMaxTextBytes) {
      return Refused("an entity type has 1 to 1024 bytes", "envelope.types", Escaped(type));
    }
  }
  if (rule.min_schema && rule.max_schema && *rule.min_schema > *rule.max_schema) {
    return Refused("the first schema version must not be above the last", "envelope.min_schema",
                   std::to_string(*rule.min_schema));
  }
  return {};
}

Status CheckRetention(const NamespaceSpec& spec) {
  const std::optional<size_t> field = spec.grammar.FieldIndex(spec.retention->field);
  if (!field) return Refused("the grammar has no such field", "retention.field", Escaped(spec.retention->field));
  const FieldType& type = spec.grammar.fields()[*field].type;
  if (!type.IsTime()) return Refused("retention goes by a date or a timestamp", "retention.field", type.ToString());
  return CheckDuration(spec.retention->keep, "retention.keep");
}

unsigned FlagsOf(const Namespace& space) {
  const NamespaceSpec& spec = space.spec;
  unsigned flags = 0;
  if (!spec.tenant_field->empty()) flags |= kHasTenant;
  if (spec.max_key_bytes) flags |= kHasMaxKey;
  if (spec.max_value_bytes) flags |= kHasMaxValue;
  if (spec.default_ttl) flags |= kHasTtl;
  if (spec.envelope.required) flags |= kEnvelopeRequired;
  if (spec.envelope.min_schema) flags |= kHasMinSchema;
  if (spec.envelope.max_schema) flags |= kHasMaxSchema;
  if (spec.retention) flags |= kHasRetention;
  if (space.feed) flags |= kHasFeed;
  return flags;
}

// Everything from the limits on.
void TakeRules(FieldReader* fields, uint64_t flags, Namespace* space) {
  NamespaceSpec& spec = space->spec;
  const auto micros = [&] { return Duration::Micros(static_cast<int64_t>(fields->Varint(kMaxMicros))); };
  if ((flags & kHasMaxKey) != 0) spec.max_key_bytes = fields->Varint();
  if ((flags & kHasMaxValue) != 0) spec.max_value_bytes = fields->Varint();
  if ((flags & kHasTtl) != 0) spec.default_ttl = micros();
  spec.envelope.required = (flags & kEnvelopeRequired) != 0;
  const uint64_t types = fields->Varint(NamespaceSpec::kMaxTypes);
  for (uint64_t i = 0; i < types && fields->ok(); ++i) {
    spec.envelope.types.emplace_back(fields->Sized(EnvelopeView::kMaxTextBytes));
  }
  if ((flags & kHasMinSchema) != 0) spec.envelope.min_schema = static_cast<uint32_t>(fields->Varint(UINT32_MAX));
  if ((flags & kHasMaxSchema) != 0) spec.envelope.max_schema = static_cast<uint32_t>(fields->Varint(UINT32_MAX));
  if ((flags & kHasRetention) != 0) {
    spec.retention.emplace();
    spec.retention->field = fields->Sized(Grammar::kMaxNameBytes);
    spec.retention->keep = micros();
  }
  spec.feed = (flags & kHasFeed) != 0;
  if (spec.feed) space->feed = FeedId{fields->Varint()};
}

}  // namespace

Status CheckNamespaceName(std::string_view name) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_'; };
  if (!name.empty() && name.size() <= NamespaceSpec::kMaxNameBytes && std::ranges::all_of(name, fits)) return {};
  return Refused("a namespace's name has 1 to 64 bytes of a-z, 0-9, - and _", "name", Escaped(name.substr(0, 100)));
}

Result<NamespaceSpec> Validate(NamespaceSpec spec, const Limits& limits) {
  KVARTS_CHECK_OK(CheckNamespaceName(spec.name));
  const Grammar& grammar = spec.grammar;
  if (grammar.fields().empty()) return Refused("a namespace must have a grammar", "grammar", "");
  if (spec.partition_field.empty()) spec.partition_field = grammar.fields().front().name;
  if (!grammar.FieldIndex(spec.partition_field)) {
    return Refused("the grammar has no such field", "partition_field", Escaped(spec.partition_field));
  }
  if (!spec.tenant_field) spec.tenant_field = grammar.FieldIndex("tenant") ? "tenant" : "";
  if (!spec.tenant_field->empty() && !grammar.FieldIndex(*spec.tenant_field)) {
    return Refused("the grammar has no such field", "tenant_field", Escaped(*spec.tenant_field));
  }
  KVARTS_CHECK_OK(CheckLimit(spec.max_key_bytes, "max_key_bytes", limits.max_key_bytes));
  KVARTS_CHECK_OK(CheckLimit(spec.max_value_bytes, "max_value_bytes", limits.max_value_bytes));
  if (grammar.literal_prefix().size() >= spec.max_key_bytes.value_or(limits.max_key_bytes)) {
    return Refused("no key that begins with this literal is within the limit", "max_key_bytes",
                   Escaped(grammar.literal_prefix()));
  }
  if (spec.default_ttl) KVARTS_CHECK_OK(CheckDuration(*spec.default_ttl, "default_ttl"));
  KVARTS_CHECK_OK(CheckEnvelopeRule(spec.envelope));
  std::ranges::sort(spec.envelope.types);
  const auto twice = std::ranges::unique(spec.envelope.types);
  spec.envelope.types.erase(twice.begin(), twice.end());
  if (spec.retention) KVARTS_CHECK_OK(CheckRetention(spec));
  return spec;
}

Namespace Namespace::Of(NamespaceSpec spec) {
  Namespace space;
  space.spec = std::move(spec);
  const Grammar& grammar = space.spec.grammar;
  space.partition = grammar.FieldIndex(space.spec.partition_field).value_or(0);
  space.tenant = grammar.FieldIndex(space.spec.tenant_field.value_or(""));
  if (space.spec.retention) space.retained = grammar.FieldIndex(space.spec.retention->field);
  return space;
}

size_t Namespace::PartitionEnd(BytesView key, const KeyFields& fields) const {
  return static_cast<size_t>(fields[partition].data() - key.data()) + fields[partition].size();
}

Bytes Namespace::OldestKept(Timestamp now) const {
  if (!retained) return {};
  const auto keep = static_cast<uint64_t>(spec.retention->keep.micros);
  if (now.micros <= keep) return {};
  return spec.grammar.fields()[*retained].type.ValueAt({now.micros - keep});
}

Bytes Namespace::Encode() const {
  Bytes bytes;
  bytes.push_back(static_cast<char>(kFormat));
  bytes.push_back(static_cast<char>(state));
  bytes.push_back(static_cast<char>(spec.profile));
  AppendVarint(&bytes, FlagsOf(*this));
  AppendSized(&bytes, spec.grammar.ToString());
  AppendSized(&bytes, spec.partition_field);
  if (!spec.tenant_field->empty()) AppendSized(&bytes, *spec.tenant_field);
  if (spec.max_key_bytes) AppendVarint(&bytes, *spec.max_key_bytes);
  if (spec.max_value_bytes) AppendVarint(&bytes, *spec.max_value_bytes);
  if (spec.default_ttl) AppendVarint(&bytes, static_cast<uint64_t>(spec.default_ttl->micros));
  AppendVarint(&bytes, spec.envelope.types.size());
  for (const std::string& type : spec.envelope.types) AppendSized(&bytes, type);
  if (spec.envelope.min_schema) AppendVarint(&bytes, *spec.envelope.min_schema);
  if (spec.envelope.max_schema) AppendVarint(&bytes, *spec.envelope.max_schema);
  if (spec.retention) AppendSized(&bytes, spec.retention->field);
  if (spec.retention) AppendVarint(&bytes, static_cast<uint64_t>(spec.retention->keep.micros));
  if (feed) AppendVarint(&bytes, feed->number);
  return bytes;
}

Result<Namespace> Namespace::Decode(BytesView name, BytesView bytes) {
  FieldReader fields(bytes);
  Namespace space;
  NamespaceSpec& spec = space.spec;
  spec.name = name;
  fields.Require(fields.Byte() == kFormat, "an unknown format");
  const auto state = static_cast<State>(fields.Byte(static_cast<uint8_t>(State::kDropping)));
  spec.profile = static_cast<Profile>(fields.Byte(static_cast<uint8_t>(Profile::kWindow)));
  const uint64_t flags = fields.Varint(kAllFlags);
  const BytesView text = fields.Sized(Grammar::kMaxTextBytes);
  Result<Grammar> grammar = Grammar::Parse(text);
  fields.Require(grammar.has_value() && grammar->ToString() == text, "a grammar that is none");
  if (grammar.has_value()) spec.grammar = *std::move(grammar);
  spec.partition_field = fields.Sized(Grammar::kMaxNameBytes);
  spec.tenant_field = (flags & kHasTenant) != 0 ? std::string(fields.Sized(Grammar::kMaxNameBytes)) : "";
  fields.Require(spec.tenant_field->empty() == ((flags & kHasTenant) == 0), "a tenant field without a name");
  TakeRules(&fields, flags, &space);
  // The limits of a store may shrink; those of a namespace stay what they are.
  Limits any;
  any.max_key_bytes = any.max_value_bytes = SIZE_MAX;
  if (fields.ok()) {
    Result<NamespaceSpec> valid = Validate(spec, any);
    fields.Require(valid.has_value() && *valid == spec, "a namespace that cannot be declared");
  }
  KVARTS_CHECK_OK(fields.Finish("the namespace is damaged"));
  const std::optional<FeedId> feed = space.feed;
  space = Of(std::move(spec));
  space.state = state;
  space.feed = feed;
  return space;
}

KeyBuffer NamespaceKey(std::string_view name) {
  KeyBuffer key;
  BeginKey(&key, Space::kSettings).Text(kSettingsName).Text(name);
  return key;
}

KeyRange NamespaceKeys() {
  KeyBuffer key;
  BeginKey(&key, Space::kSettings).Text(kSettingsName);
  return KeyRange::Prefix(key);
}

Result<std::string> NameOfNamespaceKey(BytesView key) {
  TupleReader reader(key);
  KVARTS_CHECK_OK(reader.Skip());
  KVARTS_CHECK_OK(reader.Skip());
  KVARTS_TRY(std::string name, reader.TakeText());
  KVARTS_CHECK_OK(reader.Finish());
  return name;
}

const Bytes& CatalogStampKey() {
  static const Bytes kKey = [] {
    KeyBuffer key;
    BeginKey(&key, Space::kSettings).Text(kStampName);
    return Bytes(key.view());
  }();
  return kKey;
}

}  // namespace kvarts
