#include "model/access/tokens.h"

#include <algorithm>
#include <set>

namespace kvarts {
namespace {

Error NotInForce() { return Error(ErrorCode::kUnauthenticated, "the token is not valid"); }

}  // namespace

bool Credential::Allows(Right right, BytesView key, std::string_view name_space) const {
  return kvarts::Allows(token_.scopes, right, key, name_space);
}

bool Credential::Allows(Right right, const KeyRange& range, std::string_view name_space) const {
  return kvarts::Allows(token_.scopes, right, range, name_space);
}

bool Credential::AllowsTables(Right right, std::string_view path) const {
  return kvarts::AllowsTables(token_.scopes, right, path);
}

bool Credential::AllowsSome(Right right) const { return kvarts::AllowsSome(token_.scopes, right); }

bool Credential::AllowsAdmin() const { return kvarts::AllowsAdmin(token_.scopes); }

bool Credential::AllowsAdmin(std::string_view name_space) const {
  return kvarts::AllowsAdmin(token_.scopes, name_space);
}

Status Credential::Admit(Timestamp now) const { return limiter_ == nullptr ? Status{} : limiter_->Admit(now); }

void Credential::Charge(const Cost& cost, Timestamp now) const {
  if (limiter_ != nullptr) limiter_->Charge(UnitsOf(cost), now);
}

Result<std::unique_ptr<Tokens>> Tokens::Open(Store& store) {
  std::unique_ptr<Tokens> tokens(new Tokens(store));
  if (store.engine().capabilities().shared) {
    tokens->refresher_ = std::make_unique<Refresher>([table = tokens.get()] { return table->Load(); });
  }
  // First the watch, then the view, so that nothing falls between them.
  const auto changed = [table = tokens.get()](const Mutation* mutation, Version version) {
    table->Changed(mutation, version);
  };
  tokens->watch_ = store.subscriptions().Watch(TokenKeys(), changed);
  tokens->mark_watch_ = store.subscriptions().Watch(KeyRange::Single(TokensMarkKey()), changed);
  KVARTS_CHECK_OK(tokens->Load());
  return tokens;
}

Tokens::~Tokens() {
  store_.subscriptions().Cancel(watch_);
  store_.subscriptions().Cancel(mark_watch_);
}

Status Tokens::Load() {
  // Two at a time would forget, each for the other, what changed behind its view.
  const std::lock_guard one(one_load_);
  {
    const std::lock_guard lock(changing_);
    loading_ = true;
    early_.clear();  // of one that failed: this view shows them
  }
  const Version settled = store_.engine().Settled();
  std::vector<TokenRecord> records;
  KVARTS_TRY(const std::unique_ptr<View> view, store_.engine().OpenView());
  ScanRequest request;
  request.range = TokenKeys();
  request.max_entries = store_.engine().limits().max_page_entries;
  for (bool more = true; more;) {
    KVARTS_TRY(const ScanPage page, view->Scan(request));
    for (size_t i = 0; i < page.size(); ++i) {
      KVARTS_TRY(TokenRecord record, TokenRecord::FromStored(page[i].key, page[i].value, page[i].header.expiry));
      records.push_back(std::move(record));
    }
    more = page.rest().has_value();
    if (more) request.range = *page.rest();
  }
  KVARTS_TRY(const std::optional<Record> mark, view->GetOne(TokensMarkKey()));
  const Timestamp now = view->time();
  std::lock_guard lock(changing_);
  // What changed meanwhile is in the table as it is now, which the view may be too old for. Nobody may see it come
  // back.
  std::erase_if(early_, [&](const Change& change) { return change.version <= settled; });
  const auto is_newer = [&](BytesView key) {
    return loaded_ && std::ranges::any_of(early_, [&](const Change& change) { return change.mutation.Touches(key); });
  };
  if (!is_newer(TokensMarkKey())) in_use_ = mark.has_value();
  std::set<std::string, std::less<>> there;
  for (const TokenRecord& record : records) there.insert(record.info.id.text);
  for (Part& part : parts_) {
    DropIf(&part, [&](const Credential& credential) {
      const TokenId& id = credential.token().id;
      return !there.contains(id.text) && !is_newer(TokenKey(id).view());
    });
  }
  for (TokenRecord& record : records) {
    if (!is_newer(TokenKey(record.info.id).view())) Keep(std::move(record), now);
  }
  if (!loaded_) {
    // Some of these the view has shown already. Together they end where the last of them ends, so it does no harm.
    for (const Change& change : early_) Apply(change.mutation, change.version.time());
  }
  // Another process may have changed the same tokens since.
  if (refresher_ != nullptr && !early_.empty()) refresher_->Ask();
  early_.clear();
  loading_ = false;
  loaded_ = true;
  generation_.fetch_add(1, std::memory_order_release);
  return {};
}

// On the commit thread: the engine must not be asked anything here, not even the time.
void Tokens::Changed(const Mutation* mutation, Version version) {
  if (mutation == nullptr) return refresher_->Ask();
  std::lock_guard lock(changing_);
  if (loading_) early_.push_back({*mutation, version});
  if (!loaded_) return;
  Apply(*mutation, version.time());
  generation_.fetch_add(1, std::memory_order_release);
}

void Tokens::Apply(const Mutation& mutation, Timestamp now) {
  if (mutation.key == TokensMarkKey()) {
    in_use_.store(mutation.op == Mutation::Op::kPut, std::memory_order_release);
    return;
  }
  if (mutation.op == Mutation::Op::kEraseRange) {
    const KeyRange range{mutation.key, mutation.end};
    const auto erased = [&](const Credential& credential) {
      return range.Contains(TokenKey(credential.token().id).view());
    };
    for (Part& part : parts_) DropIf(&part, erased);
    return;
  }
  const Result<TokenId> id = TokenOfKey(mutation.key);
  if (!id.has_value() || mutation.op == Mutation::Op::kAdd) return;
  if (mutation.op == Mutation::Op::kErase) return Drop(id->text);
  Result<TokenRecord> record = TokenRecord::FromStored(mutation.key, mutation.value, mutation.expiry);
  if (!record.has_value()) {
    // There is a token, and nobody can use it.
    record = TokenRecord();
    record->info.id = *id;
    record->info.expiry = mutation.expiry;
    record->info.disabled = true;
  }
  Keep(*std::move(record), now);
}

void Tokens::Keep(TokenRecord record, Timestamp now) {
  const std::string id = record.info.id.text;
  std::shared_ptr<RateLimiter> limiter;
  if (const auto before = Find(id)) {
    // What was used up stays used up.
    if (before->limiter_ != nullptr && before->limiter_->limit() == record.info.limit) limiter = before->limiter_;
  }
  if (limiter == nullptr && record.info.limit) limiter = std::make_shared<RateLimiter>(*record.info.limit);
  const std::shared_ptr<const Credential> credential(new Credential(std::move(record), std::move(limiter)));
  Part& part = PartOf(id);
  if (part.credentials.size() >= part.prune_at) {
    // Nobody says so when a token expires.
    DropIf(&part, [&](const Credential& old) { return old.token().expiry <= now; });
    part.prune_at = std::max(kPruneAt, 2 * part.credentials.size());
  }
  std::shared_ptr<const Credential> before;
  {
    std::lock_guard lock(part.lock);
    before = std::exchange(part.credentials[id], credential);
  }
  if (before == nullptr) size_.fetch_add(1, std::memory_order_relaxed);
  in_use_.store(true, std::memory_order_release);
}

void Tokens::Drop(const std::string& id) {
  DropIf(&PartOf(id), [&](const Credential& credential) { return credential.token().id.text == id; });
}

template <class Which>
void Tokens::DropIf(Part* part, const Which& which) {
  // Only who holds `changing_` changes the table, so it may be read without the lock.
  std::vector<std::shared_ptr<const Credential>> gone;
  for (const auto& [id, credential] : part->credentials) {
    if (which(*credential)) gone.push_back(credential);
  }
  for (const auto& credential : gone) {
    {
      std::lock_guard lock(part->lock);
      part->credentials.erase(credential->token().id.text);
    }
    size_.fetch_sub(1, std::memory_order_relaxed);
  }
}

std::shared_ptr<const Credential> Tokens::Find(std::string_view id) const {
  const Part& part = PartOf(id);
  std::lock_guard lock(part.lock);
  const auto found = part.credentials.find(id);
  return found == part.credentials.end() ? nullptr : found->second;
}

Result<std::shared_ptr<const Credential>> Tokens::Check(std::string_view text, Last* last) const {
  const Timestamp now = store_.engine().Now();
  // Before the table is looked at: what changes from here on makes what is remembered old.
  const uint64_t generation = generation_.load(std::memory_order_acquire);
  if (last != nullptr && last->generation_ == generation && EqualSecret(last->text_, text)) {
    if (last->credential_->Holds(now)) return last->credential_;
    return NotInForce();
  }
  const auto parts = TokenText::Parse(text);
  if (!parts) return NotInForce();
  std::shared_ptr<const Credential> credential = Find(parts->id);
  static const Digest kNobodys{};
  const bool right = Sha256(parts->secret) == (credential != nullptr ? credential->hash_ : kNobodys);
  if (credential == nullptr || !right || !credential->Holds(now)) return NotInForce();
  if (last != nullptr) {
    last->text_ = text;
    last->credential_ = credential;
    last->generation_ = generation;
  }
  return credential;
}

bool Tokens::StillHolds(const Credential& credential) const {
  const auto current = Find(credential.token_.id.text);
  return current != nullptr && current->hash_ == credential.hash_ &&
         current->token_.scopes == credential.token_.scopes && current->Holds(store_.engine().Now());
}

}  // namespace kvarts
