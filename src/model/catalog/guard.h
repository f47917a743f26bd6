// CatalogGuard: holds what a transaction writes against the namespaces, in its body, before it writes.
//
//   KVARTS_TRY(CatalogGuard guard, catalog.Guard(txn));       // once a run, and before anything is read
//   KVARTS_CHECK_OK(guard.CheckPut(user_key, value, &options));
//   txn.Put(UserKey(user_key), value, options);
//
// It goes by the cached table, and makes the transaction rest on that table being the newest: a namespace that is
// declared before the commit makes the body run again. Where the transaction reads at a view already, as every second
// run does, the catalog is read at that view, so what is decided there is decided by what is there. And nothing is
// refused by the cache alone: before it refuses, it looks.
#pragma once

#include <memory>
#include <optional>

#include "core/txn.h"
#include "model/catalog/namespace_table.h"

namespace kvarts {

class CatalogGuard {
 public:
  // `cached` must stay.
  static Result<CatalogGuard> Enter(Txn& txn, const NamespaceTable& cached);

  // Whether the value may be put under the key. Gives it the namespace's time to live if it has no expiry.
  // `options` say of which kind the value is, and its schema if it is an envelope.
  Status CheckPut(BytesView user_key, BytesView value, PutOptions* options);
  // Whether something was put that retention erases as soon as it looks.
  bool past_retention() const { return past_retention_; }
  // Whether the key may be a counter that is added to.
  Status CheckAdd(BytesView user_key);
  // Whether the key is one that can be there.
  Status CheckErase(BytesView user_key);

  // The newest table there is for the transaction, for sure: reads it unless that has been done.
  Result<const NamespaceTable*> Table();

 private:
  CatalogGuard(Txn& txn, const NamespaceTable& cached) : txn_(&txn), table_(&cached) {}

  Status Certify();
  // Asks the cached table first, and again for sure if it refuses.
  template <class Check>
  Status Ask(Check check);

  Txn* txn_;
  const NamespaceTable* table_;
  std::shared_ptr<const NamespaceTable> own_;  // when the cached one is not the newest
  bool certain_ = false;
  bool past_retention_ = false;
};

// The catalog as the transaction sees it.
Result<std::shared_ptr<const NamespaceTable>> ReadNamespaces(Txn& txn);
// At a view; namespaces that `known` has too are taken from there.
Result<std::shared_ptr<const NamespaceTable>> ReadNamespaces(View& view, const NamespaceTable* known);

}  // namespace kvarts
