#include "model/catalog/guard.h"

#include <algorithm>

#include "core/envelope.h"
#include "model/catalog/refusals.h"

namespace kvarts {
namespace {

using Reading = NamespaceTable::Reading;
using Verdict = NamespaceTable::Verdict;

Error TooLarge(const char* text, const Namespace& space, const char* limit, uint64_t at_most, size_t is) {
  return Error(ErrorCode::kTooLarge, text,
               {{"namespace", space.spec.name},
                {"limit", limit},
                {"at_most", std::to_string(at_most)},
                {"is", std::to_string(is)}});
}

// The namespace of a key that may be written; null when it is free.
Result<const Namespace*> Govern(const NamespaceTable& table, BytesView user_key, Reading* reading) {
  table.Read(user_key, reading);
  if (reading->verdict == Verdict::kFree) return nullptr;
  if (reading->verdict == Verdict::kRefused) return table.Refusal(user_key, *reading);
  const Namespace& space = *reading->space;
  if (space.state == Namespace::State::kDropping) return NamespaceIsDropped(space.spec.name);
  if (space.spec.max_key_bytes && user_key.size() > *space.spec.max_key_bytes) {
    return TooLarge("the key is too long for its namespace", space, "max_key_bytes", *space.spec.max_key_bytes,
                    user_key.size());
  }
  return &space;
}

Status CheckTenant(const Namespace& space, const KeyFields& fields, const Envelope& envelope) {
  if (!space.tenant) return {};
  const BytesView tenant = fields[*space.tenant];
  if (envelope.tenant == tenant || (envelope.tenant.empty() && !space.spec.envelope.required)) return {};
  return Error(
      ErrorCode::kInvalidArgument, "the tenant of the envelope is not the tenant of the key",
      {{"namespace", space.spec.name}, {"key_tenant", Escaped(tenant)}, {"envelope_tenant", Escaped(envelope.tenant)}});
}

Status CheckEnvelope(const Namespace& space, const KeyFields& fields, BytesView value, const PutOptions& options) {
  const EnvelopeRule& rule = space.spec.envelope;
  if (options.kind != ValueKind::kEnvelope) {
    if (!rule.required) return {};
    return Error(ErrorCode::kInvalidArgument, "the namespace takes envelopes only", {{"namespace", space.spec.name}});
  }
  if (!rule.required && !space.tenant) return {};
  const Result<Envelope> envelope = Envelope::Decode(value);
  if (!envelope.has_value()) {
    return Error(ErrorCode::kInvalidArgument, "the value is no envelope",
                 {{"namespace", space.spec.name}, {"why", std::string(envelope.error().field("why"))}});
  }
  if (envelope->schema != options.schema) {
    return Error(ErrorCode::kInvalidArgument, "the envelope has another schema version than it is put with",
                 {{"schema", std::to_string(envelope->schema)}, {"put_with", std::to_string(options.schema)}});
  }
  if (!rule.types.empty() && !std::ranges::binary_search(rule.types, envelope->type)) {
    return Error(ErrorCode::kInvalidArgument, "the namespace does not take values of this type",
                 {{"namespace", space.spec.name}, {"entity_type", Escaped(envelope->type)}});
  }
  const uint32_t first = rule.min_schema.value_or(0);
  const uint32_t last = rule.max_schema.value_or(UINT32_MAX);
  if (envelope->schema < first || envelope->schema > last) {
    return Error(ErrorCode::kInvalidArgument, "the namespace does not take this schema version",
                 {{"namespace", space.spec.name},
                  {"schema", std::to_string(envelope->schema)},
                  {"at_least", std::to_string(first)},
                  {"at_most", std::to_string(last)}});
  }
  return CheckTenant(space, fields, *envelope);
}

using Scanner = std::function<Result<ScanPage>(const ScanRequest&)>;

Result<std::vector<NamespaceTable::Entry>> ReadEntries(const Scanner& scan, const NamespaceTable* known) {
  std::vector<NamespaceTable::Entry> entries;
  ScanRequest request;
  request.range = NamespaceKeys();
  while (true) {
    KVARTS_TRY(const ScanPage page, scan(request));
    for (size_t i = 0; i < page.size(); ++i) {
      KVARTS_TRY(const std::string name, NameOfNamespaceKey(page[i].key));
      const Namespace* same = known != nullptr ? known->ByName(name) : nullptr;
      if (same != nullptr && same->version == page[i].header.version) {
        const auto has = [&](const NamespaceTable::Entry& entry) { return entry.get() == same; };
        entries.push_back(*std::ranges::find_if(known->entries(), has));
        continue;
      }
      KVARTS_TRY(Namespace space, Namespace::Decode(name, page[i].value));
      space.version = page[i].header.version;
      entries.push_back(std::make_shared<const Namespace>(std::move(space)));
    }
    if (!page.rest()) return entries;
    request.range = *page.rest();
  }
}

}  // namespace

Result<std::shared_ptr<const NamespaceTable>> ReadNamespaces(Txn& txn) {
  KVARTS_TRY(const std::optional<Record> stamp, txn.Get(CatalogStampKey()));
  const auto scan = [&](const ScanRequest& request) { return txn.Scan(request); };
  KVARTS_TRY(std::vector<NamespaceTable::Entry> entries, ReadEntries(scan, nullptr));
  return std::make_shared<const NamespaceTable>(std::move(entries), stamp ? stamp->header.version : kNoVersion,
                                                *txn.ViewVersion());
}

Result<std::shared_ptr<const NamespaceTable>> ReadNamespaces(View& view, const NamespaceTable* known) {
  KVARTS_TRY(const std::optional<Record> stamp, view.GetOne(CatalogStampKey()));
  const auto scan = [&](const ScanRequest& request) { return view.Scan(request); };
  KVARTS_TRY(std::vector<NamespaceTable::Entry> entries, ReadEntries(scan, known));
  return std::make_shared<const NamespaceTable>(std::move(entries), stamp ? stamp->header.version : kNoVersion,
                                                view.version());
}

Result<CatalogGuard> CatalogGuard::Enter(Txn& txn, const NamespaceTable& cached) {
  CatalogGuard guard(txn, cached);
  if (txn.MayLook()) {
    KVARTS_CHECK_OK(guard.Certify());
  } else {
    txn.RestOn(cached.Unchanged());
  }
  return guard;
}

Status CatalogGuard::Certify() {
  if (certain_) return {};
  KVARTS_TRY(const std::optional<Record> stamp, txn_->Get(CatalogStampKey()));
  if ((stamp ? stamp->header.version : kNoVersion) != table_->stamp()) {
    KVARTS_TRY(own_, ReadNamespaces(*txn_));
    table_ = own_.get();
  }
  certain_ = true;
  return {};
}

Result<const NamespaceTable*> CatalogGuard::Table() {
  KVARTS_CHECK_OK(Certify());
  return table_;
}

template <class Check>
Status CatalogGuard::Ask(Check check) {
  Status checked = check(*table_);
  if (checked.has_value() || certain_) return checked;
  const NamespaceTable* const before = table_;
  KVARTS_CHECK_OK(Certify());
  return table_ == before ? checked : check(*table_);
}

Status CatalogGuard::CheckPut(BytesView user_key, BytesView value, PutOptions* options) {
  return Ask([&](const NamespaceTable& table) -> Status {
    Reading reading;
    KVARTS_TRY(const Namespace* space, Govern(table, user_key, &reading));
    if (space == nullptr) return {};
    const NamespaceSpec& spec = space->spec;
    if (spec.max_value_bytes && value.size() > *spec.max_value_bytes) {
      return TooLarge("the value is too large for its namespace", *space, "max_value_bytes", *spec.max_value_bytes,
                      value.size());
    }
    KVARTS_CHECK_OK(CheckEnvelope(*space, reading.fields, value, *options));
    if (spec.default_ttl && options->expiry == kNever) {
      KVARTS_TRY(options->expiry, ExpiryAfter(txn_->Now(), *spec.default_ttl));
    }
    if (space->retained && reading.fields[*space->retained] < space->OldestKept(txn_->Now())) past_retention_ = true;
    return {};
  });
}

Status CatalogGuard::CheckAdd(BytesView user_key) {
  return Ask([&](const NamespaceTable& table) -> Status {
    Reading reading;
    KVARTS_TRY(const Namespace* space, Govern(table, user_key, &reading));
    if (space == nullptr) return {};
    if (space->spec.envelope.required) {
      return Error(ErrorCode::kInvalidArgument, "the namespace takes envelopes only",
                   {{"namespace", space->spec.name}});
    }
    // An add cannot give what it makes an expiry.
    if (space->spec.default_ttl) {
      return Error(ErrorCode::kInvalidArgument, "a namespace with a time to live takes no adds, only puts",
                   {{"namespace", space->spec.name}});
    }
    return {};
  });
}

Status CatalogGuard::CheckErase(BytesView user_key) {
  return Ask([&](const NamespaceTable& table) -> Status {
    Reading reading;
    table.Read(user_key, &reading);
    if (reading.verdict == Verdict::kRefused) return table.Refusal(user_key, reading);
    return {};
  });
}

}  // namespace kvarts
