// Item: a value as C++ code writes it down, in a document or in a key.
//
//   orders.Put({{"customer", "ada"}, {"n", 7}, {"total", kvarts::Number{"12.50"}}});
//   orders.Get({"ada", 7});
//
// Texts, binaries and documents it borrows: they must be there for the call that it is given to, as temporaries are.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "kvarts/error.h"
#include "kvarts/time.h"

namespace kvarts {

class Document;

// A decimal number with up to 38 digits, exactly as it is written.
struct Number {
  std::string_view text;
};

// Bytes that are no text.
struct Binary {
  std::string_view bytes;
};

class Item {
 public:
  // A document: its encoding, or why it is none.
  struct Encoded {
    std::string_view bytes;
    const Error* error;
  };
  using Value = std::variant<std::nullptr_t, bool, int64_t, uint64_t, double, Number, std::string_view, Binary,
                             Timestamp, Encoded>;

  // NOLINTBEGIN(google-explicit-constructor): values are written down as they are
  Item() : value_(nullptr) {}
  Item(std::nullptr_t) : value_(nullptr) {}
  template <std::same_as<bool> Bool>
  Item(Bool value) : value_(value) {}
  template <std::signed_integral Integer>
  requires(!std::same_as<Integer, char>) Item(Integer value) : value_(int64_t{value}) {}
  template <std::unsigned_integral Integer>
  requires(!std::same_as<Integer, bool>) Item(Integer value) : value_(uint64_t{value}) {}
  // As the shortest decimal that stands for it. There is none for what is no number.
  Item(double value) : value_(value) {}
  Item(Number number) : value_(number) {}
  Item(std::string_view text) : value_(text) {}
  Item(const std::string& text) : value_(std::string_view(text)) {}
  Item(const char* text) : value_(std::string_view(text)) {}
  Item(Binary binary) : value_(binary) {}
  // In a document, a text such as 2026-07-05T10:15:30.000000Z.
  Item(Timestamp time) : value_(time) {}
  Item(const Document& document);
  // NOLINTEND(google-explicit-constructor)

  const Value& value() const { return value_; }

 private:
  Value value_;
};

}  // namespace kvarts
