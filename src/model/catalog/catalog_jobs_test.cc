// Retention, buckets and moves.
#include "model/catalog/catalog_jobs.h"

#include "support/catalogs.h"

namespace kvarts::test {
namespace {

using Names = std::vector<std::string>;
constexpr Duration kDay = Duration::Seconds(86'400);

class CatalogJobsTest : public CatalogTest {
 protected:
  // The day so many days before the test's.
  std::string Day(int64_t ago) {
    const uint64_t back = static_cast<uint64_t>(ago * kDay.micros);
    return FieldType{FieldKind::kDate, 0}.ValueAt({clock().Now().micros - back});
  }
  Namespace DeclareLog(int64_t days) {
    NamespaceSpec spec = SpecOf("log", "t/<tenant>/log/<day:date>/<id>");
    spec.retention = {"day", Duration::Micros(days * kDay.micros)};
    return MustDeclare(spec);
  }
  void PutLog(int tenants, int days) {
    for (int tenant = 0; tenant < tenants; ++tenant) {
      for (int day = 0; day < days; ++day) {
        for (const char* id : {"/x", "/y"}) {
          const auto put = GuardedPut("t/" + std::to_string(1000 + tenant) + "/log/" + Day(day) + id, "v", {}, Quick());
          ASSERT_TRUE(put) << put.error();
        }
      }
    }
  }
  JobRecord MustStartRetention() {
    const auto job = catalog().StartRetention();
    EXPECT_TRUE(job && *job);
    RunJobs();
    const JobRecord record = Jobs(store()).Get(**job).value();
    EXPECT_EQ(record.state, JobState::kDone) << (record.error ? record.error->text : "");
    return record;
  }
  MoveReport MustMove(const Catalog::MoveSpec& spec) {
    const auto job = catalog().StartMove(spec);
    EXPECT_TRUE(job) << job.error();
    RunJobs();
    const JobRecord record = Jobs(store()).Get(*job).value();
    EXPECT_EQ(record.state, JobState::kDone) << (record.error ? record.error->text : "");
    return ReadMoveReport(record).value();
  }
};
KVARTS_ON_EVERY_ENGINE(CatalogJobsTest);

TEST_P(CatalogJobsTest, RetentionErasesWhatIsOlderThanItIsKept) {
  DeclareLog(3);
  PutLog(2, 6);
  MustPut("elsewhere");
  MustStartRetention();
  Names kept = {"elsewhere"};
  for (const char* tenant : {"1000", "1001"}) {
    for (int day = 3; day >= 0; --day) {
      for (const char* id : {"/x", "/y"}) kept.push_back("t/" + std::string(tenant) + "/log/" + Day(day) + id);
    }
  }
  EXPECT_EQ(Keys(), kept) << "the day in which the oldest kept instant lies stays whole";
  Wait(kDay);
  MustStartRetention();
  EXPECT_EQ(Keys().size(), kept.size() - 4);
}

TEST_P(CatalogJobsTest, RetentionGoesFromOneLeadingPartToTheNext) {
  DeclareLog(1);
  PutLog(150, 4);
  const JobRecord job = MustStartRetention();
  EXPECT_EQ(Keys().size(), 150u * 4);
  EXPECT_LE(job.done, 151u) << "a look for each tenant, not for each key";
}

TEST_P(CatalogJobsTest, RetentionTakesSeveralChunksAndSurvivesACrash) {
  DeclareLog(1);
  PutLog(450, 3);
  const JobId id = **catalog().StartRetention();
  {
    JobRunner runner(store(), catalog().JobKinds());
    ASSERT_TRUE(runner.TakeTurn());
  }
  EXPECT_EQ(Jobs(store()).Get(id)->state, JobState::kRunning);
  RestartAll();
  Wait(Duration::Seconds(31));
  RunJobs();
  EXPECT_EQ(Jobs(store()).Get(id)->state, JobState::kDone);
  EXPECT_EQ(Keys().size(), 450u * 4);
}

TEST_P(CatalogJobsTest, RetentionLeavesWhatIsAnothers) {
  DeclareLog(1);
  // Its keys lie among the old days, in the order of bytes.
  MustDeclare("settings", "t/<tenant>/log/0settings/<name>");
  PutLog(2, 4);
  MustPut("t/1000/log/0settings/a");
  MustPut("t/1001/log/0settings/a");
  MustStartRetention();
  const Names keys = Keys();
  EXPECT_EQ(keys.size(), 2u + 8u);
  EXPECT_EQ(std::ranges::count(keys, "t/1000/log/0settings/a"), 1);
  EXPECT_EQ(std::ranges::count(keys, "t/1001/log/0settings/a"), 1);
}

TEST_P(CatalogJobsTest, RetentionIsStartedOnce) {
  EXPECT_EQ(catalog().StartRetention().value(), std::nullopt) << "nobody wants it";
  DeclareLog(1);
  EXPECT_TRUE(catalog().StartRetention().value());
  EXPECT_FALSE(catalog().StartRetention().value());
  RunJobs();
  EXPECT_TRUE(catalog().StartRetention().value());
}

TEST_P(CatalogJobsTest, ABucketIsDroppedAsARange) {
  DeclareLog(1000);
  PutLog(2, 2);
  EXPECT_EQ(CodeOf(catalog().DropBucket("log", "t/1000/log", Day(0))), "invalid_argument");
  EXPECT_EQ(CodeOf(catalog().DropBucket("log", "t/1000/log/", "")), "invalid_argument");
  EXPECT_EQ(CodeOf(catalog().DropBucket("log", "t/1000/log/", "2026-02-30")), "invalid_argument");
  EXPECT_EQ(CodeOf(catalog().DropBucket("log", "t/1000/log/", Day(0) + "/")), "invalid_argument");
  for (const char* near : {"2026-7", "2026-", "202", "20", "2026-13", "2026-00", "2026-07-", "2026-07-0", "2026-07-32",
                           "2026/07", "26-07", "dddd", "2026-07-05T"}) {
    EXPECT_EQ(CodeOf(catalog().DropBucket("log", "t/1000/log/", near)), "invalid_argument") << near;
  }
  EXPECT_EQ(CodeOf(catalog().DropBucket("none", "t/1000/log/", Day(0))), "not_found");
  EXPECT_EQ(Keys().size(), 8u);
  EXPECT_EQ(catalog().DropBucket("log", "t/1000/log/", Day(0))->job, std::nullopt);
  EXPECT_EQ(Keys().size(), 6u);
  EXPECT_EQ(catalog().DropBucket("log", "t/1001/log/", Day(0).substr(0, 4))->job, std::nullopt) << "a year";
  EXPECT_EQ(Keys().size(), 2u);
}

TEST_P(CatalogJobsTest, ABucketAmongOthersIsDroppedByAJob) {
  DeclareLog(1000);
  MustDeclare("notes", "t/<tenant>/log/<id:hex(8)>");
  PutLog(1, 2);
  MustPut("t/1000/log/20000000");
  ASSERT_TRUE(catalog().DropBucket("log", "t/1000/log/", Day(0).substr(0, 4))->job);
  RunJobs();
  EXPECT_EQ(Keys(), Names{"t/1000/log/20000000"});
}

TEST_P(CatalogJobsTest, KeysAreMovedIntoANamespace) {
  for (int i = 0; i < 450; ++i) RawPut("old/" + std::to_string(1000 + i), std::to_string(i));
  MustDeclare("cases", "case/<id:int(4)>");
  const MoveReport report = MustMove({.source = "old/", .target = "cases", .target_prefix = {}});
  EXPECT_EQ(report.moved, 450u);
  EXPECT_EQ(report.unfit + report.taken, 0u);
  const Names keys = Keys();
  ASSERT_EQ(keys.size(), 450u);
  EXPECT_EQ(keys.front(), "case/1000");
  EXPECT_EQ(Value(UserKey("case/1449")), "449");
}

TEST_P(CatalogJobsTest, WhatIsMovedKeepsWhatItIs) {
  NamespaceSpec spec = SpecOf("cases", "case/<id>");
  spec.default_ttl = Duration::Seconds(5);
  MustDeclare(spec);
  RawPut("old/1", "v", In(Duration::Seconds(600)));
  RawPut("old/2", "v");
  Must({PutCounter(UserKey("old/3"), 7)});
  MustMove({.source = "old/", .target = "cases", .target_prefix = {}});
  EXPECT_EQ(Find(UserKey("case/1"))->header.expiry, In(Duration::Seconds(600)));
  EXPECT_EQ(Find(UserKey("case/2"))->header.expiry, kNever);
  EXPECT_EQ(Number(UserKey("case/3")), 7);
}

TEST_P(CatalogJobsTest, WhatDoesNotFitStaysWhereItIs) {
  NamespaceSpec spec = SpecOf("cases", "t/<tenant>/case/<id>");
  spec.max_value_bytes = 3;
  MustDeclare(spec);
  MustDeclare("notes", "t/<tenant>/note/<id>");
  MustPut("t/acme/case/there", "old");
  RawPut("x/acme/case/there", "new");
  RawPut("x/acme/case/1", "fit");
  RawPut("x/acme/case/2", "too large");
  RawPut("x/acme/note/1", "v");
  RawPut("x/stray", "v");
  const MoveReport report = MustMove({.source = "x/", .target = "cases", .target_prefix = {}});
  EXPECT_EQ(report.moved, 1u);
  EXPECT_EQ(report.unfit, 3u);
  EXPECT_EQ(report.taken, 1u);
  EXPECT_EQ(report.first_left, "x/acme/case/2");
  EXPECT_NE(report.why.find("max_value_bytes"), std::string::npos) << report.why;
  EXPECT_EQ(Value(UserKey("t/acme/case/there")), "old");
  EXPECT_EQ(Keys(), (Names{"t/acme/case/1", "t/acme/case/there", "x/acme/case/2", "x/acme/case/there", "x/acme/note/1",
                           "x/stray"}));
}

TEST_P(CatalogJobsTest, AMoveIsHeldAgainstWhatItIs) {
  MustDeclare("cases", "t/<tenant>/case/<id>");
  EXPECT_EQ(CodeOf(catalog().StartMove({.source = "x", .target = "none", .target_prefix = {}})), "not_found");
  EXPECT_EQ(CodeOf(catalog().StartMove({.source = "x", .target = "cases", .target_prefix = "u/"})), "invalid_argument");
  EXPECT_EQ(CodeOf(catalog().StartMove({.source = "", .target = "cases", .target_prefix = {}})), "invalid_argument");
  EXPECT_EQ(CodeOf(catalog().StartMove({.source = "t/a/", .target = "cases", .target_prefix = {}})),
            "invalid_argument");
  RawPut("x/1");
  EXPECT_EQ(MustMove({.source = "x/", .target = "cases", .target_prefix = "t/acme/case/"}).moved, 1u);
  EXPECT_EQ(Keys(), Names{"t/acme/case/1"});
}

}  // namespace
}  // namespace kvarts::test
