// What a watch tells its client: changes as JSON.
#pragma once

#include <string_view>
#include <vector>

#include "core/feed.h"
#include "encoding/key_range.h"
#include "engine/commit.h"

namespace kvarts::http {

// A change on its way to a client, as JSON.
struct WatchEvent {
  FeedPosition place;
  Mutation::Op op = Mutation::Op::kPut;
  Bytes data;
};

size_t BytesOf(const std::vector<WatchEvent>& events);

std::string_view OpName(Mutation::Op op);

// A change for somebody who watches this range.
WatchEvent EventOf(const Mutation& mutation, FeedPosition place, const KeyRange& watched);
// The same out of a feed; `before`: with what was there.
WatchEvent EventOf(const FeedEntry& entry, bool before, const KeyRange& watched);

}  // namespace kvarts::http
