// Rows and their entries in indexes, as one.
#include "model/table/rows.h"

#include <gmock/gmock.h>

#include <thread>

#include "model/table/table_jobs.h"
#include "support/tables.h"

namespace kvarts::test {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view kPlain = R"({"key": {"partition": ["id"]}})";
constexpr std::string_view kUsers = R"json({
  "key": {"partition": ["tenant"], "sort": ["id"]},
  "indexes": [
    {"name": "mail", "partition": [{"path": "mail", "type": "text", "lower": true, "trim": true}], "unique": true},
    {"name": "age", "local": true, "sort": [{"path": "age", "type": "number", "order": "desc"}]},
    {"name": "tag", "partition": ["tags[*]"]},
    {"name": "city", "partition": ["address.city"], "sort": ["age"], "include": ["name"], "where": "missing(hidden)"
},
    {"name": "all", "partition": ["kind"], "sparse": false, "include": "all"}]
})json";

RowCondition If(WriteCondition::Kind kind, std::vector<Version> versions = {}) {
  return {{kind, std::move(versions)}, std::nullopt};
}
RowCondition Where(std::string_view text) { return {{}, Condition::Parse(text).value()}; }

class RowsTest : public TablesFixture {
 protected:
  static RowQuery By(std::string index, std::string_view partition) {
    RowQuery query;
    query.index = std::move(index);
    query.partition = Document(partition);
    return query;
  }
  std::vector<std::string> Ids(const RowQuery& query) { return FieldOf("users", query, "id"); }
  static PatchRow Merging(std::string_view key, std::string_view patch) {
    return {Document(key), PatchRow::Merge{Document(patch)}};
  }
};
KVARTS_ON_EVERY_ENGINE(RowsTest);

TEST_P(RowsTest, ARowIsReadAsItWasPut) {
  MustCreate("plain", kPlain);
  const RowOutcome first =
      MustPut("plain", R"({"id": "1", "n": 1.50, "b": {"$binary": "AAEC"}, "s": {"$set": ["x"]}})");
  EXPECT_FALSE(first.before.has_value());
  EXPECT_EQ(RowText("plain", R"({"id": "1"})"), R"({"b":{"$binary":"AAEC"},"n":1.5,"s":{"$set":["x"]},"id":"1"})");
  const RowOutcome second = MustPut("plain", R"({"id": "1"})");
  EXPECT_EQ(second.before, first.after);
  EXPECT_EQ(RowText("plain", R"({"id": "2"})"), "nothing");
}

TEST_P(RowsTest, AMalformedKeyIsRefused) {
  MustCreate("strict", R"({"key": {"partition": [{"name": "id", "pattern": "[a-z]+", "max_length": 3}],
                           "sort": [{"name": "at", "type": "timestamp"}]}})");
  MustPut("strict", R"({"id": "abc", "at": "2026-07-05T10:15:30Z"})");
  for (const char* row :
       {R"({"at": "2026-07-05T10:15:30Z"})", R"({"id": "abc"})", R"({"id": 1, "at": "2026-07-05T10:15:30Z"})",
        R"({"id": "abcd", "at": "2026-07-05T10:15:30Z"})", R"({"id": "ABC", "at": "2026-07-05T10:15:30Z"})",
        R"({"id": "abc", "at": "yesterday"})", R"([1])"}) {
    EXPECT_EQ(MustFail("strict", Putting(row)).code(), ErrorCode::kInvalidArgument) << row;
  }
}

TEST_P(RowsTest, WritesHaveConditions) {
  MustCreate("plain", kPlain);
  using Kind = WriteCondition::Kind;
  EXPECT_EQ(MustFail("plain", Putting(R"({"id": "1"})", If(Kind::kPresent))).code(), ErrorCode::kPreconditionFailed);
  MustApply("plain", Putting(R"({"id": "1", "n": 1})", If(Kind::kAbsent)));
  EXPECT_EQ(MustFail("plain", Putting(R"({"id": "1"})", If(Kind::kAbsent))).code(), ErrorCode::kPreconditionFailed);
  EXPECT_EQ(MustFail("plain", Putting(R"({"id": "1"})", If(Kind::kVersionIn, {{1}}))).code(),
            ErrorCode::kPreconditionFailed);
  MustApply("plain", Putting(R"({"id": "1", "n": 2})", Where("n = 1")));
  EXPECT_EQ(MustFail("plain", Putting(R"({"id": "1", "n": 3})", Where("n = 1"))).code(),
            ErrorCode::kPreconditionFailed);
  EXPECT_EQ(MustFail("plain", DeleteRow{Document(R"({"id": "1"})"), Where("n > 2")}).code(),
            ErrorCode::kPreconditionFailed);
  MustApply("plain", Putting(R"({"id": "new"})", Where("missing(id)")));
  EXPECT_EQ(RowText("plain", R"({"id": "1"})"), R"({"n":2,"id":"1"})");
}

TEST_P(RowsTest, ARowThatIsNotThereIsNotDeletedUnlessThatIsAsGood) {
  MustCreate("plain", kPlain);
  EXPECT_EQ(MustFail("plain", DeleteRow{Document(R"({"id": "1"})")}).code(), ErrorCode::kNotFound);
  MustApply("plain", DeleteRow{Document(R"({"id": "1"})"), {}, true});
  MustPut("plain", R"({"id": "1"})");
  const RowOutcome gone = MustApply("plain", DeleteRow{Document(R"({"id": "1"})")});
  EXPECT_TRUE(gone.before.has_value());
  EXPECT_EQ(RowText("plain", R"({"id": "1"})"), "nothing");
}

TEST_P(RowsTest, PatchesChangeWhatTheySay) {
  MustCreate("plain", kPlain);
  MustPut("plain", R"({"id": "1", "a": {"x": 1, "y": 2}, "n": 1, "l": [1]})");
  MustApply("plain", Merging(R"({"id": "1"})", R"({"a": {"x": null, "z": 3}})"));
  EXPECT_EQ(RowText("plain", R"({"id": "1"})"), R"({"a":{"y":2,"z":3},"l":[1],"n":1,"id":"1"})");
  const std::string text =
      R"({"increment": {"n": 0.5}, "append": {"l": [2]}, "set": {"a.y": "new"}, "remove": ["a.z"]})";
  JsonReader json(text);
  PatchRow update{Document(R"({"id": "1"})"), ReadUpdates(json)};
  ASSERT_TRUE(json.Finish());
  MustApply("plain", update);
  EXPECT_EQ(RowText("plain", R"({"id": "1"})"), R"({"a":{"y":"new"},"l":[1,2],"n":1.5,"id":"1"})");
}

TEST_P(RowsTest, APatchKeepsTheKeyAndMakesARowOnlyIfToldTo) {
  MustCreate("plain", kPlain);
  EXPECT_EQ(MustFail("plain", Merging(R"({"id": "1"})", R"({"n": 1})")).code(), ErrorCode::kNotFound);
  PatchRow making = Merging(R"({"id": "1"})", R"({"n": 1})");
  making.make = true;
  MustApply("plain", making);
  EXPECT_EQ(RowText("plain", R"({"id": "1"})"), R"({"n":1,"id":"1"})");
  EXPECT_EQ(MustFail("plain", Merging(R"({"id": "1"})", R"({"id": "2"})")).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(MustFail("plain", Merging(R"({"id": "1"})", R"({"id": null})")).code(), ErrorCode::kInvalidArgument);
}

TEST_P(RowsTest, EntriesFollowTheirRow) {
  MustCreate("users", kUsers);
  MustPut("users", R"({"tenant": "t", "id": "1", "mail": " Ada@Example.ORG ", "age": 36, "tags": ["x", "y", "x"],
                       "address": {"city": "London"}, "name": "Ada", "kind": "k"})");
  EXPECT_THAT(Ids(By("mail", R"({"mail": "ada@example.org"})")), ElementsAre(R"("1")"));
  EXPECT_THAT(Ids(By("age", R"({"tenant": "t"})")), ElementsAre(R"("1")"));
  EXPECT_THAT(Ids(By("tag", R"({"tags[*]": "y"})")), ElementsAre(R"("1")"));
  EXPECT_THAT(FieldOf("users", By("city", R"({"address.city": "London"})"), "name"), ElementsAre(R"("Ada")"));
  EXPECT_THAT(FieldOf("users", By("city", R"({"address.city": "London"})"), "age"), ElementsAre("36"));
  EXPECT_THAT(FieldOf("users", By("city", R"({"address.city": "London"})"), "kind"), ElementsAre("nothing"))
      << "an entry holds what it includes, its own fields and the key";
  EXPECT_THAT(FieldOf("users", By("all", R"({"kind": "k"})"), "age"), ElementsAre("36"));
  MustPut("users", R"({"tenant": "t", "id": "1", "tags": ["z"], "hidden": true, "address": {"city": "London"}})");
  EXPECT_EQ(EntryCount("users", "mail"), 0u);
  EXPECT_EQ(EntryCount("users", "age"), 0u);
  EXPECT_THAT(Ids(By("tag", R"({"tags[*]": "y"})")), ElementsAre());
  EXPECT_THAT(Ids(By("tag", R"({"tags[*]": "z"})")), ElementsAre(R"("1")"));
  EXPECT_EQ(EntryCount("users", "city"), 0u) << "the row is hidden";
  EXPECT_EQ(EntryCount("users", "all"), 1u) << "an index that is not sparse has every row";
  MustApply("users", DeleteRow{Document(R"({"tenant": "t", "id": "1"})")});
  for (const char* index : {"mail", "age", "tag", "city", "all"}) EXPECT_EQ(EntryCount("users", index), 0u) << index;
}

TEST_P(RowsTest, AnIndexCostsOnlyWhatChanges) {
  MustCreate("users", kUsers);
  const RowOutcome made =
      MustPut("users", R"({"tenant": "t", "id": "1", "mail": "a@x", "age": 1, "tags": ["x", "y"], "kind": "k"})");
  EXPECT_EQ(made.entries_written, 5u);
  const std::string key = R"({"tenant": "t", "id": "1"})";
  EXPECT_EQ(MustApply("users", Merging(key, R"({"mail": "b@x"})")).entries_written, 3u)
      << "one goes and one comes, and the one that holds all is new";
  EXPECT_EQ(MustApply("users", Merging(key, R"({"tags": ["y", "z"]})")).entries_written, 3u);
  MustCreate("lean", R"({"key": {"partition": ["id"]}, "indexes": [{"name": "i", "partition": ["a"]}]})");
  MustPut("lean", R"({"id": "1", "a": 1, "b": 1})");
  EXPECT_EQ(MustApply("lean", Merging(R"({"id": "1"})", R"({"b": 2})")).entries_written, 0u);
  EXPECT_EQ(MustApply("lean", Merging(R"({"id": "1"})", R"({"a": 2})")).entries_written, 2u);
}

TEST_P(RowsTest, AUniqueValueIsOneRows) {
  MustCreate("users", kUsers);
  MustPut("users", R"({"tenant": "t", "id": "1", "mail": "a@x"})");
  const Error taken = MustFail("users", Putting(R"({"tenant": "u", "id": "2", "mail": "A@X "})"));
  EXPECT_EQ(taken.code(), ErrorCode::kAlreadyExists);
  EXPECT_EQ(taken.field("index"), "mail");
  EXPECT_EQ(taken.field("row"), R"({"id":"1","tenant":"t"})");
  EXPECT_EQ(RowText("users", R"({"tenant": "u", "id": "2"})"), "nothing") << "nothing is changed";
  MustPut("users", R"({"tenant": "t", "id": "1", "mail": "a@x", "n": 1})");
  // The value is free in the same commit in which it is given up.
  ASSERT_TRUE(Apply("users", {Merging(R"({"tenant": "t", "id": "1"})", R"({"mail": "b@x"})"),
                              Putting(R"({"tenant": "u", "id": "2", "mail": "a@x"})")}));
  EXPECT_THAT(FieldOf("users", By("mail", R"({"mail": "a@x"})"), "id"), ElementsAre(R"("2")"));
}

TEST_P(RowsTest, OfManyWhoWantAUniqueValueAtOnceOneGetsIt) {
  MustCreate("users", kUsers);
  std::atomic<int> won{0};
  std::atomic<int> lost{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 6; ++i) {
      threads.emplace_back([&, i] {
        const auto put =
            Apply("users", {Putting(R"({"tenant": "t", "id": ")" + std::to_string(i) + R"(", "mail": "a@x"})")});
        if (put.has_value()) ++won;
        if (!put.has_value() && put.error().code() == ErrorCode::kAlreadyExists) ++lost;
      });
    }
  }
  EXPECT_EQ(won, 1);
  EXPECT_EQ(lost, 5);
  EXPECT_EQ(EntryCount("users", "mail"), 1u);
}

TEST_P(RowsTest, ARowThatAnIndexCannotTakeIsRefused) {
  MustCreate("users", kUsers);
  const Error refused = MustFail("users", Putting(R"({"tenant": "t", "id": "1", "age": "old"})"));
  EXPECT_EQ(refused.code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(refused.field("index"), "age");
  EXPECT_EQ(refused.field("field"), "age");
  std::string tags;
  for (size_t i = 0; i <= kMaxEntriesOfRow; ++i) tags += (i == 0 ? "" : ",") + std::to_string(i);
  EXPECT_EQ(MustFail("users", Putting(R"({"tenant": "t", "id": "1", "tags": [)" + tags + "]}")).code(),
            ErrorCode::kTooLarge);
  tags.resize(tags.rfind(','));
  MustPut("users", R"({"tenant": "t", "id": "1", "tags": [)" + tags + "]}");
  EXPECT_EQ(EntryCount("users", "tag"), kMaxEntriesOfRow);
}

TEST_P(RowsTest, OfWhatIsTooLargeTheTableAndTheIndexAreNamed) {
  MustCreate("users", kUsers);
  const auto refusal = [&](const std::string& fields) {
    const Error error = MustFail("users", Putting(R"({"tenant": "t", )" + fields + "}"));
    EXPECT_EQ(error.code(), ErrorCode::kTooLarge);
    EXPECT_EQ(error.field("table"), "users");
    return std::string(error.field("index")) + ": " + std::string(error.field("limit"));
  };
  const std::string long_text(engine().limits().max_key_bytes + Limits::kKeyAllowance, 'x');
  EXPECT_EQ(refusal(R"("id": ")" + long_text + '"'), ": max_key_bytes");
  EXPECT_EQ(refusal(R"("id": "1", "mail": ")" + long_text + '"'), "mail: max_key_bytes");
  EXPECT_EQ(refusal(R"("id": "1", "tags": ["x", ")" + long_text + "\"]"), "tag: max_key_bytes");
  const std::string large_text(engine().limits().max_value_bytes, 'x');
  EXPECT_EQ(refusal(R"("id": "1", "note": ")" + large_text + '"'), ": max_value_bytes");
}

TEST_P(RowsTest, RowsEndAtTheirInstantWithTheirEntries) {
  MustCreate("users", R"({"key": {"partition": ["id"]}, "ttl": {"field": "until", "default": 100},
    "indexes": [{"name": "mail", "partition": ["mail"], "unique": true}, {"name": "n", "partition": ["n"]}]})");
  const uint64_t in_ten = clock().Now().micros / 1'000'000 + 10;
  MustPut("users", R"({"id": "1", "mail": "a@x", "n": 1, "until": )" + std::to_string(in_ten) + "}");
  MustPut("users", R"({"id": "2", "mail": "b@x", "n": 1})");
  EXPECT_THAT(Ids(By("n", R"({"n": 1})")), ElementsAre(R"("1")", R"("2")"));
  Wait(Duration::Seconds(11));
  EXPECT_EQ(RowText("users", R"({"id": "1"})"), "nothing");
  EXPECT_THAT(Ids(By("n", R"({"n": 1})")), ElementsAre(R"("2")")) << "before anything has taken it away";
  MustPut("users", R"({"id": "3", "mail": "a@x"})");
  ASSERT_TRUE(Jobs(store()).Start(RowExpiryJob()));
  RunJobs();
  EXPECT_THAT(FieldOf("users", By("mail", R"({"mail": "a@x"})"), "id"), ElementsAre(R"("3")"))
      << "what another row has by now is not taken from it";
  Wait(Duration::Seconds(100));
  EXPECT_EQ(EntryCount("users", "mail"), 0u);
  ASSERT_TRUE(Jobs(store()).Start(RowExpiryJob()));
  RunJobs();
  ScanRequest all;
  all.range = tables().Find(At("users")).value()->range();
  all.options.expired_too = true;
  EXPECT_TRUE(Entries(*NewView(), all).empty());
}

TEST_P(RowsTest, APatchKeepsWhenARowEnds) {
  MustCreate("plain", R"({"key": {"partition": ["id"]}, "ttl": {"field": "until", "default": 100}})");
  const RowOutcome put = MustPut("plain", R"({"id": "1"})");
  Wait(Duration::Seconds(10));
  EXPECT_EQ(MustApply("plain", Merging(R"({"id": "1"})", R"({"n": 1})")).expiry, put.expiry);
  const uint64_t later = clock().Now().micros / 1'000'000 + 500;
  const std::string until = R"({"until": )" + std::to_string(later) + "}";
  EXPECT_EQ(MustApply("plain", Merging(R"({"id": "1"})", until)).expiry, Timestamp{later * 1'000'000});
  EXPECT_GT(MustApply("plain", Merging(R"({"id": "1"})", R"({"until": null})")).expiry, put.expiry)
      << "without its own word it lives as long as others from now on";
}

}  // namespace
}  // namespace kvarts::test
