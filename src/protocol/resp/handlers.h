// The handlers of all commands, by family; the table of them is command_table.cc.
#pragma once

#include "protocol/resp/command.h"

namespace kvarts::resp {

// string_commands.cc
Status Append(DataCall& call);
Status Decr(DataCall& call);
Status DecrBy(DataCall& call);
Status Get(DataCall& call);
Status GetDel(DataCall& call);
Status GetEx(DataCall& call);
Status GetRange(DataCall& call);
Status GetSet(DataCall& call);
Status Incr(DataCall& call);
Status IncrBy(DataCall& call);
Status IncrByFloat(DataCall& call);
Status Lcs(DataCall& call);
Status MGet(DataCall& call);
Status MSet(DataCall& call);
Status MSetNx(DataCall& call);
Status PSetEx(DataCall& call);
Status Set(DataCall& call);
Status SetEx(DataCall& call);
Status SetNx(DataCall& call);
Status SetRange(DataCall& call);
Status StrLen(DataCall& call);

// bit_commands.cc
Status BitCount(DataCall& call);
Status BitField(DataCall& call);
Status BitFieldRo(DataCall& call);
Status BitOp(DataCall& call);
Status BitPos(DataCall& call);
Status GetBit(DataCall& call);
Status SetBit(DataCall& call);

// key_commands.cc
Status Copy(DataCall& call);
Status Del(DataCall& call);
Status Exists(DataCall& call);
Status Move(DataCall& call);
Status Rename(DataCall& call);
Status RenameNx(DataCall& call);
Status Touch(DataCall& call);
Status Type(DataCall& call);

// dump_commands.cc
Status Dump(DataCall& call);
Status Restore(DataCall& call);

// sort_commands.cc
Status Sort(DataCall& call);
Status SortRo(DataCall& call);

// expiry_commands.cc
Status Expire(DataCall& call);
Status ExpireAt(DataCall& call);
Status ExpireTime(DataCall& call);
Status PExpire(DataCall& call);
Status PExpireAt(DataCall& call);
Status PExpireTime(DataCall& call);
Status PTtl(DataCall& call);
Status Persist(DataCall& call);
Status Ttl(DataCall& call);

// database_commands.cc
Status DbSize(DataCall& call);
Status FlushAll(DataCall& call);
Status FlushDb(DataCall& call);
Status Keys(DataCall& call);
Status Scan(DataCall& call);
Status SwapDb(DataCall& call);

// hash_commands.cc
Status HDel(DataCall& call);
Status HExists(DataCall& call);
Status HGet(DataCall& call);
Status HGetAll(DataCall& call);
Status HIncrBy(DataCall& call);
Status HIncrByFloat(DataCall& call);
Status HKeys(DataCall& call);
Status HLen(DataCall& call);
Status HMGet(DataCall& call);
Status HMSet(DataCall& call);
Status HRandField(DataCall& call);
Status HScan(DataCall& call);
Status HSet(DataCall& call);
Status HSetNx(DataCall& call);
Status HStrLen(DataCall& call);
Status HVals(DataCall& call);

// field_expiry_commands.cc
Status HExpire(DataCall& call);
Status HExpireAt(DataCall& call);
Status HExpireTime(DataCall& call);
Status HPExpire(DataCall& call);
Status HPExpireAt(DataCall& call);
Status HPExpireTime(DataCall& call);
Status HPTtl(DataCall& call);
Status HPersist(DataCall& call);
Status HTtl(DataCall& call);

// set_commands.cc
Status SAdd(DataCall& call);
Status SCard(DataCall& call);
Status SDiff(DataCall& call);
Status SDiffStore(DataCall& call);
Status SInter(DataCall& call);
Status SInterCard(DataCall& call);
Status SInterStore(DataCall& call);
Status SIsMember(DataCall& call);
Status SMIsMember(DataCall& call);
Status SMembers(DataCall& call);
Status SMove(DataCall& call);
Status SPop(DataCall& call);
Status SRandMember(DataCall& call);
Status SRem(DataCall& call);
Status SScan(DataCall& call);
Status SUnion(DataCall& call);
Status SUnionStore(DataCall& call);

// list_commands.cc
Result<Attempted> BLMPop(DataCall& call);
Result<Attempted> BLMove(DataCall& call);
Result<Attempted> BLPop(DataCall& call);
Result<Attempted> BRPop(DataCall& call);
Result<Attempted> BRPopLPush(DataCall& call);
Status LIndex(DataCall& call);
Status LInsert(DataCall& call);
Status LLen(DataCall& call);
Status LMPop(DataCall& call);
Status LMove(DataCall& call);
Status LPop(DataCall& call);
Status LPos(DataCall& call);
Status LPush(DataCall& call);
Status LPushX(DataCall& call);
Status LRange(DataCall& call);
Status LRem(DataCall& call);
Status LSet(DataCall& call);
Status LTrim(DataCall& call);
Status RPop(DataCall& call);
Status RPopLPush(DataCall& call);
Status RPush(DataCall& call);
Status RPushX(DataCall& call);

// sorted_set_commands.cc
Status ZAdd(DataCall& call);
Status ZCard(DataCall& call);
Status ZIncrBy(DataCall& call);
Status ZMScore(DataCall& call);
Status ZPopMax(DataCall& call);
Status ZPopMin(DataCall& call);
Status ZRandMember(DataCall& call);
Status ZRank(DataCall& call);
Status ZRem(DataCall& call);
Status ZRevRank(DataCall& call);
Status ZScan(DataCall& call);
Status ZScore(DataCall& call);

// sorted_set_range_commands.cc
Status ZCount(DataCall& call);
Status ZLexCount(DataCall& call);
Status ZRange(DataCall& call);
Status ZRangeByLex(DataCall& call);
Status ZRangeByScore(DataCall& call);
Status ZRangeStore(DataCall& call);
Status ZRemRangeByLex(DataCall& call);
Status ZRemRangeByRank(DataCall& call);
Status ZRemRangeByScore(DataCall& call);
Status ZRevRange(DataCall& call);
Status ZRevRangeByLex(DataCall& call);
Status ZRevRangeByScore(DataCall& call);

// sorted_set_store_commands.cc
Status ZDiff(DataCall& call);
Status ZDiffStore(DataCall& call);
Status ZInter(DataCall& call);
Status ZInterCard(DataCall& call);
Status ZInterStore(DataCall& call);
Status ZUnion(DataCall& call);
Status ZUnionStore(DataCall& call);

// sorted_set_pop_commands.cc
Result<Attempted> BZMPop(DataCall& call);
Result<Attempted> BZPopMax(DataCall& call);
Result<Attempted> BZPopMin(DataCall& call);
Status ZMPop(DataCall& call);

// acl_commands.cc
Status AclCat(ClientCall& call);
Status AclDelUser(WorkCall& call);
Status AclDryRun(ClientCall& call);
Status AclFile(ClientCall& call);
Status AclGenPass(ClientCall& call);
Status AclGetUser(ClientCall& call);
Status AclList(ClientCall& call);
Status AclLogOf(ClientCall& call);
Status AclSetUser(WorkCall& call);
Status AclUsers(ClientCall& call);
Status AclWhoAmI(ClientCall& call);

// connection_commands.cc
Status Auth(ClientCall& call);
Status Echo(ClientCall& call);
Status Hello(ClientCall& call);
Status Ping(ClientCall& call);
Status Quit(ClientCall& call);
Status Reset(ClientCall& call);
Status Select(ClientCall& call);
Status Unwatch(ClientCall& call);

// tracking_commands.cc
Status ClientCaching(ClientCall& call);
Status ClientGetRedir(ClientCall& call);
Status ClientTracking(ClientCall& call);
Status ClientTrackingInfo(ClientCall& call);

// pubsub_commands.cc
Status PSubscribe(ClientCall& call);
Status PUnsubscribe(ClientCall& call);
Status PubSubChannels(ClientCall& call);
Status PubSubNumPat(ClientCall& call);
Status PubSubNumSub(ClientCall& call);
Status PubSubShardChannels(ClientCall& call);
Status PubSubShardNumSub(ClientCall& call);
Status Publish(ClientCall& call);
Status SPublish(ClientCall& call);
Status SSubscribe(ClientCall& call);
Status SUnsubscribe(ClientCall& call);
Status Subscribe(ClientCall& call);
Status Unsubscribe(ClientCall& call);

// client_commands.cc
Status ClientGetName(ClientCall& call);
Status ClientId(ClientCall& call);
Status ClientInfo(ClientCall& call);
Status ClientNoEvict(ClientCall& call);
Status ClientPause(ClientCall& call);
Status ClientReply(ClientCall& call);
Status ClientSetInfo(ClientCall& call);
Status ClientSetName(ClientCall& call);
Status ClientUnblock(ClientCall& call);
Status ClientUnpause(ClientCall& call);

// client_admin_commands.cc
Status ClientKill(WorkCall& call);
Status ClientList(WorkCall& call);

// command_commands.cc
Status CommandAll(ClientCall& call);
Status CommandCountAll(ClientCall& call);
Status CommandDocs(ClientCall& call);
Status CommandGetKeys(ClientCall& call);
Status CommandGetKeysAndFlags(ClientCall& call);
Status CommandInfo(ClientCall& call);
Status CommandList(ClientCall& call);
Status Help(ClientCall& call);

// config_commands.cc
Status ConfigGet(ClientCall& call);
Status ConfigResetStat(ClientCall& call);
Status ConfigRewrite(ClientCall& call);
Status ConfigSet(WorkCall& call);

// debug_commands.cc
Status DebugObject(DataCall& call);
Status DebugSetActiveExpire(ClientCall& call);
Status DebugSleep(WorkCall& call);

// durability_commands.cc
Status BgRewriteAof(ClientCall& call);
Status BgSave(ClientCall& call);
Status KvartsDurability(ClientCall& call);
Status LastSave(ClientCall& call);
Status Save(WorkCall& call);
Status WaitAof(WorkCall& call);

// latency_commands.cc
Status LatencyDoctor(ClientCall& call);
Status LatencyGraph(ClientCall& call);
Status LatencyHistogramOf(ClientCall& call);
Status LatencyHistory(ClientCall& call);
Status LatencyLatest(ClientCall& call);
Status LatencyReset(ClientCall& call);
Status SlowLogGet(ClientCall& call);
Status SlowLogLen(ClientCall& call);
Status SlowLogReset(ClientCall& call);

// memory_commands.cc
Status MemoryDoctor(WorkCall& call);
Status MemoryMallocStats(WorkCall& call);
Status MemoryPurge(WorkCall& call);
Status MemoryStats(DataCall& call);
Status MemoryUsage(DataCall& call);

// object_commands.cc
Status ObjectEncoding(DataCall& call);
Status ObjectFreq(DataCall& call);
Status ObjectIdleTime(DataCall& call);
Status ObjectRefCount(DataCall& call);
Status RandomKey(DataCall& call);

// server_commands.cc
Status Cluster(ClientCall& call);
Status Failover(ClientCall& call);
Status Info(DataCall& call);
Status Lolwut(ClientCall& call);
Status ReadOnly(ClientCall& call);
Status ReplicaOf(ClientCall& call);
Status Role(ClientCall& call);
Status Shutdown(ClientCall& call);
Status Time(ClientCall& call);
Status Wait(ClientCall& call);

}  // namespace kvarts::resp
