#include "cli/problem.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error_fields.h"
#include "cli/error_text.h"

namespace kvarts::cli {
namespace {

TEST(Problem, OursKeepTheirCodeAndFields) {
  const Error error = ErrorOfAnswer(412, R"({"type":"urn:kvarts:precondition_failed","title":"Precondition Failed",
      "status":412,"detail":"a precondition does not hold","key":"a\\x00","version":"17","found":3,"ok":true})");
  EXPECT_EQ(error.code(), ErrorCode::kPreconditionFailed);
  EXPECT_EQ(error.text(), "a precondition does not hold");
  EXPECT_EQ(error.field("key"), "a\\x00");
  EXPECT_EQ(error.field("version"), "17");
  EXPECT_EQ(error.field("found"), "3");
  EXPECT_EQ(error.field("status"), "");
  EXPECT_EQ(ErrorText(error), "a precondition does not hold: a\\x00 (version 17, found 3, ok true)");
}

TEST(Problem, AVersionThatIsNullIsAbsent) {
  const Error error = ErrorOfAnswer(412, R"({"type":"urn:kvarts:precondition_failed","detail":"x","version":null})");
  EXPECT_EQ(ErrorText(error), "x (version absent)");
}

TEST(Problem, EveryCodeComesBack) {
  for (int number = 0; number <= static_cast<int>(ErrorCode::kInternal); ++number) {
    const auto code = static_cast<ErrorCode>(number);
    const std::string body = fmt::format(R"({{"type":"urn:kvarts:{}","detail":"x"}})", ErrorCodeName(code));
    EXPECT_EQ(ErrorOfAnswer(418, body).code(), code);
  }
}

TEST(Problem, ThoseOfHttpGoByTheStatus) {
  EXPECT_EQ(ErrorOfAnswer(404, R"({"type":"urn:kvarts:no_such_route","detail":"x"})").code(),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(ErrorOfAnswer(408, R"({"type":"urn:kvarts:timeout","detail":"x"})").code(), ErrorCode::kOverloaded);
  EXPECT_EQ(ErrorOfAnswer(431, R"({"type":"urn:kvarts:too_large","detail":"x"})").code(), ErrorCode::kTooLarge);
}

TEST(Problem, WhatIsNoneIsToldByItsStatus) {
  for (const std::string body :
       {"", "<html>not here</html>", "{}", R"({"type":"about:blank","title":"Not Found"})", "{\"type\":"}) {
    // A missing page of another server must not look like a missing key.
    EXPECT_EQ(ErrorOfAnswer(404, body).code(), ErrorCode::kInvalidArgument) << body;
    EXPECT_EQ(ErrorOfAnswer(502, body).code(), ErrorCode::kUnavailable);
    EXPECT_EQ(ErrorOfAnswer(500, body).code(), ErrorCode::kInternal);
    EXPECT_EQ(ErrorOfAnswer(404, body).field("status"), "404");
  }
}

TEST(Problem, TextsCannotMoveTheCursorAndManyFieldsDoNoHarm) {
  std::string body = R"({"type":"urn:kvarts:internal","detail":"a\u001b[2Jb\nc")";
  for (int i = 0; i < 20; ++i) body += fmt::format(R"(,"f{}":"\u0007")", i);
  const Error error = ErrorOfAnswer(500, body + "}");
  EXPECT_EQ(error.text(), "a\\x1b[2Jb\\x0ac");
  EXPECT_EQ(error.field("f7"), "\\x07");
  EXPECT_EQ(error.field("f8"), "") << "what is told has an end";
  EXPECT_EQ(error.field("f0"), "\\x07");
}

TEST(Problem, ForProgramsItIsWhatTheServerSent) {
  const std::string sent =
      R"({"type":"urn:kvarts:not_found","title":"Not Found","status":404,"detail":"it is gone","key_base64":"/w==","n":[1]})";
  const Error error = ErrorOfAnswer(404, sent);
  EXPECT_EQ(ProblemJson(error), sent);
  EXPECT_EQ(ErrorText(error), "it is gone (key base64 /w==, n [1])") << "which is not for people";
  EXPECT_EQ(ProblemJson(WithField(error, "line", "7")), sent.substr(0, sent.size() - 1) + R"(,"line":"7"})");
}

TEST(Problem, ForProgramsOursHaveTheSameForm) {
  EXPECT_EQ(ProblemJson(Error(ErrorCode::kUnavailable, "there is no data directory", {{"path", "a\"b"}})),
            R"({"type":"urn:kvarts:unavailable","detail":"there is no data directory","path":"a\"b"})");
  EXPECT_EQ(ProblemJson(Error(ErrorCode::kInternal, "x")), R"({"type":"urn:kvarts:internal","detail":"x"})");
}

}  // namespace
}  // namespace kvarts::cli
