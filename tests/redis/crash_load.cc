#include "redis/crash_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <utility>

namespace kvarts::test {
namespace {

using Words = CrashLoad::Words;

constexpr uint64_t kKeysOfAKind = 6;
// So many that large collections are spread out, and small ones are not.
constexpr uint64_t kFewMembers = 8;
constexpr uint64_t kManyMembers = 700;
constexpr uint64_t kAtOnce = 40;

ModelKey& Made(ModelKeys* keys, const std::string& name, const char* type) {
  return keys->try_emplace(name, ModelKey{.type = type}).first->second;
}

// What holds nothing is no key.
void Tidy(ModelKeys* keys, const std::string& name) {
  const auto found = keys->find(name);
  if (found != keys->end() && found->second.empty()) keys->erase(found);
}

int64_t NumberIn(const std::string& answer) {
  constexpr std::string_view kInteger = "(integer) ";
  return answer.starts_with(kInteger) ? std::stoll(answer.substr(kInteger.size())) : -1;
}

std::string Shown(const ModelKey& key) {
  std::string text = key.type + " " + key.text;
  for (const auto& [name, value] : key.fields) text += fmt::format(" {}={}", name, value);
  for (const std::string& element : key.elements) text += " " + element;
  return text.substr(0, 300);
}

// Where the two differ first.
std::string Difference(const ModelKeys& expected, const ModelKeys& actual) {
  for (const auto& [name, key] : expected) {
    const auto found = actual.find(name);
    if (found == actual.end()) return name + " is gone: " + Shown(key);
    if (found->second != key) return name + " is " + Shown(found->second) + " and not " + Shown(key);
  }
  for (const auto& [name, key] : actual) {
    if (!expected.contains(name)) return name + " should not be there: " + Shown(key);
  }
  return "nothing";
}

}  // namespace

std::vector<std::string> BulksOf(const std::string& answer) {
  std::vector<std::string> bulks;
  for (size_t at = answer.find('"'); at != answer.npos; at = answer.find('"', at + 1)) {
    const size_t end = answer.find('"', at + 1);
    bulks.push_back(answer.substr(at + 1, end - at - 1));
    at = end;
  }
  return bulks;
}

CrashLoad::CrashLoad(int writers, uint64_t seed) {
  for (int i = 0; i < writers; ++i) writers_.push_back({.number = i, .random = std::mt19937_64(seed + i)});
}

std::string CrashLoad::Name(const Writer& writer, const char* kind, uint64_t of) const {
  return fmt::format("w{}:{}{}", writer.number, kind, of);
}

void CrashLoad::Wrong(std::string what) {
  const std::lock_guard lock(mutex_);
  wrong_.push_back(std::move(what));
}

std::vector<std::string> CrashLoad::TakeWrong() {
  const std::lock_guard lock(mutex_);
  return std::exchange(wrong_, {});
}

void CrashLoad::Run(const std::vector<std::string>& addresses, const std::atomic<bool>& stop) {
  {
    RespClient client(addresses[0]);
    lists_ = client.Call({"LLEN", "x"}).find("unknown") == std::string::npos;
    sorted_sets_ = client.Call({"ZCARD", "x"}).find("unknown") == std::string::npos;
  }
  std::vector<std::jthread> threads;
  for (Writer& writer : writers_) {
    const std::string& address = addresses[static_cast<size_t>(writer.number) % addresses.size()];
    threads.emplace_back([this, &writer, &address, &stop] { Write(writer, address, stop); });
  }
}

void CrashLoad::Write(Writer& writer, const std::string& address, const std::atomic<bool>& stop) {
  try {
    RespClient client(address);
    while (!stop) {
      Step step = NextStep(writer);
      writer.after = writer.keys;
      step.change(&writer.after);
      const bool transaction = step.commands.size() > 1;
      if (transaction) {
        step.commands.insert(step.commands.begin(), {"MULTI"});
        step.commands.push_back({"EXEC"});
      }
      for (const Words& words : step.commands) client.Send(words);
      std::string answer;
      for (size_t i = 0; i < step.commands.size(); ++i) answer = client.Read();
      // Nothing was written, and may be tried again; or nobody knows, which is found out.
      if (answer.starts_with("(error) \"TRYAGAIN")) continue;
      if (answer.starts_with("(error) \"UNKNOWNOUTCOME")) return;
      if (answer.find("(error)") != std::string::npos) {
        Wrong(fmt::format("{} is answered with {}", fmt::join(step.commands.front(), " "), answer));
        return;
      }
      writer.keys = writer.after;
      ++acked_;
    }
  } catch (const std::runtime_error&) {
    // Nobody answers any more.
  }
}

CrashLoad::Step CrashLoad::NextStep(Writer& writer) {
  switch (writer.random() % 8) {
    case 0:
    case 1:
      return StringStep(writer);
    case 2:
      return HashStep(writer);
    case 3:
      return SetStep(writer);
    case 4:
      return lists_ ? ListStep(writer) : HashStep(writer);
    case 5:
      return sorted_sets_ ? SortedSetStep(writer) : SetStep(writer);
    default:
      return ManyStep(writer);
  }
}

CrashLoad::Step CrashLoad::StringStep(Writer& writer) {
  const std::string name = Name(writer, "string", writer.random() % kKeysOfAKind);
  const std::string value = std::to_string(next_++);
  switch (writer.random() % 4) {
    case 0:
      return {{{"DEL", name}}, [=](ModelKeys* keys) { keys->erase(name); }};
    case 1:
      return {{{"APPEND", name, value}}, [=](ModelKeys* keys) { Made(keys, name, "string").text += value; }};
    case 2: {
      // One that goes by itself: it counts as a key until then, and is none that is compared.
      const std::string passing = "passing:" + name + value;
      return {{{"SET", passing, value, "PX", std::to_string(1 + writer.random() % 300)}}, [](ModelKeys*) {}};
    }
    default:
      return {{{"SET", name, value}}, [=](ModelKeys* keys) { Made(keys, name, "string").text = value; }};
  }
}

CrashLoad::Step CrashLoad::HashStep(Writer& writer) {
  const bool large = writer.random() % 2 == 0;
  const std::string name = Name(writer, large ? "large-hash" : "hash", writer.random() % 3);
  const uint64_t members = large ? kManyMembers : kFewMembers;
  const uint64_t what = writer.random() % 16;
  if (what == 0) return {{{"DEL", name}}, [=](ModelKeys* keys) { keys->erase(name); }};
  Words words = {what < 4 ? "HDEL" : "HSET", name};
  std::map<std::string, std::string> fields;
  for (uint64_t i = 0; i < (large ? kAtOnce : 2); ++i) {
    fields[fmt::format("f{}", writer.random() % members)] = std::to_string(next_++);
  }
  for (const auto& [field, value] : fields) {
    words.push_back(field);
    if (what >= 4) words.push_back(value);
  }
  return {{words}, [=](ModelKeys* keys) {
            ModelKey& key = Made(keys, name, "hash");
            for (const auto& [field, value] : fields) {
              if (what < 4) {
                key.fields.erase(field);
              } else {
                key.fields[field] = value;
              }
            }
            Tidy(keys, name);
          }};
}

CrashLoad::Step CrashLoad::SetStep(Writer& writer) {
  const bool large = writer.random() % 2 == 0;
  const char* kind = large ? "large-set" : "set";
  const std::string name = Name(writer, kind, writer.random() % 3);
  const std::string other = Name(writer, kind, 3);
  const std::string member = fmt::format("m{}", writer.random() % (large ? kManyMembers : kFewMembers));
  const uint64_t what = writer.random() % 16;
  if (what == 0) return {{{"UNLINK", name}}, [=](ModelKeys* keys) { keys->erase(name); }};
  if (what < 4) {
    return {{{"SMOVE", name, other, member}}, [=](ModelKeys* keys) {
              const auto from = keys->find(name);
              if (from == keys->end() || from->second.fields.erase(member) == 0) return;
              Tidy(keys, name);
              Made(keys, other, "set").fields[member];
            }};
  }
  Words words = {what < 7 ? "SREM" : "SADD", name, member};
  for (uint64_t i = 0; i < (large ? kAtOnce : 1); ++i) {
    words.push_back(fmt::format("m{}", writer.random() % (large ? kManyMembers : kFewMembers)));
  }
  return {{words}, [=](ModelKeys* keys) {
            ModelKey& key = Made(keys, name, "set");
            for (size_t i = 2; i < words.size(); ++i) {
              if (words[0] == "SREM") {
                key.fields.erase(words[i]);
              } else {
                key.fields[words[i]];
              }
            }
            Tidy(keys, name);
          }};
}

CrashLoad::Step CrashLoad::ListStep(Writer& writer) {
  const std::string name = Name(writer, "list", writer.random() % 2);
  const std::string other = Name(writer, "list", 2);
  const uint64_t what = writer.random() % 16;
  if (what == 0) return {{{"DEL", name}}, [=](ModelKeys* keys) { keys->erase(name); }};
  if (what < 6) {
    const bool moves = what < 3;
    return {{moves ? Words{"LMOVE", name, other, "LEFT", "RIGHT"} : Words{"LPOP", name}}, [=](ModelKeys* keys) {
              const auto from = keys->find(name);
              if (from == keys->end()) return;
              const std::string element = from->second.elements.front();
              from->second.elements.erase(from->second.elements.begin());
              Tidy(keys, name);
              if (moves) Made(keys, other, "list").elements.push_back(element);
            }};
  }
  Words words = {what < 9 ? "LPUSH" : "RPUSH", name};
  for (uint64_t i = 0; i < 1 + writer.random() % kAtOnce; ++i) words.push_back(std::to_string(next_++));
  return {{words}, [=](ModelKeys* keys) {
            std::vector<std::string>& elements = Made(keys, name, "list").elements;
            for (size_t i = 2; i < words.size(); ++i) {
              elements.insert(words[0] == "LPUSH" ? elements.begin() : elements.end(), words[i]);
            }
          }};
}

CrashLoad::Step CrashLoad::SortedSetStep(Writer& writer) {
  const std::string name = Name(writer, "scores", writer.random() % 3);
  const uint64_t what = writer.random() % 16;
  if (what == 0) return {{{"DEL", name}}, [=](ModelKeys* keys) { keys->erase(name); }};
  std::map<std::string, std::string> members;
  for (uint64_t i = 0; i < 1 + writer.random() % kAtOnce; ++i) {
    members[fmt::format("m{}", writer.random() % kManyMembers)] = std::to_string(next_++);
  }
  Words words = {what < 4 ? "ZREM" : "ZADD", name};
  for (const auto& [member, score] : members) {
    if (what >= 4) words.push_back(score);
    words.push_back(member);
  }
  return {{words}, [=](ModelKeys* keys) {
            ModelKey& key = Made(keys, name, "zset");
            for (const auto& [member, score] : members) {
              if (what < 4) {
                key.fields.erase(member);
              } else {
                key.fields[member] = score;
              }
            }
            Tidy(keys, name);
          }};
}

// Several keys of several types in one transaction, or in one command.
CrashLoad::Step CrashLoad::ManyStep(Writer& writer) {
  const std::string number = std::to_string(next_++);
  const std::string text = Name(writer, "string", writer.random() % kKeysOfAKind);
  const std::string hash = Name(writer, "hash", writer.random() % 3);
  const std::string set = Name(writer, "set", writer.random() % 3);
  switch (writer.random() % 3) {
    case 0:
      return {{{"MSET", text, number, text + "'", number}}, [=](ModelKeys* keys) {
                Made(keys, text, "string").text = number;
                Made(keys, text + "'", "string").text = number;
              }};
    case 1:
      return {{{"SET", text, number}, {"RENAME", text, text + "'"}}, [=](ModelKeys* keys) {
                keys->erase(text);
                Made(keys, text + "'", "string").text = number;
              }};
    default:
      return {{{"SET", text, number}, {"HSET", hash, "of-all", number}, {"SADD", set, number}, {"DEL", text + "'"}},
              [=](ModelKeys* keys) {
                Made(keys, text, "string").text = number;
                Made(keys, hash, "hash").fields["of-all"] = number;
                Made(keys, set, "set").fields[number];
                keys->erase(text + "'");
              }};
  }
}

// All keys that begin so, with what they hold; `wrong` is told where a count is not that of what is enumerated.
ModelKeys CrashLoad::Read(RespClient& client, const std::string& prefix, std::vector<std::string>* wrong) {
  ModelKeys keys;
  const auto count = [&](const std::string& name, const char* command, size_t is) {
    const int64_t said = NumberIn(client.Call({command, name}));
    if (said != static_cast<int64_t>(is)) wrong->push_back(fmt::format("{} {} says {} of {}", command, name, said, is));
  };
  for (const std::string& name : BulksOf(client.Call({"KEYS", prefix + "*"}))) {
    ModelKey key{.type = client.Call({"TYPE", name})};
    if (key.type == "string") {
      key.text = BulksOf(client.Call({"GET", name})).at(0);
    } else if (key.type == "hash" || key.type == "zset") {
      const std::vector<std::string> all = BulksOf(
          key.type == "hash" ? client.Call({"HGETALL", name}) : client.Call({"ZRANGE", name, "0", "-1", "WITHSCORES"}));
      for (size_t i = 0; i + 1 < all.size(); i += 2) key.fields[all[i]] = all[i + 1];
      count(name, key.type == "hash" ? "HLEN" : "ZCARD", all.size() / 2);
    } else if (key.type == "set") {
      for (const std::string& member : BulksOf(client.Call({"SMEMBERS", name}))) key.fields[member];
      count(name, "SCARD", key.fields.size());
    } else if (key.type == "list") {
      key.elements = BulksOf(client.Call({"LRANGE", name, "0", "-1"}));
      count(name, "LLEN", key.elements.size());
    }
    keys[name] = std::move(key);
  }
  return keys;
}

std::vector<std::string> CrashLoad::Verify(const std::string& address) {
  std::vector<std::string> wrong = TakeWrong();
  RespClient client(address);
  for (Writer& writer : writers_) {
    ModelKeys actual = Read(client, fmt::format("w{}:", writer.number), &wrong);
    if (actual != writer.keys && actual != writer.after) {
      wrong.push_back(fmt::format("after what was acknowledged: {}; after what was sent: {}",
                                  Difference(writer.keys, actual), Difference(writer.after, actual)));
    }
    writer.after = writer.keys = std::move(actual);
  }
  return wrong;
}

}  // namespace kvarts::test
