// Cursors lead back to where their scan stopped, and nowhere else.
#include "core/cursor.h"

#include <gtest/gtest.h>

#include <vector>
#include "base/base64.h"

namespace kvarts {
namespace {

constexpr Timestamp kNow{1'700'000'000'000'000};
constexpr Version kVersion = Version::FromTime({kNow.micros - 5});
constexpr Duration kMaxAge = Duration::Seconds(3600);

const CursorQuery kQuery{.range = {"a", "m"}, .reverse = false};
const KeyRange kRest{"c", "m"};

std::string Opened(std::string_view text, const CursorQuery& query = kQuery, Timestamp now = kNow,
                   Duration max_age = kMaxAge, std::optional<BytesView> key = std::nullopt) {
  const auto rest = OpenCursor(text, query, now, max_age, key);
  if (rest.has_value()) return rest->ToString();
  EXPECT_EQ(rest.error().code(), ErrorCode::kInvalidArgument);
  return std::string(rest.error().text());
}

TEST(CursorTest, LeadsToWhatIsLeft) {
  const std::string text = MakeCursor(kQuery, kRest, kVersion, kNow);
  EXPECT_EQ(Opened(text), kRest.ToString());
  EXPECT_EQ(Opened(text), kRest.ToString()) << "as often as one likes";
}

TEST(CursorTest, HoldsAnyBytesAndOpenEnds) {
  for (const KeyRange& range : {KeyRange::All(), KeyRange{Bytes("\0\xff", 2), ""}, KeyRange{"", Bytes(9000, '\xff')}}) {
    for (const bool reverse : {false, true}) {
      const CursorQuery query{.range = range, .reverse = reverse, .other = "filter"};
      EXPECT_EQ(Opened(MakeCursor(query, range, kVersion, kNow), query), range.ToString());
    }
  }
}

TEST(CursorTest, IsTextForAUrl) {
  const KeyRange rest{Bytes("\0\x01\xfe\xff", 4), "m"};
  const CursorQuery query{.range = {"", "m"}, .reverse = true};
  for (const char c : MakeCursor(query, rest, kVersion, kNow)) {
    EXPECT_TRUE(std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_') << c;
  }
}

TEST(CursorTest, ForAnotherQueryItIsRefused) {
  const std::string text = MakeCursor(kQuery, kRest, kVersion, kNow);
  const char* refused = "the cursor belongs to another query";
  EXPECT_EQ(Opened(text, {.range = {"a", "n"}, .reverse = false}), refused);
  EXPECT_EQ(Opened(text, {.range = {"b", "m"}, .reverse = false}), refused);
  EXPECT_EQ(Opened(text, {.range = {"am", ""}, .reverse = false}), refused);
  EXPECT_EQ(Opened(text, {.range = kQuery.range, .reverse = true}), refused);
  EXPECT_EQ(Opened(text, {.range = kQuery.range, .reverse = false, .other = "filter"}), refused);
}

TEST(CursorTest, DoesNotLeadOutOfItsQuery) {
  for (const KeyRange& rest : {KeyRange{"", "m"}, KeyRange{"c", "n"}, KeyRange{"c", ""}, KeyRange::All()}) {
    EXPECT_EQ(Opened(MakeCursor(kQuery, rest, kVersion, kNow)), "the cursor belongs to another query");
  }
}

TEST(CursorTest, ExpiresAfterAWhile) {
  const std::string text = MakeCursor(kQuery, kRest, kVersion, kNow);
  const Timestamp last{kNow.micros + static_cast<uint64_t>(kMaxAge.micros)};
  EXPECT_EQ(Opened(text, kQuery, last), kRest.ToString());
  const auto late = OpenCursor(text, kQuery, {last.micros + 1}, kMaxAge);
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().text(), "the cursor has expired");
  EXPECT_EQ(late.error().field("limit"), "max_cursor_age");
  EXPECT_EQ(late.error().field("is_us"), "3600000001");
}

TEST(CursorTest, DoesNotExpireEarlyWhereNothingWasWrittenForLong) {
  const Version long_ago = Version::FromTime({kNow.micros - 86'400'000'000});
  EXPECT_EQ(Opened(MakeCursor(kQuery, kRest, long_ago, kNow)), kRest.ToString());
}

TEST(CursorTest, FromTheFutureItIsRefused) {
  const char* refused = "the cursor was not issued by this store";
  EXPECT_EQ(Opened(MakeCursor(kQuery, kRest, kVersion, {kNow.micros + 1})), refused);
  EXPECT_EQ(Opened(MakeCursor(kQuery, kRest, Version::FromTime({kNow.micros + 1}), kNow)), refused);
}

TEST(CursorTest, AnythingElseIsMalformed) {
  const std::string text = MakeCursor(kQuery, kRest, kVersion, kNow);
  const char* refused = "the cursor is malformed";
  for (const std::string& bad : {std::string(), std::string("x"), std::string("not a cursor"), text + "A", text + "AA",
                                 text.substr(1), "B" + text, std::string(kMaxCursorChars + 1, 'A')}) {
    EXPECT_EQ(Opened(bad), refused) << bad.substr(0, 100);
  }
  for (size_t size = 0; size < text.size(); ++size) EXPECT_EQ(Opened(text.substr(0, size)), refused) << size;
}

TEST(CursorTest, WithAnyByteChangedItIsRefusedOrStaysInItsQuery) {
  const Bytes bytes = *FromBase64Url(MakeCursor(kQuery, kRest, kVersion, kNow));
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      const auto rest = OpenCursor(ToBase64Url(changed), kQuery, kNow, kMaxAge);
      EXPECT_TRUE(!rest.has_value() || kQuery.range.Contains(*rest)) << i;
    }
  }
}

// Sealed cursors.
const Bytes kKey(32, 'k');
const Bytes kOtherKey(32, 'l');
const char* const kNotOurs = "the cursor was not issued by this store";

std::string Sealed(const CursorQuery& query = kQuery, const KeyRange& rest = kRest) {
  return MakeCursor(query, rest, kVersion, kNow, kKey);
}
std::string OpenedSealed(std::string_view text, const CursorQuery& query = kQuery, BytesView key = kKey) {
  return Opened(text, query, kNow, kMaxAge, key);
}

TEST(SealedCursorTest, LeadsToWhatIsLeft) {
  EXPECT_EQ(OpenedSealed(Sealed()), kRest.ToString());
  for (const KeyRange& range : {KeyRange::All(), KeyRange{Bytes("\0\xff", 2), ""}, KeyRange{"", Bytes(9000, '\xff')}}) {
    const CursorQuery query{.range = range, .reverse = true, .other = Bytes("\0filter", 7)};
    EXPECT_EQ(OpenedSealed(Sealed(query, range), query), range.ToString());
  }
}

TEST(SealedCursorTest, IsRefusedUnderAnotherKey) {
  EXPECT_EQ(OpenedSealed(Sealed(), kQuery, kOtherKey), kNotOurs);
  EXPECT_EQ(OpenedSealed(Sealed(), kQuery, ""), kNotOurs);
}

TEST(SealedCursorTest, IsRefusedWithoutItsSeal) {
  EXPECT_EQ(OpenedSealed(MakeCursor(kQuery, kRest, kVersion, kNow)), kNotOurs);
  Bytes bytes = *FromBase64Url(Sealed());
  bytes.resize(bytes.size() - 16);
  bytes.back() = '\0';  // its size
  EXPECT_EQ(ToBase64Url(bytes), MakeCursor(kQuery, kRest, kVersion, kNow));
  EXPECT_EQ(OpenedSealed(ToBase64Url(bytes)), kNotOurs);
}

TEST(SealedCursorTest, WithPartOfItsSealItIsMalformed) {
  const Bytes bytes = *FromBase64Url(Sealed());
  for (size_t size = 1; size < 16; ++size) {
    Bytes cut = bytes.substr(0, bytes.size() - 17);
    AppendSized(&cut, bytes.substr(bytes.size() - 16, size));
    EXPECT_EQ(OpenedSealed(ToBase64Url(cut)), "the cursor is malformed") << size;
  }
}

TEST(SealedCursorTest, WhereNobodyHasAKeyItIsRefused) { EXPECT_EQ(Opened(Sealed()), kNotOurs); }

TEST(SealedCursorTest, WithAnyBitChangedItIsRefused) {
  const Bytes bytes = *FromBase64Url(Sealed());
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      EXPECT_FALSE(OpenCursor(ToBase64Url(changed), kQuery, kNow, kMaxAge, kKey).has_value()) << i << " " << bit;
    }
  }
}

// The fingerprint alone can be made to fit: whoever writes that of another query into a cursor still lacks the seal.
TEST(SealedCursorTest, ForAnotherQueryItIsRefusedEvenIfItClaimsToBeOfThatOne) {
  const std::vector<CursorQuery> others = {
      {.range = {"a", "n"}},
      {.range = {"", "m"}},
      {.range = {"a", ""}},
      {.range = kQuery.range, .reverse = true},
      {.range = kQuery.range, .other = "filter"},
  };
  for (const CursorQuery& other : others) {
    EXPECT_EQ(OpenedSealed(Sealed(), other), "the cursor belongs to another query");
    // Flags and fingerprint are the nine bytes behind the format.
    Bytes bytes = *FromBase64Url(Sealed());
    const Bytes its = *FromBase64Url(MakeCursor(other, kRest, kVersion, kNow));
    bytes.replace(1, 9, its.substr(1, 9));
    EXPECT_EQ(OpenedSealed(ToBase64Url(bytes), other), kNotOurs);
  }
}

TEST(SealedCursorTest, ExpiresLikeAnyOther) {
  const Timestamp late{kNow.micros + static_cast<uint64_t>(kMaxAge.micros) + 1};
  EXPECT_EQ(Opened(Sealed(), kQuery, late, kMaxAge, kKey), "the cursor has expired");
}

}  // namespace
}  // namespace kvarts
