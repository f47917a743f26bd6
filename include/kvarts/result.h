// Result<T>: a value or an Error. No result goes unread: the type is [[nodiscard]], and dropping one on purpose is
// spelled IgnoreError, which can be searched for.
//
//   KVARTS_TRY(auto page, view->Scan(request));    // declares `page`, or returns the error
//   KVARTS_CHECK_OK(writer.Flush());               // returns the error, if any
#pragma once

#include <expected>
#include <type_traits>
#include <utility>

#include "kvarts/error.h"

namespace kvarts {

template <class T = void>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using Base = std::expected<T, Error>;
  using Base::Base;
  Result(Error error) : Base(std::unexpected(std::move(error))) {}  // NOLINT: errors convert
};

using Status = Result<void>;

template <class T>
void IgnoreError(const Result<T>&) {}

}  // namespace kvarts

#define KVARTS_CONCAT_INNER(a, b) a##b
#define KVARTS_CONCAT(a, b) KVARTS_CONCAT_INNER(a, b)

#define KVARTS_TRY(declaration, expression) \
  KVARTS_TRY_IMPL(KVARTS_CONCAT(kvarts_try_, __LINE__), declaration, expression)
#define KVARTS_TRY_IMPL(temporary, declaration, expression)        \
  auto temporary = (expression);                                   \
  if (!temporary.has_value()) return std::move(temporary).error(); \
  declaration = *std::move(temporary)

#define KVARTS_CHECK_OK(expression)                                      \
  do {                                                                   \
    if (auto kvarts_status = (expression); !kvarts_status.has_value()) { \
      return std::move(kvarts_status).error();                           \
    }                                                                    \
  } while (false)
