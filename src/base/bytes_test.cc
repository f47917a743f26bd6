#include "base/bytes.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace kvarts {
namespace {

using std::string_literals::operator""s;

TEST(EndianTest, BigEndianIsTheOrderOfNumbers) {
  Bytes bytes;
  AppendBig<uint32_t>(&bytes, 0x01020304);
  AppendBig<uint64_t>(&bytes, 5);
  EXPECT_EQ(ToHex(bytes), "010203040000000000000005");
  EXPECT_EQ(LoadBig<uint32_t>(bytes.data()), 0x01020304u);
  EXPECT_EQ(LoadBig<uint64_t>(bytes.data() + 4), 5u);
}

TEST(EndianTest, LittleEndianHasTheLowByteFirst) {
  Bytes bytes;
  AppendLittle<uint16_t>(&bytes, 0x0102);
  AppendLittle<uint64_t>(&bytes, 0x0102030405060708);
  EXPECT_EQ(ToHex(bytes), "02010807060504030201");
  EXPECT_EQ(LoadLittle<uint16_t>(bytes.data()), 0x0102);
  EXPECT_EQ(LoadLittle<uint64_t>(bytes.data() + 2), 0x0102030405060708u);
}

RC_GTEST_PROP(EndianTest, BigEndianComparesLikeNumbers, (uint64_t a, uint64_t b)) {
  char x[8];
  char y[8];
  StoreBig(x, a);
  StoreBig(y, b);
  RC_ASSERT((BytesView(x, 8) < BytesView(y, 8)) == (a < b));
  RC_ASSERT(LoadBig<uint64_t>(x) == a);
}

TEST(VarintTest, KnownBytes) {
  const auto encoded = [](uint64_t value) {
    Bytes bytes;
    AppendVarint(&bytes, value);
    return ToHex(bytes);
  };
  EXPECT_EQ(encoded(0), "00");
  EXPECT_EQ(encoded(127), "7f");
  EXPECT_EQ(encoded(128), "8001");
  EXPECT_EQ(encoded(300), "ac02");
  EXPECT_EQ(encoded(~uint64_t{0}), "ffffffffffffffffff01");
}

TEST(VarintTest, EveryBitLengthRoundTrips) {
  for (int bits = 0; bits < 64; ++bits) {
    for (const uint64_t value : {uint64_t{1} << bits, (uint64_t{1} << bits) - 1}) {
      Bytes bytes;
      AppendVarint(&bytes, value);
      bytes.append("rest");
      BytesView from = bytes;
      uint64_t taken = 0;
      ASSERT_TRUE(TakeVarint(&from, &taken));
      EXPECT_EQ(taken, value);
      EXPECT_EQ(from, "rest");
    }
  }
}

TEST(VarintTest, CutOffOrTooLongIsRefusedAndNothingIsTaken) {
  for (const char* hex :
       {"", "80", "ffffffffffffffffff", "ffffffffffffffffff02", "80808080808080808080", "8080808080808080808001"}) {
    const Bytes bytes = *FromHex(hex);
    BytesView from = bytes;
    uint64_t value = 7;
    EXPECT_FALSE(TakeVarint(&from, &value)) << hex;
    EXPECT_EQ(from, bytes);
    EXPECT_EQ(value, 7u);
  }
}

TEST(SizedTest, RoundTripsAndRefusesWhatIsCutOff) {
  Bytes bytes;
  AppendSized(&bytes, "abc"s);
  AppendSized(&bytes, "");
  BytesView from = bytes;
  BytesView taken;
  ASSERT_TRUE(TakeSized(&from, &taken));
  EXPECT_EQ(taken, "abc");
  ASSERT_TRUE(TakeSized(&from, &taken));
  EXPECT_EQ(taken, "");
  EXPECT_FALSE(TakeSized(&from, &taken));

  const Bytes short_by_one = "\x04"s + "abc";
  from = short_by_one;
  EXPECT_FALSE(TakeSized(&from, &taken));
  EXPECT_EQ(from, short_by_one);
}

TEST(PrefixEndTest, IsTheFirstKeyBehindAllWithThePrefix) {
  EXPECT_EQ(PrefixEnd("a"), "b");
  EXPECT_EQ(PrefixEnd("ab"), "ac");
  EXPECT_EQ(PrefixEnd("a\xff\xff"), "b");
  EXPECT_EQ(PrefixEnd("\x7f"), "\x80");
  EXPECT_EQ(PrefixEnd("\0"s), "\x01");
}

TEST(PrefixEndTest, IsEmptyWhenThereIsNone) {
  EXPECT_EQ(PrefixEnd(""), "");
  EXPECT_EQ(PrefixEnd("\xff"), "");
  EXPECT_EQ(PrefixEnd("\xff\xff"), "");
}

RC_GTEST_PROP(PrefixEndTest, SeparatesKeysWithThePrefixFromLaterOnes, (const Bytes& prefix, const Bytes& key)) {
  const Bytes end = PrefixEnd(prefix);
  const bool inside = key >= prefix && (end.empty() || key < end);
  RC_ASSERT(inside == key.starts_with(prefix));
  RC_ASSERT(end.empty() || prefix + key < end);
}

RC_GTEST_PROP(KeyAfterTest, NothingLiesBetween, (const Bytes& key, const Bytes& other)) {
  const Bytes after = KeyAfter(key);
  RC_ASSERT(after > key);
  RC_ASSERT(!(other > key && other < after));
}

TEST(EscapedTest, PrintableStaysTheRestIsHex) {
  EXPECT_EQ(Escaped("user:1 \"x\""), "user:1 \"x\"");
  EXPECT_EQ(Escaped("a\\b"), "a\\\\b");
  EXPECT_EQ(Escaped("\0\x1f\x7f\xff"s), "\\x00\\x1f\\x7f\\xff");
}

RC_GTEST_PROP(EscapedTest, ParsesBack, (const Bytes& bytes)) {
  const auto parsed = ParseEscaped(Escaped(bytes));
  RC_ASSERT(parsed.has_value());
  RC_ASSERT(*parsed == bytes);
}

TEST(EscapedTest, ParsingTakesUpperCaseAndBytesThatAreNotEscaped) {
  EXPECT_EQ(*ParseEscaped("\\xFf\\\\\xc3\xa5"), "\xff\\\xc3\xa5");
}

TEST(EscapedTest, WrongEscapesAreRefusedWithTheirPosition) {
  for (const char* text : {"ab\\", "ab\\x", "ab\\x1", "ab\\xg0", "ab\\x0g", "ab\\n"}) {
    const auto parsed = ParseEscaped(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(parsed.error().field("position"), "2");
  }
}

TEST(HexTest, KnownTexts) {
  EXPECT_EQ(ToHex("\0\x0a\xff"s), "000aff");
  EXPECT_EQ(*FromHex("000AfF"), "\0\x0a\xff"s);
  EXPECT_EQ(*FromHex(""), "");
}

RC_GTEST_PROP(HexTest, RoundTrips, (const Bytes& bytes)) { RC_ASSERT(*FromHex(ToHex(bytes)) == bytes); }

TEST(HexTest, RefusesOddLengthsAndOtherDigits) {
  EXPECT_FALSE(FromHex("a").has_value());
  EXPECT_FALSE(FromHex("0g").has_value());
  EXPECT_FALSE(FromHex("0x").has_value());
  EXPECT_EQ(FromHex("00zz").error().field("position"), "2");
}

}  // namespace
}  // namespace kvarts
