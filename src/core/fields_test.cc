#include "core/fields.h"

#include <gtest/gtest.h>

#include <functional>

namespace kvarts {
namespace {

TEST(FieldReaderTest, TakesFieldsInTheirOrder) {
  Bytes bytes;
  bytes.push_back(7);
  AppendVarint(&bytes, 300);
  AppendBig(&bytes, uint64_t{42});
  AppendSized(&bytes, "text");
  bytes += "raw";
  bytes += "the rest";
  FieldReader fields(bytes);
  EXPECT_EQ(fields.Byte(), 7);
  EXPECT_EQ(fields.Varint(), 300u);
  EXPECT_EQ(fields.Fixed(), 42u);
  EXPECT_EQ(fields.Sized(), "text");
  EXPECT_EQ(fields.Raw(3), "raw");
  EXPECT_EQ(fields.Rest(), "the rest");
  EXPECT_TRUE(fields.ok());
  EXPECT_TRUE(fields.Finish("damaged").has_value());
}

TEST(FieldReaderTest, TheFirstThingThatIsWrongSticks) {
  FieldReader fields(BytesView("\x05\x01\x02\x03", 4));
  EXPECT_EQ(fields.Byte(), 5);
  EXPECT_EQ(fields.Byte(0), 0) << "1 is more than 0";
  EXPECT_EQ(fields.Byte(), 0);
  EXPECT_EQ(fields.Sized(), "");
  fields.Require(false, "something else");
  EXPECT_FALSE(fields.ok());
  const Status finished = fields.Finish("damaged");
  ASSERT_FALSE(finished.has_value());
  EXPECT_EQ(finished.error().ToString(), "corruption: damaged (why=out of range, position=2)");
}

TEST(FieldReaderTest, WhatIsCutOffIsRefused) {
  const auto refused = [](BytesView bytes, const std::function<void(FieldReader&)>& take) {
    FieldReader fields(bytes);
    take(fields);
    return !fields.Finish("damaged").has_value();
  };
  EXPECT_TRUE(refused("", [](FieldReader& fields) { fields.Byte(); }));
  EXPECT_TRUE(refused("", [](FieldReader& fields) { fields.Varint(); }));
  EXPECT_TRUE(refused("\x80", [](FieldReader& fields) { fields.Varint(); }));
  EXPECT_TRUE(refused("1234567", [](FieldReader& fields) { fields.Fixed(); }));
  EXPECT_TRUE(refused("\x05hell", [](FieldReader& fields) { fields.Sized(); }));
  EXPECT_TRUE(refused("ab", [](FieldReader& fields) { fields.Raw(3); }));
  EXPECT_FALSE(refused("", [](FieldReader& fields) { fields.Rest(); }));
}

TEST(FieldReaderTest, NumbersHaveOneEncodingAndALimit) {
  for (const BytesView bytes : {BytesView("\x80\x00", 2), BytesView("\xff\x00", 2), BytesView("\x81\x80\x00", 3)}) {
    FieldReader fields(bytes);
    EXPECT_EQ(fields.Varint(), 0u);
    EXPECT_FALSE(fields.ok());
  }
  FieldReader limited("\x0b");
  limited.Varint(10);
  EXPECT_FALSE(limited.ok());
  FieldReader sized(
      "\x03"
      "abc");
  sized.Sized(2);
  EXPECT_FALSE(sized.ok());
}

TEST(FieldReaderTest, WhatIsLeftOverIsRefused) {
  FieldReader fields("ab");
  fields.Byte();
  EXPECT_FALSE(fields.Finish("damaged").has_value());
}

}  // namespace
}  // namespace kvarts
