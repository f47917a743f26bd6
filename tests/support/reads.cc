#include "support/reads.h"

#include <gtest/gtest.h>

namespace kvarts::test {

std::ostream& operator<<(std::ostream& out, const Found& found) {
  return out << Escaped(found.key) << "=" << Escaped(found.value) << "@" << found.header.version.ToString();
}

std::vector<Found> EntriesOf(const ScanPage& page) {
  std::vector<Found> entries;
  for (size_t i = 0; i < page.size(); ++i) {
    entries.push_back({Bytes(page[i].key), Bytes(page[i].value), page[i].header});
  }
  return entries;
}

std::vector<Bytes> KeysOf(const std::vector<Found>& entries) {
  std::vector<Bytes> keys;
  for (const Found& entry : entries) keys.push_back(entry.key);
  return keys;
}

Result<std::vector<Found>> ScanAll(View& view, ScanRequest request) {
  std::vector<Found> all;
  while (true) {
    KVARTS_TRY(const ScanPage page, view.Scan(request));
    EXPECT_LE(page.size(), request.max_entries);
    EXPECT_TRUE(page.size() <= 1 || page.bytes() <= request.max_bytes)
        << page.bytes() << " bytes in " << page.size() << " entries";
    for (Found& entry : EntriesOf(page)) all.push_back(std::move(entry));
    if (!page.rest()) return all;
    EXPECT_FALSE(page.empty()) << "an empty page leaves a rest";
    if (page.empty()) return all;
    request.range = *page.rest();
  }
}

std::string Shown(const std::vector<Found>& entries) {
  std::string text;
  for (const Found& entry : entries) {
    if (!text.empty()) text += " ";
    text += Escaped(entry.key) + "=" + Escaped(entry.value);
  }
  return text;
}

std::string ShownScan(View& view, const KeyRange& range, bool reverse) {
  ScanRequest request;
  request.range = range;
  request.reverse = reverse;
  const auto entries = ScanAll(view, request);
  return entries ? Shown(*entries) : entries.error().ToString();
}

}  // namespace kvarts::test
