// Commands that wait until there is something for them to do: BLPOP and its like.
//
// Such a command is a body of the store that is run until it is ready (core/store.h): right after the commit that puts
// something under one of its keys, before any command that comes later, and in the order in which clients came. Its
// wait ends when it is served, when its time is over, when another client ends it, when its own has gone, or when the
// server stops. Meanwhile nothing is read of what the client sends.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "net/stream.h"
#include "protocol/resp/service.h"
#include "protocol/resp/session.h"

namespace kvarts::resp {

// For how long a command waits, as an argument says it; nothing: for ever.
Result<std::optional<std::chrono::milliseconds>> TimeoutOf(std::string_view argument);

// Sleeps on the stream for a while, or until it is woken.
using Sleep = std::function<net::Task<>(std::chrono::milliseconds at_most)>;

// Carries the command out, and tells its answer. When there can be none the session is ending.
net::Task<> RunBlocking(net::Stream& stream, Session& session, Service& service, const Command& command,
                        std::vector<Bytes> arguments, Sleep sleep, Bytes* answer);

}  // namespace kvarts::resp
