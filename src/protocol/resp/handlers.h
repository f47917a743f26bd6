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

// connection_commands.cc
Status Auth(ClientCall& call);
Status Client(ClientCall& call);
Status Echo(ClientCall& call);
Status Hello(ClientCall& call);
Status Ping(ClientCall& call);
Status Quit(ClientCall& call);
Status Reset(ClientCall& call);
Status Select(ClientCall& call);
Status Unwatch(ClientCall& call);

// server_commands.cc
Status CommandCommand(ClientCall& call);
Status Info(ClientCall& call);
Status Time(ClientCall& call);

}  // namespace kvarts::resp
