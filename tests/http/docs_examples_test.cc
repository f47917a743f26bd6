// Documentation whose examples can be run: they are, and answer what it says.
#include "http/docs_examples.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include "http/http_fixture.h"
#include "support/files.h"

namespace kvarts::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// For what is about the runner of the examples itself: one engine will do.
#define KVARTS_OF_THE_RUNNER() \
  if (GetParam().persistent) GTEST_SKIP() << "says nothing more on this engine"

// On a server of their own: the pages begin with nothing.
class DocsExamplesTest : public HttpTest {
 protected:
  DocsExamplesTest() : HttpTest({"--watch-heartbeat", "12s"}) {}

  ExamplesRun RunText(const std::string& page) { return RunExamples(page, Server().address()); }
  ExamplesRun RunPage(const std::string& name) { return RunText(ReadBytes(KVARTS_SOURCE_DIR "/docs/" + name)); }
  static std::string Told(const ExamplesRun& run) { return fmt::format("{}", fmt::join(run.faults, "\n")); }
};

TEST_P(DocsExamplesTest, DataModelling) {
  const ExamplesRun run = RunPage("data-modelling.md");
  EXPECT_THAT(run.faults, IsEmpty()) << Told(run);
  EXPECT_GT(run.requests, 90U);
  EXPECT_GT(run.stated, 60U);
}

TEST_P(DocsExamplesTest, Tables) {
  const ExamplesRun run = RunPage("tables.md");
  EXPECT_THAT(run.faults, IsEmpty()) << Told(run);
  EXPECT_GT(run.requests, 20U);
  EXPECT_GT(run.stated, 10U);
}

TEST_P(DocsExamplesTest, WhatHoldsIsTaken) {
  KVARTS_OF_THE_RUNNER();
  const ExamplesRun run = RunText(R"page(
Words outside of blocks, such as curl localhost:7700/nowhere, are none of its business.

```
K=localhost:7700/keys/docs/right
curl -X PUT $K -d '{"value":
  {"a": [1, {"b": "x"}], "c": 2}}'      # → 200
curl $K      # → {"key": "docs/right", "value": {"a": [1, {"b": "x"}]}}
curl $K
# → 200 {"version": "…",
#   "value": {"c": 2, "d": null}}
# A remark.
for key in 1 2; do curl $K/$key -X PUT -d '{"value": 1}'; done
curl -X DELETE $K/3                     # → 404: there are two
V=$(curl $K | sed 's/.*"version":"\([0-9]*\)".*/\1/')
curl -X DELETE $K -H "If-Match: \"$V\""
```

```json
{"no": "command"}
```
)page");
  EXPECT_THAT(run.faults, IsEmpty()) << Told(run);
  EXPECT_EQ(run.requests, 8U);
  EXPECT_EQ(run.stated, 4U);
}

TEST_P(DocsExamplesTest, WhatDoesNotHoldIsTold) {
  KVARTS_OF_THE_RUNNER();
  const ExamplesRun run = RunText(R"page(
```
K=localhost:7700/keys/docs/wrong
curl -X PUT $K -d '{"value": {"n": 1, "list": [1, 2]}}'    # → 201
curl $K                                                    # → {"value": {"n": 2}}
curl $K                                                    # → {"value": {"list": [1]}}
curl $K                                                    # → {"value": {"n": "1"}}
curl $K                                                    # → {"value": {"m": "…"}}
curl $K/none                                               # → {"value": 1}
curl -X DELETE $K                                          # → 200
```
)page");
  ASSERT_EQ(run.faults.size(), 6U) << Told(run);
  EXPECT_THAT(run.faults[0],
              AllOf(HasSubstr("line 4: curl -X PUT"), HasSubstr("stated:   201\n"), HasSubstr("answered: 200 {")));
  EXPECT_THAT(run.faults[1], AllOf(HasSubstr("line 5: "), HasSubstr(R"("n":1)")));
  EXPECT_THAT(run.faults[2], HasSubstr("line 6: "));
  EXPECT_THAT(run.faults[3], HasSubstr("line 7: "));
  EXPECT_THAT(run.faults[4], HasSubstr("line 8: "));
  EXPECT_THAT(run.faults[5], AllOf(HasSubstr("line 9: "), HasSubstr("answered: 404 ")));
}

TEST_P(DocsExamplesTest, ARefusalThatIsNotStatedIsTold) {
  KVARTS_OF_THE_RUNNER();
  const ExamplesRun run = RunText("```\ncurl localhost:7700/keys/docs/refused\ncurl localhost:7700/livez\n```\n");
  EXPECT_THAT(run.faults, ElementsAre(AllOf(HasSubstr("line 2: curl"), HasSubstr("nothing is stated"),
                                            HasSubstr("answered: 404 "))));
}

TEST_P(DocsExamplesTest, AStatementThatWouldGoUnreadIsTold) {
  KVARTS_OF_THE_RUNNER();
  const ExamplesRun run = RunText(R"page(```
# → 200
curl localhost:7700/livez     # → fine
curl localhost:7700/livez     #→ 200
curl localhost:7700/livez     # → 200
echo                          # → 200
```
)page");
  EXPECT_THAT(
      run.faults,
      ElementsAre(HasSubstr("line 4: an answer is stated behind"), HasSubstr("line 2: states an answer to nothing"),
                  HasSubstr("line 3: neither a status nor JSON"), HasSubstr("line 6: states another answer")));
}

TEST_P(DocsExamplesTest, ACommandThatFailsIsTold) {
  KVARTS_OF_THE_RUNNER();
  const ExamplesRun run = RunText("```\ncurl localhost:7700/livez\nfalse\ncurl localhost:7700/livez\n```\n");
  EXPECT_THAT(run.faults, ElementsAre(HasSubstr("the commands ended with 1")));
  EXPECT_EQ(run.requests, 1U);
  const ExamplesRun misspelt = RunText("```\n\ncrul localhost:7700/livez\n```\n");
  EXPECT_THAT(misspelt.faults, ElementsAre(HasSubstr("line 3: crul: command not found")));
}

KVARTS_ON_EVERY_ENGINE(DocsExamplesTest);

}  // namespace
}  // namespace kvarts::test
