// Entity tags of keys: the version, "123". It names the state of a key, whichever form of it was asked for, which Vary
// keeps apart; only a compressed answer has a tag of its own, "123-gzip", since a strong one is of the bytes as sent. A
// condition on what is there (If-Match) is about the version and takes either.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "base/digits.h"
#include "base/version.h"

namespace kvarts::http {

constexpr std::string_view kGzipSuffix = "-gzip";

// Without its quotes, and without allocating.
class Tag {
 public:
  explicit Tag(Version version) : end_(WriteDigits(text_.data(), version.stamp)) {}
  Tag(const Tag&) = delete;
  Tag& operator=(const Tag&) = delete;

  std::string_view text() const { return {text_.data(), end_}; }
  // The same, compressed.
  Tag& Compressed() {
    end_ = kGzipSuffix.copy(end_, kGzipSuffix.size()) + end_;
    return *this;
  }

 private:
  std::array<char, kDigitsRoom + kGzipSuffix.size()> text_;
  char* end_;
};

// The version that a tag is of; nothing when it is none of ours.
inline std::optional<Version> VersionInTag(std::string_view tag) {
  if (tag.ends_with(kGzipSuffix)) tag.remove_suffix(kGzipSuffix.size());
  return Version::Parse(tag);
}

}  // namespace kvarts::http
