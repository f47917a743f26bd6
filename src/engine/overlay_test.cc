// Overlay and the view over it, compared with a model that keeps whole states: random writes on random bases, read in
// every way there is.
#include "engine/overlay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace kvarts {
namespace {

using State = std::map<Bytes, Record>;

constexpr Timestamp kNow{1'700'000'000'000'000};
constexpr Version kBaseVersion = Version::FromTime({kNow.micros - 1000});
constexpr Version kCommit = Version::FromTime(kNow);

// A view of a state, page by page as engines do it.
class StateView final : public View {
 public:
  explicit StateView(const State& state) : state_(state) {}
  Version version() const override { return kBaseVersion; }
  Timestamp time() const override { return kNow; }
  Status Get(std::span<const BytesView> keys, std::span<std::optional<Record>> out,
             const ReadOptions& options) override {
    for (size_t i = 0; i < keys.size(); ++i) {
      const auto found = state_.find(Bytes(keys[i]));
      out[i] = found == state_.end() ? std::nullopt : std::optional(found->second);
      if (out[i] && !options.expired_too && out[i]->header.ExpiredAt(kNow)) out[i].reset();
    }
    return {};
  }
  Result<ScanPage> Scan(const ScanRequest& request) override {
    std::vector<std::pair<Bytes, Record>> entries(state_.begin(), state_.end());
    if (request.reverse) std::ranges::reverse(entries);
    ScanPage page;
    for (const auto& [key, record] : entries) {
      if (!request.range.Contains(BytesView(key))) continue;
      if (!request.options.expired_too && record.header.ExpiredAt(kNow)) continue;
      const BytesView value = request.keys_only ? BytesView() : BytesView(record.value);
      const bool full = page.size() >= request.max_entries ||
                        (!page.empty() && page.bytes() + key.size() + value.size() > request.max_bytes);
      if (full) {
        page.StopAfterLast(request.range, request.reverse);
        break;
      }
      page.Append(key, value, record.header);
    }
    return page;
  }

 private:
  const State& state_;
};

// What a write makes of a whole state.
void ApplyTo(State* state, const Mutation& mutation) {
  if (mutation.op == Mutation::Op::kEraseRange) {
    const KeyRange range{mutation.key, mutation.end};
    std::erase_if(*state, [&](const auto& entry) { return range.Contains(BytesView(entry.first)); });
    return;
  }
  const auto found = state->find(mutation.key);
  std::optional<Record> before;
  if (found != state->end() && !found->second.header.ExpiredAt(kNow)) before = found->second;
  state->erase(mutation.key);
  Record after;
  after.header.version = kCommit;
  if (mutation.op == Mutation::Op::kErase) return;
  if (mutation.op == Mutation::Op::kPut) {
    after.header.expiry = mutation.expiry;
    after.header.kind = mutation.kind;
    after.header.owned = mutation.owned;
    after.header.schema = mutation.schema;
    after.value = mutation.value;
  } else if (!before) {
    after.header.kind = ValueKind::kCounter;
    after.value = CounterValue(mutation.delta);
  } else {
    after = *before;
    after.header.version = kCommit;
    if (after.header.kind == ValueKind::kCounter) {
      const int64_t number = CounterNumber(before->header, before->value);
      after.value = CounterValue(SaturatingAdd(number, mutation.delta, &after.header.marks.saturated));
    } else {
      after.header.marks.misapplied = true;
    }
  }
  state->insert_or_assign(mutation.key, after);
}

class Random {
 public:
  explicit Random(uint32_t seed) : bits_(seed) {}

  size_t Below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(bits_); }
  bool OneIn(size_t n) { return Below(n) == 0; }
  // Few keys, so that they meet; of up to two letters, so that some begin others.
  Bytes Key() {
    Bytes key(1, static_cast<char>('a' + Below(5)));
    if (OneIn(3)) key.push_back(static_cast<char>('a' + Below(3)));
    return key;
  }
  KeyRange Range() {
    KeyRange range{OneIn(6) ? Bytes() : Key(), OneIn(4) ? Bytes() : Key()};
    if (range.HasEnd() && range.start > range.end) std::swap(range.start, range.end);
    return range;
  }
  Mutation Write() {
    switch (Below(8)) {
      case 0:
      case 1:
        return Mutation::Add(Key(), OneIn(10) ? INT64_MAX : static_cast<int64_t>(Below(10)));
      case 2:
        return Mutation::Erase(Key());
      case 3: {
        KeyRange range = Range();
        if (range.IsEmpty()) range.end.clear();
        return Mutation::EraseRange(range.start, range.end);
      }
      default:
        return Put();
    }
  }
  Mutation Put() {
    Mutation put = Mutation::Put(Key(), Bytes(Below(4), 'v'));
    if (OneIn(3)) {
      put.kind = ValueKind::kCounter;
      put.value = CounterValue(static_cast<int64_t>(Below(100)));
    }
    if (OneIn(3)) put.expiry = OneIn(2) ? kNow : Timestamp{kNow.micros + 1};
    put.owned = OneIn(4);
    put.schema = static_cast<uint32_t>(Below(3));
    return put;
  }

 private:
  std::mt19937 bits_;
};

struct Case {
  State base;
  State expected;
  std::vector<Mutation> writes;
};

Case MakeCase(Random& random) {
  Case made;
  for (size_t i = random.Below(12); i > 0; --i) {
    const Mutation put = random.Put();
    ApplyTo(&made.base, put);
    made.base.at(put.key).header.version = kBaseVersion;
  }
  made.expected = made.base;
  for (size_t i = random.Below(12); i > 0; --i) {
    made.writes.push_back(random.Write());
    ApplyTo(&made.expected, made.writes.back());
  }
  return made;
}

// A scan to its end, with the given size of pages.
std::vector<std::pair<Bytes, Record>> ScanAll(View& view, ScanRequest request) {
  std::vector<std::pair<Bytes, Record>> found;
  while (true) {
    const auto page = view.Scan(request);
    EXPECT_TRUE(page.has_value());
    EXPECT_LE(page->size(), request.max_entries);
    EXPECT_TRUE(page->size() <= 1 || page->bytes() <= request.max_bytes);
    for (size_t i = 0; i < page->size(); ++i) {
      found.emplace_back((*page)[i].key, Record{(*page)[i].header, Bytes((*page)[i].value)});
    }
    if (!page->rest()) return found;
    EXPECT_FALSE(page->empty());
    request.range = *page->rest();
  }
}

void ExpectSameScans(Random& random, View& view, View& model) {
  ScanRequest request;
  request.range = random.Range();
  request.reverse = random.OneIn(2);
  request.keys_only = random.OneIn(3);
  request.options.expired_too = random.OneIn(4);
  const auto expected = ScanAll(model, request);
  request.max_entries = random.OneIn(2) ? 1 + random.Below(4) : 1000;
  request.max_bytes = random.OneIn(2) ? 1 + random.Below(20) : 1 << 20;
  EXPECT_EQ(ScanAll(view, request), expected) << request.range << (request.reverse ? " reverse" : "");
}

TEST(OverlayTest, ShowsWhatWritingWouldHaveMade) {
  for (uint32_t seed = 0; seed < 20'000 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Case made = MakeCase(random);
    Overlay overlay;
    for (const Mutation& write : made.writes) overlay.Apply(write, kCommit, kNow);
    StateView base(made.base);
    StateView model(made.expected);
    OverlayView view(base, overlay, kCommit, kNow);
    for (int i = 0; i < 3; ++i) ExpectSameScans(random, view, model);
    std::vector<Bytes> names;
    for (int i = 0; i < 6; ++i) names.push_back(random.Key());
    const std::vector<BytesView> keys(names.begin(), names.end());
    std::vector<std::optional<Record>> out(keys.size());
    std::vector<std::optional<Record>> expected(keys.size());
    const ReadOptions options{.expired_too = random.OneIn(4)};
    ASSERT_TRUE(view.Get(keys, out, options).has_value());
    ASSERT_TRUE(model.Get(keys, expected, options).has_value());
    EXPECT_EQ(out, expected);
  }
}

TEST(OverlayTest, KnowsWhichKeysItDecides) {
  Overlay overlay;
  EXPECT_TRUE(overlay.empty());
  overlay.Apply(Mutation::EraseRange("b", "d"), kCommit, kNow);
  overlay.Apply(Mutation::EraseRange("d", "e"), kCommit, kNow);
  overlay.Apply(Mutation::EraseRange("g", ""), kCommit, kNow);
  overlay.Apply(Mutation::Put("c", "1"), kCommit, kNow);
  EXPECT_FALSE(overlay.empty());
  EXPECT_EQ(overlay.Find("b"), nullptr);
  ASSERT_NE(overlay.Find("c"), nullptr);
  EXPECT_EQ(overlay.Find("c")->version, kCommit);
  for (const char* key : {"b", "c", "d", "dz", "g", "zz"}) EXPECT_TRUE(overlay.InErasedRange(key)) << key;
  for (const char* key : {"a", "e", "f"}) EXPECT_FALSE(overlay.InErasedRange(key)) << key;
  overlay.Clear();
  EXPECT_TRUE(overlay.empty());
  EXPECT_FALSE(overlay.InErasedRange("b"));
}

TEST(OverlayTest, TheViewSaysItsOwnVersionAndTime) {
  const State state;
  StateView base(state);
  const Overlay overlay;
  const OverlayView view(base, overlay, kCommit, kNow);
  EXPECT_EQ(view.version(), kCommit);
  EXPECT_EQ(view.time(), kNow);
}

}  // namespace
}  // namespace kvarts
