// What the crash test over HTTP writes, what it was promised, and what must therefore be there after a crash.
//
// Each writer has keys of its own and writes a growing number to them, with durability sync, so that what is there says
// which write it is of: at least the last one that was acknowledged, at most the last one that was sent.
//
//   crash/W/put/K     PUT of the number, some of them pipelined
//   crash/W/pair/a, b one commit of both: they are equal
//   crash/W/sum       increments by one: their number is known as well
//   crash/W/list/N    created once each, never written again
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace kvarts::test {

// What is known of one key.
struct Promise {
  uint64_t sent = 0;   // the largest number that may be there
  uint64_t acked = 0;  // the least that must be; zero: nothing
};

class CrashLoad {
 public:
  explicit CrashLoad(int writers) : writers_(writers) {}

  // Writes to the server until it no longer answers, or `stop` is set.
  void Run(const std::string& address, const std::atomic<bool>& stop);
  uint64_t acked() const { return acked_; }

  // Everything under crash/ at the server.
  static std::map<std::string, uint64_t> ReadState(const std::string& address);
  // What is wrong with it: nothing, if every promise was kept. Takes it as given for the next round.
  std::vector<std::string> Verify(const std::map<std::string, uint64_t>& state);
  // Promises exactly this state and nothing else.
  void Restore(const std::map<std::string, uint64_t>& state);

 private:
  void Write(int writer, const std::string& address, const std::atomic<bool>& stop);
  void Sent(const std::string& key, uint64_t number);
  void Acked(const std::string& key, uint64_t number);

  const int writers_;
  std::atomic<uint64_t> acked_ = 0;
  std::vector<uint64_t> next_ = std::vector<uint64_t>(64, 1);  // each writer's number
  std::mutex mutex_;
  std::map<std::string, Promise> promises_;
};

}  // namespace kvarts::test
