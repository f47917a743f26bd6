// What INFO says: sections of lines "name:value", under the names of Redis, so that whoever watches Redis can watch
// this. What is not counted here is left out; docs/compat/redis.md tells what.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "protocol/resp/command.h"

namespace kvarts::resp {

// Of the sections asked for, in Redis' order; names in any case of letters, `default`, `all` and `everything` among
// them. Without names: the default ones. Looks at no keys.
Result<std::string> InfoText(DataCall& call, Arguments sections);

}  // namespace kvarts::resp
