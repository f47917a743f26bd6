// NamespaceTable: the namespaces as they were at one version of the catalog, made to be searched. It never changes, so
// any thread may use it.
//
// The region of a namespace is every key that begins with the literal its grammar begins with. Regions may be shared,
// and may lie in one another. A key in a region must match a namespace, of that region or of one around it; grammars do
// not overlap, so it matches one at most. A key in no region is free.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/seen_version.h"
#include "core/txn.h"
#include "model/catalog/namespace.h"

namespace kvarts {

class NamespaceTable {
 public:
  using Entry = std::shared_ptr<const Namespace>;

  // `stamp` is the version of the catalog's stamp, kNoVersion when there is none; all of it was seen at `seen_at`.
  NamespaceTable(std::vector<Entry> entries, Version stamp, Version seen_at);

  // In the order of names.
  const std::vector<Entry>& entries() const { return entries_; }
  // Null when there is none.
  const Namespace* ByName(std::string_view name) const;

  enum class Verdict { kFree, kGoverned, kRefused };
  struct Reading {
    Verdict verdict = Verdict::kFree;
    // Governed: the key's. Refused: the one whose grammar the key follows furthest.
    const Namespace* space = nullptr;
    KeyFields fields;      // if governed
    KeyMismatch mismatch;  // if refused
  };
  void Read(BytesView user_key, Reading* reading) const;
  // The namespaces in whose region the key lies.
  std::vector<const Namespace*> Around(BytesView user_key) const;
  // What is said to whoever writes a key that was refused.
  Error Refusal(BytesView user_key, const Reading& reading) const;

  Version stamp() const { return stamp_; }
  // That the catalog is still this one.
  Precondition Unchanged() const;
  // It was seen unchanged at a later version.
  void SeenAt(Version version) const { seen_at_.Raise(version); }

 private:
  struct Region {
    Bytes prefix;
    std::optional<size_t> around;  // the next larger region that holds this one
    std::vector<const Namespace*> spaces;
  };
  // The innermost region that holds the key.
  std::optional<size_t> RegionOf(BytesView user_key) const;

  std::vector<Entry> entries_;
  std::vector<Region> regions_;  // in the order of their prefixes
  Version stamp_;
  mutable SeenVersion seen_at_;
};

// Those whose regions hold keys of the namespace's own; it is not among them itself.
std::vector<const Namespace*> Neighbours(const NamespaceTable& table, const Namespace& space);
// The parts of a namespace's region that are in no region of `others`: what nobody governs.
std::vector<KeyRange> UngovernedParts(const Namespace& space, const std::vector<const Namespace*>& others);

}  // namespace kvarts
