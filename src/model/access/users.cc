#include "model/access/users.h"

#include <algorithm>

namespace kvarts {
namespace {

// There is a user, and nobody can be it, nor do anything as it.
UserRecord Nobody(Bytes name) {
  UserRecord user;
  user.name = std::move(name);
  user.id = Bytes(UserRecord::kIdBytes, '\0');
  user.selectors.emplace_back();
  return user;
}

Result<UserRecord> RecordOf(BytesView key, BytesView value) {
  KVARTS_TRY(Bytes name, UserNameOfKey(key));
  Result<UserRecord> user = UserRecord::FromStored(key, value);
  if (!user.has_value()) return Nobody(std::move(name));
  return user;
}

}  // namespace

Result<std::unique_ptr<Users>> Users::Open(Store& store) {
  std::unique_ptr<Users> users(new Users(store));
  if (store.engine().capabilities().shared) {
    users->refresher_ = std::make_unique<Refresher>([table = users.get()] { return table->Load(); });
  }
  // First the watch, then the view, so that nothing falls between them.
  const auto changed = [table = users.get()](const Mutation* mutation, Version version) {
    table->Changed(mutation, version);
  };
  users->watch_ = store.subscriptions().Watch(UserKeys(), changed);
  KVARTS_CHECK_OK(users->Load());
  return users;
}

Users::~Users() { store_.subscriptions().Cancel(watch_); }

Result<Users::Table> Users::Read() const {
  Table table;
  KVARTS_TRY(const std::unique_ptr<View> view, store_.engine().OpenView());
  ScanRequest request;
  request.range = UserKeys();
  request.max_entries = store_.engine().limits().max_page_entries;
  for (bool more = true; more;) {
    KVARTS_TRY(const ScanPage page, view->Scan(request));
    for (size_t i = 0; i < page.size(); ++i) {
      KVARTS_TRY(UserRecord user, RecordOf(page[i].key, page[i].value));
      Bytes name = user.name;
      table[std::move(name)] = std::make_shared<const UserRecord>(std::move(user));
    }
    more = page.rest().has_value();
    if (more) request.range = *page.rest();
  }
  return table;
}

Status Users::Load() {
  // Two at a time would forget, each for the other, what changed behind its view.
  const std::lock_guard one(one_load_);
  {
    const std::lock_guard lock(changing_);
    loading_ = true;
    early_.clear();  // of one that failed: this view shows them
  }
  const Version settled = store_.engine().Settled();
  KVARTS_TRY(Table table, Read());
  const std::lock_guard lock(changing_);
  // What changed meanwhile is in the table as it is now, which the view may be too old for. Nobody may see it come
  // back.
  std::erase_if(early_, [&](const Change& change) { return change.version <= settled; });
  const auto is_newer = [&](const Bytes& name) {
    const KeyBuffer key = UserKeyOfName(name);
    return std::ranges::any_of(early_, [&](const Change& change) { return change.mutation.Touches(key.view()); });
  };
  {
    const std::lock_guard finding(mutex_);
    if (loaded_ && !early_.empty()) {
      std::erase_if(table, [&](const auto& entry) { return is_newer(entry.first); });
      for (const auto& [name, user] : table_) {
        if (is_newer(name)) table[name] = user;
      }
    }
    table_ = std::move(table);
  }
  if (!loaded_) {
    // Some of these the view has shown already. Together they end where the last of them ends, so it does no harm.
    for (const Change& change : early_) Apply(change.mutation);
  }
  // Another process may have changed the same users since.
  if (refresher_ != nullptr && !early_.empty()) refresher_->Ask();
  early_.clear();
  loading_ = false;
  loaded_ = true;
  Tell();
  return {};
}

// On the commit thread: the engine must not be asked anything here, not even the time.
void Users::Changed(const Mutation* mutation, Version version) {
  if (mutation == nullptr) return refresher_->Ask();
  const std::lock_guard lock(changing_);
  if (loading_) early_.push_back({*mutation, version});
  if (!loaded_) return;
  Apply(*mutation);
  Tell();
}

void Users::Apply(const Mutation& mutation) {
  const std::lock_guard finding(mutex_);
  if (mutation.op == Mutation::Op::kEraseRange) {
    const KeyRange range{mutation.key, mutation.end};
    std::erase_if(table_, [&](const auto& entry) { return range.Contains(UserKeyOfName(entry.first).view()); });
    return;
  }
  Result<Bytes> name = UserNameOfKey(mutation.key);
  if (!name.has_value() || mutation.op == Mutation::Op::kAdd) return;
  if (mutation.op == Mutation::Op::kErase) {
    table_.erase(*name);
    return;
  }
  Result<UserRecord> user = RecordOf(mutation.key, mutation.value);
  if (user.has_value()) table_[*std::move(name)] = std::make_shared<const UserRecord>(*std::move(user));
}

void Users::Tell() {
  generation_.fetch_add(1, std::memory_order_release);
  if (told_) told_();
}

std::shared_ptr<const UserRecord> Users::Find(BytesView name) const {
  const std::lock_guard lock(mutex_);
  const auto found = table_.find(name);
  return found == table_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<const UserRecord>> Users::All() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<const UserRecord>> all;
  all.reserve(table_.size());
  for (const auto& [name, user] : table_) all.push_back(user);
  return all;
}

void Users::TellOfChanges(std::function<void()> told) {
  const std::lock_guard lock(changing_);
  told_ = std::move(told);
}

}  // namespace kvarts
