#include "protocol/resp/clients.h"

#include <utility>

namespace kvarts::resp {

void Clients::Add(std::shared_ptr<Client> client) {
  const std::lock_guard lock(mutex_);
  const uint64_t id = client->id();
  clients_.emplace(id, std::move(client));
}

void Clients::Remove(const Client& client) {
  const std::lock_guard lock(mutex_);
  clients_.erase(client.id());
}

bool Clients::Push(uint64_t id, std::shared_ptr<const Message> message) const {
  const std::shared_ptr<Client> client = Find(id);
  return client != nullptr && client->Push(std::move(message));
}

std::shared_ptr<Client> Clients::Find(uint64_t id) const {
  const std::lock_guard lock(mutex_);
  const auto found = clients_.find(id);
  return found == clients_.end() ? nullptr : found->second;
}

size_t Clients::size() const {
  const std::lock_guard lock(mutex_);
  return clients_.size();
}

std::vector<std::shared_ptr<Client>> Clients::All() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Client>> all;
  all.reserve(clients_.size());
  for (const auto& [id, client] : clients_) all.push_back(client);
  return all;
}

void Clients::CutOffLargest() const {
  std::shared_ptr<Client> largest;
  uint64_t most = kLittle;
  for (std::shared_ptr<Client>& client : All()) {
    const uint64_t waits = client->waiting().second;
    if (waits <= most) continue;
    most = waits;
    largest = std::move(client);
  }
  if (largest != nullptr) largest->CutOff();
}

// What letters that come too late find.
struct Clients::Visits {
  std::mutex mutex;
  Visitor visit;    // null: nobody waits any more
  size_t left = 0;  // loops
};

void Clients::Visit(const std::vector<std::shared_ptr<Client>>& clients, Visitor visit) {
  std::map<net::Loop*, std::vector<std::shared_ptr<Client>>> by_loop;
  for (const auto& client : clients) by_loop[&client->loop()].push_back(client);
  const auto visits = std::make_shared<Visits>();
  visits->visit = std::move(visit);
  visits->left = by_loop.size();
  for (auto& [loop, there] : by_loop) {
    loop->Post([this, visits, there = std::move(there)] {
      {
        const std::lock_guard lock(visits->mutex);
        if (visits->visit == nullptr) return;
        for (const auto& client : there) {
          if (client->owner() != nullptr) visits->visit(*client->owner());
        }
      }
      const std::lock_guard lock(mutex_);
      --visits->left;
      visited_.notify_all();
    });
  }
  {
    std::unique_lock lock(mutex_);
    visited_.wait(lock, [&] { return visits->left == 0 || stopped_; });
  }
  const std::lock_guard lock(visits->mutex);
  visits->visit = nullptr;
}

void Clients::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  visited_.notify_all();
}

}  // namespace kvarts::resp
