// Entity tags of keys: a version, and which form of it was sent.
//
//   "123"       the item as JSON
//   "123-raw"   the value itself
//   …-gzip      either of them, compressed
//
// Forms differ byte by byte, so their tags differ too, as RFC 9110 wants of strong ones: a cache that holds one form
// must not be told that it has the other. A condition on what is there (If-Match) is about the version, whatever the
// form.
#pragma once

#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/version.h"

namespace kvarts::http {

enum class Form : uint8_t { kJson, kRaw };

constexpr std::string_view kRawSuffix = "-raw";
constexpr std::string_view kGzipSuffix = "-gzip";

// Without its quotes, and without allocating.
class Tag {
 public:
  explicit Tag(Version version, Form form = Form::kJson) {
    end_ = std::to_chars(text_.data(), text_.data() + text_.size(), version.stamp).ptr;
    if (form == Form::kRaw) end_ = kRawSuffix.copy(end_, kRawSuffix.size()) + end_;
  }
  Tag(const Tag&) = delete;
  Tag& operator=(const Tag&) = delete;

  std::string_view text() const { return {text_.data(), end_}; }
  // The same, compressed.
  Tag& Compressed() {
    end_ = kGzipSuffix.copy(end_, kGzipSuffix.size()) + end_;
    return *this;
  }

 private:
  std::array<char, 20 + kRawSuffix.size() + kGzipSuffix.size()> text_;
  char* end_;
};

// The version that a tag of any form is of; nothing when it is none of ours.
inline std::optional<Version> VersionInTag(std::string_view tag) {
  if (tag.ends_with(kGzipSuffix)) tag.remove_suffix(kGzipSuffix.size());
  if (tag.ends_with(kRawSuffix)) tag.remove_suffix(kRawSuffix.size());
  return Version::Parse(tag);
}

}  // namespace kvarts::http
