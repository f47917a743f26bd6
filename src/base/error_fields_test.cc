// Errors with as many fields as there turn out to be.
#include "base/error_fields.h"

#include <gtest/gtest.h>

namespace kvarts {
namespace {

TEST(ErrorFieldsTest, AnErrorHasAsManyFieldsAsThereAre) {
  EXPECT_EQ(MakeError(ErrorCode::kInternal, "x", {}).ToString(), "internal: x");
  EXPECT_EQ(MakeError(ErrorCode::kInternal, "x", {{"a", "1"}, {"b", ""}}).ToString(), "internal: x (a=1, b=)");
  const std::vector<Error::Field> many(kMaxErrorFields + 1, {"a", "1"});
  EXPECT_EQ(MakeError(ErrorCode::kInternal, "x", many).fields().size(), kMaxErrorFields) << "and no more than that";
}

TEST(ErrorFieldsTest, AFieldIsAddedOnce) {
  const Error error(ErrorCode::kTooLarge, "it is too long", {{"limit", "max_bytes"}});
  const Error more = WithField(error, "field", "a.b");
  EXPECT_EQ(more.ToString(), "too_large: it is too long (field=a.b, limit=max_bytes)");
  EXPECT_EQ(WithField(more, "field", "c").ToString(), more.ToString()) << "what it says already stays";
  EXPECT_EQ(WithField(Error(ErrorCode::kNotFound, "gone"), "key", "k").ToString(), "not_found: gone (key=k)");
  EXPECT_EQ(error.field("field"), "");
}

}  // namespace
}  // namespace kvarts
