// The map of the keyspace: every physical key is a tuple that begins with one of these numbers. A number is never given
// to something else; what is retired stays listed.
//
//   number  name      tuple                                    value
//   1       settings  (1, text name, …)                        what the store knows about itself
//                     (1, "catalog")                           model/catalog: when a namespace changed last
//                     (1, "databases")                         model/structure: which database each number is
//                     (1, "collections")                       model/structure: the number that the next one gets
//                     (1, "feed", uint feed)                   core/feed: a declaration
//                     (1, "feeds")                             core/feed: when one was declared last
//                     (1, "secret", text name)                 core/secret: what no tool prints
//                     (1, "tables")                            model/table: the number that the next table gets
//                     (1, "token", text id)                    model/access: a token
//                     (1, "tokens")                            model/access: that there has been a token
//                     (1, "user", bytes name)                  model/access: a user of Redis' protocol
//                     (1, "namespace", text name)              model/catalog: a declaration
//   2       keys      (2, tail user key)                       what the user put there
//   3       feed      (3, uint feed, uint version, uint n)     core/feed: the n-th change of a commit
//   4       jobs      (4, uuid job)                            core/job
//   5       expiry    (5, time expiry, tail owner's key)       core/expiry: owned values in order of expiry
//   6       jobqueue  (6, uuid job)                            core/job: the jobs that there is something to do for
//   7       tables    (7, uint table, 0, (partition…), sort…)  model/table: a row
//                     (7, uint table, uint index, …)           model/table: an entry of an index
//   8       structs   (8, uint database, 0, tail name)         model/structure: a key of a database
//                     (8, uint database, 1, bytes tag, tail name)  one with a hash tag
//   9       counts    (9, uint database, uint part)            model/structure: how many keys a database has
//   10      members   (10, uint collection, uint hash, tail name)  model/structure: a member of a set or hash
//   11      dropped   (11, 0, uint collection)                 model/structure: a collection that is to be taken away
//                     (11, 1, uint database)                   a database
//                     (11, 2, uint collection)                 a string on its way, until some time
//   12      fields    (12, tail key's place)                   model/structure: when the first member of a key expires
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/uuid.h"
#include "encoding/tuple.h"

namespace kvarts {

enum class Space : uint8_t {
  kSettings = 1,
  kKeys = 2,
  kFeed = 3,
  kJobs = 4,
  kExpiry = 5,
  kJobQueue = 6,
  kTables = 7,
  kStructures = 8,
  kStructureCounts = 9,
  kStructureMembers = 10,
  kStructuresDropped = 11,
  kFieldExpiry = 12,
};

// A name for people; empty for a number that is not in the map.
std::string_view SpaceName(Space space);

// All keys of a space.
KeyRange SpaceRange(Space space);

// Begins a key of the space.
inline TupleWriter<KeyBuffer> BeginKey(KeyBuffer* key, Space space) {
  TupleWriter<KeyBuffer> writer(key);
  writer.Int(static_cast<int64_t>(space));
  return writer;
}

// The physical key of a user's key, and back. A range or prefix of the user's becomes one of the space.
KeyBuffer UserKey(BytesView user_key);
std::optional<BytesView> UserKeyOf(BytesView physical_key);
KeyRange UserRange(const KeyRange& range);

// "keys: user:1" or "jobs: (uuid …)": a physical key as tools print it.
std::string DescribeKey(BytesView physical_key);

}  // namespace kvarts
