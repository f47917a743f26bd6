// The checker passes over what a store writes, and finds what is planted into it.
#include "cli/keyspace_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/envelope.h"
#include "core/feed_codec.h"
#include "core/job.h"
#include "core/secret.h"
#include "core/store.h"
#include "engine/memory/memory_engine.h"
#include "model/access/token.h"
#include "model/access/user.h"
#include "model/catalog/catalog.h"

namespace kvarts::cli {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class KeyspaceCheckTest : public testing::Test {
 protected:
  KeyspaceCheckTest() : engine_(OpenMemoryEngine(MemoryOptions())) {
    auto store = Store::Open(*engine_);
    EXPECT_TRUE(store) << store.error();
    store_ = *std::move(store);
  }
  ~KeyspaceCheckTest() override { engine_.reset(); }

  // Past the store, as a defect would write it.
  Version Plant(Mutation mutation) {
    Commit commit;
    commit.mutations.push_back(std::move(mutation));
    const auto committed = CommitAndWait(*engine_, std::move(commit));
    EXPECT_TRUE(committed) << committed.error();
    return committed ? committed->version : kNoVersion;
  }
  void Plant(BytesView key, BytesView value = {}) { Plant(Mutation::Put(key, value)); }
  Version Run(const Store::Body& body) {
    const auto report = store_->RunBody(body);
    EXPECT_TRUE(report) << report.error();
    return report ? report->version : kNoVersion;
  }
  Timestamp Later() const { return {engine_->Now().micros + 3'600'000'000}; }

  // "key: text" of each finding.
  std::vector<std::string> Findings() { return FindingsUpTo(engine_->LastVersion()); }
  std::vector<std::string> FindingsUpTo(Version last) {
    const auto view = engine_->OpenView();
    EXPECT_TRUE(view) << view.error();
    KeyspaceCheck check(**view, last);
    const Status ran = check.Run([](uint64_t) {});
    EXPECT_TRUE(ran) << ran.error();
    counts_ = check.counts();
    std::vector<std::string> found;
    for (const Finding& finding : check.findings()) found.push_back(finding.key + ": " + finding.text);
    EXPECT_EQ(check.found(), found.size());
    return found;
  }

  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Store> store_;
  std::map<Space, SpaceCount> counts_;
};

TEST_F(KeyspaceCheckTest, FindsSecretsThatAreNone) {
  ASSERT_TRUE(StoreSecret(*store_, "whole").has_value());
  Plant(SecretKey("cut"), "short");
  EXPECT_THAT(Findings(), ElementsAre("settings: (1, \"secret\", \"cut\"): a secret of 5 bytes instead of 32"));
}

TEST_F(KeyspaceCheckTest, FindsDamagedNamespaces) {
  const auto catalog = Catalog::Open(*store_);
  ASSERT_TRUE(catalog) << catalog.error();
  NamespaceSpec spec;
  spec.name = "cases";
  spec.grammar = Grammar::Parse("case/<id>").value();
  ASSERT_TRUE((*catalog)->Declare(std::move(spec)));
  EXPECT_THAT(Findings(), IsEmpty());
  Plant(NamespaceKey("damaged"), "damaged");
  EXPECT_THAT(Findings(), ElementsAre(HasSubstr("damaged")));
}

TEST_F(KeyspaceCheckTest, FindsDamagedTokens) {
  const NewToken token{.name = "ci", .scopes = {Scope::Everything(Right::kRead)}, .ttl = {}, .limit = {}};
  ASSERT_TRUE(store_->Run([&](Txn& txn) { return CreateToken(txn, token); }).has_value());
  Plant(TokenKey({"0123456789ab"}), "damaged");
  EXPECT_THAT(Findings(), ElementsAre(HasSubstr("\"token\", \"0123456789ab\"): the token is damaged")));
}

TEST_F(KeyspaceCheckTest, FindsDamagedUsers) {
  UserRecord user;
  user.name = "ada";
  user.id = "12345678";
  user.selectors.emplace_back();
  ASSERT_TRUE(store_->Run([&](Txn& txn) { return PutUser(txn, user); }).has_value());
  Plant(UserKeyOfName("bob"), "damaged");
  EXPECT_THAT(Findings(), ElementsAre(HasSubstr("\"user\", x'626f62'): the user is damaged")));
}

TEST_F(KeyspaceCheckTest, FindsNothingInWhatAStoreWrites) {
  ASSERT_TRUE(store_->feeds().Declare(UserRange(KeyRange::Prefix("user:"))));
  Run([&](Txn& txn) -> Status {
    txn.Put(UserKey("user:1"), "Ada");
    txn.Put(UserKey("other"), "owned", {.expiry = Later(), .owned = true});
    txn.Add(UserKey("n"), 5);
    return {};
  });
  Run([&](Txn& txn) -> Status {
    txn.Erase(UserKey("user:1"));
    return {};
  });
  EXPECT_THAT(Findings(), IsEmpty());
  EXPECT_EQ(counts_[Space::kKeys].entries, 2U);
  EXPECT_EQ(counts_[Space::kFeed].entries, 2U);
  EXPECT_EQ(counts_[Space::kExpiry].entries, 1U);
  EXPECT_EQ(counts_[Space::kExpiry].stale, 0U);
  EXPECT_EQ(counts_[Space::kSettings].entries, 2U);  // the feed, and when feeds were declared last
}

TEST_F(KeyspaceCheckTest, CountsStaleExpiryEntriesAsNoFault) {
  for (int i = 0; i < 2; ++i) {
    Run([&](Txn& txn) -> Status {
      txn.Put(UserKey("a"), "x", {.expiry = {Later().micros + static_cast<uint64_t>(i)}, .owned = true});
      return {};
    });
  }
  EXPECT_THAT(Findings(), IsEmpty());
  EXPECT_EQ(counts_[Space::kExpiry].entries, 2U);
  EXPECT_EQ(counts_[Space::kExpiry].stale, 1U);
}

TEST_F(KeyspaceCheckTest, FindsKeysOutsideTheMap) {
  Plant("not a tuple");
  KeyBuffer unknown;
  TupleWriter<KeyBuffer>(&unknown).Int(200).Text("x");
  Plant(unknown);
  const std::vector<std::string> found = Findings();
  ASSERT_EQ(found.size(), 2U);
  for (const std::string& finding : found) EXPECT_THAT(finding, HasSubstr("no number of the keyspace's map"));
}

TEST_F(KeyspaceCheckTest, FindsKeysThatDoNotDecode) {
  KeyBuffer cut;
  BeginKey(&cut, Space::kSettings).Text("name");
  Plant(cut.view().substr(0, cut.view().size() - 1));
  KeyBuffer wrong_type;
  BeginKey(&wrong_type, Space::kJobs).Text("not a uuid");
  Plant(wrong_type);
  KeyBuffer no_tail;
  BeginKey(&no_tail, Space::kKeys).Text("not a tail");
  Plant(no_tail);
  EXPECT_THAT(Findings(), ElementsAre(HasSubstr("settings: "), HasSubstr("not one that a user can have"),
                                      HasSubstr("jobs: (4, \"not a uuid\"): ")));
}

TEST_F(KeyspaceCheckTest, FindsVersionsThatWereNeverIssued) {
  const Version first = Plant(Mutation::Put(UserKey("a"), "1"));
  Plant(UserKey("b"), "2");
  EXPECT_THAT(FindingsUpTo(first), ElementsAre(HasSubstr("keys: b: its version ")));
}

// Shows one entry that no engine would take.
class PlantedView final : public View {
 public:
  PlantedView(BytesView key, BytesView value, const ValueHeader& header) { page_.Append(key, value, header); }

  Version version() const override { return page_[0].header.version; }
  Timestamp time() const override { return {1}; }
  Status Get(std::span<const BytesView>, std::span<std::optional<Record>>, const ReadOptions&) override { return {}; }
  Result<ScanPage> Scan(const ScanRequest&) override { return page_; }

 private:
  ScanPage page_;
};

TEST_F(KeyspaceCheckTest, FindsHeadersThatSayWhatIsNotSo) {
  const auto finding_of = [](Version version, ValueKind kind) {
    ValueHeader header;
    header.version = version;
    header.kind = kind;
    PlantedView view(UserKey("n"), "seven", header);
    KeyspaceCheck check(view, Version{5});
    EXPECT_TRUE(check.Run([](uint64_t) {}));
    return check.findings().empty() ? "" : check.findings()[0].text;
  };
  EXPECT_EQ(finding_of({5}, ValueKind::kBytes), "");
  EXPECT_EQ(finding_of({5}, ValueKind::kCounter), "a counter of 5 bytes instead of 8");
  EXPECT_EQ(finding_of({5}, static_cast<ValueKind>(99)), "its value is of a kind that is not known");
  EXPECT_EQ(finding_of({6}, ValueKind::kBytes), "its version 6 was never issued; the last is 5");
  EXPECT_EQ(finding_of({0}, ValueKind::kBytes), "its version 0 was never issued; the last is 5");
}

TEST_F(KeyspaceCheckTest, FindsOwnedValuesThatNobodyWillRemove) {
  Mutation owned = Mutation::Put(UserKey("a"), "1", Later());
  owned.owned = true;
  Plant(std::move(owned));
  EXPECT_THAT(Findings(), ElementsAre(HasSubstr("keys: a: an owned value that expires has no entry")));
}

TEST_F(KeyspaceCheckTest, FindsJobsThatNobodyWouldRun) {
  Jobs jobs(*store_);
  const auto started = jobs.Start({.kind = "test", .parameters = {}, .throttle = 0, .total = {}});
  const auto paused = jobs.Start({.kind = "test", .parameters = {}, .throttle = 0, .total = {}});
  ASSERT_TRUE(started && paused && jobs.Pause(*paused));
  EXPECT_THAT(Findings(), IsEmpty());
  EXPECT_EQ(counts_[Space::kJobs].entries, 2U);
  Plant(Mutation::Erase(JobQueueKey(*started)));
  Plant(JobQueueKey(*paused));
  Plant(JobQueueKey({Uuid::Version7(engine_->Now(), 1)}));
  EXPECT_THAT(Findings(), ElementsAre(HasSubstr("a job with something to do is not in the queue"),
                                      HasSubstr("a job with nothing to do is in the queue"),
                                      HasSubstr("the queue names a job that is not there")));
  Plant(JobKey(*paused), "spoilt");
  EXPECT_THAT(Findings(), Contains(HasSubstr(paused->ToString())));
}

TEST_F(KeyspaceCheckTest, FindsEnvelopesThatAreNone) {
  Run([](Txn& txn) {
    Envelope envelope;
    envelope.type = "case.current";
    envelope.payload = "p";
    return PutEnvelope(txn, UserKey("good"), std::move(envelope));
  });
  EXPECT_THAT(Findings(), IsEmpty());
  Mutation broken = Mutation::Put(UserKey("bad"), "spoilt");
  broken.kind = ValueKind::kEnvelope;
  Plant(std::move(broken));
  EXPECT_THAT(Findings(), ElementsAre(HasSubstr("keys: bad: ")));
}

TEST_F(KeyspaceCheckTest, FindsBrokenFeeds) {
  ASSERT_TRUE(store_->feeds().Declare(UserRange(KeyRange::Prefix("user:"))));
  const Version version = Run([](Txn& txn) -> Status {
    txn.Put(UserKey("user:1"), "Ada");
    return {};
  });
  // What is there is copied into a feed that is not, and spoilt where it is.
  ScanRequest feed;
  feed.range = SpaceRange(Space::kFeed);
  const auto page = (*engine_->OpenView())->Scan(feed);
  ASSERT_TRUE(page && page->size() == 1);
  Plant(FeedEntryKey({77}, {version, 0}), (*page)[0].value);
  Plant((*page)[0].key, "spoilt");
  Plant(FeedDeclarationKey({5}), "spoilt");
  EXPECT_THAT(Findings(), ElementsAre(HasSubstr("settings: (1, \"feed\", 5): "), HasSubstr("feed: "),
                                      HasSubstr("the version in its key is not that of the commit"),
                                      HasSubstr("an entry of a feed that was never declared")));
}

}  // namespace
}  // namespace kvarts::cli
