// The subcommands there are, each as a command of its own: it is found, checked, counted and carried out as one.
#include <algorithm>

#include "protocol/resp/command_table.h"
#include "protocol/resp/handlers.h"

namespace kvarts::resp {
namespace {

constexpr uint32_t kAnyTime = kNoScript | kLoading | kStale;
constexpr uint32_t kOfAdmin = kAdmin | kAnyTime;
constexpr uint32_t kAdministers = kAdmins | kSlow | kDangerous;
constexpr uint32_t kOfClient = kSlow | kConnection;
constexpr uint32_t kOfClients = kAdministers | kConnection;
constexpr uint32_t kTellsOfChannels = kPubSub | kLoading | kStale;
constexpr uint32_t kHelp = kLoading | kStale;
constexpr uint32_t kLooks = kKeyspace | kRead | kSlow;

// In their order.
constexpr Command kSubcommands[] = {
    {"acl|cat", -2, kAnyTime, kSlow, 0, 0, 0, AclCat},
    {"acl|deluser", -3, kOfAdmin, kAdministers, 0, 0, 0, AclDelUser},
    {"acl|dryrun", -4, kOfAdmin, kAdministers, 0, 0, 0, AclDryRun},
    {"acl|genpass", -2, kAnyTime, kSlow, 0, 0, 0, AclGenPass},
    {"acl|getuser", 3, kOfAdmin, kAdministers, 0, 0, 0, AclGetUser},
    {"acl|help", 2, kHelp, kSlow, 0, 0, 0, Help},
    {"acl|list", 2, kOfAdmin, kAdministers, 0, 0, 0, AclList},
    {"acl|load", 2, kOfAdmin, kAdministers, 0, 0, 0, AclFile},
    {"acl|log", -2, kOfAdmin, kAdministers, 0, 0, 0, AclLogOf},
    {"acl|save", 2, kOfAdmin, kAdministers, 0, 0, 0, AclFile},
    {"acl|setuser", -3, kOfAdmin, kAdministers, 0, 0, 0, AclSetUser},
    {"acl|users", 2, kOfAdmin, kAdministers, 0, 0, 0, AclUsers},
    {"acl|whoami", 2, kAnyTime, kSlow, 0, 0, 0, AclWhoAmI},
    {"client|caching", 3, kAnyTime, kOfClient, 0, 0, 0, ClientCaching},
    {"client|getname", 2, kAnyTime, kOfClient, 0, 0, 0, ClientGetName},
    {"client|getredir", 2, kAnyTime, kOfClient, 0, 0, 0, ClientGetRedir},
    {"client|help", 2, kHelp, kOfClient, 0, 0, 0, Help},
    {"client|id", 2, kAnyTime, kOfClient, 0, 0, 0, ClientId},
    {"client|info", 2, kAnyTime, kOfClient, 0, 0, 0, ClientInfo},
    {"client|kill", -3, kOfAdmin, kOfClients, 0, 0, 0, ClientKill},
    {"client|list", -2, kOfAdmin, kOfClients, 0, 0, 0, ClientList},
    {"client|no-evict", 3, kOfAdmin, kOfClients, 0, 0, 0, ClientNoEvict},
    {"client|pause", -3, kOfAdmin, kOfClients, 0, 0, 0, ClientPause},
    {"client|reply", 3, kAnyTime, kOfClient, 0, 0, 0, ClientReply},
    {"client|setinfo", 4, kAnyTime, kOfClient, 0, 0, 0, ClientSetInfo},
    {"client|setname", 3, kAnyTime, kOfClient, 0, 0, 0, ClientSetName},
    {"client|tracking", -3, kAnyTime, kOfClient, 0, 0, 0, ClientTracking},
    {"client|trackinginfo", 2, kAnyTime, kOfClient, 0, 0, 0, ClientTrackingInfo},
    {"client|unblock", -3, kOfAdmin, kOfClients, 0, 0, 0, ClientUnblock},
    {"client|unpause", 2, kOfAdmin, kOfClients, 0, 0, 0, ClientUnpause},
    {"cluster|addslots", -3, kAdmin | kStale | kNoAsyncLoading, kAdministers, 0, 0, 0, Cluster},
    {"cluster|addslotsrange", -4, kAdmin | kStale | kNoAsyncLoading, kAdministers, 0, 0, 0, Cluster},
    {"cluster|bumpepoch", 2, kAdmin | kStale | kNoAsyncLoading, kAdministers, 0, 0, 0, Cluster},
    {"cluster|count-failure-reports", 3, kAdmin | kStale, kAdministers, 0, 0, 0, Cluster},
    {"cluster|countkeysinslot", 3, kStale, kSlow, 0, 0, 0, Cluster},
    {"cluster|delslots", -3, kAdmin | kStale | kNoAsyncLoading, kAdministers, 0, 0, 0, Cluster},
    {"cluster|delslotsrange", -4, kAdmin | kStale | kNoAsyncLoading, kAdministers, 0, 0, 0, Cluster},
    {"cluster|failover", -2, kAdmin | kStale | kNoAsyncLoading, kAdministers, 0, 0, 0, Cluster},
    {"cluster|flushslots", 2, kAdmin | kStale | kNoAsyncLoading, kAdministers, 0, 0, 0, Cluster},
    {"cluster|forget", 3, kAdmin | kStale | kNoAsyncLoading, kAdministers, 0, 0, 0, Cluster},
    {"cluster|getkeysinslot", 4, kStale, kSlow, 0, 0, 0, Cluster},
    {"cluster|help", 2, kHelp, kSlow, 0, 0, 0, Help},
    {"cluster|info", 2, kStale, kSlow, 0, 0, 0, Cluster},
    {"cluster|keyslot", 3, kStale, kSlow, 0, 0, 0, Cluster},
    {"cluster|links", 2, kStale, kSlow, 0, 0, 0, Cluster},
    {"cluster|meet", -4, kAdmin | kStale | kNoAsyncLoading, kAdministers, 0, 0, 0, Cluster},
    {"cluster|myid", 2, kStale, kSlow, 0, 0, 0, Cluster},
    {"cluster|nodes", 2, kStale, kSlow, 0, 0, 0, Cluster},
    {"cluster|replicas", 3, kAdmin | kStale, kAdministers, 0, 0, 0, Cluster},
    {"cluster|replicate", 3, kAdmin | kStale | kNoAsyncLoading, kAdministers, 0, 0, 0, Cluster},
    {"cluster|reset", -2, kAdmin | kNoScript | kStale, kAdministers, 0, 0, 0, Cluster},
    {"cluster|saveconfig", 2, kAdmin | kStale | kNoAsyncLoading, kAdministers, 0, 0, 0, Cluster},
    {"cluster|set-config-epoch", 3, kAdmin | kStale | kNoAsyncLoading, kAdministers, 0, 0, 0, Cluster},
    {"cluster|setslot", -4, kAdmin | kStale | kNoAsyncLoading, kAdministers, 0, 0, 0, Cluster},
    {"cluster|shards", 2, kStale, kSlow, 0, 0, 0, Cluster},
    {"cluster|slaves", 3, kAdmin | kStale, kAdministers, 0, 0, 0, Cluster},
    {"cluster|slots", 2, kStale, kSlow, 0, 0, 0, Cluster},
    {"command|count", 2, kHelp, kOfClient, 0, 0, 0, CommandCountAll},
    {"command|docs", -2, kHelp, kOfClient, 0, 0, 0, CommandDocs},
    {"command|getkeys", -4, kHelp, kOfClient, 0, 0, 0, CommandGetKeys},
    {"command|getkeysandflags", -4, kHelp, kOfClient, 0, 0, 0, CommandGetKeysAndFlags},
    {"command|help", 2, kHelp, kOfClient, 0, 0, 0, Help},
    {"command|info", -2, kHelp, kOfClient, 0, 0, 0, CommandInfo},
    {"command|list", -2, kHelp, kOfClient, 0, 0, 0, CommandList},
    {"config|get", -3, kOfAdmin, kAdministers, 0, 0, 0, ConfigGet},
    {"config|help", 2, kHelp, kSlow, 0, 0, 0, Help},
    {"config|resetstat", 2, kOfAdmin, kAdministers, 0, 0, 0, ConfigResetStat},
    {"config|rewrite", 2, kOfAdmin, kAdministers, 0, 0, 0, ConfigRewrite},
    {"config|set", -4, kOfAdmin, kAdministers, 0, 0, 0, ConfigSet},
    {"debug|help", 2, kHelp, kAdministers, 0, 0, 0, Help},
    {"debug|object", 3, kAdmin | kReadOnly, kAdministers, 2, 2, 1, DebugObject},
    {"debug|set-active-expire", 3, kOfAdmin, kAdministers, 0, 0, 0, DebugSetActiveExpire},
    {"debug|sleep", 3, kOfAdmin, kAdministers, 0, 0, 0, DebugSleep},
    {"kvarts|durability", -2, kAnyTime, kOfClient, 0, 0, 0, KvartsDurability},
    {"kvarts|help", 2, kHelp, kSlow, 0, 0, 0, Help},
    {"latency|doctor", 2, kOfAdmin, kAdministers, 0, 0, 0, LatencyDoctor},
    {"latency|graph", 3, kOfAdmin, kAdministers, 0, 0, 0, LatencyGraph},
    {"latency|help", 2, kHelp, kSlow, 0, 0, 0, Help},
    {"latency|histogram", -2, kOfAdmin, kAdministers, 0, 0, 0, LatencyHistogramOf},
    {"latency|history", 3, kOfAdmin, kAdministers, 0, 0, 0, LatencyHistory},
    {"latency|latest", 2, kOfAdmin, kAdministers, 0, 0, 0, LatencyLatest},
    {"latency|reset", -2, kOfAdmin, kAdministers, 0, 0, 0, LatencyReset},
    {"memory|doctor", 2, 0, kSlow, 0, 0, 0, MemoryDoctor},
    {"memory|help", 2, kHelp, kSlow, 0, 0, 0, Help},
    {"memory|malloc-stats", 2, 0, kSlow, 0, 0, 0, MemoryMallocStats},
    {"memory|purge", 2, 0, kSlow, 0, 0, 0, MemoryPurge},
    {"memory|stats", 2, kLong, kSlow, 0, 0, 0, MemoryStats},
    {"memory|usage", -3, kReadOnly, kRead | kSlow, 2, 2, 1, MemoryUsage},
    {"object|encoding", 3, kReadOnly, kLooks, 2, 2, 1, ObjectEncoding},
    {"object|freq", 3, kReadOnly, kLooks, 2, 2, 1, ObjectFreq},
    {"object|help", 2, kHelp, kKeyspace | kSlow, 0, 0, 0, Help},
    {"object|idletime", 3, kReadOnly, kLooks, 2, 2, 1, ObjectIdleTime},
    {"object|refcount", 3, kReadOnly, kLooks, 2, 2, 1, ObjectRefCount},
    {"pubsub|channels", -2, kTellsOfChannels, kPubSubs | kSlow, 0, 0, 0, PubSubChannels},
    {"pubsub|help", 2, kHelp, kSlow, 0, 0, 0, Help},
    {"pubsub|numpat", 2, kTellsOfChannels, kPubSubs | kSlow, 0, 0, 0, PubSubNumPat},
    {"pubsub|numsub", -2, kTellsOfChannels, kPubSubs | kSlow, 0, 0, 0, PubSubNumSub},
    {"pubsub|shardchannels", -2, kTellsOfChannels, kPubSubs | kSlow, 0, 0, 0, PubSubShardChannels},
    {"pubsub|shardnumsub", -2, kTellsOfChannels, kPubSubs | kSlow, 0, 0, 0, PubSubShardNumSub},
    {"slowlog|get", -2, kAdmin | kHelp, kAdministers, 0, 0, 0, SlowLogGet},
    {"slowlog|help", 2, kHelp, kSlow, 0, 0, 0, Help},
    {"slowlog|len", 2, kAdmin | kHelp, kAdministers, 0, 0, 0, SlowLogLen},
    {"slowlog|reset", 2, kAdmin | kHelp, kAdministers, 0, 0, 0, SlowLogReset},
};

}  // namespace

std::span<const Command> AllSubcommands() { return kSubcommands; }

}  // namespace kvarts::resp
