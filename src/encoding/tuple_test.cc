// Writing and reading keys element by element, and what is refused.
#include "encoding/tuple.h"

#include <gtest/gtest.h>

#include <limits>

namespace kvarts {
namespace {

using std::string_literals::operator""s;

constexpr Order kDesc = Order::kDescending;

ErrorCode CodeOf(const auto& result) { return result.error().code(); }

Tuple Nested(int depth) {
  Tuple tuple{Element{int64_t{7}}};
  for (int i = 0; i < depth; ++i) tuple = Tuple{Element{std::move(tuple)}};
  return tuple;
}

TEST(TupleTest, AKeyIsReadAsItWasWritten) {
  const Uuid uuid = Uuid::Version7({1'783'246'530'000'000}, 5);
  KeyBuffer key;
  TupleWriter(&key)
      .Null()
      .Bool(true)
      .Int(-3)
      .Uint(~uint64_t{0}, kDesc)
      .Decimal(*Decimal::Parse("-12.5"), kDesc)
      .Double(0.25)
      .Text("a\0b"s)
      .Bytes("\x01", kDesc)
      .Uuid(uuid)
      .Time(kNever, kDesc)
      .Begin()
      .Int(1)
      .Begin(kDesc)
      .Text("x", kDesc)
      .End()
      .End()
      .Tail("raw\0key"s);

  TupleReader reader(key);
  EXPECT_TRUE(reader.TakeNull().has_value());
  EXPECT_EQ(*reader.TakeBool(), true);
  EXPECT_EQ(*reader.TakeInt(), -3);
  EXPECT_EQ(*reader.TakeUint(kDesc), ~uint64_t{0});
  EXPECT_EQ(reader.TakeDecimal(kDesc)->ToString(), "-12.5");
  EXPECT_EQ(*reader.TakeDouble(), 0.25);
  EXPECT_EQ(*reader.TakeText(), "a\0b"s);
  EXPECT_EQ(*reader.TakeBytes(kDesc), "\x01");
  EXPECT_EQ(*reader.TakeUuid(), uuid);
  EXPECT_EQ(*reader.TakeTime(kDesc), kNever);
  ASSERT_TRUE(reader.EnterTuple().has_value());
  EXPECT_EQ(*reader.TakeInt(), 1);
  ASSERT_TRUE(reader.EnterTuple(kDesc).has_value());
  EXPECT_EQ(*reader.TakeText(kDesc), "x");
  EXPECT_TRUE(reader.AtEnd());
  ASSERT_TRUE(reader.LeaveTuple().has_value());
  ASSERT_TRUE(reader.LeaveTuple().has_value());
  EXPECT_EQ(reader.PeekKind()->type, ElementType::kTail);
  EXPECT_EQ(*reader.TakeTail(), "raw\0key"s);
  EXPECT_TRUE(reader.AtEnd());
  EXPECT_TRUE(reader.Finish().has_value());
}

TEST(TupleTest, WritingAppends) {
  Bytes key;
  TupleWriter(&key).Int(1);
  TupleWriter(&key).Int(2);
  EXPECT_EQ(*DecodeTuple(key), (Tuple{{int64_t{1}}, {int64_t{2}}}));
}

TEST(TupleTest, AShortPrefixAndARawKeyStayInline) {
  KeyBuffer key;
  TupleWriter(&key).Int(200).Tail("user:1");
  EXPECT_EQ(ToHex(key), "15c870757365723a31");
}

TEST(TupleTest, TheReaderTakesOnlyWhatItIsAskedFor) {
  Bytes key;
  TupleWriter(&key).Int(5);
  EXPECT_EQ(CodeOf(TupleReader(key).TakeText()), ErrorCode::kCorruption);
  EXPECT_EQ(CodeOf(TupleReader(key).TakeDecimal()), ErrorCode::kCorruption);
  EXPECT_EQ(CodeOf(TupleReader(key).TakeDouble()), ErrorCode::kCorruption);
  EXPECT_EQ(CodeOf(TupleReader(key).TakeBool()), ErrorCode::kCorruption);
  EXPECT_EQ(CodeOf(TupleReader(key).TakeNull()), ErrorCode::kCorruption);
  EXPECT_EQ(CodeOf(TupleReader(key).TakeUuid()), ErrorCode::kCorruption);
  EXPECT_EQ(CodeOf(TupleReader(key).TakeTail()), ErrorCode::kCorruption);
  EXPECT_EQ(CodeOf(TupleReader(key).EnterTuple()), ErrorCode::kCorruption);
  EXPECT_EQ(CodeOf(TupleReader(key).LeaveTuple()), ErrorCode::kCorruption);
  EXPECT_EQ(CodeOf(TupleReader(key).TakeInt(kDesc)), ErrorCode::kCorruption);
  EXPECT_EQ(CodeOf(TupleReader(key).Finish()), ErrorCode::kCorruption);
  EXPECT_EQ(*TupleReader(key).TakeInt(), 5);
  EXPECT_EQ(CodeOf(TupleReader("").TakeInt()), ErrorCode::kCorruption);
  EXPECT_EQ(CodeOf(TupleReader("").TakeElement()), ErrorCode::kCorruption);
  EXPECT_EQ(CodeOf(TupleReader("").Skip()), ErrorCode::kCorruption);
}

TEST(TupleTest, AnErrorSaysWhere) {
  Bytes key;
  TupleWriter(&key).Int(5).Int(6);
  TupleReader reader(key);
  EXPECT_EQ(*reader.TakeInt(), 5);
  EXPECT_EQ(reader.TakeText().error().field("position"), "2");
}

TEST(TupleTest, SignedAndUnsignedAreOneTypeAsFarAsTheyFit) {
  Bytes key;
  TupleWriter(&key).Uint(7).Int(8).Uint(uint64_t{1} << 63).Int(-1);
  TupleReader reader(key);
  EXPECT_EQ(*reader.TakeInt(), 7);
  EXPECT_EQ(*reader.TakeUint(), 8u);
  EXPECT_EQ(CodeOf(TupleReader(reader).TakeInt()), ErrorCode::kCorruption);
  EXPECT_EQ(*reader.TakeUint(), uint64_t{1} << 63);
  EXPECT_EQ(CodeOf(TupleReader(reader).TakeUint()), ErrorCode::kCorruption);
  EXPECT_EQ(*reader.TakeInt(), -1);
}

TEST(TupleTest, PartsOfAKeyCanBeSkippedAndMeasured) {
  Bytes key;
  TupleWriter(&key).Int(300).Text("ab").Begin().Null().End();
  const size_t partition = key.size();
  TupleWriter(&key).Tail("rest");
  TupleReader reader(key);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(reader.Skip().has_value());
  EXPECT_EQ(reader.position(), partition);
  EXPECT_TRUE(reader.Skip().has_value());
  EXPECT_TRUE(reader.Finish().has_value());
}

TEST(TupleTest, TheKindOfWhatComesNextCanBeSeen) {
  Bytes key;
  TupleWriter(&key).Text("a", kDesc);
  const auto kind = TupleReader(key).PeekKind();
  EXPECT_EQ(kind->type, ElementType::kText);
  EXPECT_EQ(kind->order, kDesc);
  EXPECT_EQ(CodeOf(TupleReader("\x7f").PeekKind()), ErrorCode::kCorruption);
}

TEST(TupleTest, TuplesNestUpToTheLimit) {
  const auto key = EncodeTuple(Nested(kMaxTupleDepth));
  ASSERT_TRUE(key.has_value());
  EXPECT_EQ(*DecodeTuple(*key), Nested(kMaxTupleDepth));

  Bytes untouched = "x";
  EXPECT_EQ(CodeOf(EncodeTuple(Nested(kMaxTupleDepth + 1), &untouched)), ErrorCode::kInvalidArgument);
  EXPECT_EQ(untouched, "x");
  const Bytes deeper = "\x50" + *key + "\0"s;
  EXPECT_EQ(CodeOf(DecodeTuple(deeper)), ErrorCode::kCorruption);
  EXPECT_EQ(CodeOf(TupleReader(deeper).Skip()), ErrorCode::kCorruption);
  EXPECT_EQ(CodeOf(DecodeTuple(Bytes(1'000'000, '\x50'))), ErrorCode::kCorruption);
}

TEST(TupleTest, ATailIsLastAscendingAndNotNested) {
  const Element tail{Element::Tail{"t"}};
  const Element number{int64_t{1}};
  EXPECT_TRUE(EncodeTuple(Tuple{number, tail}).has_value());
  EXPECT_EQ(CodeOf(EncodeTuple(Tuple{tail, number})), ErrorCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(EncodeTuple(Tuple{{Tuple{tail}}})), ErrorCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(EncodeTuple(Tuple{{Element::Tail{"t"}, kDesc}})), ErrorCode::kInvalidArgument);
}

TEST(TupleTest, DoublesHaveOneZeroAndOneNan) {
  Bytes zero;
  Bytes negative_zero;
  TupleWriter(&zero).Double(0.0);
  TupleWriter(&negative_zero).Double(-0.0);
  EXPECT_EQ(zero, negative_zero);
  Bytes nan;
  Bytes other_nan;
  TupleWriter(&nan).Double(std::numeric_limits<double>::quiet_NaN());
  TupleWriter(&other_nan).Double(-std::numeric_limits<double>::signaling_NaN());
  EXPECT_EQ(nan, other_nan);
  Bytes infinity;
  TupleWriter(&infinity).Double(std::numeric_limits<double>::infinity());
  EXPECT_LT(infinity, nan);
}

TEST(TupleTest, EmptyTuplesAreKeysToo) {
  EXPECT_EQ(*EncodeTuple(Tuple{}), "");
  EXPECT_EQ(*DecodeTuple(""), Tuple{});
  EXPECT_EQ(TuplePrefixRange(""), KeyRange::All());
}

TEST(TupleTest, RangesAroundATuple) {
  Bytes table;
  TupleWriter(&table).Int(3);
  Bytes row = table;
  TupleWriter(&row).Text("a");
  Bytes sibling = table;
  TupleWriter(&sibling).Text("a\0"s);
  EXPECT_TRUE(TuplePrefixRange(table).Contains(table));
  EXPECT_FALSE(TupleExtensionRange(table).Contains(table));
  EXPECT_TRUE(TupleExtensionRange(table).Contains(row));
  // A value that merely begins like another does not belong to it.
  EXPECT_FALSE(TuplePrefixRange(row).Contains(sibling));
  EXPECT_TRUE(TextPrefixRange(table, "a").Contains(sibling));
  EXPECT_FALSE(TextPrefixRange(table, "a", kDesc).Contains(sibling));
}

}  // namespace
}  // namespace kvarts
