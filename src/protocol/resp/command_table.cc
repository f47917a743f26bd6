#include "protocol/resp/command_table.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <functional>

#include "protocol/resp/handlers.h"

namespace kvarts::resp {
namespace {

constexpr uint32_t kRead_ = kReadOnly | kFast;
constexpr uint32_t kReads = kRead | kString | kQuick;
constexpr uint32_t kReadsSlowly = kRead | kString | kSlow;
constexpr uint32_t kStores = kWrites | kString | kQuick;
constexpr uint32_t kStoresSlowly = kWrites | kString | kSlow;
constexpr uint32_t kGrows = kWrite | kDenyOom;
constexpr uint32_t kAnyTime = kNoScript | kLoading | kStale;
constexpr uint32_t kWaits = kNoScript | kBlocking;
constexpr uint32_t kPopsOrWaits = kWrites | kList | kSlow | kBlocks;
constexpr uint32_t kSorts = kSet | kSortedSet | kList | kSlow | kDangerous;
constexpr uint32_t kOfKeys = kKeyspace | kQuick;
constexpr uint32_t kReadsRanks = kRead | kSortedSet;
constexpr uint32_t kRanks = kWrites | kSortedSet;
constexpr uint32_t kAdministers = kAdmins | kSlow | kDangerous;
constexpr uint32_t kListens = kPubSub | kAnyTime | kWhileListening;
constexpr uint32_t kTells = kPubSub | kLoading | kStale | kFast | kAffects;
constexpr uint32_t kEnds = kAnyTime | kFast | kNoAuth | kAllowBusy | kAtOnce | kWhileListening;

// In their order.
constexpr Command kCommands[] = {
    {"acl", -2, kContainer, kSlow, 0, 0, 0, Special::kContainer},
    {"append", 3, kGrows | kFast, kStores, 1, 1, 1, Append},
    {"auth", -2, kAnyTime | kFast | kNoAuth | kAllowBusy, kQuick | kConnection, 0, 0, 0, Auth},
    {"bgrewriteaof", 1, kAdmin | kNoScript | kNoAsyncLoading, kAdministers, 0, 0, 0, BgRewriteAof},
    {"bgsave", -1, kAdmin | kNoScript | kNoAsyncLoading, kAdministers, 0, 0, 0, BgSave},
    {"bitcount", -2, kReadOnly, kRead | kBitmap | kSlow, 1, 1, 1, BitCount},
    {"bitfield", -2, kGrows, kWrites | kBitmap | kSlow, 1, 1, 1, BitField},
    {"bitfield_ro", -2, kRead_, kRead | kBitmap | kQuick, 1, 1, 1, BitFieldRo},
    {"bitop", -4, kGrows, kWrites | kBitmap | kSlow, 2, -1, 1, BitOp},
    {"bitpos", -3, kReadOnly, kRead | kBitmap | kSlow, 1, 1, 1, BitPos},
    {"blmove", 6, kGrows | kWaits, kPopsOrWaits, 1, 2, 1, Blocking{BLMove}},
    {"blmpop", -5, kWrite | kBlocking | kMovableKeys, kPopsOrWaits, 0, 0, 0, Blocking{BLMPop, true}},
    {"blpop", -3, kWrite | kWaits, kPopsOrWaits, 1, -2, 1, Blocking{BLPop}},
    {"brpop", -3, kWrite | kWaits, kPopsOrWaits, 1, -2, 1, Blocking{BRPop}},
    {"brpoplpush", 4, kGrows | kWaits, kPopsOrWaits, 1, 2, 1, Blocking{BRPopLPush}},
    {"bzmpop", -5, kWrite | kBlocking | kMovableKeys, kRanks | kSlow | kBlocks, 0, 0, 0, Blocking{BZMPop, true}},
    {"bzpopmax", -3, kWrite | kWaits | kFast, kRanks | kQuick | kBlocks, 1, -2, 1, Blocking{BZPopMax}},
    {"bzpopmin", -3, kWrite | kWaits | kFast, kRanks | kQuick | kBlocks, 1, -2, 1, Blocking{BZPopMin}},
    {"client", -2, kContainer, kSlow, 0, 0, 0, Special::kContainer},
    {"cluster", -2, kContainer, kSlow, 0, 0, 0, Special::kContainer},
    {"command", -1, kLoading | kStale | kContainer, kSlow | kConnection, 0, 0, 0, CommandAll},
    {"config", -2, kContainer, kSlow, 0, 0, 0, Special::kContainer},
    {"copy", -3, kGrows, kKeyspace | kWrites | kSlow, 1, 2, 1, Copy},
    {"dbsize", 1, kRead_, kOfKeys | kRead, 0, 0, 0, DbSize},
    {"debug", -2, kAdmin | kAnyTime | kContainer, kAdministers, 0, 0, 0, Special::kContainer},
    {"decr", 2, kGrows | kFast, kStores, 1, 1, 1, Decr},
    {"decrby", 3, kGrows | kFast, kStores, 1, 1, 1, DecrBy},
    {"del", -2, kWrite, kKeyspace | kWrites | kSlow, 1, -1, 1, Del},
    {"discard", 1, kAnyTime | kFast | kAllowBusy | kAtOnce, kQuick | kTransaction, 0, 0, 0, Special::kDiscard},
    {"dump", 2, kReadOnly | kLong, kKeyspace | kRead | kSlow, 1, 1, 1, Dump},
    {"echo", 2, kLoading | kStale | kFast, kQuick | kConnection, 0, 0, 0, Echo},
    {"exec", 1, kAnyTime | kSkipSlowlog | kAtOnce, kSlow | kTransaction, 0, 0, 0, Special::kExec},
    {"exists", -2, kRead_, kOfKeys | kRead, 1, -1, 1, Exists},
    {"expire", -3, kWrite | kFast, kOfKeys | kWrites, 1, 1, 1, Expire},
    {"expireat", -3, kWrite | kFast, kOfKeys | kWrites, 1, 1, 1, ExpireAt},
    {"expiretime", 2, kRead_, kOfKeys | kRead, 1, 1, 1, ExpireTime},
    {"failover", -1, kAdmin | kNoScript | kStale, kAdministers, 0, 0, 0, Failover},
    {"flushall", -1, kWrite, kKeyspace | kWrites | kSlow | kDangerous, 0, 0, 0, FlushAll},
    {"flushdb", -1, kWrite, kKeyspace | kWrites | kSlow | kDangerous, 0, 0, 0, FlushDb},
    {"get", 2, kRead_, kReads, 1, 1, 1, Get},
    {"getbit", 3, kRead_, kRead | kBitmap | kQuick, 1, 1, 1, GetBit},
    {"getdel", 2, kWrite | kFast, kStores, 1, 1, 1, GetDel},
    {"getex", -2, kWrite | kFast, kStores, 1, 1, 1, GetEx},
    {"getrange", 4, kReadOnly, kReadsSlowly, 1, 1, 1, GetRange},
    {"getset", 3, kGrows | kFast | kStages, kStores, 1, 1, 1, GetSet},
    {"hdel", -3, kWrite | kFast, kWrites | kHash | kQuick, 1, 1, 1, HDel},
    {"hello", -1, kAnyTime | kFast | kNoAuth | kAllowBusy, kQuick | kConnection, 0, 0, 0, Hello},
    {"hexists", 3, kRead_, kRead | kHash | kQuick, 1, 1, 1, HExists},
    {"hexpire", -6, kGrows | kFast, kWrites | kHash | kQuick, 1, 1, 1, HExpire},
    {"hexpireat", -6, kGrows | kFast, kWrites | kHash | kQuick, 1, 1, 1, HExpireAt},
    {"hexpiretime", -5, kRead_, kRead | kHash | kQuick, 1, 1, 1, HExpireTime},
    {"hget", 3, kRead_, kRead | kHash | kQuick, 1, 1, 1, HGet},
    {"hgetall", 2, kReadOnly, kRead | kHash | kSlow, 1, 1, 1, HGetAll},
    {"hincrby", 4, kGrows | kFast, kWrites | kHash | kQuick, 1, 1, 1, HIncrBy},
    {"hincrbyfloat", 4, kGrows | kFast, kWrites | kHash | kQuick, 1, 1, 1, HIncrByFloat},
    {"hkeys", 2, kReadOnly, kRead | kHash | kSlow, 1, 1, 1, HKeys},
    {"hlen", 2, kRead_, kRead | kHash | kQuick, 1, 1, 1, HLen},
    {"hmget", -3, kRead_, kRead | kHash | kQuick, 1, 1, 1, HMGet},
    {"hmset", -4, kGrows | kFast, kWrites | kHash | kQuick, 1, 1, 1, HMSet},
    {"hpersist", -5, kWrite | kFast, kWrites | kHash | kQuick, 1, 1, 1, HPersist},
    {"hpexpire", -6, kGrows | kFast, kWrites | kHash | kQuick, 1, 1, 1, HPExpire},
    {"hpexpireat", -6, kGrows | kFast, kWrites | kHash | kQuick, 1, 1, 1, HPExpireAt},
    {"hpexpiretime", -5, kRead_, kRead | kHash | kQuick, 1, 1, 1, HPExpireTime},
    {"hpttl", -5, kRead_, kRead | kHash | kQuick, 1, 1, 1, HPTtl},
    {"hrandfield", -2, kReadOnly, kRead | kHash | kSlow, 1, 1, 1, HRandField},
    {"hscan", -3, kReadOnly, kRead | kHash | kSlow, 1, 1, 1, HScan},
    {"hset", -4, kGrows | kFast, kWrites | kHash | kQuick, 1, 1, 1, HSet},
    {"hsetnx", 4, kGrows | kFast, kWrites | kHash | kQuick, 1, 1, 1, HSetNx},
    {"hstrlen", 3, kRead_, kRead | kHash | kQuick, 1, 1, 1, HStrLen},
    {"httl", -5, kRead_, kRead | kHash | kQuick, 1, 1, 1, HTtl},
    {"hvals", 2, kReadOnly, kRead | kHash | kSlow, 1, 1, 1, HVals},
    {"incr", 2, kGrows | kFast, kStores, 1, 1, 1, Incr},
    {"incrby", 3, kGrows | kFast, kStores, 1, 1, 1, IncrBy},
    {"incrbyfloat", 3, kGrows | kFast, kStores, 1, 1, 1, IncrByFloat},
    {"info", -1, kLoading | kStale | kLong, kSlow | kDangerous, 0, 0, 0, Info},
    {"keys", 2, kReadOnly | kLong, kKeyspace | kRead | kSlow | kDangerous, 0, 0, 0, Keys},
    {"kvarts", -2, kContainer, kSlow, 0, 0, 0, Special::kContainer},
    {"lastsave", 1, kLoading | kStale | kFast, kAdmins | kQuick | kDangerous, 0, 0, 0, LastSave},
    {"latency", -2, kContainer, kSlow, 0, 0, 0, Special::kContainer},
    {"lcs", -3, kReadOnly | kLong, kReadsSlowly, 1, 2, 1, Lcs},
    {"lindex", 3, kReadOnly, kRead | kList | kSlow, 1, 1, 1, LIndex},
    {"linsert", 5, kGrows | kLong, kWrites | kList | kSlow, 1, 1, 1, LInsert},
    {"llen", 2, kRead_, kRead | kList | kQuick, 1, 1, 1, LLen},
    {"lmove", 5, kGrows, kWrites | kList | kSlow, 1, 2, 1, LMove},
    {"lmpop", -4, kWrite | kMovableKeys, kWrites | kList | kSlow, 0, 0, 0, LMPop},
    {"lolwut", -1, kReadOnly | kFast, kRead | kQuick, 0, 0, 0, Lolwut},
    {"lpop", -2, kWrite | kFast, kWrites | kList | kQuick, 1, 1, 1, LPop},
    {"lpos", -3, kReadOnly | kLong, kRead | kList | kSlow, 1, 1, 1, LPos},
    {"lpush", -3, kGrows | kFast, kWrites | kList | kQuick, 1, 1, 1, LPush},
    {"lpushx", -3, kGrows | kFast, kWrites | kList | kQuick, 1, 1, 1, LPushX},
    {"lrange", 4, kReadOnly, kRead | kList | kSlow, 1, 1, 1, LRange},
    {"lrem", 4, kWrite | kLong, kWrites | kList | kSlow, 1, 1, 1, LRem},
    {"lset", 4, kGrows, kWrites | kList | kSlow, 1, 1, 1, LSet},
    {"ltrim", 4, kWrite, kWrites | kList | kSlow, 1, 1, 1, LTrim},
    {"memory", -2, kContainer, kSlow, 0, 0, 0, Special::kContainer},
    {"mget", -2, kRead_, kReads, 1, -1, 1, MGet},
    {"move", 3, kWrite | kFast, kOfKeys | kWrites, 1, 1, 1, Move},
    {"mset", -3, kGrows | kStages, kStoresSlowly, 1, -1, 2, MSet},
    {"msetnx", -3, kGrows | kStages, kStoresSlowly, 1, -1, 2, MSetNx},
    {"multi", 1, kAnyTime | kFast | kAllowBusy | kAtOnce, kQuick | kTransaction, 0, 0, 0, Special::kMulti},
    {"object", -2, kContainer, kSlow, 0, 0, 0, Special::kContainer},
    {"persist", 2, kWrite | kFast, kOfKeys | kWrites, 1, 1, 1, Persist},
    {"pexpire", -3, kWrite | kFast, kOfKeys | kWrites, 1, 1, 1, PExpire},
    {"pexpireat", -3, kWrite | kFast, kOfKeys | kWrites, 1, 1, 1, PExpireAt},
    {"pexpiretime", 2, kRead_, kOfKeys | kRead, 1, 1, 1, PExpireTime},
    {"ping", -1, kFast | kWhileListening, kQuick | kConnection, 0, 0, 0, Ping},
    {"psetex", 4, kGrows | kStages, kStoresSlowly, 1, 1, 1, PSetEx},
    {"psubscribe", -2, kListens, kPubSubs | kSlow, 0, 0, 0, PSubscribe},
    {"pttl", 2, kRead_, kOfKeys | kRead, 1, 1, 1, PTtl},
    {"publish", 3, kTells, kPubSubs | kQuick, 0, 0, 0, Publish},
    {"pubsub", -2, kContainer, kSlow, 0, 0, 0, Special::kContainer},
    {"punsubscribe", -1, kListens, kPubSubs | kSlow, 0, 0, 0, PUnsubscribe},
    {"quit", -1, kEnds, kQuick | kConnection, 0, 0, 0, Quit},
    {"randomkey", 1, kReadOnly, kKeyspace | kRead | kSlow, 0, 0, 0, RandomKey},
    {"readonly", 1, kLoading | kStale | kFast, kQuick | kConnection, 0, 0, 0, ReadOnly},
    {"readwrite", 1, kLoading | kStale | kFast, kQuick | kConnection, 0, 0, 0, ReadOnly},
    {"rename", 3, kWrite, kKeyspace | kWrites | kSlow, 1, 2, 1, Rename},
    {"renamenx", 3, kWrite | kFast, kOfKeys | kWrites, 1, 2, 1, RenameNx},
    {"replicaof", 3, kAdmin | kNoScript | kStale | kNoAsyncLoading, kAdministers, 0, 0, 0, ReplicaOf},
    {"reset", 1, kEnds, kQuick | kConnection, 0, 0, 0, Reset},
    {"restore", -4, kGrows | kLong, kKeyspace | kWrites | kSlow | kDangerous, 1, 1, 1, Restore},
    {"role", 1, kAnyTime | kFast, kAdmins | kQuick | kDangerous, 0, 0, 0, Role},
    {"rpop", -2, kWrite | kFast, kWrites | kList | kQuick, 1, 1, 1, RPop},
    {"rpoplpush", 3, kGrows, kWrites | kList | kSlow, 1, 2, 1, RPopLPush},
    {"rpush", -3, kGrows | kFast, kWrites | kList | kQuick, 1, 1, 1, RPush},
    {"rpushx", -3, kGrows | kFast, kWrites | kList | kQuick, 1, 1, 1, RPushX},
    {"sadd", -3, kGrows | kFast, kWrites | kSet | kQuick, 1, 1, 1, SAdd},
    {"save", 1, kAdmin | kNoScript | kNoAsyncLoading | kNoMulti, kAdministers, 0, 0, 0, Save},
    {"scan", -2, kReadOnly, kKeyspace | kRead | kSlow, 0, 0, 0, Scan},
    {"scard", 2, kRead_, kRead | kSet | kQuick, 1, 1, 1, SCard},
    {"sdiff", -2, kReadOnly, kRead | kSet | kSlow, 1, -1, 1, SDiff},
    {"sdiffstore", -3, kGrows, kWrites | kSet | kSlow, 1, -1, 1, SDiffStore},
    {"select", 2, kLoading | kStale | kFast, kQuick | kConnection, 0, 0, 0, Select},
    {"set", -3, kGrows | kStages, kStoresSlowly, 1, 1, 1, Set},
    {"setbit", 4, kGrows, kWrites | kBitmap | kSlow, 1, 1, 1, SetBit},
    {"setex", 4, kGrows | kStages, kStoresSlowly, 1, 1, 1, SetEx},
    {"setnx", 3, kGrows | kFast | kStages, kStores, 1, 1, 1, SetNx},
    {"setrange", 4, kGrows, kStoresSlowly, 1, 1, 1, SetRange},
    {"shutdown", -1, kAdmin | kAnyTime | kNoMulti | kAllowBusy, kAdministers, 0, 0, 0, Shutdown},
    {"sinter", -2, kReadOnly, kRead | kSet | kSlow, 1, -1, 1, SInter},
    {"sintercard", -3, kReadOnly | kMovableKeys, kRead | kSet | kSlow, 0, 0, 0, SInterCard},
    {"sinterstore", -3, kGrows, kWrites | kSet | kSlow, 1, -1, 1, SInterStore},
    {"sismember", 3, kRead_, kRead | kSet | kQuick, 1, 1, 1, SIsMember},
    {"slaveof", 3, kAdmin | kNoScript | kStale | kNoAsyncLoading, kAdministers, 0, 0, 0, ReplicaOf},
    {"slowlog", -2, kContainer, kSlow, 0, 0, 0, Special::kContainer},
    {"smembers", 2, kReadOnly, kRead | kSet | kSlow, 1, 1, 1, SMembers},
    {"smismember", -3, kRead_, kRead | kSet | kQuick, 1, 1, 1, SMIsMember},
    {"smove", 4, kWrite | kFast, kWrites | kSet | kQuick, 1, 2, 1, SMove},
    {"sort", -2, kGrows | kMovableKeys | kLong, kSorts | kWrites, 1, 1, 1, Sort},
    {"sort_ro", -2, kReadOnly | kMovableKeys | kLong, kSorts | kRead, 1, 1, 1, SortRo},
    {"spop", -2, kWrite | kFast, kWrites | kSet | kQuick, 1, 1, 1, SPop},
    {"spublish", 3, kTells, kPubSubs | kQuick, 1, 1, 1, SPublish},
    {"srandmember", -2, kReadOnly, kRead | kSet | kSlow, 1, 1, 1, SRandMember},
    {"srem", -3, kWrite | kFast, kWrites | kSet | kQuick, 1, 1, 1, SRem},
    {"sscan", -3, kReadOnly, kRead | kSet | kSlow, 1, 1, 1, SScan},
    {"ssubscribe", -2, kListens, kPubSubs | kSlow, 1, -1, 1, SSubscribe},
    {"strlen", 2, kRead_, kReads, 1, 1, 1, StrLen},
    {"subscribe", -2, kListens, kPubSubs | kSlow, 0, 0, 0, Subscribe},
    {"substr", 4, kReadOnly, kReadsSlowly, 1, 1, 1, GetRange},
    {"sunion", -2, kReadOnly, kRead | kSet | kSlow, 1, -1, 1, SUnion},
    {"sunionstore", -3, kGrows, kWrites | kSet | kSlow, 1, -1, 1, SUnionStore},
    {"sunsubscribe", -1, kListens, kPubSubs | kSlow, 1, -1, 1, SUnsubscribe},
    {"swapdb", 3, kWrite | kFast, kOfKeys | kWrites | kDangerous, 0, 0, 0, SwapDb},
    {"time", 1, kLoading | kStale | kFast, kQuick, 0, 0, 0, Time},
    {"touch", -2, kRead_, kOfKeys | kRead, 1, -1, 1, Touch},
    {"ttl", 2, kRead_, kOfKeys | kRead, 1, 1, 1, Ttl},
    {"type", 2, kRead_, kOfKeys | kRead, 1, 1, 1, Type},
    {"unlink", -2, kWrite | kFast, kOfKeys | kWrites, 1, -1, 1, Del},
    {"unsubscribe", -1, kListens, kPubSubs | kSlow, 0, 0, 0, Unsubscribe},
    {"unwatch", 1, kAnyTime | kFast | kAllowBusy, kQuick | kTransaction, 0, 0, 0, Unwatch},
    {"wait", 3, kNoScript, kSlow | kConnection, 0, 0, 0, Wait},
    {"waitaof", 4, kNoScript, kSlow | kConnection, 0, 0, 0, WaitAof},
    {"watch", -2, kAnyTime | kFast | kAllowBusy | kAtOnce, kQuick | kTransaction, 1, -1, 1, Special::kWatch},
    {"zadd", -4, kGrows | kFast, kRanks | kQuick, 1, 1, 1, ZAdd},
    {"zcard", 2, kRead_, kReadsRanks | kQuick, 1, 1, 1, ZCard},
    {"zcount", 4, kRead_, kReadsRanks | kQuick, 1, 1, 1, ZCount},
    {"zdiff", -3, kReadOnly | kMovableKeys | kLong, kReadsRanks | kSlow, 0, 0, 0, ZDiff},
    {"zdiffstore", -4, kGrows | kMovableKeys | kLong, kRanks | kSlow, 1, 1, 1, ZDiffStore},
    {"zincrby", 4, kGrows | kFast, kRanks | kQuick, 1, 1, 1, ZIncrBy},
    {"zinter", -3, kReadOnly | kMovableKeys | kLong, kReadsRanks | kSlow, 0, 0, 0, ZInter},
    {"zintercard", -3, kReadOnly | kMovableKeys | kLong, kReadsRanks | kSlow, 0, 0, 0, ZInterCard},
    {"zinterstore", -4, kGrows | kMovableKeys | kLong, kRanks | kSlow, 1, 1, 1, ZInterStore},
    {"zlexcount", 4, kRead_, kReadsRanks | kQuick, 1, 1, 1, ZLexCount},
    {"zmpop", -4, kWrite | kMovableKeys, kRanks | kSlow, 0, 0, 0, ZMPop},
    {"zmscore", -3, kRead_, kReadsRanks | kQuick, 1, 1, 1, ZMScore},
    {"zpopmax", -2, kWrite | kFast, kRanks | kQuick, 1, 1, 1, ZPopMax},
    {"zpopmin", -2, kWrite | kFast, kRanks | kQuick, 1, 1, 1, ZPopMin},
    {"zrandmember", -2, kReadOnly, kReadsRanks | kSlow, 1, 1, 1, ZRandMember},
    {"zrange", -4, kReadOnly, kReadsRanks | kSlow, 1, 1, 1, ZRange},
    {"zrangebylex", -4, kReadOnly, kReadsRanks | kSlow, 1, 1, 1, ZRangeByLex},
    {"zrangebyscore", -4, kReadOnly, kReadsRanks | kSlow, 1, 1, 1, ZRangeByScore},
    {"zrangestore", -5, kGrows, kRanks | kSlow, 1, 2, 1, ZRangeStore},
    {"zrank", 3, kRead_, kReadsRanks | kQuick, 1, 1, 1, ZRank},
    {"zrem", -3, kWrite | kFast, kRanks | kQuick, 1, 1, 1, ZRem},
    {"zremrangebylex", 4, kWrite, kRanks | kSlow, 1, 1, 1, ZRemRangeByLex},
    {"zremrangebyrank", 4, kWrite, kRanks | kSlow, 1, 1, 1, ZRemRangeByRank},
    {"zremrangebyscore", 4, kWrite, kRanks | kSlow, 1, 1, 1, ZRemRangeByScore},
    {"zrevrange", -4, kReadOnly, kReadsRanks | kSlow, 1, 1, 1, ZRevRange},
    {"zrevrangebylex", -4, kReadOnly, kReadsRanks | kSlow, 1, 1, 1, ZRevRangeByLex},
    {"zrevrangebyscore", -4, kReadOnly, kReadsRanks | kSlow, 1, 1, 1, ZRevRangeByScore},
    {"zrevrank", 3, kRead_, kReadsRanks | kQuick, 1, 1, 1, ZRevRank},
    {"zscan", -3, kReadOnly, kReadsRanks | kSlow, 1, 1, 1, ZScan},
    {"zscore", 3, kRead_, kReadsRanks | kQuick, 1, 1, 1, ZScore},
    {"zunion", -3, kReadOnly | kMovableKeys | kLong, kReadsRanks | kSlow, 0, 0, 0, ZUnion},
    {"zunionstore", -4, kGrows | kMovableKeys | kLong, kRanks | kSlow, 1, 1, 1, ZUnionStore},
};

// None is longer.
constexpr size_t kMaxName = 32;

// Commands by their names, which every command asks for: its slots are few enough to stay in the processor's caches.
class NameTable {
 public:
  NameTable() {
    assert(2 * CommandCount() <= kSlots);
    for (const Command& command : kCommands) Add(command);
    for (const Command& command : AllSubcommands()) Add(command);
  }
  const Command* Find(std::string_view name) const {
    for (size_t at = First(name); slots_[at] != nullptr; at = Next(at)) {
      if (slots_[at]->name == name) return slots_[at];
    }
    return nullptr;
  }

 private:
  static constexpr size_t kSlots = 2048;

  void Add(const Command& command) {
    size_t at = First(command.name);
    while (slots_[at] != nullptr) at = Next(at);
    slots_[at] = &command;
  }
  static size_t First(std::string_view name) {
    uint64_t hash = name.size();
    for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
    return (hash ^ (hash >> 32)) % kSlots;
  }
  static size_t Next(size_t at) { return (at + 1) % kSlots; }

  std::array<const Command*, kSlots> slots_{};
};

const NameTable& Names() {
  static const NameTable kByName;
  return kByName;
}

// A name in lower case, if it is not longer than any that is known.
class LowerName {
 public:
  bool Append(std::string_view part) {
    if (part.size() > kMaxName - size_) return false;
    std::ranges::transform(part, text_.begin() + static_cast<ptrdiff_t>(size_),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    size_ += part.size();
    return true;
  }
  const Command* Find() const { return Names().Find(std::string_view(text_.data(), size_)); }

 private:
  std::array<char, kMaxName> text_;
  size_t size_ = 0;
};

}  // namespace

std::span<const Command> AllCommands() { return kCommands; }

std::span<const Command> SubcommandsOf(const Command& command) {
  const std::span<const Command> all = AllSubcommands();
  const auto belongs = [&](const Command& sub) {
    return sub.name.starts_with(command.name) && sub.name.substr(command.name.size()).starts_with('|');
  };
  const auto first = std::ranges::find_if(all, belongs);
  return {first, std::find_if_not(first, all.end(), belongs)};
}

const Command* FindCommand(std::string_view name) {
  LowerName lower;
  return lower.Append(name) ? lower.Find() : nullptr;
}

Found FindCommand(Arguments arguments) {
  LowerName lower;
  const Command* command = lower.Append(arguments[0]) ? lower.Find() : nullptr;
  // A subcommand has no name of its own.
  if (command != nullptr && command->name.contains('|')) return {};
  if (command == nullptr || !command->Is(kContainer) || arguments.size() == 1) return {command};
  const bool fits = lower.Append("|") && lower.Append(arguments[1]);
  if (const Command* sub = fits ? lower.Find() : nullptr) return {sub};
  // COMMAND is carried out alone.
  const bool leaves = std::holds_alternative<Special>(command->handler) || command->arity == -1;
  return leaves ? Found{nullptr, command} : Found{command};
}

size_t NumberOf(const Command& command) {
  const Command* const first = std::begin(kCommands);
  if (!std::less<>()(&command, first) && std::less<>()(&command, std::end(kCommands))) {
    return static_cast<size_t>(&command - first);
  }
  return std::size(kCommands) + static_cast<size_t>(&command - AllSubcommands().data());
}

size_t CommandCount() { return std::size(kCommands) + AllSubcommands().size(); }

}  // namespace kvarts::resp
