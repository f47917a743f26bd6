#include "redis/commands.h"

#include <algorithm>
#include <stdexcept>

namespace kvarts::test {
namespace {

constexpr std::string_view kInteger = "(integer) ";

// What both clocks may be apart, and the way there and back takes.
constexpr int64_t kApartSeconds = 5;

int64_t NumberOf(const std::string& answer) { return std::stoll(answer.substr(kInteger.size())); }

bool AlikeInTime(const std::string& ours, const std::string& theirs, int64_t at_most) {
  if (!ours.starts_with(kInteger) || !theirs.starts_with(kInteger)) return ours == theirs;
  const int64_t a = NumberOf(ours);
  const int64_t b = NumberOf(theirs);
  if (a < 0 || b < 0) return a == b;
  return std::max(a, b) - std::min(a, b) <= at_most;
}

constexpr CommandTemplate kTemplates[] = {
    {"APPEND", "{key} {value}"},
    {"BITCOUNT", "{key} [{index} {index} [BYTE|BIT]]"},
    {"BITFIELD",
     "{key} [GET {bitkind} {bitplace}|SET {bitkind} {bitplace} {bitvalue}|INCRBY {bitkind} {bitplace} {bitvalue}] "
     "[OVERFLOW {overflow}] [INCRBY {bitkind} {bitplace} {bitvalue}] [SET {bitkind} {bitplace} {bitvalue}]"},
    {"BITFIELD_RO", "{key} [GET {bitkind} {bitplace}] [GET {bitkind} {bitplace}|SET u8 0 1]"},
    {"BITOP", "AND|OR|XOR|NOT|and|x {key} {key} [{key} [{key}]]"},
    {"BITPOS", "{key} 0|1|{integer} [{index} [{index} [BYTE|BIT|x]]]"},
    {"CLIENT", "CACHING YES|NO|x"},
    {"CLIENT", "GETREDIR|TRACKINGINFO [x]"},
    {"CLIENT",
     "TRACKING ON|ON|ON|OFF|x [BCAST] [OPTIN|OPTOUT] [OPTIN|NOLOOP] [PREFIX {key} [PREFIX {key}]] [PREFIX|x]"},
    {"CLIENT", "TRACKING ON [REDIRECT 0|-1|x|987654321] [BCAST]"},
    {"CLIENT", "GETNAME|GETREDIR|UNPAUSE|INFO|NONE|LIST x", Comparison::kKind},
    {"CLIENT",
     "KILL {value}|ID|ADDR|LADDR|TYPE|USER|SKIPME|MAXAGE 0|x|-1|999999|replica|master|{value} [SKIPME yes|x]"},
    {"CLIENT", "LIST TYPE|ID replica|slave|MASTER|x|999999|-1 [ID|0]", Comparison::kKind},
    {"CLIENT", "NO-EVICT|REPLY ON|x"},
    {"CLIENT", "PAUSE -1|x||99999999999999999999 WRITE|all|x"},
    {"CLIENT", "SETNAME {value}"},
    {"CLIENT", "UNBLOCK {integer} [timeout|ERROR|x]"},
    {"CLUSTER", "INFO|NODES"},
    {"COMMAND",
     "GETKEYS|GETKEYSANDFLAGS MSET|MGET|RENAME|SINTERSTORE|GET|SET|COPY|SMOVE|SDIFF|PING|NONE {key} {key} [{key}|GET]"},
    {"COMMAND", "GETKEYS|GETKEYSANDFLAGS SINTERCARD 0|1|2|3|x {key} {key}"},
    {"COMMAND", "GETKEYS OBJECT|CONFIG ENCODING|GET {key}"},
    {"COMMAND", "GETKEYS|GETKEYSANDFLAGS ZUNIONSTORE|ZMPOP|ZDIFFSTORE|ZUNION 1|2|{key} 1|2|0|{key} {key} [{key}]"},
    {"COMMAND", "NONE x"},
    {"CONFIG", "GET timeout|maxmemory|databases|none|hash-max-listpack-*|*policy|slowlog-max-len [t?meout]",
     Comparison::kUnordered},
    {"CONFIG", "SET hash-max-listpack-entries|slowlog-max-len|latency-tracking|databases|none {integer}|yes|no"},
    {"CONFIG", "SET set-max-intset-entries 512|x|-1 slowlog-max-len|set-max-intset-entries 128|1mb"},
    {"COPY", "{key} {key} [DB {database}] [REPLACE]"},
    {"DBSIZE", "", Comparison::kNoMore},
    {"DECR", "{key}"},
    {"DECRBY", "{key} {integer}"},
    {"DEL", "{key} [{key} [{key}]]"},
    {"ECHO", "{value}"},
    {"EXISTS", "{key} [{key} [{key}]]"},
    {"EXPIRE", "{key} {seconds} [NX|XX|GT|LT] [NX|XX|GT|LT]"},
    {"EXPIREAT", "{key} {instant} [NX|XX|GT|LT]"},
    {"EXPIRETIME", "{key}", Comparison::kSeconds},
    {"FAILOVER", "[ABORT|x]"},
    {"FLUSHDB", "[ASYNC|SYNC]"},
    {"GET", "{key}"},
    {"GETBIT", "{key} {bit}"},
    {"GETDEL", "{key}"},
    {"GETEX", "{key} [EX {seconds}|PX {millis}|EXAT {instant}|PERSIST] [PERSIST]"},
    {"GETRANGE", "{key} {index} {index}"},
    {"GETSET", "{key} {value}"},
    {"INCR", "{key}"},
    {"INCRBY", "{key} {integer}"},
    {"INCRBYFLOAT", "{key} {float}"},
    {"INFO", "none none"},
    {"KEYS", "{pattern}", Comparison::kUnordered},
    {"LCS", "{key} {key} [LEN|IDX] [MINMATCHLEN {index}] [WITHMATCHLEN|IDX|x]"},
    {"LATENCY", "RESET|LATEST"},
    {"LATENCY", "HISTORY|GRAPH|NONE none"},
    {"MEMORY", "USAGE {key} SAMPLES x|-1", Comparison::kKind},
    {"MGET", "{key} [{key} [{key}]]"},
    {"MOVE", "{key} {database}"},
    {"MSET", "{key} {value} [{key} {value}] [{key}]"},
    {"MSETNX", "{key} {value} [{key} {value}]"},
    {"OBJECT", "FREQ|NONE {key}"},
    {"PERSIST", "{key}"},
    {"PEXPIRE", "{key} {millis} [NX|XX|GT|LT]"},
    {"PEXPIREAT", "{key} {instant}000 [NX|XX|GT|LT]"},
    {"PEXPIRETIME", "{key}", Comparison::kMillis},
    {"PING", "[{value}]"},
    {"PSETEX", "{key} {millis} {value}"},
    {"PTTL", "{key}", Comparison::kMillis},
    {"PUBLISH", "{key} {value}"},
    {"PUBSUB", "CHANNELS|NUMSUB|NUMPAT|SHARDCHANNELS|SHARDNUMSUB|x [{key} [{key}]]"},
    {"READONLY", ""},
    {"READWRITE", ""},
    {"RENAME", "{key} {key}"},
    {"RENAMENX", "{key} {key}"},
    {"RESTORE", "{key} 0|0|1000000|-1|x {value} [REPLACE] [ABSTTL] [IDLETIME {index}] [FREQ {index}] [x]"},
    {"ROLE", ""},
    {"SELECT", "{database}"},
    {"SET", "{key} {value} [NX|XX] [GET] [EX {seconds}|PX {millis}|EXAT {instant}|KEEPTTL] [KEEPTTL|GET|XX]"},
    {"SETBIT", "{key} {bit} 0|1|{integer}"},
    {"SETEX", "{key} {seconds} {value}"},
    {"SETNX", "{key} {value}"},
    {"SETRANGE", "{key} {offset} {value}"},
    {"SLOWLOG", "NONE|RESET x"},
    {"STRLEN", "{key}"},
    {"SUBSTR", "{key} {index} {index}"},
    {"SWAPDB", "{database} {database}"},
    {"TOUCH", "{key} [{key}]"},
    {"TTL", "{key}", Comparison::kSeconds},
    {"TYPE", "{key}"},
    {"UNLINK", "{key} [{key}]"},
    {"WAIT", "0|x 0|-1|x"},
    {"HDEL", "{key} {field} [{field}]"},
    {"HEXISTS", "{key} {field}"},
    {"HGET", "{key} {field}"},
    {"HGETALL", "{key}", Comparison::kUnordered},
    {"HINCRBY", "{key} {field} {integer}"},
    {"HINCRBYFLOAT", "{key} {field} {float}"},
    {"HKEYS", "{key}", Comparison::kUnordered},
    {"HLEN", "{key}"},
    {"HMGET", "{key} {field} [{field} [{field}]]"},
    {"HMSET", "{key} {field} {value} [{field} {value}] [{field}]"},
    {"HRANDFIELD", "{key} 1000|0|x|-9223372036854775808 [WITHVALUES]", Comparison::kUnordered},
    {"HSCAN", "{key} 0|x [COUNT 1000] [MATCH {fieldpattern}]", Comparison::kScan},
    {"HSET", "{key} {field} {value} [{field} {value} [{field} {value}]] [{field}]"},
    {"HSETNX", "{key} {field} {value}"},
    {"HSTRLEN", "{key} {field}"},
    {"HVALS", "{key}", Comparison::kUnordered},
    {"BLMOVE", "{key} {key} {end} {end} {timeout}"},
    {"BLMPOP", "{timeout} 1|2|0|x {key} [{key}] {end} [COUNT 1|3|0|x]"},
    {"BLPOP", "{key} [{key}] {timeout}"},
    {"BRPOP", "{key} [{key}] {timeout}"},
    {"BRPOPLPUSH", "{key} {key} {timeout}"},
    {"BZMPOP", "{timeout} 1|2|0|x {key} [{key}] MIN|MAX|mid [COUNT 1|3|0|x]"},
    {"BZPOPMAX", "{key} [{key}] {timeout}"},
    {"BZPOPMIN", "{key} [{key}] {timeout}"},
    {"LINDEX", "{key} {index}"},
    {"LINSERT", "{key} BEFORE|AFTER|beside {field} {value}"},
    {"LLEN", "{key}"},
    {"LMOVE", "{key} {key} {end} {end}"},
    {"LMPOP", "1|2|0|-1|x {key} [{key}] {end} [COUNT 1|3|100|0|x]"},
    {"LPOP", "{key} [1|2|20|0|-1|x]"},
    {"LPOS", "{key} {field} [RANK {index}] [COUNT 0|1|2|-1|x] [MAXLEN 0|3|10|-1|x]"},
    {"LPUSH", "{key} {field} [{field} [{value}]]"},
    {"LPUSHX", "{key} {field} [{value}]"},
    {"LRANGE", "{key} {index} {index}"},
    {"LREM", "{key} 0|1|-1|2|x {field}"},
    {"LSET", "{key} {index} {value}"},
    {"LTRIM", "{key} 0|1|-8|{index} -1|-2|8|{index}"},
    {"RPOP", "{key} [1|2|20|0|-1|x]"},
    {"RPOPLPUSH", "{key} {key}"},
    {"RPUSH", "{key} {field} [{field} {field} {field} [{value}]]"},
    {"RPUSHX", "{key} {field} [{value}]"},
    {"SADD", "{key} {field} [{field} [{value}]]"},
    {"SCAN", "0|x COUNT 1000 [MATCH {pattern}] [TYPE string|hash|list|set|zset|none]", Comparison::kScan},
    {"SCARD", "{key}"},
    {"SDIFF", "{key} [{key} [{key}]]", Comparison::kUnordered},
    {"SDIFFSTORE", "{key} {key} [{key}]"},
    {"SINTER", "{key} [{key} [{key}]]", Comparison::kUnordered},
    {"SINTERCARD", "1|2|3|0|-1|x {key} [{key} [{key}]] [LIMIT 0|1|2|-1|x]"},
    {"SINTERSTORE", "{key} {key} [{key}]"},
    {"SISMEMBER", "{key} {field}"},
    {"SMEMBERS", "{key}", Comparison::kUnordered},
    {"SMISMEMBER", "{key} {field} [{field}]"},
    {"SMOVE", "{key} {key} {field}"},
    {"SORT", "{key} [ASC|DESC] [ALPHA] [LIMIT {index} {index}] [GET #|GET {sortpattern}] [GET {sortpattern}]"},
    {"SORT", "{key} BY {sortpattern} [ASC|DESC] [LIMIT {index} {index}] [GET #|GET {sortpattern}|x]"},
    {"SORT", "{key} [ALPHA] [LIMIT {index} {index}] [GET {sortpattern}] STORE {key}"},
    {"SORT_RO", "{key} [DESC] [ALPHA] [LIMIT {index} {index}] [STORE a|GET {sortpattern}]"},
    {"SPOP", "{key} 1000|0|-1|x", Comparison::kUnordered},
    {"SPUBLISH", "{key} {value}"},
    {"SRANDMEMBER", "{key} 1000|0|x|-9223372036854775808", Comparison::kUnordered},
    {"SREM", "{key} {field} [{field}]"},
    {"SSCAN", "{key} 0|x [COUNT 1000] [MATCH {fieldpattern}]", Comparison::kScan},
    {"SUNION", "{key} [{key} [{key}]]", Comparison::kUnordered},
    {"SUNIONSTORE", "{key} {key} [{key}]"},
    {"ZADD",
     "{key} [NX|XX|GT|LT] [NX|XX|GT|LT] [CH] [INCR] {score} {field} [{score} {field} [{score} {value}]] [{field}]"},
    {"ZADD", "names 0 {field} 0 {field} [0 {value}]"},
    {"ZCARD", "{key}"},
    {"ZCOUNT", "{key} {scorebound} {scorebound}"},
    {"ZDIFF", "1|2|2|3|0|x {key} {key} [{key}] [WITHSCORES] [WEIGHTS]"},
    {"ZDIFFSTORE", "{key} 1|2|2|3|0|x {key} {key} [{key}] [WITHSCORES]"},
    {"ZINCRBY", "{key} {score} {field}"},
    {"ZINTER", "2|2|2|1|3|0 {key} {key} [WEIGHTS {weight} {weight}] [AGGREGATE MIN|MAX|SUM|x] [WITHSCORES] [LIMIT]"},
    {"ZINTERCARD", "2|2|2|1|3|0 {key} {key} [LIMIT 0|1|2|-1|x] [WITHSCORES]"},
    {"ZINTERSTORE", "{key} 2|2|2|1|3|0 {key} {key} [WEIGHTS {weight} {weight}] [AGGREGATE MIN|MAX|SUM|x] [WITHSCORES]"},
    {"ZLEXCOUNT", "names {namebound} {namebound}"},
    {"ZLEXCOUNT", "nothing {namebound} {namebound}"},
    {"ZMPOP", "2|2|2|1|3|0|x {key} {key} MIN|MAX|x [COUNT 1|2|0|x|100] [COUNT 1]"},
    {"ZMSCORE", "{key} {field} [{field}]"},
    {"ZPOPMAX", "{key} [0|1|2|-1|x|100]"},
    {"ZPOPMIN", "{key} [0|1|2|-1|x|100]"},
    {"ZRANDMEMBER", "{key} 1000|0|x|-9223372036854775808 [WITHSCORES]", Comparison::kUnordered},
    {"ZRANGE", "{key} {index} {index} [REV] [WITHSCORES] [LIMIT {index} {index}]"},
    {"ZRANGE", "{key} {scorebound} {scorebound} BYSCORE [REV] [LIMIT {index} {index}] [WITHSCORES]"},
    {"ZRANGE", "names {namebound} {namebound} BYLEX [REV] [LIMIT {index} {index}] [WITHSCORES]"},
    {"ZRANGEBYLEX", "names {namebound} {namebound} [LIMIT {index} {index}]"},
    {"ZRANGEBYSCORE", "{key} {scorebound} {scorebound} [LIMIT {index} {index}] [WITHSCORES]"},
    {"ZRANGESTORE", "{key} {key} {index} {index} [REV] [LIMIT 1 1]"},
    {"ZRANGESTORE", "{key} {key} {scorebound} {scorebound} BYSCORE [REV] [LIMIT {index} {index}]"},
    {"ZRANGESTORE", "{key} names {namebound} {namebound} BYLEX [REV] [LIMIT {index} {index}]"},
    {"ZRANK", "{key} {field}"},
    {"ZREM", "{key} {field} [{field}]"},
    {"ZREM", "names {field} [{field}]"},
    {"ZREMRANGEBYLEX", "names {namebound} {namebound}"},
    {"ZREMRANGEBYRANK", "{key} {index} {index}"},
    {"ZREMRANGEBYSCORE", "{key} {scorebound} {scorebound}"},
    {"ZREVRANGE", "{key} {index} {index} [WITHSCORES]"},
    {"ZREVRANGEBYLEX", "names {namebound} {namebound} [LIMIT {index} {index}]"},
    {"ZREVRANGEBYSCORE", "{key} {scorebound} {scorebound} [LIMIT {index} {index}] [WITHSCORES]"},
    {"ZREVRANK", "{key} {field}"},
    {"ZSCAN", "{key} 0|x [COUNT 1000] [MATCH {fieldpattern}]", Comparison::kScan},
    {"ZSCORE", "{key} {field}"},
    {"ZUNION", "2|2|2|1|3|0 {key} {key} [WEIGHTS {weight} {weight}] [AGGREGATE MIN|MAX|SUM|x] [WITHSCORES]"},
    {"ZUNIONSTORE", "{key} 2|2|2|1|3|0 {key} {key} [WEIGHTS {weight} {weight}] [AGGREGATE MIN|MAX|SUM|x] [WITHSCORES]"},
    {"WATCH", "{key} [{key}]"},
    {"UNWATCH", ""},
    {"HELLO", "[2|3|3|4|x|{integer} [SETNAME {value}] [AUTH default] [x]]", Comparison::kKind},
    {"RESET", ""},
    {"AUTH", "{value} [{value} [x]]"},
    {"RANDOMKEY", "", Comparison::kKind},
    {"TIME", "", Comparison::kKind},
    {"LASTSAVE", "", Comparison::kKind},
    {"DUMP", "{key}", Comparison::kKind},
    {"FLUSHALL", "[ASYNC|SYNC|x] [x]"},
    {"MULTI", ""},
    {"EXEC", ""},
    {"DISCARD", ""},
};

// The end of a group that begins at `at` with one of the two.
size_t EndOfGroup(std::string_view text, size_t at, char open, char close) {
  size_t depth = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == open) ++depth;
    if (text[at] == close && --depth == 0) return at;
  }
  throw std::logic_error("a template has no end");
}

// The parts of a text between bars, but for those in groups.
std::vector<std::string_view> Alternatives(std::string_view text) {
  std::vector<std::string_view> alternatives;
  size_t begin = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '[') at = EndOfGroup(text, at, '[', ']');
    if (text[at] != '|') continue;
    alternatives.push_back(text.substr(begin, at - begin));
    begin = at + 1;
  }
  alternatives.push_back(text.substr(begin));
  return alternatives;
}

// What an answer is made of elements by: "[", "(set) [" or "{"; empty of any other.
std::string_view OpeningOf(std::string_view answer) {
  const size_t open = answer.find_first_of("[{\"");
  return open == answer.npos || answer[open] == '"' ? std::string_view() : answer.substr(0, open + 1);
}

// What an answer is, without what it says. An error is what it says.
std::string_view KindOf(std::string_view answer) {
  if (answer.starts_with("(error)") || answer.starts_with("(n")) return answer;
  if (answer.starts_with('(')) return answer.substr(0, answer.find(')'));
  return answer.starts_with('"') ? answer.substr(0, 1) : OpeningOf(answer);
}

}  // namespace

std::vector<std::string> ElementsOf(std::string_view array) {
  std::vector<std::string> elements;
  size_t depth = 0;
  bool quoted = false;
  array.remove_prefix(array.find_first_of("[{"));
  size_t begin = 1;
  for (size_t at = 1; at + 1 < array.size(); ++at) {
    const char c = array[at];
    if (c == '"' && array[at - 1] != '\\') quoted = !quoted;
    if (quoted) continue;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (c != ',' || depth != 0) continue;
    elements.emplace_back(array.substr(begin, at - begin));
    begin = at + 2;
  }
  if (array.size() > 2) elements.emplace_back(array.substr(begin, array.size() - 1 - begin));
  return elements;
}

bool Alike(const std::string& ours, const std::string& theirs, Comparison how) {
  if (ours == theirs) return true;
  switch (how) {
    case Comparison::kExact:
      return false;
    case Comparison::kUnordered:
      return !OpeningOf(theirs).empty() && OpeningOf(ours) == OpeningOf(theirs) &&
             std::ranges::is_permutation(ElementsOf(ours), ElementsOf(theirs));
    case Comparison::kSeconds:
      return AlikeInTime(ours, theirs, kApartSeconds);
    case Comparison::kMillis:
      return AlikeInTime(ours, theirs, 1000 * kApartSeconds);
    case Comparison::kScan: {
      const std::vector<std::string> a = ElementsOf(ours);
      const std::vector<std::string> b = ElementsOf(theirs);
      return a.size() == 2 && b.size() == 2 && a[0] == b[0] && Alike(a[1], b[1], Comparison::kUnordered);
    }
    case Comparison::kNoMore:
      return ours.starts_with(kInteger) && theirs.starts_with(kInteger) && NumberOf(ours) <= NumberOf(theirs);
    case Comparison::kKind:
      return KindOf(ours) == KindOf(theirs);
  }
  return false;
}

std::span<const CommandTemplate> CommandTemplates() { return kTemplates; }

std::vector<std::string> CommandMaker::Make(const CommandTemplate& command) {
  std::vector<std::string> words = {std::string(command.name)};
  if (OneIn(8) && words[0] != "EXEC" && words[0] != "DISCARD")
    std::ranges::transform(words[0], words[0].begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  Expand(command.words, &words);
  // Without a number that is larger than the collection these choose by chance.
  const bool chooses =
      words[0] == "SPOP" || words[0].contains("RAND") || words[0] == "spop" || words[0].contains("rand");
  // And these would wait for another time.
  const bool waits = command.words.contains("{timeout}");
  if (OneIn(50) && words.size() > 1 && !chooses && !waits) words.pop_back();
  if (OneIn(50) && !waits) words.push_back(Value("value"));
  return words;
}

void CommandMaker::Expand(std::string_view part, std::vector<std::string>* words) {
  while (!part.empty()) {
    if (part[0] == ' ') {
      part.remove_prefix(1);
    } else if (part[0] == '[') {
      const size_t end = EndOfGroup(part, 0, '[', ']');
      const auto alternatives = Alternatives(part.substr(1, end - 1));
      if (OneIn(2)) Expand(alternatives[Below(alternatives.size())], words);
      part.remove_prefix(end + 1);
    } else {
      const size_t end = std::min(part.find(' '), part.size());
      const auto alternatives = Alternatives(part.substr(0, end));
      const std::string_view word = alternatives[Below(alternatives.size())];
      part.remove_prefix(end);
      const size_t close = word.find('}');
      const bool made_up = word.starts_with('{');
      words->push_back(made_up ? Value(word.substr(1, close - 1)) + std::string(word.substr(close + 1))
                               : std::string(word));
    }
  }
}

const std::vector<std::string>& CommandMaker::Keys() {
  static const std::vector<std::string> kKeys = {"a",     "b",      "c",    "user:1", "user:2",
                                                 "{t}:1", "x{t}:2", "{}no", "",       std::string("z\0\xff", 3)};
  return kKeys;
}

std::string CommandMaker::Integer() {
  static const std::vector<std::string> kEdges = {"0",
                                                  "1",
                                                  "-1",
                                                  "9223372036854775807",
                                                  "-9223372036854775808",
                                                  "9223372036854775808",
                                                  "-9223372036854775809",
                                                  "007",
                                                  "+1",
                                                  " 1",
                                                  "1.0",
                                                  "-0",
                                                  "",
                                                  "abc"};
  if (OneIn(4)) return kEdges[Below(kEdges.size())];
  return std::to_string(static_cast<int64_t>(Below(2000)) - 1000);
}

std::string CommandMaker::Value(std::string_view kind) {
  const auto one_of = [this](std::initializer_list<const char*> from) -> std::string {
    return *(from.begin() + Below(from.size()));
  };
  if (kind == "key") return Keys()[Below(Keys().size())];
  if (kind == "integer") return Integer();
  // What lies below the least of few bits by more than an integer holds, Redis takes for too large.
  if (kind == "bitvalue") {
    std::string value = Integer();
    return value == "-9223372036854775808" ? "-1" : value;
  }
  if (kind == "index") return OneIn(8) ? Integer() : std::to_string(static_cast<int64_t>(Below(30)) - 15);
  if (kind == "offset") return OneIn(20) ? one_of({"-1", "536870912", "x"}) : std::to_string(Below(40));
  if (kind == "bit") return OneIn(20) ? one_of({"-1", "4294967296", "x"}) : std::to_string(Below(200));
  if (kind == "bitkind") {
    if (OneIn(20)) return one_of({"u64", "i65", "u0", "u", "I8", "8", "u08"});
    return OneIn(4) ? one_of({"i64", "u63", "u1", "i1"}) : one_of({"u", "i"}) + std::to_string(1 + Below(62));
  }
  if (kind == "bitplace") {
    if (OneIn(20)) return one_of({"-1", "#-1", "4294967296", "#", "x", "#100000000000"});
    return OneIn(3) ? "#" + std::to_string(Below(6)) : std::to_string(Below(200));
  }
  if (kind == "sortpattern") return one_of({"*", "user:*", "{t}:*", "*->f1", "user:*->f2", "user:*->", "x{t}:*", "#*"});
  if (kind == "overflow") return OneIn(10) ? one_of({"x", "wrap"}) : one_of({"WRAP", "SAT", "FAIL"});
  if (kind == "seconds") return OneIn(4) ? Integer() : std::to_string(1000 + Below(100'000));
  if (kind == "millis")
    return OneIn(4) ? one_of({"0", "-5", "x", "9223372036854775807"}) : std::to_string(1'000'000 + Below(9'000'000));
  if (kind == "instant") return OneIn(4) ? one_of({"1", "0", "-1", "y"}) : std::to_string(4'000'000'000 + Below(1000));
  if (kind == "database")
    return OneIn(10) ? one_of({"-1", "16", "x", "7", "2147483648"}) : one_of({"0", "0", "0", "1"});
  if (kind == "pattern")
    return one_of({"*", "user:*", "?", "[a-b]", "[^a]", "*1", "{t}*", "x\\{*", "", "u?er:[12]", "[", "a["});
  if (kind == "float") {
    if (OneIn(3))
      return one_of({"1e400", "nan", "inf", "-inf", "0x10", "1e5", " 1", "1 ", "", ".5", "5.", "abc", "1e-5"});
    return std::to_string(static_cast<double>(Below(10'000)) / 16);
  }
  if (kind == "score") {
    if (OneIn(12)) return one_of({"inf", "-inf", "+inf", "nan", "1e400", "", "abc", "0x10", " 1", "3.0e-10", "1e20"});
    if (OneIn(4)) return std::to_string(static_cast<double>(Below(200)) / 16 - 3);
    return std::to_string(static_cast<int64_t>(Below(12)) - 3);
  }
  // With others there may be a negative zero, which Redis keeps in large sorted sets only.
  if (kind == "weight") return OneIn(10) ? one_of({"nan", "x", ""}) : one_of({"1", "2", "0.5", "inf", "1e3"});
  if (kind == "scorebound") {
    if (OneIn(3)) return one_of({"-inf", "+inf", "inf", "(-inf", "(+inf"});
    if (OneIn(12)) return one_of({"nan", "", "(", "x", "((1", "[1", " 2", "1 "});
    return (OneIn(3) ? "(" : "") + std::to_string(static_cast<int64_t>(Below(14)) - 4);
  }
  if (kind == "namebound") {
    if (OneIn(3)) return one_of({"-", "+", "-", "+", "(", "["});
    if (OneIn(12)) return one_of({"", "f1", "++", "-x", "{"});
    return (OneIn(2) ? "(f" : "[f") + std::to_string(Below(12));
  }
  if (kind == "field") return OneIn(12) ? Integer() : "f" + std::to_string(Below(12));
  if (kind == "end") return OneIn(15) ? "middle" : one_of({"LEFT", "right"});
  // Never for ever: nobody else is there.
  if (kind == "timeout") return OneIn(6) ? one_of({"-1", "x", "nan", "1e300", ""}) : one_of({"0.001", "1e-9", ".002"});
  if (kind == "fieldpattern") return one_of({"*", "f1*", "f?", "[f]1", "nothing"});
  if (kind == "value") {
    // With a few of these a collection does not fit into the record of its key.
    if (OneIn(25)) return std::string(300 + Below(900), 'L');
    if (OneIn(2)) return Integer();
    if (OneIn(4)) return one_of({"", "3.0", "1e3", "0.1", "hello world", "\r\n", "\x01\xfe\x80"});
    return std::string(Below(40), static_cast<char>('a' + Below(26)));
  }
  throw std::logic_error("a template asks for what is not known: " + std::string(kind));
}

}  // namespace kvarts::test
