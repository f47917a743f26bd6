// A namespace: the rules for the keys and values under a grammar, as they are declared and stored (FORMAT.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/version.h"
#include "core/feed_codec.h"
#include "engine/engine.h"
#include "model/catalog/grammar.h"

namespace kvarts {

struct EnvelopeRule {
  bool required = false;                    // every value is an envelope
  std::vector<std::string> types;           // what it may be an envelope of; none: anything
  std::optional<uint32_t> min_schema = {};  // of the payload
  std::optional<uint32_t> max_schema = {};
  friend bool operator==(const EnvelopeRule&, const EnvelopeRule&) = default;
};

// Keys whose field is older than this go.
struct RetentionRule {
  std::string field;  // a date or a timestamp
  Duration keep;
  friend bool operator==(const RetentionRule&, const RetentionRule&) = default;
};

struct NamespaceSpec {
  static constexpr size_t kMaxNameBytes = 64;
  static constexpr size_t kMaxTypes = 256;

  std::string name;  // 1 to 64 bytes of a-z, 0-9, - and _
  Grammar grammar;
  std::string partition_field;              // empty: the first field
  std::optional<std::string> tenant_field;  // nothing: the field called tenant, if there is one; empty: none
  std::optional<uint64_t> max_key_bytes;    // nothing: what the store allows
  std::optional<uint64_t> max_value_bytes;
  std::optional<Duration> default_ttl;  // of what is put without an expiry
  Profile profile = Profile::kLookup;
  EnvelopeRule envelope;
  std::optional<RetentionRule> retention;
  bool feed = false;

  friend bool operator==(const NamespaceSpec&, const NamespaceSpec&) = default;
};

// `invalid_argument` with the field of the spec and what is wrong with it. Fills in the defaults that depend on the
// grammar, so that equal specs compare equal.
Result<NamespaceSpec> Validate(NamespaceSpec spec, const Limits& limits);
Status CheckNamespaceName(std::string_view name);

// A namespace as it is stored.
struct Namespace {
  enum class State : uint8_t {
    kActive = 0,
    kDropping = 1,  // nothing is put any more; a job erases its keys and then the namespace
  };

  NamespaceSpec spec;
  State state = State::kActive;
  std::optional<FeedId> feed;  // exactly if the spec asks for one

  // Not in the bytes, but where they are stored.
  Version version;

  // Derived from the spec.
  size_t partition = 0;  // the indices of fields
  std::optional<size_t> tenant;
  std::optional<size_t> retained;

  // Of a validated spec.
  static Namespace Of(NamespaceSpec spec);
  // Where the key's partition ends. `fields` are the key's.
  size_t PartitionEnd(BytesView key, const KeyFields& fields) const;
  // The first value of its field that retention keeps at this time; empty when it keeps all of them.
  Bytes OldestKept(Timestamp now) const;
  // All keys that begin as this namespace's do.
  KeyRange Region() const { return KeyRange::Prefix(spec.grammar.literal_prefix()); }

  Bytes Encode() const;
  // Any bytes are a namespace or `corruption`.
  static Result<Namespace> Decode(BytesView name, BytesView bytes);

  friend bool operator==(const Namespace&, const Namespace&) = default;
};

// (1, "namespace", name), all of these, and the name in one.
KeyBuffer NamespaceKey(std::string_view name);
KeyRange NamespaceKeys();
Result<std::string> NameOfNamespaceKey(BytesView key);
// (1, "catalog"): its version is that of the newest change to any namespace. Its value is empty.
const Bytes& CatalogStampKey();

}  // namespace kvarts
