// What the crash test of Redis' commands writes, what it was promised, and what must therefore be there after a crash.
//
// Each writer has keys of its own, and waits for every answer. It does on maps of its own what it asks the server to
// do, so after a crash all that it has is as after its last answer, or as after the command that was under way: nothing
// between the two, for a command or transaction of many keys is there as a whole or not at all.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "support/resp_client.h"

namespace kvarts::test {

// A key as the model has it, whatever its type.
struct ModelKey {
  std::string type;                                // as TYPE says
  std::string text = {};                           // of a string
  std::map<std::string, std::string> fields = {};  // of a hash; of a set, with nothing behind; scores of a sorted set
  std::vector<std::string> elements = {};          // of a list

  bool empty() const { return type != "string" && fields.empty() && elements.empty(); }
  friend bool operator==(const ModelKey&, const ModelKey&) = default;
};
using ModelKeys = std::map<std::string, ModelKey>;

class CrashLoad {
 public:
  using Words = std::vector<std::string>;

  CrashLoad(int writers, uint64_t seed);

  // Writes until nobody answers, or `stop` is set; the writers share the servers.
  void Run(const std::vector<std::string>& addresses, const std::atomic<bool>& stop);
  uint64_t acked() const { return acked_; }
  // What a server refused that should not have, or answered wrongly.
  std::vector<std::string> TakeWrong();

  // What is wrong with what is there: nothing, if every promise was kept. Takes it as given for the next round.
  std::vector<std::string> Verify(const std::string& address);

 private:
  struct Writer {
    int number;
    std::mt19937_64 random;
    ModelKeys keys = {};   // after what was acknowledged
    ModelKeys after = {};  // after what was sent last
  };
  // Commands that are one for the writer: more than one of them are a transaction.
  struct Step {
    std::vector<Words> commands;
    std::function<void(ModelKeys*)> change;
  };

  void Write(Writer& writer, const std::string& address, const std::atomic<bool>& stop);
  Step NextStep(Writer& writer);
  Step StringStep(Writer& writer);
  Step HashStep(Writer& writer);
  Step SetStep(Writer& writer);
  Step ListStep(Writer& writer);
  Step SortedSetStep(Writer& writer);
  Step ManyStep(Writer& writer);
  std::string Name(const Writer& writer, const char* kind, uint64_t of) const;
  static ModelKeys Read(RespClient& client, const std::string& prefix, std::vector<std::string>* wrong);
  void Wrong(std::string what);

  std::vector<Writer> writers_;
  std::atomic<uint64_t> acked_ = 0;
  std::atomic<uint64_t> next_ = 1;
  std::atomic<bool> lists_ = false;
  std::atomic<bool> sorted_sets_ = false;
  std::mutex mutex_;
  std::vector<std::string> wrong_;
};

// The elements of an answer that is an array of bulk strings, without their quotes.
std::vector<std::string> BulksOf(const std::string& answer);

}  // namespace kvarts::test
