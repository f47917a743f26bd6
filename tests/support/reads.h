// Reads as tests want them: scans to the end with everything copied out of the pages.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "engine/view.h"

namespace kvarts::test {

// An entry of a scan, with its own bytes.
struct Found {
  Bytes key;
  Bytes value;
  ValueHeader header;

  friend bool operator==(const Found&, const Found&) = default;
};
std::ostream& operator<<(std::ostream& out, const Found& found);

std::vector<Found> EntriesOf(const ScanPage& page);
std::vector<Bytes> KeysOf(const std::vector<Found>& entries);

// Scans page by page to the end of the range. Holds every page against the request: at most so many
// entries and bytes (unless it is a single entry), and an entry in every page that leaves a rest.
Result<std::vector<Found>> ScanAll(View& view, ScanRequest request);

// "a=1 b=2": keys and values in scan order, for short expectations.
std::string Shown(const std::vector<Found>& entries);
std::string ShownScan(View& view, const KeyRange& range = KeyRange::All(), bool reverse = false);

}  // namespace kvarts::test
