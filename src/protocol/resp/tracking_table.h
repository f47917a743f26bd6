// TrackingTable: which clients have read which keys, and which want to hear of all keys that begin in some way.
//
// It only remembers: a client is a number, and one that has gone may still be found until its keys change, or are
// looked at again. So what is kept for a key is bounded by how many clients there are, and how many keys there are by
// whoever asks for Excess. Keys have no database: what has the same name in another is the same, as in Redis.
//
// Not safe for use by several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"

namespace kvarts::resp {

class TrackingTable {
 public:
  using Client = uint64_t;

  // `lives` says whether there is such a client: of the others, those in the way are forgotten.
  explicit TrackingTable(std::function<bool(Client)> lives);

  void Remember(BytesView key, Client client);
  // Who has read the key. Those of whom `stays` says so are remembered further.
  std::vector<Client> Take(BytesView key, const std::function<bool(Client)>& stays);
  void Forget(BytesView key, Client client);
  void Clear();

  // While there are more keys than that: one of them by chance, which is forgotten, and who has read it.
  struct Excess {
    Bytes key;
    std::vector<Client> clients;
  };
  std::optional<Excess> TakeExcess(size_t max_keys);

  // No prefix of a client begins with another of its own.
  void AddPrefix(BytesView prefix, Client client);
  void RemovePrefix(BytesView prefix, Client client);
  // Those who want to hear of the key, each once.
  void FindByPrefix(BytesView key, std::vector<Client>* found) const;

  size_t keys() const { return entries_.size(); }
  // Clients, counted for each key.
  size_t items() const { return items_; }
  size_t prefixes() const { return prefixes_.size(); }

 private:
  // More are looked through for those that have gone.
  static constexpr size_t kFewClients = 16;

  struct Entry {
    Bytes key;
    std::vector<Client> clients;  // in order
    size_t place;                 // among all
    size_t look_at = kFewClients;
  };
  void Erase(Entry& entry);
  void Purge(Entry& entry);

  const std::function<bool(Client)> lives_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::unordered_map<BytesView, Entry*> by_key_;  // each borrowed from its entry
  size_t items_ = 0;
  std::map<Bytes, std::set<Client>, std::less<>> prefixes_;
  std::map<size_t, size_t> lengths_;  // of prefixes, and how many have it
  std::minstd_rand random_;
};

}  // namespace kvarts::resp
