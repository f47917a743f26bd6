// Catalog: which namespaces there are, and what is done with them.
//
// Namespaces are kept in the settings space, with a stamp that every change to any of them writes. The catalog keeps
// them in a table for everybody's use; when the stamp changes the next user reads a new one. Tables are kept as long as
// the catalog, since readers hold them without counting; namespaces that did not change are shared between them.
//
// A namespace is declared over an empty range: no key may lie in its region that nobody governs. Its profile belongs to
// the region, so namespaces whose regions meet must have the same one, and a region keeps it for ever. The same holds
// for its feed, which has every change of the region. Declaring takes three steps, in an order in which what is left by
// a crash between them does no harm and is found in place by the next attempt: the profile (of an empty range), the
// feed (of which nobody knows yet), and the commit that declares.
//
// Safe from any thread but the commit thread; guards are for bodies, on whichever thread they run.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/job.h"
#include "core/job_runner.h"
#include "core/refresher.h"
#include "core/store.h"
#include "model/catalog/explain.h"
#include "model/catalog/guard.h"
#include "model/catalog/namespace.h"

namespace kvarts {

class Catalog {
 public:
  static constexpr size_t kMaxNamespaces = 1000;

  // The store outlives the catalog.
  static Result<std::unique_ptr<Catalog>> Open(Store& store);
  ~Catalog();
  // Before the engine goes: it is not asked any more.
  void Stop() {
    if (refresher_ != nullptr) refresher_->Stop();
  }

  // The namespaces as they are now, or were a moment ago: for metrics, scopes and everything else that may lag. Stays
  // valid as long as the catalog.
  const NamespaceTable& current();
  // The same without looking whether there is a newer one: also for the commit thread.
  const NamespaceTable& cached() const { return *current_.load(std::memory_order_acquire); }
  // For bodies (guard.h).
  Result<CatalogGuard> Guard(Txn& txn);

  struct DeclareOptions {
    // The version that the namespace must have; kNoVersion: it must not be there yet.
    std::optional<Version> if_version = {};
    RunOptions run = {};
  };
  // Makes or changes a namespace; the same again changes nothing. Grammar, partition and profile can be changed only
  // while it has no keys, and a feed not be switched off. `precondition_failed` when there are keys in the way.
  Result<Namespace> Declare(NamespaceSpec spec) { return Declare(std::move(spec), {}); }
  Result<Namespace> Declare(NamespaceSpec spec, const DeclareOptions& options);

  struct DropOptions {
    bool erase = false;  // with all its keys; else it must have none
    std::optional<Version> if_version = {};
    RunOptions run = {};
  };
  // When it shares its region with others its keys are erased by a job, and nothing can be put until that is done.
  struct Dropped {
    std::optional<JobId> job;
  };
  Result<Dropped> Drop(std::string_view name) { return Drop(name, {}); }
  Result<Dropped> Drop(std::string_view name, const DropOptions& options);

  // `not_found` when there is none.
  Result<Namespace> Get(std::string_view name);
  // In the order of names.
  Result<std::vector<Namespace>> List();
  Result<KeyExplanation> Explain(BytesView user_key);

  // Erases what lies in a bucket of a namespace with retention: the keys that begin with `leading`, which is all that
  // stands before the field, and go on with `bucket`, a value of the field, whole or up to its year, month, day, hour
  // or minute ("2026-07").
  Result<Dropped> DropBucket(std::string_view name, BytesView leading, std::string_view bucket);
  // Starts the job that erases what is older than namespaces keep it, unless it is there already; nothing when it is,
  // or when no namespace wants it.
  Result<std::optional<JobId>> StartRetention();

  struct MoveSpec {
    Bytes source;        // a prefix
    std::string target;  // a namespace
    std::optional<Bytes>
        target_prefix;      // instead of the source; nothing: the literal the namespace's grammar begins with
    uint32_t throttle = 0;  // keys per second; 0: none
  };
  // Starts the job that moves what lies under a prefix into a namespace. What would not follow its rules there, or is
  // there already, stays where it is.
  Result<JobId> StartMove(const MoveSpec& spec);

  // What the server's job runner must know: "namespace_erase", "namespace_retention" and "namespace_move". The catalog
  // outlives whoever has them.
  std::vector<JobKind> JobKinds();

 private:
  explicit Catalog(Store& store) : store_(store) {}

  // Reads the table again if it has changed. Waits for whoever is at it only if told to.
  Status Refresh(bool wait);

  Store& store_;
  Subscriptions::Id watch_ = 0;
  std::atomic<bool> stale_{false};
  std::atomic<const NamespaceTable*> current_{nullptr};
  std::mutex refreshing_;
  std::vector<std::shared_ptr<const NamespaceTable>> all_;  // every table there ever was: readers may hold one
  std::unique_ptr<Refresher> refresher_;                    // where reads may wait; ends first
};

}  // namespace kvarts
