// Changes of users, each one commit: they wait for the disk, so a worker makes them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kvarts::resp {

struct Service;

// All of the rules or none; of a user that is not there it makes one.
Status ChangeUser(Service& service, std::string_view name, std::span<const std::string> rules);
// Ends the connections of those who have gone, or may not listen any more to what they listen to. Not on a loop.
void EndThoseWithoutRights(Service& service);
// Does so soon after another process has changed users.
void FollowOthersChanges(Service& service);

// How many of them there were.
Result<int64_t> RemoveUsers(Service& service, std::span<const std::string_view> names);
// Of `default`: this one alone; empty: it needs none.
Status RequirePassword(Service& service, std::string_view password);

}  // namespace kvarts::resp
