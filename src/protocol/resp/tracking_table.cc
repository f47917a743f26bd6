#include "protocol/resp/tracking_table.h"

#include <algorithm>
#include <utility>

namespace kvarts::resp {

TrackingTable::TrackingTable(std::function<bool(Client)> lives) : lives_(std::move(lives)) {}

void TrackingTable::Remember(BytesView key, Client client) {
  Entry* entry = nullptr;
  if (const auto found = by_key_.find(key); found != by_key_.end()) {
    entry = found->second;
  } else {
    entries_.push_back(std::make_unique<Entry>(Bytes(key), std::vector<Client>(), entries_.size()));
    entry = entries_.back().get();
    by_key_.emplace(entry->key, entry);
  }
  const auto at = std::ranges::lower_bound(entry->clients, client);
  if (at != entry->clients.end() && *at == client) return;
  entry->clients.insert(at, client);
  ++items_;
  if (entry->clients.size() >= entry->look_at) Purge(*entry);
}

// So often that it costs what has been added since.
void TrackingTable::Purge(Entry& entry) {
  items_ -= std::erase_if(entry.clients, [this](Client client) { return !lives_(client); });
  entry.look_at = std::max(kFewClients, 2 * entry.clients.size());
}

void TrackingTable::Erase(Entry& entry) {
  items_ -= entry.clients.size();
  by_key_.erase(entry.key);
  const size_t place = entry.place;
  std::swap(entries_[place], entries_.back());
  entries_[place]->place = place;
  entries_.pop_back();
}

std::vector<TrackingTable::Client> TrackingTable::Take(BytesView key, const std::function<bool(Client)>& stays) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return {};
  Entry& entry = *found->second;
  std::vector<Client> clients = entry.clients;
  items_ -= std::erase_if(entry.clients, [&](Client client) { return !stays(client); });
  if (entry.clients.empty()) Erase(entry);
  return clients;
}

void TrackingTable::Forget(BytesView key, Client client) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return;
  Entry& entry = *found->second;
  items_ -= std::erase(entry.clients, client);
  if (entry.clients.empty()) Erase(entry);
}

void TrackingTable::Clear() {
  by_key_.clear();
  entries_.clear();
  items_ = 0;
}

std::optional<TrackingTable::Excess> TrackingTable::TakeExcess(size_t max_keys) {
  if (entries_.size() <= max_keys) return std::nullopt;
  Entry& entry = *entries_[random_() % entries_.size()];
  Excess excess{entry.key, entry.clients};
  Erase(entry);
  return excess;
}

void TrackingTable::AddPrefix(BytesView prefix, Client client) {
  const auto [at, is_new] = prefixes_.try_emplace(Bytes(prefix));
  if (is_new) ++lengths_[prefix.size()];
  at->second.insert(client);
}

void TrackingTable::RemovePrefix(BytesView prefix, Client client) {
  const auto found = prefixes_.find(prefix);
  if (found == prefixes_.end()) return;
  found->second.erase(client);
  if (!found->second.empty()) return;
  prefixes_.erase(found);
  if (--lengths_[prefix.size()] == 0) lengths_.erase(prefix.size());
}

void TrackingTable::FindByPrefix(BytesView key, std::vector<Client>* found) const {
  for (const auto& [length, count] : lengths_) {
    if (length > key.size()) return;
    const auto prefix = prefixes_.find(key.substr(0, length));
    if (prefix != prefixes_.end()) found->insert(found->end(), prefix->second.begin(), prefix->second.end());
  }
}

}  // namespace kvarts::resp
