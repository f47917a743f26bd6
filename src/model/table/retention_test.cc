// Rows of a time bucket go together: for readers at one instant, and from the store by range.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "support/tables.h"

namespace kvarts::test {
namespace {

using testing::ElementsAre;

constexpr uint64_t kDay = 86'400ULL * 1'000'000;

class RetentionTest : public TablesFixture {
 protected:
  // The first instant of the day that is so many days after today.
  Timestamp Day(int64_t days) {
    const uint64_t today = engine().Now().micros / kDay;
    return {static_cast<uint64_t>(static_cast<int64_t>(today) + days) * kDay};
  }
  std::string At(Timestamp time) { return time.ToString(); }
  using TablesFixture::At;

  // Keys that are stored behind a prefix, expired or not.
  size_t Stored(BytesView prefix) {
    ScanRequest request;
    request.range = KeyRange::Prefix(prefix);
    request.options.expired_too = true;
    return Entries(*NewView(), request).size();
  }
  size_t StoredRows(const std::string& table) { return Stored(tables().Find(At(table)).value()->rows()); }
  size_t StoredEntries(const std::string& table, std::string_view index) {
    return Stored(tables().Find(At(table)).value()->IndexNamed(index)->prefix);
  }
  // Whether buckets are taken away by a job, and not by the engine alone.
  bool ByJob() { return !engine().capabilities().shared; }
  void Retain() {
    const auto job = tables().StartRetention();
    ASSERT_TRUE(job) << job.error();
    EXPECT_EQ(job->has_value(), ByJob());
    RunJobs();
  }
  static RowQuery Partition(std::string_view json, std::string index = {}) {
    RowQuery query;
    query.partition = Document(json);
    query.index = std::move(index);
    return query;
  }
};
KVARTS_ON_EVERY_ENGINE(RetentionTest);

constexpr const char* kByDay = R"({
  "key": {"partition": [{"name": "day", "type": "timestamp"}, "device"], "sort": [{"name": "n", "type": "number"}]},
  "retention": {"field": "day", "keep": 172800},
  "indexes": [{"name": "by_kind", "partition": ["kind"]}, {"name": "local", "local": true, "sort": ["kind"]}]})";

TEST_P(RetentionTest, RowsEndTwoDaysAfterTheirDay) {
  MustCreate("events", kByDay);
  for (const int days : {-5, -3, -2, 0, 3}) {
    const RowOutcome put =
        MustPut("events", fmt::format(R"({{"day": "{}", "device": "d", "n": {}, "kind": "k"}})", At(Day(days)), days));
    EXPECT_EQ(put.expiry, Day(days + 3));
  }
  // What is too old is not there for anybody, by its key or by an index.
  EXPECT_EQ(RowText("events", fmt::format(R"({{"day": "{}", "device": "d", "n": -3}})", At(Day(-3)))), "nothing");
  EXPECT_THAT(FieldOf("events", Partition(R"({"kind": "k"})", "by_kind"), "n"), ElementsAre("-2", "0", "3"));
  EXPECT_EQ(StoredRows("events"), 5U);

  Retain();
  EXPECT_THAT(FieldOf("events", Partition(R"({"kind": "k"})", "by_kind"), "n"), ElementsAre("-2", "0", "3"));
  if (!ByJob()) return;
  EXPECT_EQ(StoredRows("events"), 3U);
  // Entries of a local index lie as their rows do; the others expire by themselves.
  EXPECT_EQ(StoredEntries("events", "local"), 3U);
  EXPECT_EQ(EntryCount("events", "by_kind"), 3U);
}

TEST_P(RetentionTest, NothingIsOwnedThatGoesWithItsBucket) {
  const TablePtr table = MustCreate("events", kByDay);
  MustPut("events", fmt::format(R"({{"day": "{}", "device": "d", "n": 1, "kind": "k"}})", At(Day(0))));
  ScanRequest request;
  request.range = KeyRange::Prefix(table->rows());
  const auto rows = Entries(*NewView(), request);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_FALSE(rows[0].header.owned);
  // What ends before its bucket goes by itself, with its entries.
  ASSERT_TRUE(tables().AlterTable(At("events"), {.ttl = TtlSpec{{}, Duration::Seconds(60)}}));
  MustPut("events", fmt::format(R"({{"day": "{}", "device": "d", "n": 1, "kind": "k"}})", At(Day(0))));
  EXPECT_TRUE(Entries(*NewView(), request)[0].header.owned);
}

// The time in any place of the key, in either order: each leading part is walked to, and only what is too old goes.
TEST_P(RetentionTest, TheTimeMayStandAnywhereInTheKey) {
  const char* const keys[] = {
      R"({"partition": [{"name": "at", "type": "timestamp", "order": "desc"}], "sort": ["d"]})",
      R"({"partition": ["d", {"name": "at", "type": "timestamp"}]})",
      R"({"partition": ["d"], "sort": [{"name": "at", "type": "timestamp"}]})",
      R"({"partition": ["d"], "sort": [{"name": "at", "type": "timestamp", "order": "desc"}]})",
      R"({"partition": ["d"], "sort": ["e", {"name": "at", "type": "timestamp", "order": "desc"}, "f"]})"};
  for (size_t i = 0; i < std::size(keys); ++i) {
    const std::string name = fmt::format("t{}", i);
    MustCreate(name, fmt::format(R"({{"key": {}, "retention": {{"field": "at", "bucket": 3600, "keep": 7200}},
                                      "indexes": [{{"name": "all", "partition": ["all"]}}]}})",
                                 keys[i]));
    const uint64_t hour = engine().Now().micros / 3'600'000'000 * 3'600'000'000;
    for (const char* device : {"a", "b", "c"}) {
      for (int hours = 0; hours < 6; ++hours) {
        const Timestamp at{hour - static_cast<uint64_t>(hours) * 3'600'000'000 + 1};
        MustPut(name, fmt::format(R"({{"d": "{}", "e": "x", "f": "y", "at": "{}", "all": 1}})", device, at.ToString()));
      }
    }
    SCOPED_TRACE(keys[i]);
    // This hour and the two before it are kept.
    EXPECT_EQ(FieldOf(name, Partition(R"({"all": 1})", "all"), "d").size(), 9U);
    Retain();
    EXPECT_EQ(FieldOf(name, Partition(R"({"all": 1})", "all"), "d").size(), 9U);
    if (!ByJob()) continue;
    EXPECT_EQ(StoredRows(name), 9U);
  }
}

TEST_P(RetentionTest, WhatWasKeptLongerIsKeptThatLong) {
  MustCreate("events", kByDay);
  const auto row = [&](int days, int n) {
    return fmt::format(R"({{"day": "{}", "device": "d", "n": {}, "kind": "k"}})", At(Day(days)), n);
  };
  MustPut("events", row(-2, 1));
  RetentionSpec shorter{"day", Duration::Seconds(86'400), Duration::Seconds(3600)};
  ASSERT_TRUE(tables().AlterTable(At("events"), {.retention = shorter}));
  MustPut("events", row(-2, 2));
  EXPECT_THAT(FieldOf("events", Partition(R"({"kind": "k"})", "by_kind"), "n"), ElementsAre("1"));
  Retain();
  EXPECT_THAT(FieldOf("events", Partition(R"({"kind": "k"})", "by_kind"), "n"), ElementsAre("1"));
  // Neither the field nor the bucket can be changed, nor can there be none.
  RetentionSpec other = shorter;
  other.bucket = Duration::Seconds(60);
  EXPECT_EQ(CodeOf(tables().AlterTable(At("events"), {.retention = other})), "invalid_argument");
  EXPECT_EQ(CodeOf(tables().AlterTable(At("events"), {.retention = std::optional<RetentionSpec>()})),
            "invalid_argument");
  MustCreate("plain", R"({"key": {"partition": [{"name": "day", "type": "timestamp"}]}})");
  EXPECT_EQ(CodeOf(tables().AlterTable(At("plain"), {.retention = shorter})), "invalid_argument");
  // What is not said stays as it is.
  const RetentionChange longer{.keep = Duration::Seconds(7200)};
  ASSERT_TRUE(tables().AlterTable(At("events"), {.retention_parts = longer}));
  EXPECT_EQ(tables().Find(At("events")).value()->spec().retention, longer.Of(shorter));
  for (const RetentionChange& change : {RetentionChange{.field = "at", .keep = longer.keep},
                                        RetentionChange{.bucket = Duration::Seconds(60), .keep = longer.keep}}) {
    EXPECT_EQ(CodeOf(tables().AlterTable(At("events"), {.retention_parts = change})), "invalid_argument");
  }
  EXPECT_EQ(CodeOf(tables().AlterTable(At("plain"), {.retention_parts = longer})), "invalid_argument");
}

// What a patch keeps is the row's own end, not that of its bucket, which may be another by now.
TEST_P(RetentionTest, APatchedRowEndsWithItsBucketAsThatEndsNow) {
  constexpr Duration kHundredDays = Duration::Seconds(100 * 86'400);
  const auto keep = [&](const char* table, int days) {
    const RetentionSpec longer{"day", Duration::Seconds(86'400), Duration::Seconds(days * 86'400)};
    ASSERT_TRUE(tables().AlterTable(At(table), {.retention = longer}));
  };
  MustCreate("with_indexes", kByDay);
  MustCreate("plain", R"({"key": {"partition": [{"name": "day", "type": "timestamp"}, "n"]},
                          "retention": {"field": "day", "keep": 172800}})");
  for (const char* table : {"with_indexes", "plain"}) {
    SCOPED_TRACE(table);
    const bool plain = std::string_view(table) == "plain";
    const auto key = [&](int n) {
      return plain ? fmt::format(R"({{"day": "{}", "n": "{}"}})", At(Day(0)), n)
                   : fmt::format(R"({{"day": "{}", "device": "d", "n": {}}})", At(Day(0)), n);
    };
    const auto patched = [&](int n) {
      return MustApply(table, PatchRow{Document(key(n)), PatchRow::Merge{Document(R"({"x": 1})")}}).expiry;
    };
    ASSERT_TRUE(tables().AlterTable(At(table), {.ttl = TtlSpec{{}, kHundredDays}}));
    EXPECT_EQ(MustPut(table, key(1)).expiry, Day(3));
    EXPECT_EQ(patched(1), Day(3));
    keep(table, 10);
    EXPECT_EQ(patched(1), Day(11));
    keep(table, 5);
    EXPECT_EQ(patched(1), Day(6));
    keep(table, 300);
    EXPECT_EQ(patched(1), In(kHundredDays)) << "which it would not have lived beyond";
    // From here on that is its own, and stays.
    Wait(Duration::Seconds(10));
    EXPECT_EQ(patched(1), In(Duration::Seconds(100 * 86'400 - 10)));
    keep(table, 2);
    EXPECT_EQ(patched(1), Day(3));

    // Who lives for a shorter time by now does so from its next put on.
    EXPECT_EQ(MustPut(table, key(2)).expiry, Day(3));
    ASSERT_TRUE(tables().AlterTable(At(table), {.ttl = TtlSpec{{}, Duration::Seconds(60)}}));
    EXPECT_EQ(patched(2), Day(3));
    const Timestamp own = MustPut(table, key(2)).expiry;
    EXPECT_EQ(own, In(Duration::Seconds(60)));
    keep(table, 10);
    ASSERT_TRUE(tables().AlterTable(At(table), {.ttl = TtlSpec{{}, kHundredDays}}));
    Wait(Duration::Seconds(10));
    EXPECT_EQ(patched(2), own);

    // Of those that end by themselves only if they say so, this one never did.
    keep(table, 2);
    ASSERT_TRUE(tables().AlterTable(At(table), {.ttl = TtlSpec{"until", {}}}));
    EXPECT_EQ(MustPut(table, key(3)).expiry, Day(3));
    keep(table, 10);
    EXPECT_EQ(patched(3), Day(11));
  }
}

TEST_P(RetentionTest, IsDeclaredOfATimestampOfTheKey) {
  for (const char* spec : {R"({"key": {"partition": ["day"]}, "retention": {"field": "day", "keep": 60}})",
                           R"({"key": {"partition": ["id"]}, "retention": {"field": "day", "keep": 60}})"}) {
    MustCreate("any", R"({"key": {"partition": ["id"]}})");
    EXPECT_EQ(CodeOf(tables().CreateTable(At("events"), SpecOf(spec))), "invalid_argument");
    ASSERT_TRUE(tables().DropTable(At("any")));
  }
  for (const char* retention : {R"({"field": "day"})", R"({"keep": 60})", R"({"field": "day", "keep": 0})",
                                R"({"field": "day", "keep": 60, "bucket": -1})", R"({"field": "day", "other": 60})"}) {
    JsonReader json(retention);
    ReadRetentionSpec(json);
    EXPECT_FALSE(json.Finish()) << retention;
  }
  const TablePtr made = MustCreate("events", kByDay);
  if (!GetParam().persistent) return;
  RestartAll();
  EXPECT_EQ(tables().Find(At("events")).value()->spec(), made->spec());
  EXPECT_EQ(tables().Find(At("events")).value()->stored().longest_keep, Duration::Seconds(172'800));
}

// What is written and read back as JSON again and again is still the same.
TEST_P(RetentionTest, ABucketStaysWhatItIs) {
  const TablePtr made = MustCreate("events", R"({
    "key": {"partition": [{"name": "at", "type": "timestamp"}]},
    "retention": {"field": "at", "bucket": 34018.747156, "keep": 8490.917001}})");
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(made->spec().retention->bucket.micros, 34'018'747'156);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(tables().AlterTable(At("events"), {.ttl = TtlSpec{{}, Duration::Seconds(60 + i)}}));
    EXPECT_EQ(tables().Find(At("events")).value()->spec().retention, made->spec().retention);
  }
  for (const char* spec : {R"({"field": "at", "bucket": 1e-7, "keep": 60})", R"({"field": "at", "keep": 1e-7})",
                           R"({"field": "at", "bucket": 1e10, "keep": 60})"}) {
    JsonReader json(spec);
    ReadRetentionSpec(json);
    EXPECT_FALSE(json.Finish()) << spec;
  }
  JsonReader json(R"({"default": 1e-7})");
  ReadTtlSpec(json);
  EXPECT_FALSE(json.Finish());
}

// A row that is there ends with its bucket, and another may have its place in a unique index then.
TEST_P(RetentionTest, ARowGoesWhenItsBucketDoes) {
  MustCreate("events", R"({
    "key": {"partition": [{"name": "at", "type": "timestamp"}], "sort": ["id"]},
    "retention": {"field": "at", "bucket": 0.4, "keep": 0.4},
    "indexes": [{"name": "by_mail", "partition": ["mail"], "unique": true}]})");
  const std::string now = engine().Now().ToString();
  const RowOutcome put = MustPut("events", fmt::format(R"({{"at": "{}", "id": "a", "mail": "m"}})", now));
  EXPECT_GT(put.expiry, *Timestamp::Parse(now));
  EXPECT_LE(put.expiry.micros, Timestamp::Parse(now)->micros + 800'000);
  clock().MoveTo({put.expiry.micros + 1});
  EXPECT_TRUE(FieldOf("events", Partition(R"({"mail": "m"})", "by_mail"), "id").empty());
  Retain();
  const Timestamp later{engine().Now().micros + 60'000'000};
  MustPut("events", fmt::format(R"({{"at": "{}", "id": "b", "mail": "m"}})", later.ToString()));
  EXPECT_THAT(FieldOf("events", Partition(R"({"mail": "m"})", "by_mail"), "id"), ElementsAre(R"("b")"));
}

// More leading parts than one chunk looks at, and more tables.
TEST_P(RetentionTest, GoesOnWhereItStopped) {
  if (!ByJob()) GTEST_SKIP() << "the engine takes them away by itself";
  constexpr const char* kByDevice = R"({
    "key": {"partition": ["d"], "sort": [{"name": "at", "type": "timestamp"}]}, "retention": {"field": "at", "keep": 60}})";
  for (const char* table : {"a", "b"}) {
    MustCreate(table, kByDevice);
    std::vector<RowCommand> puts;
    for (int i = 0; i < 450; ++i) {
      for (const int days : {-9, 0}) {
        puts.push_back(Putting(fmt::format(R"({{"d": "d{}", "at": "{}"}})", i, At(Day(days)))));
      }
    }
    ASSERT_TRUE(Apply(table, puts));
  }
  ASSERT_TRUE(tables().StartRetention());
  EXPECT_EQ(tables().StartRetention().value(), std::nullopt);  // it is there already
  EXPECT_GT(RunJobs(), 5);
  for (const char* table : {"a", "b"}) EXPECT_EQ(StoredRows(table), 450U);
}

}  // namespace
}  // namespace kvarts::test
