#include "protocol/resp/blocked_clients.h"

namespace kvarts::resp {

BlockedClients::Place::Place(BlockedClients& clients, uint64_t client, std::shared_ptr<Waker> waker)
    : clients_(clients), client_(client), waker_(std::move(waker)) {
  const std::lock_guard lock(clients_.mutex_);
  clients_.places_.emplace(client_, this);
}

BlockedClients::Place::~Place() {
  const std::lock_guard lock(clients_.mutex_);
  clients_.places_.erase(client_);
}

bool BlockedClients::Unblock(uint64_t client, bool with_error) {
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(client);
  if (found == places_.end()) return false;
  Place& place = *found->second;
  // Whoever comes first says how.
  Ended not_yet = Ended::kNot;
  const Ended how = with_error ? Ended::kWithError : Ended::kAsIfTimeWereOver;
  if (!place.ended_.compare_exchange_strong(not_yet, how)) return false;
  Waker::Wake(place.waker_);
  return true;
}

size_t BlockedClients::size() const {
  const std::lock_guard lock(mutex_);
  return places_.size();
}

}  // namespace kvarts::resp
