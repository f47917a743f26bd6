// The model that a history is held against: every key with all its states, by the version of the commit.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "history/history.h"

namespace kvarts::test {

class Model {
 public:
  // Commits come in the order of their versions.
  void Apply(const CommitEvent& commit);

  // The record under a key after the commit of this version; null when there is none.
  const Record* At(BytesView key, Version version) const;
  std::vector<Bytes> KeysAt(const KeyRange& range, Version version) const;
  // Whether the precondition holds after everything that was applied.
  bool Holds(const Precondition& precondition) const;
  // Versions of all commits, in order.
  const std::vector<Version>& versions() const { return versions_; }

 private:
  struct State {
    Version version;
    std::optional<Record> record;
  };

  const Record* Newest(BytesView key) const;
  void Set(BytesView key, Version version, std::optional<Record> record);
  bool Unchanged(const KeyRange& range, Version since) const;

  std::map<Bytes, std::vector<State>, std::less<>> keys_;
  std::vector<std::pair<Version, KeyRange>> erased_;
  std::vector<Version> versions_;
};

}  // namespace kvarts::test
