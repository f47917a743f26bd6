// A configuration file as flat pairs of a name and its words, with the line of each. The only user of toml++.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kvarts {

struct TomlItem {
  enum class Kind : uint8_t {
    kValue,    // a text, a number, true or false
    kList,     // of texts
    kSection,  // without anything in it
    kOther,    // what no option takes: a date, a fraction, a list of lists
  };

  std::string name;  // "http.max_body_bytes"
  uint32_t line = 0;
  Kind kind = Kind::kValue;
  std::vector<std::string> words;
};

// In the order of their lines. An error has the line and what the parser says in `line` and `cause`.
Result<std::vector<TomlItem>> ParseToml(std::string_view text);

// A text file of at most kMaxConfigBytes.
constexpr size_t kMaxConfigBytes = 1 << 20;
Result<std::string> ReadConfigFile(const std::string& path);

}  // namespace kvarts
