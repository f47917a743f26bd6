// Namespaces that come and go while others write: no key is left that does not follow a grammar.
#include <atomic>
#include <chrono>
#include <semaphore>
#include <thread>

#include "support/catalogs.h"

namespace kvarts::test {
namespace {

class CatalogRaceTest : public CatalogTest {
 protected:
  // The keys under t/ that are of no namespace, while there is one.
  std::vector<std::string> Strays() {
    std::vector<std::string> strays;
    NamespaceTable::Reading reading;
    for (const std::string& key : Keys()) {
      catalog().current().Read(key, &reading);
      if (reading.verdict == NamespaceTable::Verdict::kRefused) strays.push_back(key);
    }
    return strays;
  }
  // Puts the key, and on the first run does something else between the check and the commit.
  Result<RunReport> PutAround(BytesView key, const std::function<void()>& meanwhile, bool planted_fault = false) {
    return Run([&, key = Bytes(key)](Txn& txn) -> Status {
      PutOptions options;
      if (planted_fault) {
        NamespaceTable::Reading reading;
        catalog().current().Read(key, &reading);
        if (reading.verdict == NamespaceTable::Verdict::kRefused) return Error(ErrorCode::kInvalidArgument, "refused");
      } else {
        KVARTS_TRY(CatalogGuard guard, catalog().Guard(txn));
        KVARTS_CHECK_OK(guard.CheckPut(key, "v", &options));
      }
      if (txn.cost().runs == 1) meanwhile();
      txn.Put(UserKey(key), "v", options);
      return {};
    });
  }
};
KVARTS_ON_EVERY_ENGINE(CatalogRaceTest);

TEST_P(CatalogRaceTest, ANamespaceDeclaredBetweenCheckAndCommitIsNotMissed) {
  const auto put = PutAround("t/stray", [&] { MustDeclare("cases", "t/<tenant>/case/<id>"); });
  EXPECT_EQ(CodeOf(put), "invalid_argument");
  EXPECT_TRUE(Keys().empty());
  // And again, with a table that is not the first.
  const auto other = PutAround("u/stray", [&] { MustDeclare("users", "u/<id:int(4)>"); });
  EXPECT_EQ(CodeOf(other), "invalid_argument");
  EXPECT_TRUE(Keys().empty());
  EXPECT_EQ(CodeOf(PutAround("u/0001", [&] { MustDeclare("more", "v/<id:int(4)>"); })), "ok");
}

// The same without what the guard adds to the transaction: that it matters can be seen.
TEST_P(CatalogRaceTest, WithoutThePreconditionAStrayIsLeft) {
  const auto put = PutAround(
      "t/stray", [&] { MustDeclare("cases", "t/<tenant>/case/<id>"); }, true);
  EXPECT_EQ(CodeOf(put), "ok");
  EXPECT_EQ(Strays(), std::vector<std::string>{"t/stray"});
}

TEST_P(CatalogRaceTest, RulesThatChangeInBetweenHold) {
  NamespaceSpec spec = SpecOf("cases", "t/<tenant>/case/<id>");
  MustDeclare(spec);
  spec.default_ttl = Duration::Seconds(60);
  EXPECT_EQ(CodeOf(PutAround("t/acme/case/1", [&] { MustDeclare(spec); })), "ok");
  EXPECT_EQ(Find(UserKey("t/acme/case/1"))->header.expiry, In(Duration::Seconds(60)));
}

TEST_P(CatalogRaceTest, WhatIsDeclaredByAnotherProcessIsNotMissed) {
  const NamespaceSpec spec = Validate(SpecOf("cases", "t/<tenant>/case/<id>"), engine().limits()).value();
  const auto put = PutAround("t/stray", [&] {
    Must({Mutation::Put(NamespaceKey("cases"), Namespace::Of(spec).Encode()), Mutation::Put(CatalogStampKey(), "")});
  });
  EXPECT_EQ(CodeOf(put), "invalid_argument");
  EXPECT_EQ(catalog().List()->size(), 1u);
}

TEST_P(CatalogRaceTest, NothingIsRefusedByAnOldTable) {
  MustDeclare("cases", "t/<tenant>/case/<id>");
  const auto put = Run([&](Txn& txn) -> Status {
    KVARTS_TRY(CatalogGuard guard, catalog().Guard(txn));
    if (txn.cost().runs == 1) IgnoreError(catalog().Drop("cases"));
    PutOptions options;
    KVARTS_CHECK_OK(guard.CheckPut("t/free", "v", &options));
    txn.Put(UserKey("t/free"), "v", options);
    return {};
  });
  EXPECT_TRUE(put) << put.error();
  EXPECT_EQ(Keys(), std::vector<std::string>{"t/free"});
}

TEST_P(CatalogRaceTest, AKeyPutInBetweenIsInTheWay) {
  // The declaration has looked, and then a key is put: it looks again.
  std::atomic<bool> stop = false;
  std::jthread writer([&] {
    for (int i = 0; !stop; ++i) IgnoreError(GuardedPut("t/" + std::to_string(i), "v", {}, Quick()));
  });
  while (Keys().empty()) std::this_thread::yield();
  EXPECT_EQ(CodeOf(catalog().Declare(SpecOf("cases", "t/<tenant>/case/<id>"))), "precondition_failed");
  stop = true;
}

TEST_P(CatalogRaceTest, ABodyThatWaitedGoesByWhatThereIs) {
  std::binary_semaphore done{0};
  std::string outcome;
  const auto waiting = store().RunWhenReady(
      KeyRange::Single("go"),
      [&](Txn& txn) -> Result<Store::Ready> {
        KVARTS_TRY(const auto go, txn.Get("go"));
        if (!go) return Store::Ready::kWait;
        KVARTS_TRY(CatalogGuard guard, catalog().Guard(txn));
        PutOptions options;
        KVARTS_CHECK_OK(guard.CheckPut("t/stray", "v", &options));
        txn.Put(UserKey("t/stray"), "v", options);
        return Store::Ready::kDone;
      },
      {},
      [&](const Result<RunReport>& report) {
        outcome = CodeOf(report);
        done.release();
      });
  const NamespaceSpec spec = Validate(SpecOf("cases", "t/<tenant>/case/<id>"), engine().limits()).value();
  // In the very commit that wakes it, so no table can have been read in between.
  Must({Mutation::Put(NamespaceKey("cases"), Namespace::Of(spec).Encode()), Mutation::Put(CatalogStampKey(), ""),
        Mutation::Put("go", "")});
  done.acquire();
  EXPECT_EQ(outcome, "invalid_argument");
  EXPECT_TRUE(Keys().empty());
}

TEST_P(CatalogRaceTest, NoStraySurvivesWritersAndDeclarations) {
  std::atomic<bool> stop = false;
  std::atomic<int> accepted = 0;
  std::atomic<int> refused = 0;
  std::vector<std::jthread> writers;
  for (int writer = 0; writer < 3; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = 0; !stop; ++i) {
        const std::string key = "t/" + std::to_string(writer) + (i % 2 == 0 ? "/case/1" : "/stray");
        const bool put = GuardedPut(key, "v", {}, Quick()).has_value();
        (put ? accepted : refused) += 1;
        // So that a declaration finds the range empty now and then.
        if (put) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    });
  }
  durability_ = Durability::kNone;
  for (int round = 0; round < 20; ++round) {
    // Emptied first: with writers about it may take a few attempts until nobody is in the way.
    Result<Namespace> declared = Error(ErrorCode::kInternal, "not yet");
    while (!declared) {
      Must({Mutation::EraseRange(UserKey("t/").view(), UserKey("t0").view())});
      declared = catalog().Declare(SpecOf("cases", "t/<tenant>/case/<id>"), {.if_version = {}, .run = Quick()});
      ASSERT_TRUE(declared || declared.error().code() == ErrorCode::kPreconditionFailed) << declared.error();
    }
    EXPECT_EQ(Strays(), std::vector<std::string>());
    const int before = refused;
    while (refused == before) std::this_thread::yield();
    EXPECT_EQ(Strays(), std::vector<std::string>());
    const auto dropped = catalog().Drop("cases", {.erase = true, .if_version = {}, .run = Quick()});
    ASSERT_TRUE(dropped) << dropped.error();
  }
  stop = true;
  writers.clear();
  EXPECT_GT(accepted, 0);
}

// What checking adds to a blind put: one precondition, and no read.
TEST_P(CatalogRaceTest, ABlindPutStaysBlind) {
  const auto cost = [&](BytesView key) {
    RunReport report;
    const Status put = store().Run(
        [&](Txn& txn) -> Status {
          KVARTS_CHECK_OK(PuttingGuarded(catalog(), key, "v", {})(txn));
          EXPECT_FALSE(txn.ViewVersion()) << "no view was needed";
          return {};
        },
        {}, &report);
    EXPECT_TRUE(put) << put.error();
    EXPECT_EQ(report.cost.runs, 1u);
    return report.cost.read.keys;
  };
  EXPECT_EQ(cost("a"), 0u);
  MustDeclare("cases", "t/<tenant>/case/<id>");
  EXPECT_EQ(cost("a"), 0u);
  EXPECT_EQ(cost("t/acme/case/1"), 0u);
}

}  // namespace
}  // namespace kvarts::test
