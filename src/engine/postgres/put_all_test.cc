// kvarts.put_all by itself: what it does, and when it leaves everything to kvarts.commit.
#include <gtest/gtest.h>

#include "engine/postgres/dialect.h"
#include "engine/postgres/group.h"
#include "engine/postgres/postgres_engine.h"
#include "support/commits.h"
#include "support/held_commit.h"
#include "support/postgres_database.h"
#include "support/reads.h"

namespace kvarts::postgres {
namespace {

using std::chrono::seconds;
using test::Absent;
using test::MakeCommit;
using test::Present;
using test::VersionIs;

class PutAllTest : public testing::Test {
 protected:
  static constexpr uint64_t kNow = 1'000'000'000'000'000;

  void SetUp() override {
    if (!test::PostgresDatabase::Missing().empty()) GTEST_SKIP() << test::PostgresDatabase::Missing();
    database_ = std::make_unique<test::PostgresDatabase>();
    auto opened = Connection::Open(database_->target(), AllStatements(), In(seconds(10)));
    ASSERT_TRUE(opened) << opened.error();
    connection_ = *std::move(opened);
    followed_.Set({.epoch = 0, .touched = {}, .told = {}});
  }

  // The first version, unless it was left to kvarts.commit. Nothing was done then.
  std::optional<Version> Put(const std::vector<Commit>& commits, uint64_t now = kNow) {
    Group group(snapshots_, followed_);
    for (const Commit& commit : commits) group.Add(commit);
    const std::string before = State();
    const auto rows = connection_->Fly(kPutAll, group.Puts(now).value().params, In(seconds(10)));
    if (!rows) throw std::runtime_error(rows.error().error.ToString());
    const auto first = FirstVersionOf(*rows);
    EXPECT_EQ(State() == before, !first);
    return first;
  }
  // Of a group that kvarts.put_all is not for.
  bool IsForIt(const Commit& commit) {
    Group group(snapshots_, followed_);
    group.Add(commit);
    return group.Puts(kNow).has_value();
  }
  std::string Ask(const std::string& sql) { return database_->Ask(sql); }
  std::string State() {
    return Ask("SELECT md5(string_agg(t::text, ' ' ORDER BY t.key, t.digest)) FROM kvarts.entry t") +
           Ask("SELECT count(*) FROM kvarts.touched");
  }
  std::string ValueOf(const std::string& key) {
    return Ask("SELECT version || ' ' || encode(value, 'escape') FROM kvarts.entry WHERE key = '" + key + "'");
  }

  Snapshots snapshots_;
  KnownFollowed followed_;
  std::unique_ptr<test::PostgresDatabase> database_;
  std::unique_ptr<Connection> connection_;
};

TEST_F(PutAllTest, PutsTheLastOfEachKeyAndVersionsFollowEachOther) {
  const auto first = Put({MakeCommit({Mutation::Put("a", "1"), Mutation::Put("b", "1")}),
                          MakeCommit({Mutation::Put("a", "2")}), MakeCommit({Mutation::Put("c", "3")})});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->stamp >> 10, kNow);
  const auto expected = [&](int place, const std::string& value) {
    return std::to_string(first->stamp + place) + " " + value;
  };
  EXPECT_EQ(ValueOf("a"), expected(1, "2"));
  EXPECT_EQ(ValueOf("b"), expected(0, "1"));
  EXPECT_EQ(ValueOf("c"), expected(2, "3"));
  const auto next = Put({MakeCommit({Mutation::Put("a", "4")})});
  ASSERT_TRUE(next);
  EXPECT_GT(next->stamp, first->stamp + 2);
  EXPECT_EQ(ValueOf("a"), std::to_string(next->stamp) + " 4");
}

TEST_F(PutAllTest, LongKeysAreToldApart) {
  const std::string same(kIndexedBytes, 'k');
  ASSERT_TRUE(Put({MakeCommit({Mutation::Put(same + "a", "1"), Mutation::Put(same + "b", "2")})}));
  ASSERT_TRUE(Put({MakeCommit({Mutation::Put("on a", "")}, {Present(same + "a")})}));
  EXPECT_FALSE(Put({MakeCommit({Mutation::Put("on c", "")}, {Present(same + "c")})}));
  EXPECT_EQ(Ask("SELECT string_agg(encode(value, 'escape'), ' ' ORDER BY rest) FROM kvarts.entry WHERE digest <> ''"),
            "1 2");
}

TEST_F(PutAllTest, IsLeftAloneWhenAPreconditionOfAnyDoesNotHold) {
  const auto there = Put({MakeCommit({Mutation::Put("there", "1")})});
  ASSERT_TRUE(there);
  const Version other{there->stamp + 1};
  const std::vector<std::pair<Precondition, bool>> cases = {
      {Absent("none"), true},           {Absent("there"), false},           {Present("there"), true},
      {Present("none"), false},         {VersionIs("there", *there), true}, {VersionIs("there", other), false},
      {VersionIs("none", other), false}};
  for (const auto& [precondition, holds] : cases) {
    const std::vector<Commit> commits = {MakeCommit({Mutation::Put("x", "1")}),
                                         MakeCommit({Mutation::Put("y", "1")}, {Present("there"), precondition})};
    EXPECT_EQ(Put(commits).has_value(), holds);
  }
}

TEST_F(PutAllTest, WhatHasExpiredIsAbsentUnlessItIsAskedFor) {
  ASSERT_TRUE(Put({MakeCommit({Mutation::Put("short", "1", Timestamp{kNow + 10})})}));
  const auto put = [&](Precondition precondition, uint64_t now) {
    return Put({MakeCommit({Mutation::Put("x", "1")}, {std::move(precondition)})}, now).has_value();
  };
  Precondition expired_too = Present("short");
  expired_too.expired_too = true;
  EXPECT_TRUE(put(Present("short"), kNow + 9));
  EXPECT_FALSE(put(Present("short"), kNow + 10));
  EXPECT_TRUE(put(Absent("short"), kNow + 10));
  EXPECT_TRUE(put(expired_too, kNow + 10));
  Precondition lapses = Absent("none");
  lapses.lapses = Timestamp{kNow + 20};
  EXPECT_TRUE(put(lapses, kNow + 19));
  EXPECT_FALSE(put(lapses, kNow + 20));
}

TEST_F(PutAllTest, WhatIsTouchedIsSaid) {
  followed_.Set({.epoch = 0, .touched = {KeyRange::Prefix("t/")}, .told = {}});
  ASSERT_TRUE(Put({MakeCommit({Mutation::Put("a", ""), Mutation::Put("t/1", "")})}));
  EXPECT_EQ(Ask("SELECT string_agg(kind || ' ' || encode(lo, 'escape'), ', ') FROM kvarts.touched"), "0 t/1");
}

TEST_F(PutAllTest, WhatSomebodyFollowsUnknownToTheCallerIsLeftAlone) {
  Ask("INSERT INTO kvarts.followed VALUES ('x', 't/', '', 't0', '', false, 9223372036854775807)");
  Ask("UPDATE kvarts.state SET epoch = 7");
  EXPECT_FALSE(Put({MakeCommit({Mutation::Put("a", ""), Mutation::Put("t/1", "")})}));
  EXPECT_TRUE(Put({MakeCommit({Mutation::Put("a", ""), Mutation::Put("t0", "")})}));
  // Who knows of it is believed.
  followed_.Set({.epoch = 7, .touched = {KeyRange::Prefix("t/")}, .told = {}});
  EXPECT_TRUE(Put({MakeCommit({Mutation::Put("t/1", "")})}));
}

// On a key, on an area of keys, and on all: nobody who comes behind has to wait, too.
TEST_F(PutAllTest, WhatIsLockedIsNotWaitedFor) {
  for (const Commit& locking :
       {MakeCommit({Mutation::Put("a", "")}),
        MakeCommit({Mutation::Put("x", "")}, {test::RangeUnchanged("a", "b", Version{kNow << 10})}),
        MakeCommit({Mutation::EraseRange("y", "z")})}) {
    test::HeldCommit held(database_->target(), locking, Timestamp{kNow});
    EXPECT_FALSE(Put({MakeCommit({Mutation::Put("a", "")}), MakeCommit({Mutation::Put("b", "")})}));
    held.End();
    EXPECT_TRUE(Put({MakeCommit({Mutation::Put("a", "")}), MakeCommit({Mutation::Put("b", "")})}));
  }
}

TEST_F(PutAllTest, AFencedServerTakesNothing) {
  Ask("UPDATE kvarts.state SET fenced_by = 2");
  EXPECT_FALSE(Put({MakeCommit({Mutation::Put("a", "")})}));
  Ask("UPDATE kvarts.state SET fenced_by = NULL");
  EXPECT_TRUE(Put({MakeCommit({Mutation::Put("a", "")})}));
}

TEST_F(PutAllTest, IsForPutsAloneThatRestOnOtherKeys) {
  followed_.Set({.epoch = 0, .touched = {}, .told = {KeyRange::Prefix("w/")}});
  EXPECT_TRUE(IsForIt(MakeCommit({Mutation::Put("a", "")}, {Absent("b")})));
  EXPECT_FALSE(IsForIt(MakeCommit({Mutation::Put("a", "")}, {Absent("a")})));
  EXPECT_FALSE(IsForIt(MakeCommit({Mutation::Put("a", "")}, {test::RangeUnchanged("b", "c", Version{1})})));
  EXPECT_FALSE(IsForIt(MakeCommit({Mutation::Put("a", ""), Mutation::Erase("b")})));
  EXPECT_FALSE(IsForIt(MakeCommit({Mutation::Put("a", ""), Mutation::Add("b", 1)})));
  EXPECT_FALSE(IsForIt(MakeCommit({Mutation::Put("w/a", "")})));
  EXPECT_FALSE(IsForIt(MakeCommit({}, {Absent("b")})));
}

}  // namespace
}  // namespace kvarts::postgres
