// Scopes: what a token may do, and where.
//
// A scope gives rights over everything, over the keys of a namespace, over the keys with a prefix, or over tables. A
// token has a few of them, and may do what one of them allows by itself: a range must lie within one scope as a whole,
// also where two scopes lie side by side. Keys and prefixes are users' keys, not physical ones. Namespaces go by name,
// and who asks says which one the key or the range lies in. Tables go by name, too: `acme` is a project with all that
// is in it, `acme/metrics` a dataset of it, `acme/metrics/events` one table. Rows are no keys, and keys no rows: only
// everything is both.
//
// `read` and `write` are about keys and rows, and neither implies the other. `admin` is the right to say how things
// are: over a namespace its declaration, over tables the catalog of them, over everything also tokens, jobs and
// settings. Over a namespace or tables it says nothing about what is in them. Over everything it implies the other two:
// who can make any token can do what any token can. Over a prefix there is nothing to administer, so there is no such
// scope.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "encoding/key_range.h"

namespace kvarts {

// The numbers are the bits on disk.
enum class Right : uint8_t { kRead = 1, kWrite = 2, kAdmin = 4 };

class Rights {
 public:
  constexpr Rights() = default;
  constexpr Rights(Right right) : bits_(static_cast<uint8_t>(right)) {}  // NOLINT: a right is a set of one

  static constexpr Rights All() { return FromBits(kAllBits); }
  static constexpr uint8_t kAllBits = 7;
  static constexpr Rights FromBits(uint8_t bits) {
    Rights rights;
    rights.bits_ = bits & kAllBits;
    return rights;
  }

  constexpr bool Has(Right right) const { return (bits_ & static_cast<uint8_t>(right)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr uint8_t bits() const { return bits_; }
  friend constexpr Rights operator|(Rights a, Rights b) { return FromBits(a.bits_ | b.bits_); }
  friend constexpr bool operator==(Rights, Rights) = default;

 private:
  uint8_t bits_ = 0;
};

struct Scope {
  // The numbers are those on disk.
  enum class Where : uint8_t { kEverything = 0, kNamespace = 1, kPrefix = 2, kTables = 3 };
  static constexpr size_t kMaxNamespaceBytes = 255;
  static constexpr size_t kMaxPrefixBytes = 4096;
  static constexpr size_t kMaxTablesBytes = 767;  // three names of 255 bytes

  Rights rights;
  Where where = Where::kEverything;
  Bytes what;  // the name, the prefix, or the way to tables; empty for everything

  static Scope Everything(Rights rights) { return {rights, Where::kEverything, {}}; }
  static Scope Namespace(Rights rights, std::string_view name) { return {rights, Where::kNamespace, Bytes(name)}; }
  static Scope Prefix(Rights rights, BytesView prefix) { return {rights, Where::kPrefix, Bytes(prefix)}; }
  static Scope Tables(Rights rights, std::string_view path) { return {rights, Where::kTables, Bytes(path)}; }

  // That it is a scope at all: `invalid_argument` without rights or place, and for admin over a prefix.
  Status Check() const;

  // For people and command lines: "read,write", "read:namespace=cases", "read,write:prefix=user:\x00",
  // "read:tables=acme/metrics".
  std::string ToString() const;
  // Its inverse: what parses is a scope.
  static Result<Scope> Parse(std::string_view text);

  friend bool operator==(const Scope&, const Scope&) = default;
};

// Whether one of the scopes gives the right over the key, which lies in this namespace; empty for none.
bool Allows(std::span<const Scope> scopes, Right right, BytesView key, std::string_view name_space);
// The same for every key of a range; the namespace is the one that the whole range lies in. A range that holds nothing
// is in no scope but that of everything.
bool Allows(std::span<const Scope> scopes, Right right, const KeyRange& range, std::string_view name_space);
// Whether one of them gives the right over everything in a table, a dataset or a project: "acme/metrics/events". The
// empty path is all projects.
bool AllowsTables(std::span<const Scope> scopes, Right right, std::string_view path);
// Whether one of them gives the right over anything at all.
bool AllowsSome(std::span<const Scope> scopes, Right right);
// Whether one of them gives admin over everything.
bool AllowsAdmin(std::span<const Scope> scopes);
// Whether one of them gives admin over the namespace.
bool AllowsAdmin(std::span<const Scope> scopes, std::string_view name_space);

}  // namespace kvarts
