#include "model/catalog/catalog.h"

#include "model/catalog/refusals.h"

namespace kvarts {
namespace {

// How often a thread has the cached table seen unchanged at a newer version. The engine then finds what rests on it
// true without reading, unless something was erased by range since.
constexpr uint32_t kChecksUntilLook = 256;

}  // namespace

Result<std::unique_ptr<Catalog>> Catalog::Open(Store& store) {
  std::unique_ptr<Catalog> catalog(new Catalog(store));
  Catalog* const told = catalog.get();
  if (store.engine().capabilities().reads_may_wait) {
    catalog->refresher_ = std::make_unique<Refresher>([told] { return told->Refresh(true); });
  }
  catalog->watch_ = store.subscriptions().Watch(KeyRange::Single(CatalogStampKey()), [told](const Mutation*, Version) {
    told->stale_.store(true, std::memory_order_release);
    if (told->refresher_ != nullptr) told->refresher_->Ask();
  });
  KVARTS_CHECK_OK(catalog->Refresh(true));
  return catalog;
}

Catalog::~Catalog() { store_.subscriptions().Cancel(watch_); }

Status Catalog::Refresh(bool wait) {
  std::unique_lock lock(refreshing_, std::defer_lock);
  if (wait) {
    lock.lock();
  } else if (!lock.try_lock()) {
    return {};
  }
  // Before the view is opened: whatever changes from here on is seen by the view, or told.
  stale_.store(false, std::memory_order_release);
  const NamespaceTable* const known = current_.load(std::memory_order_acquire);
  const auto read = [&]() -> Status {
    KVARTS_TRY(const std::unique_ptr<View> view, store_.engine().OpenView());
    KVARTS_TRY(const std::optional<Record> stamp, view->GetOne(CatalogStampKey()));
    if (known != nullptr && known->stamp() == (stamp ? stamp->header.version : kNoVersion)) {
      known->SeenAt(view->version());
      return {};
    }
    KVARTS_TRY(std::shared_ptr<const NamespaceTable> table, ReadNamespaces(*view, known));
    all_.push_back(std::move(table));
    current_.store(all_.back().get(), std::memory_order_release);
    return {};
  };
  const Status done = read();
  if (!done.has_value()) stale_.store(true, std::memory_order_release);
  return done;
}

const NamespaceTable& Catalog::current() {
  // If it cannot be read the old one has to do; whoever writes finds out in any case.
  if (refresher_ == nullptr && stale_.load(std::memory_order_acquire)) IgnoreError(Refresh(false));
  return cached();
}

Result<CatalogGuard> Catalog::Guard(Txn& txn) {
  // With a view this may be the commit thread, where the engine must not be asked.
  if (txn.ViewVersion()) return CatalogGuard::Enter(txn, cached());
  thread_local uint32_t checks = 0;
  if (refresher_ == nullptr && ++checks % kChecksUntilLook == 0) IgnoreError(Refresh(false));
  return CatalogGuard::Enter(txn, current());
}

Result<Namespace> Catalog::Get(std::string_view name) {
  KVARTS_CHECK_OK(Refresh(true));
  const Namespace* space = current().ByName(name);
  if (space != nullptr) return *space;
  return NoSuchNamespace(name);
}

Result<std::vector<Namespace>> Catalog::List() {
  KVARTS_CHECK_OK(Refresh(true));
  std::vector<Namespace> list;
  for (const NamespaceTable::Entry& entry : current().entries()) list.push_back(*entry);
  return list;
}

Result<KeyExplanation> Catalog::Explain(BytesView user_key) {
  KVARTS_CHECK_OK(Refresh(true));
  return ExplainKey(current(), user_key);
}

}  // namespace kvarts
