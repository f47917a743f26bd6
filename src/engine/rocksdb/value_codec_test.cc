#include "engine/rocksdb/value_codec.h"

#include <gtest/gtest.h>

#include <sstream>

#include "support/format_table.h"

namespace kvarts {
namespace {

// "version 7, expiry 1, owned" as a header.
ValueHeader ParseHeader(const std::string& text) {
  ValueHeader header;
  std::istringstream fields(text);
  for (std::string field; std::getline(fields, field, ',');) {
    std::istringstream words(field);
    std::string name;
    uint64_t number = 0;
    words >> name >> number;
    if (name == "version") header.version = {number};
    if (name == "expiry") header.expiry = {number};
    if (name == "kind") header.kind = static_cast<ValueKind>(number);
    if (name == "schema") header.schema = static_cast<uint32_t>(number);
    if (name == "owned") header.owned = true;
    if (name == "saturated") header.marks.saturated = true;
    if (name == "misapplied") header.marks.misapplied = true;
  }
  return header;
}

TEST(ValueCodecTest, WritesWhatTheFormatSays) {
  for (const FormatRow& row : FormatTableUnder("### Test vectors of values")) {
    std::string hex = WithoutTicks(row.at(1));
    std::erase(hex, ' ');
    const ValueHeader header = ParseHeader(row.at(0));
    EXPECT_EQ(ToHex(EncodedHeader(header).bytes()), hex) << row.at(0);
    ValueHeader decoded;
    BytesView value;
    ASSERT_TRUE(DecodeStored(*FromHex(hex) + "value", &decoded, &value)) << row.at(0);
    EXPECT_EQ(decoded, header) << row.at(0);
    EXPECT_EQ(value.size(), 5u);
  }
}

TEST(ValueCodecTest, RefusesEveryHeaderThatIsCutOff) {
  const ValueHeader header{
      .version = {7}, .expiry = {1}, .kind = ValueKind::kEnvelope, .owned = true, .schema = 300, .marks = {}};
  const Bytes whole(EncodedHeader(header).bytes());
  for (size_t size = 0; size < whole.size(); ++size) {
    ValueHeader decoded;
    BytesView value;
    EXPECT_FALSE(DecodeStored(BytesView(whole).substr(0, size), &decoded, &value)) << size;
  }
}

TEST(ValueCodecTest, RefusesWhatItDoesNotWrite) {
  ValueHeader decoded;
  BytesView value;
  EXPECT_FALSE(DecodeStored(*FromHex("20000100000000000000"), &decoded, &value));
  EXPECT_FALSE(DecodeStored(*FromHex("0400010000000000000000"), &decoded, &value));
  EXPECT_FALSE(DecodeStored(*FromHex("04000100000000000000ffffffffff7f"), &decoded, &value));
  EXPECT_FALSE(DecodeStored(*FromHex("01000100000000000000ffffffffffffffff"), &decoded, &value));
}

TEST(ValueCodecTest, AnAddIsSixteenBytes) {
  const Bytes stored = AddOperand{{5}, -2}.Encode();
  EXPECT_EQ(ToHex(stored), "0500000000000000feffffffffffffff");
  AddOperand operand;
  ASSERT_TRUE(AddOperand::Decode(stored, &operand));
  EXPECT_EQ(operand.version.stamp, 5u);
  EXPECT_EQ(operand.delta, -2);
  EXPECT_FALSE(AddOperand::Decode(BytesView(stored).substr(1), &operand));
}

}  // namespace
}  // namespace kvarts
