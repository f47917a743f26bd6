#include "protocol/resp/clients.h"

#include <algorithm>
#include <span>
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
  size_t left = 0;  // clients; with the mutex of all
};

std::shared_ptr<Clients::Visits> Clients::Begin(const std::vector<std::shared_ptr<Client>>& clients, Visitor visit) {
  std::map<net::Loop*, std::vector<std::shared_ptr<Client>>> by_loop;
  for (const auto& client : clients) by_loop[&client->loop()].push_back(client);
  auto visits = std::make_shared<Visits>();
  visits->visit = std::move(visit);
  visits->left = clients.size();
  for (auto& [loop, all] : by_loop) {
    VisitSome(visits, *loop, std::make_shared<const std::vector<std::shared_ptr<Client>>>(std::move(all)), 0);
  }
  return visits;
}

void Clients::Visit(const std::vector<std::shared_ptr<Client>>& clients, Visitor visit) {
  const auto visits = Begin(clients, std::move(visit));
  {
    std::unique_lock lock(mutex_);
    visited_.wait(lock, [&] { return visits->left == 0 || stopped_; });
  }
  const std::lock_guard lock(visits->mutex);
  visits->visit = nullptr;
}

void Clients::VisitSoon(Visitor visit) { Begin(All(), std::move(visit)); }

void Clients::VisitSome(const std::shared_ptr<Visits>& visits, net::Loop& loop, Several clients, size_t from) {
  loop.Post([this, visits, &loop, clients = std::move(clients), from] {
    const auto some = std::span(*clients).subspan(from, std::min(kAtOnce, clients->size() - from));
    {
      const std::lock_guard lock(visits->mutex);
      if (visits->visit == nullptr) return;
      for (const auto& client : some) {
        if (client->owner() != nullptr) visits->visit(*client->owner());
      }
    }
    if (from + some.size() < clients->size()) VisitSome(visits, loop, clients, from + some.size());
    const std::lock_guard lock(mutex_);
    visits->left -= some.size();
    visited_.notify_all();
  });
}

void Clients::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  visited_.notify_all();
}

}  // namespace kvarts::resp
