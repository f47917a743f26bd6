#include "model/keys/keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/user_keys.h"
#include "model/keys/pages.h"
#include "support/catalogs.h"

namespace kvarts::keys {
namespace {

using test::CatalogTest;

class KeysTest : public CatalogTest {
 protected:
  // Runs commands in one transaction; the outcome of the last.
  Result<Outcome> Apply(const std::vector<Command>& commands) {
    Outcome outcome;
    const auto ran = store().RunBody([&](Txn& txn) -> Status {
      KVARTS_TRY(CatalogGuard guard, catalog().Guard(txn));
      for (const Command& command : commands) {
        outcome = {};
        KVARTS_CHECK_OK(keys::Apply({txn, guard}, command, &outcome));
      }
      return {};
    });
    if (!ran.has_value()) return ran.error();
    outcome.header.version = ran->version;
    return outcome;
  }
  Outcome MustApply(const Command& command) {
    const auto outcome = Apply({command});
    EXPECT_TRUE(outcome) << outcome.error();
    return outcome ? *outcome : Outcome();
  }
  ErrorCode CodeOf(const Command& command) {
    const auto outcome = Apply({command});
    EXPECT_FALSE(outcome);
    return outcome ? ErrorCode::kInternal : outcome.error().code();
  }
  std::optional<Record> Stored(BytesView key) {
    auto found = GetOne(engine(), UserKey(key));
    EXPECT_TRUE(found) << found.error();
    return found ? *found : std::nullopt;
  }
  std::string TextOf(BytesView key) {
    const auto found = Stored(key);
    return found ? ValueText(found->header, found->value) : "nothing";
  }
  static keys::Put PutText(BytesView key, BytesView text) { return {Bytes(key), {ValueKind::kBytes, Bytes(text), {}}}; }
  static int64_t CounterOf(BytesView value) {
    ValueHeader header;
    header.kind = ValueKind::kCounter;
    return CounterNumber(header, value);
  }
  static Condition If(Condition::Kind kind, std::vector<Version> versions = {}) { return {kind, std::move(versions)}; }
  Result<KeyPage> Page(const PageQuery& query) {
    return ReadPage(engine(), query, {"a secret", Duration::Seconds(60)});
  }
};

KVARTS_ON_EVERY_ENGINE(KeysTest);

TEST_P(KeysTest, PutSaysWhatIsThere) {
  keys::Put put = PutText("a", "one");
  put.lifetime = Lifetime::For(Duration::Seconds(10));
  const Outcome outcome = MustApply(put);
  EXPECT_EQ(outcome.value, "one");
  EXPECT_EQ(Stored("a")->header.expiry, outcome.header.expiry);
  EXPECT_NE(outcome.header.expiry, kNever);
}

TEST_P(KeysTest, OneOfSeveralVersionsIsOfTheStateBeforeTheTransaction) {
  const Version before = MustApply(PutText("a", "one")).header.version;
  keys::Put put = PutText("a", "three");
  put.condition = If(Condition::Kind::kVersionIn, {before, Version{1}});
  const auto swapped = Apply({PutText("a", "two"), put});
  ASSERT_TRUE(swapped) << swapped.error();
  EXPECT_EQ(TextOf("a"), "three");
  const auto refused = Apply({PutText("a", "four"), put});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kPreconditionFailed);
  EXPECT_EQ(refused.error().field("version"), swapped->header.version.ToString());
}

TEST_P(KeysTest, ConditionsOfPut) {
  using Kind = Condition::Kind;
  keys::Put create = PutText("a", "one");
  create.condition = If(Kind::kAbsent);
  keys::Put replace = PutText("a", "two");
  replace.condition = If(Kind::kPresent);
  EXPECT_EQ(CodeOf(replace), ErrorCode::kPreconditionFailed);
  const Version first = MustApply(create).header.version;
  EXPECT_EQ(CodeOf(create), ErrorCode::kPreconditionFailed);
  const Version second = MustApply(replace).header.version;
  keys::Put swap = PutText("a", "three");
  swap.condition = If(Kind::kVersionIn, {first});
  EXPECT_EQ(CodeOf(swap), ErrorCode::kPreconditionFailed);
  swap.condition = If(Kind::kVersionIn, {first, second});
  MustApply(swap);
  EXPECT_EQ(TextOf("a"), "three");
}

TEST_P(KeysTest, AFailedConditionNamesTheCurrentVersion) {
  const Version version = MustApply(PutText("a", "one")).header.version;
  const auto failed = Apply({keys::Delete{"a", If(Condition::Kind::kVersionIn, {{1}})}});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().field("version"), version.ToString());
  const auto absent = Apply({keys::Delete{"b", If(Condition::Kind::kVersionIn, {{1}})}});
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().field("version"), "absent");
}

TEST_P(KeysTest, DeleteOfNothingIsNotFoundUnlessThatIsFine) {
  EXPECT_EQ(CodeOf(keys::Delete{"a"}), ErrorCode::kNotFound);
  MustApply(keys::Delete{"a", {}, true});
  MustApply(PutText("a", "one"));
  MustApply(keys::Delete{"a"});
  EXPECT_FALSE(Stored("a"));
}

TEST_P(KeysTest, TouchChangesTheExpiryAlone) {
  EXPECT_EQ(CodeOf(Touch{"a", Lifetime::For(Duration::Seconds(1))}), ErrorCode::kNotFound);
  const Version before = MustApply(PutText("a", "one")).header.version;
  MustApply(Touch{"a", Lifetime::For(Duration::Seconds(5))});
  EXPECT_EQ(TextOf("a"), "one");
  EXPECT_GT(Stored("a")->header.version, before);
  MustApply(Touch{"a", {Lifetime::Kind::kForever, {}}});
  EXPECT_EQ(Stored("a")->header.expiry, kNever);
  MustApply(Touch{"a", Lifetime::For(Duration::Seconds(5))});
  clock().Advance(Duration::Seconds(6));
  EXPECT_FALSE(Stored("a"));
}

TEST_P(KeysTest, IncrementKeepsWhatAValueIs) {
  EXPECT_EQ(CounterOf(MustApply(Increment{"n", 5}).value), 5);
  MustApply(Increment{"n", -7});
  EXPECT_EQ(TextOf("n"), "-2");
  EXPECT_EQ(Stored("n")->header.kind, ValueKind::kCounter);
  MustApply(PutText("text", "41"));
  MustApply(Increment{"text"});
  EXPECT_EQ(TextOf("text"), "42");
  EXPECT_EQ(Stored("text")->header.kind, ValueKind::kBytes);
  MustApply(keys::Put{"json", {ValueKind::kJson, "9", {}}});
  MustApply(Increment{"json", 1});
  EXPECT_EQ(TextOf("json"), "10");
  EXPECT_EQ(Stored("json")->header.kind, ValueKind::kJson);
}

TEST_P(KeysTest, IncrementRefusesWhatIsNoInteger) {
  for (const char* text : {"", "x", "1.5", "01", "+1", " 1", "9223372036854775808"}) {
    MustApply(PutText("a", text));
    EXPECT_EQ(CodeOf(Increment{"a"}), ErrorCode::kInvalidArgument) << text;
  }
  MustApply(PutText("a", "9223372036854775807"));
  EXPECT_EQ(CodeOf(Increment{"a"}), ErrorCode::kTooLarge);
  EXPECT_EQ(TextOf("a"), "9223372036854775807");
}

TEST_P(KeysTest, AppendAndIncrementKeepTheLifetime) {
  keys::Put put = PutText("a", "1");
  put.lifetime = Lifetime::For(Duration::Seconds(10));
  const Timestamp expiry = MustApply(put).header.expiry;
  EXPECT_EQ(MustApply(Increment{"a"}).header.expiry, expiry);
  EXPECT_EQ(MustApply(Append{"a", "0"}).header.expiry, expiry);
  EXPECT_EQ(TextOf("a"), "20");
  MustApply(Append{"new", "x"});
  EXPECT_EQ(TextOf("new"), "x");
  MustApply(keys::Put{"json", {ValueKind::kJson, "[1]", {}}});
  EXPECT_EQ(CodeOf(Append{"json", "x"}), ErrorCode::kInvalidArgument);
}

TEST_P(KeysTest, CommandsOfOneTransactionSeeEachOtherAndFailTogether) {
  ASSERT_TRUE(Apply({Increment{"n", 1}, Increment{"n", 2}, keys::Add{"c", 4}, PutText("a", "one"), Append{"a", "!"}}));
  EXPECT_EQ(TextOf("n"), "3");
  EXPECT_EQ(TextOf("a"), "one!");
  EXPECT_FALSE(Apply({PutText("b", "two"), keys::Delete{"missing"}}));
  EXPECT_FALSE(Stored("b"));
}

TEST_P(KeysTest, AddsToWhatTheCommitMakesNoCounterAreFoundBeforehand) {
  const keys::Add add{"k", 1};
  const keys::Put counter{"k", {ValueKind::kCounter, CounterValue(1), {}}};
  const auto fine = [](std::vector<keys::Command> commands) { return keys::CheckAdds(commands).has_value(); };
  EXPECT_TRUE(fine({}));
  EXPECT_TRUE(fine({add, PutText("k", "x")}));
  EXPECT_TRUE(fine({PutText("other", "x"), add}));
  EXPECT_TRUE(fine({PutText("k", "x"), counter, add}));
  EXPECT_TRUE(fine({PutText("k", "x"), keys::Delete{"k"}, add}));
  EXPECT_TRUE(fine({PutText("k", "x"), keys::DeleteRange{KeyRange::Prefix("k")}, add}));
  EXPECT_TRUE(fine({PutText("k", "x"), keys::DeleteRange{KeyRange{"a", ""}}, add}));
  EXPECT_FALSE(fine({PutText("k", "x"), keys::DeleteRange{KeyRange{"a", "k"}}, add}));
  EXPECT_FALSE(fine({PutText("k", "x"), add}));
  EXPECT_FALSE(fine({counter, PutText("k", "x"), Increment{"k"}, add}));
  EXPECT_FALSE(fine({Append{"k", "x"}, add}));
}

TEST_P(KeysTest, RequirementsAreOfTheStateBefore) {
  const Version version = MustApply(PutText("p/1", "one")).header.version;
  const auto commit = [&](const Requirement& requirement) {
    return store().RunBody([&](Txn& txn) -> Status {
      KVARTS_TRY(CatalogGuard guard, catalog().Guard(txn));
      KVARTS_CHECK_OK(Require(txn, requirement));
      return keys::Apply({txn, guard}, PutText("p/2", "two"), nullptr);
    });
  };
  Requirement unchanged;
  unchanged.range = KeyRange::Prefix("p/");
  unchanged.unchanged_since = version;
  EXPECT_TRUE(commit(unchanged));
  const auto changed = commit(unchanged);
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().code(), ErrorCode::kPreconditionFailed);
  EXPECT_FALSE(commit({"p/1", If(Condition::Kind::kAbsent)}));
  EXPECT_TRUE(commit({"p/1", If(Condition::Kind::kVersionIn, {version})}));
}

TEST_P(KeysTest, WritesFollowTheirNamespace) {
  NamespaceSpec spec;
  spec.name = "users";
  spec.grammar = *Grammar::Parse("u/<id>");
  spec.default_ttl = Duration::Seconds(60);
  ASSERT_TRUE(catalog().Declare(spec));
  EXPECT_EQ(CodeOf(PutText("u/1/2", "x")), ErrorCode::kInvalidArgument);
  EXPECT_NE(MustApply(PutText("u/1", "x")).header.expiry, kNever);
  EXPECT_EQ(CodeOf(keys::Add{"u/2", 1}), ErrorCode::kInvalidArgument);
}

TEST_P(KeysTest, TooLongKeysAreRefusedByEveryCommand) {
  const Bytes key(engine().limits().max_key_bytes + 1, 'k');
  for (const Command& command : std::vector<Command>{PutText(key, "x"), keys::Delete{key}, Touch{key, {}},
                                                     Increment{key}, Append{key, "x"}, keys::Add{key}}) {
    EXPECT_EQ(CodeOf(command), ErrorCode::kTooLarge);
  }
  MustApply(PutText(key.substr(1), "x"));
}

TEST_P(KeysTest, TypedValuesAreShownWithoutTheirType) {
  const auto typed = TypedValue{"image/png", "bytes"}.Encode();
  ASSERT_TRUE(typed);
  MustApply(keys::Put{"a", {ValueKind::kTyped, *typed, {}}});
  EXPECT_EQ(TextOf("a"), "bytes");
  MustApply(Append{"a", "!"});
  EXPECT_EQ(TextOf("a"), "bytes!");
  EXPECT_FALSE((TypedValue{std::string(TypedValue::kMaxTypeBytes + 1, 't'), ""}.Encode()));
}

TEST_P(KeysTest, PagesGoOnExactlyWhereTheyStopped) {
  for (int i = 0; i < 25; ++i) MustApply(PutText("p/" + std::to_string(100 + i), "x"));
  for (const bool reverse : {false, true}) {
    PageQuery query{.range = KeyRange::Prefix("p/"), .reverse = reverse, .limit = 10};
    std::vector<Bytes> seen;
    for (int pages = 0; pages < 10; ++pages) {
      const auto page = Page(query);
      ASSERT_TRUE(page) << page.error();
      for (size_t i = 0; i < page->scanned.size(); ++i) seen.emplace_back(*UserKeyOf(page->scanned[i].key));
      if (!page->cursor) break;
      // What happens in between: behind the cursor it is not seen, before it it is.
      MustApply(PutText(reverse ? "p/199" : "p/000", "x"));
      query.cursor = *page->cursor;
    }
    EXPECT_EQ(seen.size(), reverse ? 26U : 25U);
    EXPECT_TRUE(reverse ? std::ranges::is_sorted(seen, std::greater<>()) : std::ranges::is_sorted(seen));
    MustApply(keys::Delete{reverse ? "p/199" : "p/000", {}, true});
    if (!reverse) MustApply(PutText("p/000", "x"));
  }
}

TEST_P(KeysTest, CursorsFitOnlyTheirQuery) {
  for (int i = 0; i < 5; ++i) MustApply(PutText("p/" + std::to_string(i), "x"));
  const PageQuery query{.range = KeyRange::Prefix("p/"), .limit = 2};
  const auto page = Page(query);
  ASSERT_TRUE(page && page->cursor);
  const auto with = [&](auto change) {
    PageQuery other = query;
    other.cursor = *page->cursor;
    change(other);
    return Page(other).has_value();
  };
  EXPECT_TRUE(with([](PageQuery&) {}));
  EXPECT_FALSE(with([](PageQuery& other) { other.range = KeyRange::Prefix("p"); }));
  EXPECT_FALSE(with([](PageQuery& other) { other.reverse = true; }));
  EXPECT_FALSE(with([](PageQuery& other) { other.values = false; }));
  EXPECT_FALSE(with([](PageQuery& other) { other.cursor.back() = other.cursor.back() == 'A' ? 'B' : 'A'; }));
  PageQuery again = query;
  again.cursor = *page->cursor;
  EXPECT_FALSE(ReadPage(engine(), again, {"another secret", Duration::Seconds(60)}));
}

TEST_P(KeysTest, CountsGoOnToo) {
  for (int i = 0; i < 25; ++i) MustApply(PutText("p/" + std::to_string(i), "x"));
  PageQuery query{.range = KeyRange::Prefix("p/")};
  const CursorSetting setting{"a secret", Duration::Seconds(60)};
  uint64_t sum = 0;
  for (int calls = 0; calls < 4; ++calls) {
    const auto count = CountKeys(engine(), query, setting, 10);
    ASSERT_TRUE(count) << count.error();
    sum += count->keys;
    if (!count->cursor) break;
    query.cursor = *count->cursor;
  }
  EXPECT_EQ(sum, 25);
}

TEST_P(KeysTest, ACountIsGivenUpWhenNobodyWantsIt) {
  std::stop_source stop;
  const CursorSetting setting{"secret", Duration::Seconds(60)};
  const size_t page = engine().limits().max_page_entries;
  std::vector<Mutation> puts;
  for (size_t i = 0; i < page + 1; ++i) {
    puts.push_back(Mutation::Put(UserKey(std::to_string(i)).view(), ""));
  }
  ASSERT_TRUE(CommitAndWait(engine(), {.preconditions = {}, .mutations = std::move(puts)}));
  stop.request_stop();
  const auto count = CountKeys(engine(), {}, setting, 2 * page, stop.get_token());
  ASSERT_TRUE(count);
  // What it has read by then is known, and paid for.
  EXPECT_EQ(count->keys, page);
  EXPECT_EQ(count->cost.keys, page);
  EXPECT_TRUE(count->cursor);
}

}  // namespace
}  // namespace kvarts::keys
