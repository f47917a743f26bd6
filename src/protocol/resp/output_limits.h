// OutputLimits: how much may wait for a client that does not take what it is told (client-output-buffer-limit).
//
// Safe from any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kvarts::resp {

// Clients that listen to channels are of another class than those that do not. There are no replicas among them; their
// limits are known, and nobody is held to them.
enum class ClientClass : uint8_t { kNormal, kReplica, kPubSub, kCount_ };

class OutputLimits {
 public:
  // Zero: none.
  struct Limit {
    uint64_t hard_bytes = 0;  // a client for which more waits is cut off
    uint64_t soft_bytes = 0;  // one for which more waits all of the time
    uint64_t soft_seconds = 0;
  };

  // As Redis begins.
  OutputLimits();

  Limit operator[](ClientClass of) const;
  // "normal 0 0 0 slave … pubsub …", and the same for some of the classes: why not, if not, in Redis' words.
  std::string Text() const;
  std::string Set(std::string_view text, bool apply);

 private:
  struct Numbers {
    std::atomic<uint64_t> hard{0};
    std::atomic<uint64_t> soft{0};
    std::atomic<uint64_t> seconds{0};
  };
  void Set(ClientClass of, const Limit& limit);

  std::array<Numbers, static_cast<size_t>(ClientClass::kCount_)> all_;
};

}  // namespace kvarts::resp
