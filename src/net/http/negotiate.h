// What the headers of a request ask of the answer, and what its body is said to be: media types, codings, entity tags.
// Nothing here allocates, and what clients usually send (nothing, */*, a single type or tag) is answered by a
// comparison or two. All views are borrowed from the header.
//
// Preferences are read kindly, since a client that cannot express them still wants an answer: an element that cannot be
// understood is skipped. Conditions are read strictly: a write must not happen because its condition was misread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace kvarts::http {

// Which of the representations that we can give, in the order that we prefer, the header Accept asks for: the one of
// the highest weight; among equals the one that is named more precisely, then ours. Nothing: none is acceptable (406).
// `offered` are types in lower case such as "application/json". An absent header accepts all.
std::optional<size_t> ChooseMedia(std::string_view accept, std::span<const std::string_view> offered);

// Whether Accept-Encoding allows gzip. An absent header does not ask for it.
bool AcceptsGzip(std::string_view accept_encoding);

struct EntityTag {
  std::string_view text;  // between the quotes
  bool weak = false;

  friend bool operator==(const EntityTag&, const EntityTag&) = default;
};

// The value of If-Match or If-None-Match: "*", or entity tags with commas between them.
class EntityTags {
 public:
  static constexpr size_t kMaxTags = 64;

  // `header` names it in the error, `invalid_argument`; a constant.
  static Result<EntityTags> Parse(std::string_view value, const char* header);

  bool any() const { return count_ == 0; }  // "*"
  size_t size() const { return count_; }
  // The first; of a single tag the only one.
  const EntityTag& front() const { return first_; }
  void ForEach(const std::function<void(const EntityTag&)>& visit) const;
  // If-Match compares strongly: a weak tag never matches. "*" holds every tag.
  bool HoldsStrongly(std::string_view tag) const { return Holds(tag, false); }
  // If-None-Match compares weakly.
  bool HoldsWeakly(std::string_view tag) const { return Holds(tag, true); }

 private:
  bool Holds(std::string_view tag, bool weakly) const;

  EntityTag first_;
  std::string_view rest_;  // the tags after the first
  size_t count_ = 0;
};

// The value of Content-Type.
class MediaType {
 public:
  // `invalid_argument` when it is malformed. An empty value is the absent header: a type that is nothing.
  static Result<MediaType> Parse(std::string_view value);

  bool absent() const { return essence_.empty(); }
  // `type` in lower case, without parameters: "application/json".
  bool Is(std::string_view type) const;
  // application/json, or anything that ends in +json.
  bool IsJson() const;
  // Type and subtype in lower case.
  Bytes ToLower() const;
  // As it came; empty when it is not given.
  std::string_view charset() const { return charset_; }
  // No charset, or this one, in which everything here is written.
  bool IsUtf8() const;

 private:
  std::string_view essence_;  // type and subtype, as they came
  std::string_view charset_;
};

}  // namespace kvarts::http
