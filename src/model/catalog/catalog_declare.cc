// How namespaces come and go.
#include <algorithm>

#include "core/keyspace.h"
#include "model/catalog/catalog.h"
#include "model/catalog/catalog_jobs.h"
#include "model/catalog/refusals.h"

namespace kvarts {
namespace {

// How many places of a shared region are looked at for a key of one namespace, before it counts as having some.
constexpr int kMaxSeeks = 1000;

constexpr const char* kDropWithKeys = "drop it with its keys: ?erase=true, or --erase of the command";

Error InTheWay(const char* text, const Namespace& space, BytesView user_key, const char* advice) {
  return Error(ErrorCode::kPreconditionFailed, text,
               {{"namespace", space.spec.name}, {"key", Escaped(user_key)}, {"advice", advice}});
}

// The first key of the user's in the range, if any.
Result<std::optional<Bytes>> FirstKey(Txn& txn, const KeyRange& user_range) {
  ScanRequest request;
  request.range = UserRange(user_range);
  request.keys_only = true;
  request.max_entries = 1;
  KVARTS_TRY(const ScanPage page, txn.Scan(request));
  if (page.empty()) return std::nullopt;
  return Bytes(*UserKeyOf(page[0].key));
}

// A key of the namespace, if it has any.
Result<std::optional<Bytes>> AnyKey(Txn& txn, const Namespace& space) {
  KeyRange range = space.Region();
  KeyFields fields;
  KeyMismatch why;
  for (int seeks = 0; seeks < kMaxSeeks; ++seeks) {
    KVARTS_TRY(std::optional<Bytes> key, FirstKey(txn, range));
    if (!key || space.spec.grammar.Match(*key, &fields, &why)) return key;
    range.start = Grammar::SkipBeyond(*key, why);
    if (range.start.empty() || range.IsEmpty()) return std::nullopt;
  }
  return Error(ErrorCode::kPreconditionFailed, "the region is too full to say that the namespace has no keys",
               {{"namespace", space.spec.name}, {"advice", kDropWithKeys}});
}

Status CheckVersion(const Namespace* existing, const std::optional<Version>& wanted) {
  const Version is = existing != nullptr ? existing->version : kNoVersion;
  if (!wanted || *wanted == is) return {};
  return Error(ErrorCode::kPreconditionFailed, "the namespace has another version",
               {{"version", existing != nullptr ? is.ToString() : "absent"}});
}

// What cannot be changed while there are keys, and differs; null if nothing does.
const char* FixedFieldThatDiffers(const NamespaceSpec& is, const NamespaceSpec& wanted) {
  if (is.grammar != wanted.grammar) return "grammar";
  if (is.partition_field != wanted.partition_field) return "partition";
  return is.profile != wanted.profile ? "profile" : nullptr;
}

// That the namespace can become this one.
Status CheckChange(Txn& txn, const Namespace& existing, const NamespaceSpec& spec) {
  if (existing.state == Namespace::State::kDropping) return NamespaceIsDropped(spec.name);
  if (const char* field = FixedFieldThatDiffers(existing.spec, spec)) {
    KVARTS_TRY(const std::optional<Bytes> key, AnyKey(txn, existing));
    if (key) {
      return Error(ErrorCode::kPreconditionFailed,
                   "grammar, partition and profile cannot be changed while there are keys",
                   {{"namespace", spec.name},
                    {"field", field},
                    {"key", Escaped(*key)},
                    {"advice", "declare another namespace and move the keys"}});
    }
  }
  if (existing.spec.feed && !spec.feed) {
    return Error(ErrorCode::kInvalidArgument, "the namespace has a feed, which cannot be switched off",
                 {{"namespace", spec.name}, {"field", "feed"}});
  }
  return {};
}

// That the region has room for the namespace.
Status CheckPlace(Txn& txn, const NamespaceTable& table, const Namespace& space) {
  const std::vector<const Namespace*> others = Neighbours(table, space);
  for (const Namespace* other : others) {
    if (space.spec.grammar.Overlaps(other->spec.grammar)) {
      return Error(ErrorCode::kInvalidArgument, "some keys would belong to two namespaces",
                   {{"grammar", space.spec.grammar.ToString()},
                    {"other", other->spec.name},
                    {"other_grammar", other->spec.grammar.ToString()}});
    }
    if (space.spec.profile != other->spec.profile) {
      return Error(ErrorCode::kInvalidArgument, "namespaces that share a region have the same profile",
                   {{"profile", std::string(ProfileName(space.spec.profile))},
                    {"other", other->spec.name},
                    {"other_profile", std::string(ProfileName(other->spec.profile))}});
    }
  }
  for (const KeyRange& part : UngovernedParts(space, others)) {
    KVARTS_TRY(const std::optional<Bytes> key, FirstKey(txn, part));
    if (key) {
      return InTheWay("a namespace is declared over an empty range, and this one holds a key", space, *key,
                      "declare it elsewhere and move the keys there by a job");
    }
  }
  return {};
}

// What a declaration comes to at this state of the catalog.
struct Plan {
  bool unchanged = false;
  bool assign_profile = false;
  Namespace space;
};

Result<Plan> MakePlan(Txn& txn, const NamespaceSpec& spec, const std::optional<Version>& if_version) {
  KVARTS_TRY(const std::shared_ptr<const NamespaceTable> table, ReadNamespaces(txn));
  const Namespace* existing = table->ByName(spec.name);
  KVARTS_CHECK_OK(CheckVersion(existing, if_version));
  Plan plan;
  plan.space = Namespace::Of(spec);
  if (existing != nullptr) {
    KVARTS_CHECK_OK(CheckChange(txn, *existing, spec));
    plan.space.feed = existing->feed;
    plan.unchanged = existing->spec == spec;
    if (plan.unchanged) plan.space = *existing;
    if (plan.unchanged) return plan;
  } else if (table->entries().size() >= Catalog::kMaxNamespaces) {
    return Error(ErrorCode::kTooLarge, "there are too many namespaces",
                 {{"limit", "max_namespaces"}, {"at_most", std::to_string(Catalog::kMaxNamespaces)}});
  }
  if (existing == nullptr || existing->spec.grammar != spec.grammar || existing->spec.profile != spec.profile) {
    KVARTS_CHECK_OK(CheckPlace(txn, *table, plan.space));
    const auto holds = [&](const Namespace* other) { return other->Region().Contains(plan.space.Region()); };
    plan.assign_profile =
        spec.profile != Profile::kLookup && std::ranges::none_of(Neighbours(*table, plan.space), holds);
  }
  return plan;
}

Status AssignTo(Engine& engine, const KeyRange& region, const NamespaceSpec& spec) {
  Status assigned = engine.AssignProfile(region, spec.profile);
  if (assigned.has_value()) return assigned;
  if (assigned.error().code() == ErrorCode::kPreconditionFailed) {
    return Error(ErrorCode::kPreconditionFailed, "a range with a profile must be empty when it is declared",
                 {{"namespace", spec.name},
                  {"why", assigned.error().ToString()},
                  {"advice", "keys that have expired and are still stored go away when the range is compacted"}});
  }
  return assigned;
}

void WriteNamespace(Txn& txn, const Namespace& space) {
  txn.Put(NamespaceKey(space.spec.name), space.Encode());
  txn.Put(CatalogStampKey(), {});
}

}  // namespace

void EraseNamespace(Txn& txn, std::string_view name) {
  txn.Erase(NamespaceKey(name));
  txn.Put(CatalogStampKey(), {});
}

Result<Namespace> Catalog::Declare(NamespaceSpec given, const DeclareOptions& options) {
  KVARTS_TRY(const NamespaceSpec spec, Validate(std::move(given), store_.engine().limits()));
  // Looked at first, so that a declaration that is refused leaves nothing behind.
  const auto look = [&](Txn& txn) { return MakePlan(txn, spec, options.if_version); };
  KVARTS_TRY(const Plan looked, store_.Run(look, options.run));
  if (looked.unchanged) return looked.space;
  const KeyRange region = UserRange(looked.space.Region());
  if (looked.assign_profile) KVARTS_CHECK_OK(AssignTo(store_.engine(), region, spec));
  std::optional<FeedId> feed;
  if (spec.feed) {
    KVARTS_TRY(feed, store_.feeds().Declare(region));
  }
  RunReport report;
  const auto declare = [&](Txn& txn) -> Result<Plan> {
    KVARTS_TRY(Plan plan, MakePlan(txn, spec, options.if_version));
    if (plan.unchanged) return plan;
    if (plan.assign_profile && !looked.assign_profile) {
      return Error(ErrorCode::kConflict, "the namespaces around it have changed; declare it again");
    }
    plan.space.feed = feed;
    WriteNamespace(txn, plan.space);
    return plan;
  };
  KVARTS_TRY(Plan declared, store_.Run(declare, options.run, &report));
  if (!declared.unchanged) declared.space.version = report.version;
  IgnoreError(Refresh(true));  // it is declared; whoever uses the table next tries again
  return std::move(declared.space);
}

Result<Catalog::Dropped> Catalog::Drop(std::string_view name, const DropOptions& options) {
  const auto drop = [&](Txn& txn) -> Result<Dropped> {
    KVARTS_TRY(const std::shared_ptr<const NamespaceTable> table, ReadNamespaces(txn));
    const Namespace* existing = table->ByName(name);
    if (existing == nullptr) return NoSuchNamespace(name);
    KVARTS_CHECK_OK(CheckVersion(existing, options.if_version));
    if (existing->state == Namespace::State::kDropping) return NamespaceIsDropped(existing->spec.name);
    KVARTS_TRY(const std::optional<Bytes> key, options.erase ? std::nullopt : AnyKey(txn, *existing));
    if (key) return InTheWay("the namespace has keys", *existing, *key, kDropWithKeys);
    if (options.erase && !Neighbours(*table, *existing).empty()) {
      Namespace dropping = *existing;
      dropping.state = Namespace::State::kDropping;
      WriteNamespace(txn, dropping);
      KVARTS_TRY(const JobId job, StartJob(txn, EraseKeysJob({existing->spec.name, existing->Region(), true})));
      return Dropped{job};
    }
    if (options.erase) EraseForGood(txn, existing->Region());
    EraseNamespace(txn, existing->spec.name);
    return Dropped{};
  };
  KVARTS_TRY(const Dropped dropped, store_.Run(drop, options.run));
  IgnoreError(Refresh(true));
  return dropped;
}

}  // namespace kvarts
