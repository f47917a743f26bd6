// What Redis would say of how a value is kept: clients and people go by it, though here it is kept in another way.
#pragma once

#include <string_view>

#include "model/structure/structures.h"
#include "protocol/resp/settings.h"

namespace kvarts::resp {

// Members looked at for how large one is.
constexpr size_t kDefaultSamples = 5;
constexpr size_t kMaxSamples = 1000;

// "embstr", "listpack": what Redis makes of a value of this size by the parameters. There is one.
Result<std::string_view> EncodingOf(structure::Key& key, const Settings& settings);
// How much it takes, name and value, from so many samples of its members; zero: of all that may be looked at.
Result<uint64_t> BytesOf(structure::Key& key, size_t samples);

}  // namespace kvarts::resp
