// Tokens on every engine: made, checked, disabled, revoked and expired, and what the table knows of it.
#include "model/access/tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "engine/memory/memory_engine.h"
#include "model/access/token.h"
#include "support/eventually.h"
#include "support/forwarding_engine.h"
#include "support/stores.h"

namespace kvarts::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class TokensTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    OpenTokens();
  }
  void TearDown() override {
    tokens_.reset();
    StoreTest::TearDown();
  }
  void OpenTokens() {
    auto opened = Tokens::Open(store());
    ASSERT_TRUE(opened.has_value()) << opened.error();
    tokens_ = *std::move(opened);
  }
  void RestartAll() {
    tokens_.reset();
    Restart();
    OpenTokens();
  }

  static NewToken Named(std::string name) {
    return {.name = std::move(name), .scopes = {Scope::Everything(Right::kRead)}, .ttl = {}, .limit = {}};
  }
  Result<CreatedToken> TryCreate(const NewToken& token, RunOptions options = {}) {
    return store().Run([&](Txn& txn) { return CreateToken(txn, token); }, std::move(options));
  }
  CreatedToken Create(const NewToken& token) {
    const auto created = TryCreate(token);
    EXPECT_TRUE(created.has_value()) << created.error();
    return created.value_or(CreatedToken());
  }
  void Revoke(const TokenId& id) {
    MustRun([&](Txn& txn) { return RevokeToken(txn, id); });
  }
  void SetDisabled(const TokenId& id, bool disabled) {
    MustRun([&](Txn& txn) { return SetTokenDisabled(txn, id, disabled); });
  }
  // Many at once: to make them one by one would count them for each.
  void Plant(size_t count, Timestamp expiry) {
    TokenRecord record;
    record.info.name = "planted";
    record.info.scopes = {Scope::Everything(Right::kRead)};
    const Bytes bytes = record.Encode().value();
    MustRun(
        [&](Txn& txn) -> Status {
          for (size_t i = 0; i < count; ++i) txn.Put(TokenKey(TokenId::Random()), bytes, {.expiry = expiry});
          return {};
        },
        Quick());
  }
  std::vector<TokenInfo> List() {
    const auto tokens = store().Run([](Txn& txn) { return ListTokens(txn); });
    EXPECT_TRUE(tokens.has_value()) << tokens.error();
    return tokens.value_or(std::vector<TokenInfo>());
  }

  // "ci", or why not.
  std::string Checked(std::string_view text, Tokens::Last* last = nullptr) {
    const auto credential = tokens_->Check(text, last);
    if (credential.has_value()) return (*credential)->token().name;
    EXPECT_EQ(credential.error().code(), ErrorCode::kUnauthenticated);
    EXPECT_TRUE(credential.error().fields().empty()) << "nothing that tells one case from another";
    return std::string(credential.error().text());
  }
  static constexpr const char* kNo = "the token is not valid";

  std::unique_ptr<Tokens> tokens_;
};

TEST_P(TokensTest, ATokenWorksFromItsCreationOn) {
  const CreatedToken created = Create(Named("ci"));
  EXPECT_EQ(Checked(created.text), "ci");
  RestartAll();
  EXPECT_EQ(Checked(created.text), "ci");
}

TEST_P(TokensTest, TheSecretIsNowhereInTheStore) {
  const CreatedToken created = Create(Named("ci"));
  const auto parts = TokenText::Parse(created.text);
  ASSERT_TRUE(parts);
  const auto record = Find(TokenKey(created.info.id));
  ASSERT_TRUE(record);
  EXPECT_THAT(record->value, Not(HasSubstr(std::string(parts->secret))));
  EXPECT_THAT(record->value, HasSubstr(Bytes(Sha256(parts->secret).view())));
}

TEST_P(TokensTest, UnknownIdsWrongSecretsAndOtherTextsAreOneAnswer) {
  const CreatedToken created = Create(Named("ci"));
  const CreatedToken other = Create(Named("other"));
  std::string wrong = created.text;
  wrong.back() = wrong.back() == 'A' ? 'B' : 'A';
  const std::string secret_of_other = TokenText::Make(created.info.id, TokenText::Parse(other.text)->secret);
  const std::string unknown = TokenText::Make(TokenId::Random(), TokenText::Parse(created.text)->secret);
  for (const std::string& bad : {wrong, secret_of_other, unknown, std::string(), created.text + "x",
                                 created.text.substr(1), created.info.id.text, std::string(100'000, 'a')}) {
    EXPECT_EQ(Checked(bad), kNo) << bad.substr(0, 100);
  }
}

TEST_P(TokensTest, ARevokedTokenStopsAtOnce) {
  const CreatedToken created = Create(Named("ci"));
  const CreatedToken other = Create(Named("other"));
  Tokens::Last last;
  EXPECT_EQ(Checked(created.text, &last), "ci");
  EXPECT_EQ(Checked(created.text, &last), "ci");
  Revoke(created.info.id);
  EXPECT_EQ(Checked(created.text, &last), kNo);
  EXPECT_EQ(Checked(created.text), kNo);
  EXPECT_EQ(Checked(other.text), "other");
  RestartAll();
  EXPECT_EQ(Checked(created.text), kNo);
  EXPECT_EQ(Checked(other.text), "other");
}

TEST_P(TokensTest, ARangeEraseRevokesWhatItErases) {
  const CreatedToken created = Create(Named("ci"));
  MustRun([](Txn& txn) -> Status {
    txn.EraseRange(TokenKeys());
    return {};
  });
  EXPECT_EQ(Checked(created.text), kNo);
}

TEST_P(TokensTest, ADisabledTokenWaitsUntilItIsEnabled) {
  NewToken token = Named("ci");
  token.ttl = Duration::Seconds(60);
  const CreatedToken created = Create(token);
  Tokens::Last last;
  EXPECT_EQ(Checked(created.text, &last), "ci");
  SetDisabled(created.info.id, true);
  EXPECT_EQ(Checked(created.text, &last), kNo);
  EXPECT_TRUE(List().at(0).disabled);
  EXPECT_TRUE(tokens_->any()) << "it is there all the same";
  SetDisabled(created.info.id, true);
  SetDisabled(created.info.id, false);
  EXPECT_EQ(Checked(created.text, &last), "ci");
  EXPECT_EQ(List().at(0), created.info) << "its expiry too";
}

TEST_P(TokensTest, ATokenExpiresAtItsInstant) {
  NewToken token = Named("ci");
  token.ttl = Duration::Seconds(60);
  const CreatedToken created = Create(token);
  EXPECT_EQ(created.info.expiry.micros, created.info.created.micros + 60'000'000);
  Tokens::Last last;
  clock().MoveTo({created.info.expiry.micros - 1});
  EXPECT_EQ(Checked(created.text, &last), "ci");
  EXPECT_TRUE(tokens_->any());
  clock().MoveTo(created.info.expiry);
  EXPECT_EQ(Checked(created.text, &last), kNo);
  EXPECT_EQ(Checked(created.text), kNo);
  EXPECT_TRUE(List().empty());
  const auto found = store().Run([&](Txn& txn) { return GetToken(txn, created.info.id); });
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code(), ErrorCode::kNotFound);
}

TEST_P(TokensTest, ExpiredTokensDoNotPileUp) {
  const CreatedToken lasting = Create(Named("lasting"));
  for (int round = 0; round < 20; ++round) {
    Plant(100, In(Duration::Seconds(1)));
    Wait(Duration::Seconds(2));
  }
  EXPECT_EQ(List().size(), 1u);
  EXPECT_LT(tokens_->size(), 1200u) << "of 2001";
  EXPECT_EQ(Checked(lasting.text), "lasting");
  EXPECT_TRUE(tokens_->any());
}

TEST_P(TokensTest, WhetherThereIsAnyIsKnown) {
  EXPECT_FALSE(tokens_->any());
  const CreatedToken first = Create(Named("first"));
  const CreatedToken second = Create(Named("second"));
  EXPECT_TRUE(tokens_->any());
  Revoke(first.info.id);
  EXPECT_TRUE(tokens_->any());
  RestartAll();
  EXPECT_TRUE(tokens_->any());
  Revoke(second.info.id);
  EXPECT_FALSE(tokens_->any());
  RestartAll();
  EXPECT_FALSE(tokens_->any());
}

TEST_P(TokensTest, TokensThatHaveExpiredAreInUseUntilTheLastIsRevoked) {
  NewToken token = Named("short");
  token.ttl = Duration::Seconds(60);
  const CreatedToken expired = Create(token);
  clock().MoveTo(expired.info.expiry);
  EXPECT_TRUE(tokens_->any());
  RestartAll();
  EXPECT_TRUE(tokens_->any()) << "a restart makes no difference";
  const CreatedToken last = Create(Named("last"));
  Revoke(last.info.id);
  EXPECT_FALSE(tokens_->any());
  RestartAll();
  EXPECT_FALSE(tokens_->any());
}

TEST_P(TokensTest, AreListedWithAllThatMayBeKnown) {
  NewToken token = Named("app");
  token.scopes = {Scope::Namespace(Rights::All(), "cases"), Scope::Prefix(Right::kRead, Bytes("\0\xff", 2))};
  token.limit = RateLimit{1000, 5000};
  token.ttl = Duration::Seconds(3600);
  std::vector<TokenInfo> infos = {Create(Named("ci")).info, Create(token).info};
  std::ranges::sort(infos, {}, &TokenInfo::id);
  EXPECT_EQ(List(), infos);
  for (const TokenInfo& info : infos) {
    EXPECT_EQ(store().Run([&](Txn& txn) { return GetToken(txn, info.id); }).value(), info);
  }
}

TEST_P(TokensTest, WhatIsNotThereIsSaidNotToBe) {
  const TokenId nobody = TokenId::Random();
  const auto code = [&](const Store::Body& body) {
    const auto ran = Run(body);
    return ran.has_value() ? ErrorCode::kInternal : ran.error().code();
  };
  EXPECT_EQ(code([&](Txn& txn) { return RevokeToken(txn, nobody); }), ErrorCode::kNotFound);
  EXPECT_EQ(code([&](Txn& txn) { return SetTokenDisabled(txn, nobody, true); }), ErrorCode::kNotFound);
  EXPECT_EQ(code([&](Txn& txn) -> Status {
              KVARTS_CHECK_OK(GetToken(txn, nobody));
              return {};
            }),
            ErrorCode::kNotFound);
}

TEST_P(TokensTest, WhatIsNoTokenIsNotMade) {
  NewToken token = Named("");
  EXPECT_EQ(TryCreate(token).error().code(), ErrorCode::kInvalidArgument);
  token = Named("ci");
  token.scopes.clear();
  EXPECT_EQ(TryCreate(token).error().code(), ErrorCode::kInvalidArgument);
  token = Named("ci");
  for (const Duration ttl : {Duration::Seconds(0), Duration::Seconds(-1)}) {
    token.ttl = ttl;
    EXPECT_EQ(TryCreate(token).error().code(), ErrorCode::kInvalidArgument);
  }
  EXPECT_FALSE(tokens_->any());
}

TEST_P(TokensTest, ThereIsALimitToHowMany) {
  for (size_t i = 0; i < kMaxTokens / 1000; ++i) Plant(1000, kNever);
  const auto refused = TryCreate(Named("one too many"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), ErrorCode::kTooLarge);
  EXPECT_EQ(refused.error().field("limit"), "max_tokens");
  Revoke(List().at(0).id);
  EXPECT_TRUE(TryCreate(Named("in its place")).has_value());
}

TEST_P(TokensTest, ADamagedTokenIsThereAndOfNoUse) {
  const CreatedToken created = Create(Named("ci"));
  MustRun(Putting(TokenKey(created.info.id), "damaged"));
  EXPECT_EQ(Checked(created.text), kNo);
  EXPECT_TRUE(tokens_->any());
  const auto opened = Tokens::Open(store());
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code(), ErrorCode::kCorruption);
  Revoke(created.info.id);
  EXPECT_TRUE(Tokens::Open(store()).has_value());
}

TEST_P(TokensTest, TheLastCheckIsRememberedForItsTextAlone) {
  const CreatedToken first = Create(Named("first"));
  const CreatedToken second = Create(Named("second"));
  Tokens::Last last;
  EXPECT_EQ(Checked("", &last), kNo);
  EXPECT_EQ(Checked(first.text, &last), "first");
  EXPECT_EQ(Checked(second.text, &last), "second");
  EXPECT_EQ(Checked(first.text, &last), "first");
  std::string wrong = first.text;
  wrong.back() = wrong.back() == 'A' ? 'B' : 'A';
  EXPECT_EQ(Checked(wrong, &last), kNo);
  EXPECT_EQ(Checked("", &last), kNo);
  EXPECT_EQ(Checked(first.text, &last), "first");
}

TEST_P(TokensTest, ALastingRequestLearnsThatItsTokenIsGone) {
  const CreatedToken created = Create(Named("ci"));
  const auto credential = tokens_->Check(created.text).value();
  EXPECT_TRUE(tokens_->StillHolds(*credential));
  SetDisabled(created.info.id, true);
  EXPECT_FALSE(tokens_->StillHolds(*credential));
  SetDisabled(created.info.id, false);
  EXPECT_TRUE(tokens_->StillHolds(*credential));
  Revoke(created.info.id);
  EXPECT_FALSE(tokens_->StillHolds(*credential));
  EXPECT_EQ(credential->token().name, "ci") << "and still has what it was checked with";
}

TEST_P(TokensTest, ACredentialAllowsWhatItsScopesDo) {
  NewToken token = Named("app");
  token.scopes = {Scope::Prefix(Right::kRead, "user:"), Scope::Namespace(Right::kAdmin, "cases")};
  const auto credential = tokens_->Check(Create(token).text).value();
  EXPECT_TRUE(credential->Allows(Right::kRead, "user:1"));
  EXPECT_FALSE(credential->Allows(Right::kWrite, "user:1"));
  EXPECT_TRUE(credential->Allows(Right::kRead, KeyRange::Prefix("user:1")));
  EXPECT_FALSE(credential->Allows(Right::kRead, KeyRange::All()));
  EXPECT_FALSE(credential->AllowsAdmin());
  EXPECT_TRUE(credential->AllowsAdmin("cases"));
}

TEST_P(TokensTest, ALimitIsChargedAndOutlivesChangesOfTheToken) {
  NewToken token = Named("app");
  token.limit = RateLimit{1, 3};
  const CreatedToken created = Create(token);
  auto credential = tokens_->Check(created.text).value();
  const Timestamp now = engine().Now();
  EXPECT_TRUE(credential->Admit(now).has_value());
  Cost cost;
  cost.keys_written = 1;
  credential->Charge(cost, now);
  EXPECT_FALSE(credential->Admit(now).has_value());
  SetDisabled(created.info.id, true);
  SetDisabled(created.info.id, false);
  credential = tokens_->Check(created.text).value();
  EXPECT_EQ(credential->Admit(now).error().code(), ErrorCode::kRateLimited) << "what was used up stays used up";
  EXPECT_TRUE(credential->Admit({now.micros + 1'000'000}).has_value());
  const auto unlimited = tokens_->Check(Create(Named("free")).text).value();
  for (int i = 0; i < 1000; ++i) unlimited->Charge(cost, now);
  EXPECT_TRUE(unlimited->Admit(now).has_value());
}

TEST_P(TokensTest, WhatChangesWhileTheTableIsLoadedIsNotMissed) {
  std::vector<CreatedToken> made;
  for (int i = 0; i < 20; ++i) made.push_back(Create(Named(std::to_string(i))));
  std::thread changing([&] {
    for (int i = 0; i < 20; ++i) {
      MustRun([&](Txn& txn) { return RevokeToken(txn, made[static_cast<size_t>(i)].info.id); }, Quick());
    }
  });
  std::vector<std::unique_ptr<Tokens>> opened;
  for (int i = 0; i < 20; ++i) opened.push_back(Tokens::Open(store()).value());
  changing.join();
  for (const auto& tokens : opened) {
    EXPECT_FALSE(tokens->any());
    for (const CreatedToken& token : made) EXPECT_FALSE(tokens->Check(token.text).has_value());
  }
}

// Threads check as fast as they can. What was acknowledged before a check began holds for it.
TEST_P(TokensTest, ChecksAndRevocationsAtTheSameTimeAgree) {
  const CreatedToken lasting = Create(Named("lasting"));
  constexpr int kTokens = 60;
  std::vector<CreatedToken> made(kTokens);
  std::atomic<int> revoked = 0;
  std::atomic<int> wrong = 0;
  const auto check = [&] {
    Tokens::Last last;
    while (revoked.load() < kTokens) {
      const int gone = revoked.load();
      if (gone > 0 && tokens_->Check(made[static_cast<size_t>(gone - 1)].text, &last).has_value()) ++wrong;
      if (!tokens_->Check(lasting.text, &last).has_value()) ++wrong;
      if (!tokens_->any()) ++wrong;
    }
  };
  std::vector<std::thread> checkers;
  for (int i = 0; i < 3; ++i) checkers.emplace_back(check);
  for (int i = 0; i < kTokens; ++i) {
    made[static_cast<size_t>(i)] = TryCreate(Named("x"), Quick()).value();
    if (!tokens_->Check(made[static_cast<size_t>(i)].text).has_value()) ++wrong;
    MustRun([&](Txn& txn) { return RevokeToken(txn, made[static_cast<size_t>(i)].info.id); }, Quick());
    revoked = i + 1;
  }
  for (std::thread& checker : checkers) checker.join();
  EXPECT_EQ(wrong, 0);
}

KVARTS_ON_EVERY_ENGINE(TokensTest);

// Does something once, right after a view was opened. It can be told of changes elsewhere, as one that others write to.
class InterruptingEngine final : public ForwardingEngine {
 public:
  explicit InterruptingEngine(bool shared = false) : ForwardingEngine(OpenMemoryEngine({})) {
    capabilities_ = inner().capabilities();
    capabilities_.shared = shared;
  }
  const Capabilities& capabilities() const override { return capabilities_; }
  Result<std::unique_ptr<View>> OpenView(const Freshness& freshness) override {
    auto view = inner().OpenView(freshness);
    if (const auto interrupt = std::exchange(interrupt_, nullptr)) interrupt();
    ++views_;
    return view;
  }
  void SetListener(CommitListener* listener) override {
    listener_ = listener;
    inner().SetListener(listener);
  }
  void SomethingChangedElsewhere() {
    std::vector<std::unique_ptr<Submission>> next;
    listener_->Elsewhere({}, &next);
  }
  std::function<void()> interrupt_;
  std::atomic<int> views_ = 0;

 private:
  Capabilities capabilities_;
  CommitListener* listener_ = nullptr;
};

TEST(TokensLoadTest, WhatChangesBehindTheViewOfTheLoadIsInTheTable) {
  auto engine = std::make_unique<InterruptingEngine>();
  const auto store = Store::Open(*engine).value();
  const NewToken token{.name = "ci", .scopes = {Scope::Everything(Right::kRead)}, .ttl = {}, .limit = {}};
  const auto create = [&] { return store->Run([&](Txn& txn) { return CreateToken(txn, token); }).value(); };
  const CreatedToken kept = create();
  const CreatedToken revoked = create();
  const CreatedToken disabled = create();
  CreatedToken made;
  engine->interrupt_ = [&] {
    made = create();
    EXPECT_TRUE(store->Run([&](Txn& txn) -> Status {
      KVARTS_CHECK_OK(RevokeToken(txn, revoked.info.id));
      return SetTokenDisabled(txn, disabled.info.id, true);
    }));
  };
  const auto tokens = Tokens::Open(*store).value();
  EXPECT_EQ(engine->interrupt_, nullptr);
  EXPECT_TRUE(tokens->Check(kept.text).has_value());
  EXPECT_TRUE(tokens->Check(made.text).has_value());
  EXPECT_FALSE(tokens->Check(revoked.text).has_value());
  EXPECT_FALSE(tokens->Check(disabled.text).has_value());
  EXPECT_EQ(tokens->size(), 3u);
}

// A change elsewhere has the table loaded again, by another thread: neither may forget for the other what changed.
TEST(TokensLoadTest, OneThatIsAskedForDuringAnotherWaitsForIt) {
  auto engine = std::make_unique<InterruptingEngine>(true);
  const auto store = Store::Open(*engine).value();
  const NewToken named{.name = "ci", .scopes = {Scope::Everything(Right::kRead)}, .ttl = {}, .limit = {}};
  const CreatedToken token = store->Run([&](Txn& txn) { return CreateToken(txn, named); }).value();
  engine->interrupt_ = [&] {
    EXPECT_TRUE(store->Run([&](Txn& txn) { return RevokeToken(txn, token.info.id); }));
    const int before = engine->views_;
    engine->SomethingChangedElsewhere();
    EXPECT_FALSE(Eventually([&] { return engine->views_ != before; }, std::chrono::milliseconds(200)));
  };
  const auto tokens = Tokens::Open(*store).value();
  EXPECT_EQ(engine->interrupt_, nullptr);
  EXPECT_FALSE(tokens->Check(token.text).has_value());
}

}  // namespace
}  // namespace kvarts::test
