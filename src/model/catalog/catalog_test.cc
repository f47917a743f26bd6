// Namespaces: declared, changed, dropped, and what may be written under them.
#include "model/catalog/catalog.h"

#include "core/envelope.h"
#include "support/catalogs.h"
#include "support/eventually.h"

namespace kvarts::test {
namespace {

using Names = std::vector<std::string>;

KVARTS_ON_EVERY_ENGINE(CatalogTest);

TEST_P(CatalogTest, WithoutNamespacesEveryKeyIsFree) {
  EXPECT_TRUE(catalog().List()->empty());
  MustPut("anything at all");
  MustPut("");
  EXPECT_EQ(catalog().Explain("x")->verdict, KeyExplanation::Verdict::kFree);
  EXPECT_EQ(CodeOf(catalog().Get("events")), "not_found");
}

TEST_P(CatalogTest, KeysOfANamespaceFollowItsGrammar) {
  const Namespace declared = MustDeclare("cases", "t/<tenant>/case/<id>");
  MustPut("t/acme/case/7");
  MustPut("elsewhere");
  const auto refused = GuardedPut("t/acme/case/");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(refused.error().text(), "the key does not follow the grammar of its namespace");
  EXPECT_EQ(refused.error().field("namespace"), "cases");
  EXPECT_EQ(refused.error().field("position"), "12");
  EXPECT_EQ(refused.error().field("field"), "id");
  EXPECT_EQ(refused.error().field("expected"), "one or more bytes other than \"/\"");
  EXPECT_EQ(catalog().Get("cases").value(), declared);
  EXPECT_EQ(Keys(), (Names{"elsewhere", "t/acme/case/7"}));
}

TEST_P(CatalogTest, NamespacesShareARegion) {
  MustDeclare("cases", "t/<tenant>/case/<id>");
  MustPut("t/acme/case/7");
  MustDeclare("idem", "t/<tenant>/idem/<op>/<key>");
  MustDeclare("special", "t/special/<id:int(4)>");
  MustPut("t/acme/idem/create/1");
  MustPut("t/special/0001");
  MustPut("t/special/case/1");
  const auto refused = GuardedPut("t/acme/idem/create");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field("namespace"), "cases, idem");
  EXPECT_EQ(refused.error().field("grammar"), "t/<tenant>/idem/<op>/<key>") << "the one it follows furthest";
  EXPECT_EQ(CodeOf(GuardedPut("t/special/1")), "invalid_argument");
  EXPECT_EQ(catalog().Explain("t/special/case/1")->namespaces.front(), "cases");
}

TEST_P(CatalogTest, GrammarsThatOverlapAreRefused) {
  MustDeclare("cases", "t/<tenant>/case/<id>");
  const auto other = catalog().Declare(SpecOf("acme", "t/acme/<kind>/<id>"));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(other.error().field("other"), "cases");
  EXPECT_EQ(catalog().List()->size(), 1u);
}

TEST_P(CatalogTest, IsDeclaredOverAnEmptyRange) {
  RawPut("t/old");
  const auto refused = catalog().Declare(SpecOf("cases", "t/<tenant>/case/<id>"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kPreconditionFailed);
  EXPECT_EQ(refused.error().field("key"), "t/old");
  EXPECT_FALSE(refused.error().field("advice").empty());
  Erase(UserKey("t/old"));
  MustDeclare("cases", "t/<tenant>/case/<id>");
  MustPut("t/acme/case/1");
  // What is around it must be empty but for what others govern.
  MustPut("zzz");
  EXPECT_EQ(catalog().Declare(SpecOf("all", "<a:int(3)>!<b>")).error().field("key"), "zzz");
  Erase(UserKey("zzz"));
  MustPut("a");
  EXPECT_EQ(catalog().Declare(SpecOf("all", "<a:int(3)>!<b>")).error().field("key"), "a");
  Erase(UserKey("a"));
  MustDeclare("all", "<a:int(3)>!<b>");
  EXPECT_EQ(CodeOf(GuardedPut("a")), "invalid_argument") << "every key is governed now";
  MustPut("t/acme/case/2");
}

TEST_P(CatalogTest, KeysThatHaveExpiredAreNotInTheWay) {
  RawPut("t/old", "v", In(Duration::Seconds(1)));
  Wait(Duration::Seconds(2));
  EXPECT_EQ(MustDeclare("cases", "t/<tenant>/case/<id>").spec.name, "cases");
  EXPECT_FALSE(GuardedPut("t/old"));
}

TEST_P(CatalogTest, DeclaringTheSameAgainChangesNothing) {
  NamespaceSpec spec = SpecOf("cases", "t/<tenant>/case/<id>");
  const Namespace first = MustDeclare(spec);
  MustPut("t/acme/case/1");
  EXPECT_EQ(MustDeclare(spec), first);
  spec.tenant_field = "tenant";
  spec.partition_field = "tenant";
  EXPECT_EQ(MustDeclare(spec), first) << "it is what was meant before";
}

TEST_P(CatalogTest, RulesChangeButNotTheShapeOfKeys) {
  NamespaceSpec spec = SpecOf("cases", "t/<tenant>/case/<id>");
  const Namespace first = MustDeclare(spec);
  MustPut("t/acme/case/1", "much too long");
  spec.max_value_bytes = 3;
  const Namespace second = MustDeclare(spec);
  EXPECT_GT(second.version, first.version);
  EXPECT_EQ(CodeOf(GuardedPut("t/acme/case/2", "long")), "too_large");
  MustPut("t/acme/case/2", "lng");
  for (const auto& change : std::vector<std::function<void(NamespaceSpec&)>>{
           [](NamespaceSpec& s) { s.grammar = Grammar::Parse("t/<tenant>/cases/<id>").value(); },
           [](NamespaceSpec& s) { s.partition_field = "id"; },
           [](NamespaceSpec& s) { s.profile = Profile::kWindow; }}) {
    NamespaceSpec changed = spec;
    change(changed);
    const auto refused = catalog().Declare(changed);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), ErrorCode::kPreconditionFailed);
    EXPECT_EQ(refused.error().field("key"), "t/acme/case/1");
  }
  Erase(UserKey("t/acme/case/1"));
  Erase(UserKey("t/acme/case/2"));
  spec.grammar = Grammar::Parse("t/<tenant>/cases/<id>").value();
  MustDeclare(spec);
  MustPut("t/acme/cases/1", "v");
  EXPECT_EQ(CodeOf(GuardedPut("t/acme/case/1", "v")), "invalid_argument");
}

TEST_P(CatalogTest, AVersionCanBeAskedFor) {
  NamespaceSpec spec = SpecOf("cases", "t/<tenant>/case/<id>");
  EXPECT_EQ(CodeOf(catalog().Declare(spec, {.if_version = Version{1}})), "precondition_failed");
  const Namespace first = catalog().Declare(spec, {.if_version = kNoVersion}).value();
  EXPECT_EQ(CodeOf(catalog().Declare(spec, {.if_version = kNoVersion})), "precondition_failed");
  spec.max_value_bytes = 3;
  EXPECT_EQ(CodeOf(catalog().Declare(spec, {.if_version = first.version})), "ok");
  EXPECT_EQ(CodeOf(catalog().Drop("cases", {.if_version = first.version})), "precondition_failed");
}

TEST_P(CatalogTest, LimitsHoldUpToTheLastByte) {
  NamespaceSpec spec = SpecOf("n", "n/<id>");
  spec.max_key_bytes = 5;
  spec.max_value_bytes = 4;
  MustDeclare(spec);
  MustPut("n/123", "1234");
  EXPECT_EQ(GuardedPut("n/1234", "1234").error().field("limit"), "max_key_bytes");
  EXPECT_EQ(GuardedPut("n/123", "12345").error().field("limit"), "max_value_bytes");
}

TEST_P(CatalogTest, WhatHasNoExpiryGetsTheNamespaces) {
  NamespaceSpec spec = SpecOf("n", "n/<id>");
  spec.default_ttl = Duration::Seconds(60);
  MustDeclare(spec);
  MustPut("n/1");
  MustPut("n/2", "v", {.expiry = In(Duration::Seconds(5))});
  MustPut("m/1");
  EXPECT_EQ(Find(UserKey("n/1"))->header.expiry, In(Duration::Seconds(60)));
  EXPECT_EQ(Find(UserKey("n/2"))->header.expiry, In(Duration::Seconds(5)));
  EXPECT_EQ(Find(UserKey("m/1"))->header.expiry, kNever);
}

TEST_P(CatalogTest, AddsAndErasuresAreHeldAgainstTheRules) {
  NamespaceSpec spec = SpecOf("n", "n/<id>");
  MustDeclare(spec);
  const auto check = [&](auto what) {
    return CodeOf(store().Run([&](Txn& txn) -> Status {
      KVARTS_TRY(CatalogGuard guard, catalog().Guard(txn));
      return what(guard);
    }));
  };
  EXPECT_EQ(check([](CatalogGuard& guard) { return guard.CheckAdd("n/1"); }), "ok");
  EXPECT_EQ(check([](CatalogGuard& guard) { return guard.CheckAdd("n/1/2"); }), "invalid_argument");
  EXPECT_EQ(check([](CatalogGuard& guard) { return guard.CheckErase("n/1"); }), "ok");
  EXPECT_EQ(check([](CatalogGuard& guard) { return guard.CheckErase("n/1/2"); }), "invalid_argument");
  EXPECT_EQ(check([](CatalogGuard& guard) { return guard.CheckErase("m"); }), "ok");
  spec.default_ttl = Duration::Seconds(1);
  MustDeclare(spec);
  EXPECT_EQ(check([](CatalogGuard& guard) { return guard.CheckAdd("n/1"); }), "invalid_argument");
  spec.default_ttl.reset();
  spec.envelope.required = true;
  MustDeclare(spec);
  EXPECT_EQ(check([](CatalogGuard& guard) { return guard.CheckAdd("n/1"); }), "invalid_argument");
}

TEST_P(CatalogTest, AnEnvelopeIsWhatTheNamespaceWants) {
  NamespaceSpec spec = SpecOf("cases", "t/<tenant>/case/<id>");
  spec.envelope = {true, {"case.current", "case.note"}, 2, 4};
  MustDeclare(spec);
  const auto put = [&](Envelope envelope) {
    PutOptions options;
    options.kind = ValueKind::kEnvelope;
    options.schema = envelope.schema;
    const auto done = GuardedPut("t/acme/case/7", envelope.Encode().value(), options);
    return done ? "ok" : std::string(done.error().text());
  };
  Envelope envelope;
  envelope.schema = 3;
  envelope.type = "case.current";
  envelope.tenant = "acme";
  EXPECT_EQ(put(envelope), "ok");
  envelope.tenant = "other";
  EXPECT_EQ(put(envelope), "the tenant of the envelope is not the tenant of the key");
  envelope.tenant = "";
  EXPECT_EQ(put(envelope), "the tenant of the envelope is not the tenant of the key");
  envelope.tenant = "acme";
  for (const uint32_t schema : {1u, 5u}) {
    envelope.schema = schema;
    EXPECT_EQ(put(envelope), "the namespace does not take this schema version") << schema;
  }
  for (const uint32_t schema : {2u, 4u}) {
    envelope.schema = schema;
    EXPECT_EQ(put(envelope), "ok") << schema;
  }
  envelope.type = "case";
  EXPECT_EQ(put(envelope), "the namespace does not take values of this type");
  envelope.type = "case.note";
  const auto contradicts = GuardedPut("t/acme/case/7", envelope.Encode().value(), {.kind = ValueKind::kEnvelope});
  EXPECT_EQ(contradicts.error().text(), "the envelope has another schema version than it is put with");
  EXPECT_EQ(GuardedPut("t/acme/case/7", "bytes").error().text(), "the namespace takes envelopes only");
  PutOptions options;
  options.kind = ValueKind::kEnvelope;
  EXPECT_EQ(GuardedPut("t/acme/case/7", "bytes", options).error().text(), "the value is no envelope");
}

TEST_P(CatalogTest, AnEnvelopeThatNobodyAskedForDoesNotLieAboutItsTenant) {
  MustDeclare("cases", "t/<tenant>/case/<id>");
  PutOptions options;
  options.kind = ValueKind::kEnvelope;
  Envelope envelope;
  MustPut("t/acme/case/7", envelope.Encode().value(), options);
  envelope.tenant = "other";
  EXPECT_EQ(CodeOf(GuardedPut("t/acme/case/7", envelope.Encode().value(), options)), "invalid_argument");
}

TEST_P(CatalogTest, IsThereAfterARestart) {
  if (!engine().capabilities().persistent) GTEST_SKIP() << "nothing outlives this engine";
  NamespaceSpec spec = SpecOf("cases", "t/<tenant>/case/<id>");
  spec.default_ttl = Duration::Seconds(60);
  spec.profile = Profile::kIngest;
  spec.feed = true;
  const Namespace declared = MustDeclare(spec);
  RestartAll();
  EXPECT_EQ(catalog().Get("cases").value(), declared);
  EXPECT_EQ(CodeOf(GuardedPut("t/x")), "invalid_argument");
  MustPut("t/acme/case/1");
  EXPECT_EQ(MustDeclare(spec), declared);
}

// What a crash between the steps of a declaration leaves is taken up by the next attempt.
TEST_P(CatalogTest, ADeclarationCutShortIsMadeWholeByAnother) {
  const KeyRange region = UserRange(KeyRange::Prefix("t/"));
  ASSERT_TRUE(engine().AssignProfile(region, Profile::kWindow));
  const FeedId feed = store().feeds().Declare(region).value();
  RestartAll();
  EXPECT_TRUE(catalog().List()->empty());
  NamespaceSpec spec = SpecOf("cases", "t/<tenant>/case/<id>");
  spec.profile = Profile::kWindow;
  spec.feed = true;
  EXPECT_EQ(MustDeclare(spec).feed, feed);
}

TEST_P(CatalogTest, ARefusedDeclarationLeavesNothingBehind) {
  RawPut("t/x");
  NamespaceSpec spec = SpecOf("cases", "t/<tenant>/case/<id>");
  spec.profile = Profile::kWindow;
  spec.feed = true;
  const void* const before = store().feeds().current();
  EXPECT_EQ(CodeOf(catalog().Declare(spec)), "precondition_failed");
  EXPECT_EQ(store().feeds().current(), before);
  Erase(UserKey("t/x"));
  EXPECT_TRUE(engine().AssignProfile(UserRange(KeyRange::Prefix("t/")), Profile::kIngest)) << "no profile was given";
}

TEST_P(CatalogTest, AProfileBelongsToTheRegion) {
  NamespaceSpec spec = SpecOf("cases", "t/<tenant>/case/<id>");
  spec.profile = Profile::kIngest;
  MustDeclare(spec);
  EXPECT_EQ(catalog().Declare(SpecOf("idem", "t/<tenant>/idem/<id>")).error().field("other"), "cases");
  NamespaceSpec same = SpecOf("idem", "t/<tenant>/idem/<id>");
  same.profile = Profile::kIngest;
  MustDeclare(same);
  NamespaceSpec inner = SpecOf("inner", "t/x/y/<id>");
  inner.profile = Profile::kIngest;
  MustDeclare(inner);
}

TEST_P(CatalogTest, AFeedHasTheChangesOfTheRegion) {
  NamespaceSpec spec = SpecOf("cases", "t/<tenant>/case/<id>");
  MustDeclare(spec);
  MustPut("t/acme/case/1");
  spec.feed = true;
  const Namespace declared = MustDeclare(spec);
  ASSERT_TRUE(declared.feed);
  MustPut("t/acme/case/2");
  MustPut("elsewhere");
  // Where others write, too, a feed ends before what they have under way.
  FeedPage page;
  ASSERT_TRUE(test::Eventually([&] {
    page = store().feeds().Read(*declared.feed, {}, 10).value();
    return !page.entries.empty();
  }));
  ASSERT_EQ(page.entries.size(), 1u);
  EXPECT_EQ(*UserKeyOf(page.entries[0].key), "t/acme/case/2");
  spec.feed = false;
  EXPECT_EQ(CodeOf(catalog().Declare(spec)), "invalid_argument");
}

TEST_P(CatalogTest, IsDroppedWhenItIsEmpty) {
  MustDeclare("cases", "t/<tenant>/case/<id>");
  MustPut("t/acme/case/1");
  EXPECT_EQ(catalog().Drop("cases").error().field("key"), "t/acme/case/1");
  Erase(UserKey("t/acme/case/1"));
  EXPECT_EQ(catalog().Drop("cases")->job, std::nullopt);
  EXPECT_EQ(CodeOf(catalog().Drop("cases")), "not_found");
  MustPut("t/anything");
}

TEST_P(CatalogTest, AloneInItsRegionItIsDroppedWithItsKeysAtOnce) {
  MustDeclare("cases", "t/<tenant>/case/<id>");
  for (int i = 0; i < 20; ++i) MustPut("t/acme/case/" + std::to_string(i));
  MustPut("u");
  EXPECT_EQ(catalog().Drop("cases", {.erase = true})->job, std::nullopt);
  EXPECT_EQ(Keys(), Names{"u"});
}

TEST_P(CatalogTest, AmongOthersItIsDroppedWithItsKeysByAJob) {
  MustDeclare("cases", "t/<tenant>/case/<id>");
  MustDeclare("idem", "t/<tenant>/idem/<id>");
  for (const char* tenant : {"a", "b", "c"}) {
    MustPut("t/" + std::string(tenant) + "/case/1");
    MustPut("t/" + std::string(tenant) + "/idem/1");
  }
  EXPECT_EQ(CodeOf(catalog().Drop("cases")), "precondition_failed");
  const auto dropped = catalog().Drop("cases", {.erase = true});
  ASSERT_TRUE(dropped) << dropped.error();
  ASSERT_TRUE(dropped->job);
  EXPECT_EQ(CodeOf(GuardedPut("t/a/case/2")), "precondition_failed") << "it is being dropped";
  EXPECT_EQ(CodeOf(catalog().Drop("cases", {.erase = true})), "precondition_failed");
  EXPECT_EQ(CodeOf(catalog().Declare(SpecOf("cases", "t/<tenant>/case/<id>"))), "precondition_failed");
  RunJobs();
  EXPECT_EQ(Keys(), (Names{"t/a/idem/1", "t/b/idem/1", "t/c/idem/1"}));
  EXPECT_EQ(CodeOf(catalog().Get("cases")), "not_found");
  EXPECT_EQ(CodeOf(GuardedPut("t/a/case/2")), "invalid_argument");
  EXPECT_EQ(Jobs(store()).Get(*dropped->job)->state, JobState::kDone);
}

TEST_P(CatalogTest, AmongOthersAnEmptyOneIsFoundEmpty) {
  MustDeclare("cases", "t/<tenant>/case/<id>");
  MustDeclare("idem", "t/<tenant>/idem/<id>");
  for (int i = 0; i < 300; ++i) MustPut("t/acme/idem/" + std::to_string(i), "v");
  EXPECT_EQ(catalog().Drop("cases")->job, std::nullopt);
}

TEST_P(CatalogTest, ExplainsHowAKeyIsRead) {
  NamespaceSpec spec = SpecOf("log", "t/<tenant>/log/<day:date>/<id>");
  spec.retention = {"day", Duration::Seconds(86'400)};
  spec.default_ttl = Duration::Seconds(60);
  spec.profile = Profile::kWindow;
  MustDeclare(spec);
  const KeyExplanation governed = catalog().Explain("t/acme/log/2026-07-05/x").value();
  EXPECT_EQ(governed.ToString(),
            "t/acme/log/2026-07-05/x\n"
            "namespace log: t/<tenant>/log/<day:date>/<id>\n"
            "  tenant = acme  (text at 2)\n"
            "  day    = 2026-07-05  (date at 11)\n"
            "  id     = x  (text at 22)\n"
            "partition t/acme\n"
            "tenant acme\n"
            "profile window\n"
            "expires 60 s after it is put, unless the put says otherwise\n"
            "erased once day is older than 86400 s\n");
  EXPECT_EQ(catalog().Explain("t/acme/log/2026-02-30/x")->ToString(),
            "t/acme/log/2026-02-30/x\n"
            "refused by namespace log: t/<tenant>/log/<day:date>/<id>\n"
            "  tenant = acme  (text at 2)\n"
            "  at 20, in day: expected YYYY-MM-DD, a day that there is\n");
  EXPECT_EQ(catalog().Explain("u")->ToString(),
            "u\nno namespace governs this key: any key and any value may be there\n");
}

TEST_P(CatalogTest, TakesAsManyAsItMay) {
  std::vector<Mutation> puts;
  for (size_t i = 0; i < Catalog::kMaxNamespaces; ++i) {
    NamespaceSpec spec = SpecOf("n" + std::to_string(i), "n" + std::to_string(i) + "/<id>");
    spec = Validate(spec, engine().limits()).value();
    puts.push_back(Mutation::Put(NamespaceKey(spec.name), Namespace::Of(spec).Encode()));
  }
  puts.push_back(Mutation::Put(CatalogStampKey(), ""));
  Must(std::move(puts));
  EXPECT_EQ(catalog().List()->size(), Catalog::kMaxNamespaces);
  EXPECT_EQ(CodeOf(catalog().Declare(SpecOf("one-more", "x/<id>"))), "too_large");
  EXPECT_EQ(CodeOf(GuardedPut("n77/1/2")), "invalid_argument");
  MustPut("n77/1");
}

TEST_P(CatalogTest, ADamagedNamespaceIsCorruption) {
  Must({Mutation::Put(NamespaceKey("x"), "damaged"), Mutation::Put(CatalogStampKey(), "")});
  EXPECT_EQ(CodeOf(catalog().List()), "corruption");
  EXPECT_EQ(CodeOf(GuardedPut("anything")), "corruption") << "nobody knows what may be written";
}

}  // namespace
}  // namespace kvarts::test
