#include "protocol/resp/subscriptions.h"

namespace kvarts::resp {

Status Subscriptions::Join(Listening to, BytesView name) {
  Names_& names = names_[static_cast<size_t>(to)];
  if (names.contains(name)) return {};
  if (!held_.Add(BytesOf(name))) {
    held_.Remove(BytesOf(name));
    return Error(ErrorCode::kOverloaded, "all clients together hold too much", {{"limit", "redis.max_held_bytes"}});
  }
  names.emplace(name);
  // Before the first message.
  Counted(count_ + 1);
  channels_.Join(to, name, client_);
  return {};
}

bool Subscriptions::Leave(Listening to, BytesView name) {
  Names_& names = names_[static_cast<size_t>(to)];
  const auto found = names.find(name);
  if (found == names.end()) return false;
  channels_.Leave(to, *found, *client_);
  held_.Remove(BytesOf(*found));
  names.erase(found);
  Counted(count_ - 1);
  return true;
}

void Subscriptions::LeaveAll() {
  for (const Listening to : {Listening::kChannel, Listening::kPattern, Listening::kShard}) {
    for (const Bytes& name : Names(to)) Leave(to, name);
  }
}

void Subscriptions::Counted(size_t now) {
  if (count_ == 0) channels_.NoteClients(1);
  if (now == 0) channels_.NoteClients(-1);
  count_ = now;
  client_->set_class(now != 0 ? ClientClass::kPubSub : ClientClass::kNormal);
}

std::vector<Bytes> Subscriptions::Names(Listening to) const {
  const Names_& names = names_[static_cast<size_t>(to)];
  return {names.begin(), names.end()};
}

}  // namespace kvarts::resp
