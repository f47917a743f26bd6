// Errors carry a code, a constant text and named facts; results are never lost on the way up.
#include "base/error.h"

#include <gtest/gtest.h>

#include <memory>
#include <sstream>

#include "base/result.h"

namespace kvarts {
namespace {

Result<int> Half(int number) {
  if (number % 2 != 0) {
    return Error(ErrorCode::kInvalidArgument, "odd", {{"number", std::to_string(number)}});
  }
  return number / 2;
}

Result<int> Quarter(int number) {
  KVARTS_TRY(const int half, Half(number));
  KVARTS_TRY(int quarter, Half(half));
  return quarter;
}

Status CheckEven(int number) {
  KVARTS_CHECK_OK(Half(number));
  return {};
}

Result<std::unique_ptr<int>> Boxed(int number) {
  KVARTS_TRY(auto half, Half(number));
  return std::make_unique<int>(half);
}

Result<int> Unboxed(int number) {
  KVARTS_TRY(const std::unique_ptr<int> box, Boxed(number));
  return *box;
}

TEST(ErrorTest, EveryCodeHasItsWireName) {
  EXPECT_EQ(ErrorCodeName(ErrorCode::kNotFound), "not_found");
  EXPECT_EQ(ErrorCodeName(ErrorCode::kAlreadyExists), "already_exists");
  EXPECT_EQ(ErrorCodeName(ErrorCode::kPreconditionFailed), "precondition_failed");
  EXPECT_EQ(ErrorCodeName(ErrorCode::kConflict), "conflict");
  EXPECT_EQ(ErrorCodeName(ErrorCode::kInvalidArgument), "invalid_argument");
  EXPECT_EQ(ErrorCodeName(ErrorCode::kTooLarge), "too_large");
  EXPECT_EQ(ErrorCodeName(ErrorCode::kUnauthenticated), "unauthenticated");
  EXPECT_EQ(ErrorCodeName(ErrorCode::kPermissionDenied), "permission_denied");
  EXPECT_EQ(ErrorCodeName(ErrorCode::kRateLimited), "rate_limited");
  EXPECT_EQ(ErrorCodeName(ErrorCode::kOverloaded), "overloaded");
  EXPECT_EQ(ErrorCodeName(ErrorCode::kUnavailable), "unavailable");
  EXPECT_EQ(ErrorCodeName(ErrorCode::kUnknownOutcome), "unknown_outcome");
  EXPECT_EQ(ErrorCodeName(ErrorCode::kCorruption), "corruption");
  EXPECT_EQ(ErrorCodeName(ErrorCode::kInternal), "internal");
}

TEST(ErrorTest, PrintsCodeTextAndFields) {
  const Error plain(ErrorCode::kNotFound, "no such key");
  EXPECT_EQ(plain.ToString(), "not_found: no such key");
  const Error error(ErrorCode::kConflict, "the key changed", {{"key", "a"}, {"version", "12"}});
  EXPECT_EQ(error.ToString(), "conflict: the key changed (key=a, version=12)");
  std::ostringstream out;
  out << error.code() << "; " << plain;
  EXPECT_EQ(out.str(), "conflict; not_found: no such key");
}

TEST(ErrorTest, FieldsAreFoundByName) {
  const Error error(ErrorCode::kTooLarge, "too large", {{"size", "9"}, {"max", "8"}});
  EXPECT_EQ(error.field("size"), "9");
  EXPECT_EQ(error.field("max"), "8");
  EXPECT_EQ(error.field("key"), "");
  EXPECT_EQ(error.fields().size(), 2u);
  EXPECT_TRUE(Error(ErrorCode::kInternal, "bug").fields().empty());
}

TEST(ErrorTest, CopiesShareTheirFields) {
  const Error error(ErrorCode::kTooLarge, "too large", {{"size", "9"}});
  const Error copy = error;  // NOLINT: the copy is the point
  EXPECT_EQ(copy.ToString(), error.ToString());
}

TEST(ResultTest, TryDeclaresTheValueOrReturnsTheError) {
  EXPECT_EQ(*Quarter(12), 3);
  ASSERT_FALSE(Quarter(6).has_value());
  EXPECT_EQ(Quarter(6).error().field("number"), "3");
  EXPECT_EQ(Quarter(5).error().field("number"), "5");
}

TEST(ResultTest, CheckOkReturnsTheError) {
  EXPECT_TRUE(CheckEven(4).has_value());
  EXPECT_EQ(CheckEven(5).error().code(), ErrorCode::kInvalidArgument);
}

TEST(ResultTest, ValuesThatCanOnlyMoveAreMoved) {
  EXPECT_EQ(*Unboxed(8), 4);
  EXPECT_FALSE(Unboxed(7).has_value());
}

TEST(ResultTest, IgnoringIsSpelledOut) { IgnoreError(Half(1)); }

}  // namespace
}  // namespace kvarts
