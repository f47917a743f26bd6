// A catalog on every engine, for the tests of the catalog and of what stands on it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/job_runner.h"
#include "core/keyspace.h"
#include "model/catalog/catalog.h"
#include "support/stores.h"

namespace kvarts::test {

class CatalogTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    OpenCatalog();
  }
  void TearDown() override {
    catalog_.reset();
    StoreTest::TearDown();
  }

  Catalog& catalog() { return *catalog_; }
  void RestartAll() {
    catalog_.reset();
    Restart();
    OpenCatalog();
  }

  static NamespaceSpec SpecOf(std::string name, std::string_view grammar) {
    NamespaceSpec spec;
    spec.name = std::move(name);
    spec.grammar = Grammar::Parse(grammar).value();
    return spec;
  }
  Namespace MustDeclare(NamespaceSpec spec) {
    auto declared = catalog().Declare(std::move(spec));
    EXPECT_TRUE(declared) << declared.error();
    return declared ? *std::move(declared) : Namespace();
  }
  Namespace MustDeclare(std::string name, std::string_view grammar) {
    return MustDeclare(SpecOf(std::move(name), grammar));
  }

  // Puts as a model does: held against the catalog.
  Result<RunReport> GuardedPut(BytesView user_key, BytesView value = "v", PutOptions options = {},
                               RunOptions run = {}) {
    return Run(PuttingGuarded(catalog(), user_key, value, options), std::move(run));
  }
  static Store::Body PuttingGuarded(Catalog& catalog, BytesView user_key, BytesView value, PutOptions options) {
    return [&catalog, key = Bytes(user_key), value = Bytes(value), options](Txn& txn) -> Status {
      PutOptions its = options;
      KVARTS_TRY(CatalogGuard guard, catalog.Guard(txn));
      KVARTS_CHECK_OK(guard.CheckPut(key, value, &its));
      txn.Put(UserKey(key), value, its);
      return {};
    };
  }
  void MustPut(BytesView user_key, BytesView value = "v", PutOptions options = {}) {
    const auto put = GuardedPut(user_key, value, options);
    EXPECT_TRUE(put) << put.error();
  }
  // Past the catalog.
  void RawPut(BytesView user_key, BytesView value = "v", Timestamp expiry = kNever) {
    Put(UserKey(user_key), value, expiry);
  }

  // All keys of users.
  std::vector<std::string> Keys() {
    std::vector<std::string> keys;
    ScanRequest request;
    request.range = SpaceRange(Space::kKeys);
    for (const Found& found : Entries(*NewView(), request)) keys.emplace_back(*UserKeyOf(found.key));
    return keys;
  }
  // Turns of a runner until there is nothing to do.
  int RunJobs() {
    JobRunner runner(store(), catalog().JobKinds());
    int turns = 0;
    while (turns < 10'000) {
      const auto turn = runner.TakeTurn();
      EXPECT_TRUE(turn) << turn.error();
      if (!turn || !turn->worked) break;
      ++turns;
    }
    return turns;
  }

 private:
  void OpenCatalog() {
    auto opened = Catalog::Open(store());
    ASSERT_TRUE(opened) << opened.error();
    catalog_ = *std::move(opened);
  }

  std::unique_ptr<Catalog> catalog_;
};

}  // namespace kvarts::test
