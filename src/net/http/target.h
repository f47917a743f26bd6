// What a request's target says: percent-encoded bytes, and the parameters of its query.
//
//   QueryReader query(head.query());
//   const uint64_t limit = query.Uint("limit", 100, 1, 1000);
//   const BytesView prefix = query.Get("prefix", "");
//   KVARTS_CHECK_OK(query.Finish());
//
// Any bytes can be encoded, zero included; a percent sign that is not followed by two hex digits is refused. A plus
// sign is a space in the values of a query, because forms write it so, and itself everywhere else.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <forward_list>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace kvarts::http {

// `invalid_argument` says at which position it is wrong.
Result<Bytes> PercentDecode(std::string_view text);
// The same without a copy when there is nothing to decode: what is returned lies in `text`, or in `scratch`.
Result<BytesView> PercentDecode(std::string_view text, Bytes* scratch);
// Everything but letters, digits and -._~ is encoded, so that it can stand anywhere in a URL.
void AppendPercentEncoded(Bytes* to, BytesView bytes);
Bytes PercentEncode(BytesView bytes);

// QueryReader: takes a query apart, parameter by parameter, in the manner of core/fields.h. The first thing that is
// wrong sticks: from then on every parameter reads as its fallback, and Finish says what it was, with the parameter's
// name in the field `parameter`. Wrong are also parameters that are given twice or that nobody asked for. What it
// returns is borrowed from the query or from the reader.
class QueryReader {
 public:
  static constexpr size_t kMaxParameters = 32;

  explicit QueryReader(std::string_view query);
  // Not of a text that is gone when the first parameter is asked for.
  template <std::same_as<std::string> Temporary>
  explicit QueryReader(Temporary&& query) = delete;
  QueryReader(const QueryReader&) = delete;
  QueryReader& operator=(const QueryReader&) = delete;

  // Any bytes; a parameter without = is empty.
  std::optional<BytesView> Get(std::string_view name);
  BytesView Get(std::string_view name, BytesView fallback);
  uint64_t Uint(std::string_view name, uint64_t fallback, uint64_t at_least, uint64_t at_most);
  // "true", or there without a value; "false".
  bool Flag(std::string_view name, bool fallback = false);
  // The place among `choices` of the one that was chosen.
  size_t Choice(std::string_view name, std::initializer_list<std::string_view> choices, size_t fallback);

  // Something that must hold of a parameter; `why` is a constant.
  void Require(bool holds, std::string_view name, const char* why);
  bool ok() const { return !error_.has_value(); }
  // That nothing was wrong and nothing is left that nobody asked for.
  Status Finish();

 private:
  struct Parameter {
    BytesView name;          // decoded
    std::string_view value;  // as it came
    bool asked = false;
  };

  void Add(std::string_view name, std::string_view value);
  void Fail(const char* text, std::string_view name, std::initializer_list<Error::Field> more = {});
  // Keeps decoded bytes as long as the reader lives.
  BytesView Keep(Bytes bytes) { return decoded_.emplace_front(std::move(bytes)); }

  size_t count_ = 0;
  std::array<Parameter, kMaxParameters> parameters_;
  std::forward_list<Bytes> decoded_;
  std::optional<Error> error_;
};

}  // namespace kvarts::http
