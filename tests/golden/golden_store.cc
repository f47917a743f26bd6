#include "golden/golden_store.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace kvarts::test {
namespace {

constexpr Timestamp kStart{1'780'000'000'000'000};
constexpr Timestamp kInAnHour{kStart.micros + 3'600'000'000};
constexpr size_t kLargeBytes = 40'000;

Bytes LargeValue() {
  Bytes value(kLargeBytes, '\0');
  for (size_t i = 0; i < value.size(); ++i) value[i] = static_cast<char>(i * i >> 3);
  return value;
}

Status CommitAll(Engine& engine, std::vector<Mutation> mutations) {
  Commit commit;
  commit.mutations = std::move(mutations);
  const Result<Committed> outcome = CommitAndWait(engine, std::move(commit));
  return outcome.has_value() ? Status{} : outcome.error();
}

Mutation Special(BytesView key, BytesView value, ValueKind kind, bool owned, uint32_t schema) {
  Mutation mutation = Mutation::Put(key, value);
  mutation.kind = kind;
  mutation.owned = owned;
  mutation.schema = schema;
  return mutation;
}

Mutation OwnedUntil(BytesView key, Timestamp expiry) {
  Mutation mutation = Mutation::Put(key, "owned", expiry);
  mutation.owned = true;
  return mutation;
}

// A record in a line.
std::string Describe(const Record& record) {
  const ValueHeader& header = record.header;
  std::string text = record.value.size() == kLargeBytes ? "large" : Escaped(record.value);
  if (header.kind == ValueKind::kCounter) text = std::to_string(CounterNumber(header, record.value));
  text += " kind " + std::to_string(static_cast<int>(header.kind)) + " schema " + std::to_string(header.schema);
  if (header.owned) text += " owned";
  if (header.expiry != kNever) text += " expires";
  return text;
}

}  // namespace

std::shared_ptr<ManualClock> GoldenClock() { return std::make_shared<ManualClock>(kStart); }

Status WriteGolden(Engine& engine) {
  KVARTS_CHECK_OK(engine.AssignProfile({"window/", "window0"}, Profile::kWindow));
  KVARTS_CHECK_OK(CommitAll(
      engine, {Mutation::Put("plain", "value"), Mutation::Put("empty", ""), Mutation::Put(BytesView("z\0ero", 5), "z"),
               Special("envelope", "bytes", ValueKind::kEnvelope, false, 300), Mutation::Put("large", LargeValue()),
               Special("counter", CounterValue(40), ValueKind::kCounter, false, 0), Mutation::Put("gone/1", "x"),
               Mutation::Put("gone/2", "x"), Mutation::Put("window/1", "in the window")}));
  KVARTS_CHECK_OK(CommitAll(engine, {Mutation::Add("counter", 1), Mutation::Add("sum", 5)}));
  KVARTS_CHECK_OK(engine.Compact(KeyRange::All()));
  KVARTS_CHECK_OK(CommitAll(engine, {Mutation::Add("counter", 1), Mutation::EraseRange("gone/", "gone0"),
                                     Mutation::Put("later", "expires", kInAnHour), OwnedUntil("owned", kInAnHour),
                                     Mutation::Put("window/2", "in the log")}));
  return CommitAll(engine, {Mutation::Erase("empty"), Mutation::Put("plain", "newer")});
}

void ExpectGolden(Engine& engine) {
  const std::map<Bytes, std::string> expected = {
      {"counter", "42 kind 1 schema 0"},
      {"envelope", "bytes kind 2 schema 300"},
      {"large", "large kind 0 schema 0"},
      {"later", "expires kind 0 schema 0 expires"},
      {"owned", "owned kind 0 schema 0 owned expires"},
      {"plain", "newer kind 0 schema 0"},
      {"sum", "5 kind 1 schema 0"},
      {"window/1", "in the window kind 0 schema 0"},
      {"window/2", "in the log kind 0 schema 0"},
      {Bytes("z\0ero", 5), "z kind 0 schema 0"},
  };
  const auto view = engine.OpenView();
  ASSERT_TRUE(view.has_value()) << view.error();
  ScanRequest request;
  const auto page = (*view)->Scan(request);
  ASSERT_TRUE(page.has_value()) << page.error();
  std::map<Bytes, std::string> found;
  for (size_t i = 0; i < page->size(); ++i) {
    const ScanPage::Entry entry = (*page)[i];
    found[Bytes(entry.key)] = Describe({entry.header, Bytes(entry.value)});
    EXPECT_LE(entry.header.version, engine.LastVersion()) << entry.key;
  }
  EXPECT_EQ(found, expected);
  const auto large = GetOne(engine, "large");
  ASSERT_TRUE(large.has_value() && large->has_value());
  EXPECT_EQ((*large)->value, LargeValue());
}

}  // namespace kvarts::test
