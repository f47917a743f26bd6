// FORMAT.md says what the code does: its tables of type codes and test vectors are read and tried.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "encoding/tuple.h"
#include "encoding/tuple_text.h"
#include "support/format_table.h"

namespace kvarts {
namespace {

using Row = FormatRow;

TEST(TupleFormatTest, EveryVectorEncodesAndDecodesAsWritten) {
  for (const Row& row : FormatTableUnder("### Test vectors")) {
    const std::string text = row.at(0).substr(1, row.at(0).size() - 2);
    const Bytes bytes = *FromHex(WithoutTicks(row.at(1)));
    const auto encoded = ParseTuple(text);
    ASSERT_TRUE(encoded.has_value()) << text << ": " << encoded.error();
    EXPECT_EQ(ToHex(*encoded), ToHex(bytes)) << text;
    EXPECT_EQ(TupleToString(bytes), text);
    const auto decoded = DecodeTuple(bytes);
    ASSERT_TRUE(decoded.has_value()) << text;
    EXPECT_EQ(EncodeTuple(*decoded).value(), bytes);
  }
}

TEST(TupleFormatTest, TheVectorsStandInKeyOrder) {
  Bytes last;
  for (const Row& row : FormatTableUnder("### Test vectors")) {
    const Bytes bytes = *FromHex(WithoutTicks(row.at(1)));
    EXPECT_LT(last, bytes) << row.at(0);
    last = bytes;
  }
}

TEST(TupleFormatTest, EveryTypeHasVectorsInBothDirections) {
  std::map<std::pair<ElementType, Order>, int> seen;
  for (const Row& row : FormatTableUnder("### Test vectors")) {
    const Bytes bytes = *FromHex(WithoutTicks(row.at(1)));
    const auto kind = TupleReader(bytes).PeekKind();
    ++seen[{kind->type, kind->order}];
  }
  for (int type = 0; type <= static_cast<int>(ElementType::kTuple); ++type) {
    EXPECT_GT((seen[{static_cast<ElementType>(type), Order::kAscending}]), 0) << type;
    EXPECT_GT((seen[{static_cast<ElementType>(type), Order::kDescending}]), 0) << type;
  }
}

TEST(TupleFormatTest, WhatIsListedAsRefusedIsRefused) {
  for (const Row& row : FormatTableUnder("### Refused")) {
    const Bytes bytes = *FromHex(WithoutTicks(row.at(0)));
    const auto decoded = DecodeTuple(bytes);
    ASSERT_FALSE(decoded.has_value()) << row.at(1);
    EXPECT_EQ(decoded.error().code(), ErrorCode::kCorruption);
  }
}

// "0c…13" or "02" as the first and the last code.
std::pair<int, int> CodesOf(const std::string& cell) {
  const std::string text = WithoutTicks(cell);
  const auto code = [](const std::string& hex) { return std::stoi(hex, nullptr, 16); };
  return {code(text.substr(0, 2)), code(text.substr(text.size() - 2))};
}

TEST(TupleFormatTest, TheTableOfTypeCodesIsTheOneInTheCode) {
  namespace codes = tuple_codes;
  const std::map<std::string, std::pair<int, int>> expected = {
      {"null", {codes::kNull, codes::kNull}},
      {"false", {codes::kFalse, codes::kFalse}},
      {"true", {codes::kTrue, codes::kTrue}},
      {"negative integer", {codes::kIntMin, codes::kIntZero - 1}},
      {"integer 0", {codes::kIntZero, codes::kIntZero}},
      {"positive integer", {codes::kIntZero + 1, codes::kIntMax}},
      {"negative decimal", {codes::kDecimalNegative, codes::kDecimalNegative}},
      {"decimal 0", {codes::kDecimalZero, codes::kDecimalZero}},
      {"positive decimal", {codes::kDecimalPositive, codes::kDecimalPositive}},
      {"double", {codes::kDouble, codes::kDouble}},
      {"text", {codes::kText, codes::kText}},
      {"bytes", {codes::kBytes, codes::kBytes}},
      {"UUID", {codes::kUuid, codes::kUuid}},
      {"time", {codes::kTime, codes::kTime}},
      {"tuple", {codes::kTuple, codes::kTuple}},
      {"tail", {codes::kTail, codes::kTail}},
  };
  size_t rows = 0;
  for (const Row& row : FormatTableUnder("### Elements")) {
    const std::string& name = row.at(0);
    ASSERT_TRUE(expected.contains(name)) << name;
    const auto [first, last] = CodesOf(row.at(1));
    EXPECT_EQ(std::make_pair(first, last), expected.at(name)) << name;
    if (name != "tail") {
      EXPECT_EQ(CodesOf(row.at(2)), std::make_pair(0xff - first, 0xff - last)) << name;
    }
    ++rows;
  }
  EXPECT_EQ(rows, expected.size());
}

TEST(TupleFormatTest, CodesThatAreNotInTheTableAreUnknown) {
  std::vector<bool> known(256, false);
  for (const Row& row : FormatTableUnder("### Elements")) {
    const auto [first, last] = CodesOf(row.at(1));
    for (int code = first; code <= last; ++code) {
      known[static_cast<size_t>(code)] = true;
      if (row.at(0) != "tail") known[static_cast<size_t>(0xff - code)] = true;
    }
  }
  for (size_t code = 0; code < known.size(); ++code) {
    const Bytes key(1, static_cast<char>(code));
    EXPECT_EQ(TupleReader(key).PeekKind().has_value(), known[code]) << code;
  }
}

}  // namespace
}  // namespace kvarts
