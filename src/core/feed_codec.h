// The bytes of feeds: keys and values of entries and declarations (FORMAT.md).
//
// What an entry holds is written before its commit has a version. So what the commit stamps or writes itself is marked
// as such, and whoever decodes the entry puts in the version, which stands in its key.
#pragma once

#include <optional>

#include "core/context.h"
#include "encoding/key_buffer.h"
#include "encoding/key_range.h"
#include "engine/commit.h"
#include "engine/record.h"

namespace kvarts {

struct FeedId {
  uint64_t number = 0;
  friend auto operator<=>(FeedId, FeedId) = default;
};

// Where an entry stands in its feed. The position of all zeros comes before every entry.
struct FeedPosition {
  Version version;
  uint64_t index = 0;  // within the commit, from zero
  friend auto operator<=>(const FeedPosition&, const FeedPosition&) = default;
};

struct FeedEntry {
  FeedPosition position;
  Mutation::Op op = Mutation::Op::kPut;
  Bytes key;
  Bytes end;                     // of an erased range; empty: it has no upper bound
  std::optional<Record> before;  // not for an erased range
  std::optional<Record> after;
  Context context;

  friend bool operator==(const FeedEntry&, const FeedEntry&) = default;
};

// An entry on its way into a commit.
struct FeedDraft {
  // A record, and where in its value the commit's version goes. One that this commit writes has no version yet.
  struct State {
    std::optional<Record> record;
    uint32_t stamp = Mutation::kNoStamp;
  };
  Mutation::Op op = Mutation::Op::kPut;
  BytesView key;
  BytesView end;
  uint32_t key_stamp = Mutation::kNoStamp;
  State before;
  State after;
};

// What is stored about a feed.
struct FeedDeclaration {
  KeyRange range;
  Version floor;  // entries of earlier versions are gone

  Bytes Encode() const;
  static Result<FeedDeclaration> Decode(BytesView bytes);
  friend bool operator==(const FeedDeclaration&, const FeedDeclaration&) = default;
};

// (1, "feed", number), and all of these.
KeyBuffer FeedDeclarationKey(FeedId feed);
KeyRange FeedDeclarations();
Result<FeedId> FeedOfDeclaration(BytesView key);
// (1, "feeds"): written with every declaration.
const Bytes& FeedsStampKey();

// (3, feed, version, index), and all of a feed.
KeyBuffer FeedEntryKey(FeedId feed, FeedPosition position);
KeyRange FeedEntries(FeedId feed);
// The put of an entry that the commit's version completes.
Mutation MakeFeedEntry(FeedId feed, uint64_t index, const FeedDraft& draft, const Context& context);

Bytes EncodeFeedDraft(const FeedDraft& draft, const Context& context);
// `key` and `value` as they are stored.
Result<FeedEntry> DecodeFeedEntry(BytesView key, BytesView value);

}  // namespace kvarts
