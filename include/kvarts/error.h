// The error of every layer: one of a few codes, a constant text, and the facts that vary as named fields.
//
// The codes are chosen by what the caller will do next; a new code needs a caller that reacts to it. Engines turn
// their own errors into these at their boundary, and each protocol maps them to its wire errors in one file.
#pragma once

#include <initializer_list>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kvarts {

enum class ErrorCode : unsigned char {
  kNotFound,            // what was named is not there
  kAlreadyExists,       // what was to be created is there
  kPreconditionFailed,  // the caller's own condition does not hold; read again and decide
  kConflict,            // lost a race; run the same thing again
  kInvalidArgument,     // the request can never succeed as it is
  kTooLarge,            // a named limit was exceeded
  kUnauthenticated,     // say who you are
  kPermissionDenied,    // you may not
  kRateLimited,         // your own share is used up; come back later
  kOverloaded,          // the store is busy; come back later, nothing was written
  kUnavailable,         // the store cannot do this now, for a stated reason; nothing was written
  kUnknownOutcome,      // the commit may or may not be there; read before retrying
  kCorruption,          // stored bytes are not what was written
  kInternal,            // a defect of ours
};

std::string_view ErrorCodeName(ErrorCode code);

class Error {
 public:
  using Field = std::pair<std::string_view, std::string>;

  // `text` and the field names are constants: they must outlive the error, so pass literals.
  Error(ErrorCode code, const char* text) : code_(code), text_(text) {}
  Error(ErrorCode code, const char* text, std::initializer_list<Field> fields)
      : code_(code), text_(text), fields_(std::make_shared<const std::vector<Field>>(fields)) {}

  ErrorCode code() const { return code_; }
  std::string_view text() const { return text_; }
  const std::vector<Field>& fields() const;

  // The value of a field, or an empty text when the error does not carry it.
  std::string_view field(std::string_view name) const;

  // "conflict: the key changed (key=a, version=12)": for people and logs.
  std::string ToString() const;

 private:
  ErrorCode code_;
  const char* text_;
  std::shared_ptr<const std::vector<Field>> fields_;
};

std::ostream& operator<<(std::ostream& out, ErrorCode code);
std::ostream& operator<<(std::ostream& out, const Error& error);

}  // namespace kvarts
