// From one format of the data directory to the next. A store is opened in the current format only; one of the format
// before it is brought up to date when that was asked for, and older ones by the releases in between.
//
//   1 → 2   the identity of the store stands in its data too, so that a stamp beside somebody else's data is noticed
//
// A step may be cut off anywhere and is done again: the stamp names the new format only when everything is in place.
#pragma once

#include "engine/rocksdb/directory.h"
#include "engine/rocksdb/rocks_store.h"

namespace kvarts {

// Whether a directory of this stamp can be opened, before anything in it is touched.
Status CheckFormat(const DataDirectory& directory, bool upgrade);

// Brings an opened store of the previous format up to date; nothing to do for the current one.
Status UpgradeFormat(DataDirectory& directory, RocksStore& store);

// Writes the identity into the data of a store that is being made or upgraded.
Status WriteIdentity(const Stamp& stamp, RocksStore& store);
// `corruption` when the data are not those of the stamp.
Status CheckIdentity(const DataDirectory& directory, RocksStore& store);

}  // namespace kvarts
