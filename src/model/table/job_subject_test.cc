#include "model/table/job_subject.h"

#include <gmock/gmock.h>

#include "model/table/system_tables.h"
#include "support/drift.h"

namespace kvarts::test {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

class JobSubjectTest : public DriftFixture {
 protected:
  // Of every job about a table, as "table index".
  std::vector<std::string> Named() {
    std::vector<std::string> named;
    const auto page = Jobs(store()).List({}, 100);
    EXPECT_TRUE(page) << page.error();
    const std::unique_ptr<View> view = NewView();
    JobSubjects subjects(*view);
    for (const JobRecord& job : page->jobs) {
      const auto subject = subjects.Of(job);
      EXPECT_TRUE(subject) << subject.error();
      if (subject && *subject) named.push_back((*subject)->table + ' ' + (*subject)->index);
    }
    return named;
  }
  void DamageEveryRowOf(const TablePtr& system_table) {
    ScanRequest request;
    request.range = KeyRange::Prefix(system_table->rows());
    for (const Found& row : Entries(*NewView(), request)) {
      RawPut(row.key, "\xff garbage", {.kind = ValueKind::kEnvelope});
    }
  }
};
KVARTS_ON_EVERY_ENGINE(JobSubjectTest);

TEST_P(JobSubjectTest, IsNamedAsItIsCalledNow) {
  PutRows(0, 3);
  ASSERT_TRUE(tables().StartVerify(At("users")));
  ASSERT_TRUE(tables().CreateIndex(At("users"), IndexOf(R"({"name": "street", "partition": ["street"]})")));
  EXPECT_THAT(Named(), UnorderedElementsAre("acme/shop/users ", "acme/shop/users street"));
  ASSERT_TRUE(tables().RenameTable(At("users"), "people"));
  EXPECT_THAT(Named(), UnorderedElementsAre("acme/shop/people ", "acme/shop/people street"));
}

TEST_P(JobSubjectTest, IsLeftOutWhenTheCatalogIsDamaged) {
  PutRows(0, 3);
  ASSERT_TRUE(tables().StartVerify(At("users")));
  DamageEveryRowOf(ProjectsTable());
  EXPECT_THAT(Named(), IsEmpty());
  DamageEveryRowOf(TablesTable());
  EXPECT_THAT(Named(), IsEmpty());
}

}  // namespace
}  // namespace kvarts::test
