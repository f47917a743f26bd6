// Walks everything that a view shows and holds each entry against the map of the keyspace: its key decodes, its value
// is what its space says, what it refers to is there, and its version was issued. It only reads.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/keyspace.h"
#include "engine/engine.h"

namespace kvarts::cli {

struct Finding {
  std::string key;  // as DescribeKey prints it
  std::string text;
};

struct SpaceCount {
  uint64_t entries = 0;
  uint64_t bytes = 0;    // of keys and values
  uint64_t expired = 0;  // not to be seen any more, still stored
  uint64_t stale = 0;    // index entries that point at nothing: no fault, and cleared when they are come upon
};

class KeyspaceCheck {
 public:
  // What is found beyond this is only counted.
  static constexpr size_t kMaxFindings = 100;

  KeyspaceCheck(View& view, Version last_version) : view_(view), last_version_(last_version) {}

  // Fails when the walk cannot go on. `on_page` is told now and then how many entries were checked.
  Status Run(const std::function<void(uint64_t entries)>& on_page);

  const std::map<Space, SpaceCount>& counts() const { return counts_; }
  const std::vector<Finding>& findings() const { return findings_; }
  uint64_t found() const { return found_; }
  uint64_t entries() const { return entries_; }

 private:
  Status CheckEntry(const ScanPage::Entry& entry);
  Status CheckSetting(const ScanPage::Entry& entry);
  Status CheckFeedEntry(const ScanPage::Entry& entry);
  Status CheckTableEntry(const ScanPage::Entry& entry);
  Status CheckJob(const ScanPage::Entry& entry);
  Status CheckQueueEntry(const ScanPage::Entry& entry);
  Status CheckExpiryEntry(const ScanPage::Entry& entry);
  void CheckHeader(const ScanPage::Entry& entry);
  Status CheckOwned(const ScanPage::Entry& entry);
  // Whether something is stored there, expired or not.
  Result<std::optional<Record>> Stored(BytesView key);
  void Report(BytesView key, std::string text);

  View& view_;
  const Version last_version_;
  std::map<Space, SpaceCount> counts_;
  std::map<uint64_t, bool> declared_feeds_;  // those asked for so far
  std::vector<Finding> findings_;
  uint64_t found_ = 0;
  uint64_t entries_ = 0;
};

}  // namespace kvarts::cli
