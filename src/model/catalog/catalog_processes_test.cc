// A namespace that one process declares holds for the commits of others.
#include "core/keyspace.h"
#include "model/catalog/catalog.h"
#include "support/failing_reads.h"
#include "support/processes.h"

namespace kvarts::test {
namespace {

class SharedCatalogTest : public ProcessesTest {
 protected:
  static NamespaceSpec SpecOf(std::string name, std::string_view grammar) {
    NamespaceSpec spec;
    spec.name = std::move(name);
    spec.grammar = Grammar::Parse(grammar).value();
    return spec;
  }
  static Result<RunReport> Put(Store& store, Catalog& catalog, const Bytes& key) {
    return store.RunBody(
        [&catalog, key](Txn& txn) -> Status {
          PutOptions options;
          KVARTS_TRY(CatalogGuard guard, catalog.Guard(txn));
          KVARTS_CHECK_OK(guard.CheckPut(key, "v", &options));
          txn.Put(UserKey(key), "v", options);
          return {};
        },
        Quick());
  }
};
KVARTS_ON_ENGINES_WITH(SharedCatalogTest, shared);

// One puts a key that the grammar of a namespace refuses while another declares it: either the key is there and the
// namespace is refused, or the other way round.
TEST_P(SharedCatalogTest, FromItsDeclarationOnANamespaceHoldsForOthers) {
  Store& a = Begin();
  Store& b = Begin();
  auto of_a = Catalog::Open(a);
  auto of_b = Catalog::Open(b);
  ASSERT_TRUE(of_a && of_b);
  int put_first = 0;
  constexpr int kRounds = 30;
  for (int round = 0; round < kRounds; ++round) {
    const std::string name = "n" + std::to_string(round);
    std::string put;
    std::jthread putting([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(round * 400));
      put = CodeOf(Put(b, **of_b, name + "/wrong"));
    });
    const std::string declared = CodeOf((*of_a)->Declare(SpecOf(name, name + "/<id:int(4)>")));
    putting.join();
    EXPECT_EQ(put == "ok", declared != "ok") << round << ": put " << put << ", declared " << declared;
    put_first += put == "ok" ? 1 : 0;
    if (declared != "ok") continue;
    EXPECT_NE(CodeOf(Put(b, **of_b, name + "/wrong")), "ok");
    EXPECT_EQ(CodeOf(Put(b, **of_b, name + "/0001")), "ok");
  }
  EXPECT_LT(put_first, kRounds);
}

TEST_P(SharedCatalogTest, WhatCouldNotBeReadAtOnceIsReadLater) {
  Store& a = Begin();
  FailingReads* reads = nullptr;
  Store& b = Begin([&](std::unique_ptr<Engine> inner) {
    auto failing = std::make_unique<FailingReads>(std::move(inner));
    reads = failing.get();
    return failing;
  });
  auto of_a = Catalog::Open(a);
  auto of_b = Catalog::Open(b);
  ASSERT_TRUE(of_a && of_b);
  ASSERT_EQ(CodeOf((*of_a)->Declare(SpecOf("first", "first/<id:int(4)>"))), "ok");
  EXPECT_TRUE(Eventually([&] { return (*of_b)->current().ByName("first") != nullptr; }));
  reads->FailNext(4);
  ASSERT_EQ(CodeOf((*of_a)->Declare(SpecOf("second", "second/<id:int(4)>"))), "ok");
  EXPECT_TRUE(Eventually([&] { return (*of_b)->current().ByName("second") != nullptr; }));
  EXPECT_EQ(reads->failing(), 0);
}

}  // namespace
}  // namespace kvarts::test
