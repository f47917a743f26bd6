#include "protocol/resp/client.h"

#include "protocol/resp/service.h"

namespace kvarts::resp {

Client::Client(Service& service, uint64_t id, net::Loop& loop, Owner& owner)
    : service_(service), id_(id), loop_(loop), owner_(&owner) {}

Client::~Client() { Drop(); }

bool Client::Push(std::shared_ptr<const Message> message) {
  bool too_much = false;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return false;
    bytes_ += message->bytes() + kPlaceBytes;
    service_.message_bytes.Add(kPlaceBytes);
    messages_.push_back(std::move(message));
    too_much = IsTooMuch();
    if (!too_much) Post();
  }
  if (too_much) {
    CutOff();
    return false;
  }
  if (service_.message_bytes.now() > service_.options.max_held_bytes / 2) service_.clients.CutOffLargest();
  return true;
}

void Client::CutOff() {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  Drop();
  ended_ = true;
  service_.cut_off.fetch_add(1, std::memory_order_relaxed);
  cut_off_ = true;
  Post();
}

void Client::Post() {
  if (std::exchange(posted_, true)) return;
  loop_.Post([self = shared_from_this()] { self->Arrive(); });
}

bool Client::IsTooMuch() {
  const OutputLimits::Limit limit = service_.settings.output[class_.load(std::memory_order_relaxed)];
  if (limit.hard_bytes != 0 && bytes_ > limit.hard_bytes) return true;
  if (limit.soft_bytes == 0 || bytes_ <= limit.soft_bytes) {
    much_since_ = Steady::time_point::max();
  } else if (much_since_ == Steady::time_point::max()) {
    much_since_ = Steady::now();
  } else if (Steady::now() - much_since_ > std::chrono::seconds(limit.soft_seconds)) {
    return true;
  }
  return false;
}

void Client::Drop() {
  service_.message_bytes.Remove(messages_.size() * kPlaceBytes);
  messages_.clear();
  bytes_ = 0;
}

void Client::Arrive() {
  bool cut_off = false;
  {
    const std::lock_guard lock(mutex_);
    posted_ = false;
    cut_off = cut_off_;
  }
  if (owner_ == nullptr) return;
  if (cut_off) {
    owner_->Kill(false);
  } else {
    owner_->MessagesWait();
  }
}

bool Client::TakeMessages(int version, size_t until, Bytes* out) {
  ReplyWriter reply(out, version);
  while (out->size() < until) {
    std::shared_ptr<const Message> message;
    {
      const std::lock_guard lock(mutex_);
      if (messages_.empty()) return false;
      message = std::move(messages_.front());
      messages_.pop_front();
      bytes_ -= message->bytes() + kPlaceBytes;
      service_.message_bytes.Remove(kPlaceBytes);
    }
    message->Write(reply);
  }
  const std::lock_guard lock(mutex_);
  return !messages_.empty();
}

std::pair<size_t, uint64_t> Client::waiting() const {
  const std::lock_guard lock(mutex_);
  return {messages_.size(), bytes_};
}

void Client::End() {
  owner_ = nullptr;
  const std::lock_guard lock(mutex_);
  ended_ = true;
  Drop();
}

}  // namespace kvarts::resp
