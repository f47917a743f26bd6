#include "model/structure/rdb_value.h"

#include <gtest/gtest.h>

#include "model/structure/crc64.h"
#include "model/structure/rdb_reader.h"
#include "model/structure/refusals.h"

namespace kvarts::structure {
namespace {

constexpr uint64_t kRoom = 1 << 20;

Bytes WithFooter(Bytes value, uint16_t version = 10) {
  AppendLittle(&value, version);
  AppendLittle(&value, Crc64(value));
  return value;
}

std::string WhyNot(const Bytes& dump) {
  const Result<RdbValue> value = ValueOfDump(dump, kRoom);
  return value.has_value() ? "" : std::string(value.error().text());
}

TEST(RdbValueTest, TheChecksumIsThatOfRedis) { EXPECT_EQ(Crc64("123456789"), 0xe9c6d914c4b8d9ca); }

TEST(RdbValueTest, WhatIsDumpedIsTakenBack) {
  RdbValue hash{Type::kHash};
  hash.fields = {{"a", "1", kNever}, {"b", Bytes(20'000, 'x'), {4'000'000'000'123'000}}, {"", "-70000", {5'000}}};
  RdbValue list{Type::kList};
  list.elements = {"1", "-129", "40000", "2147483648", Bytes(70, 'a'), Bytes(17'000, 'b'), "1"};
  RdbValue scored{Type::kSortedSet};
  scored.scored = {{"a", -1.5}, {"b", 0}, {"c", std::numeric_limits<double>::infinity()}};
  for (const RdbValue& value : {hash, list, scored, RdbValue{Type::kString, "007"}}) {
    const Result<RdbValue> again = ValueOfDump(DumpOf(value), kRoom);
    ASSERT_TRUE(again) << again.error();
    EXPECT_EQ(again->type, value.type);
    EXPECT_EQ(again->text, value.text);
    EXPECT_EQ(again->elements, value.elements);
    EXPECT_EQ(again->scored, value.scored);
    ASSERT_EQ(again->fields.size(), value.fields.size());
    for (size_t i = 0; i < value.fields.size(); ++i) {
      EXPECT_EQ(again->fields[i].value, value.fields[i].value);
      EXPECT_EQ(again->fields[i].expiry, value.fields[i].expiry);
    }
  }
}

TEST(RdbValueTest, WhatIsNoValueIsRefused) {
  EXPECT_EQ(WhyNot(""), kWrongPayload);
  EXPECT_EQ(WhyNot(WithFooter("\x05hello", 13)), kWrongPayload) << "of a later version";
  EXPECT_EQ(WhyNot(WithFooter("")), kBadFormat);
  EXPECT_EQ(WhyNot(WithFooter(Bytes("\x00\x05"
                                    "hell",
                                    6))),
            kBadFormat)
      << "cut off";
  EXPECT_EQ(WhyNot(WithFooter(Bytes("\x00\x04"
                                    "hello",
                                    7))),
            kBadFormat)
      << "too much";
  EXPECT_EQ(WhyNot(WithFooter(Bytes("\x02\x00", 2))), kBadFormat) << "empty";
  EXPECT_EQ(WhyNot(WithFooter("\x02\x02\x01"
                              "a\x01"
                              "a")),
            kBadFormat)
      << "twice the same";
  EXPECT_EQ(WhyNot(WithFooter("\x0f\x01")), kBadFormat) << "a stream";
  EXPECT_EQ(WhyNot(WithFooter(Bytes("\x02\x80\xff\xff\xff\xff", 6))), kBadFormat) << "more elements than bytes";
}

// A small input does not take much memory, whatever it says.
TEST(RdbValueTest, WhatIsUnpackedIsBounded) {
  // Compressed: so many references of 264 bytes each to a single one.
  constexpr size_t kReferences = 10'000;
  Bytes packed("\x00x", 2);
  for (size_t i = 0; i < kReferences; ++i) packed.append("\xe0\xff\x00", 3);
  Bytes value("\x00\xc3", 2);
  AppendRdbLength(&value, packed.size());
  AppendRdbLength(&value, 1 + kReferences * 264);
  value.append(packed);
  const Result<RdbValue> refused = ValueOfDump(WithFooter(value), kRoom);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kTooLarge);
  const Result<RdbValue> taken = ValueOfDump(WithFooter(value), 4 * kRoom);
  ASSERT_TRUE(taken) << taken.error();
  EXPECT_EQ(taken->text, Bytes(1 + kReferences * 264, 'x'));
}

}  // namespace
}  // namespace kvarts::structure
