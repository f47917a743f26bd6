// How a key is read: for `kvarts explain KEY`, and for whoever was refused.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/catalog/namespace_table.h"

namespace kvarts {

struct KeyExplanation {
  enum class Verdict { kFree, kGoverned, kRefused };
  struct Field {
    std::string name;
    std::string type;
    size_t position = 0;
    Bytes value;
  };
  struct Problem {
    size_t position = 0;
    std::string field;  // empty: in a literal
    std::string expected;
  };

  Bytes key;
  Verdict verdict = Verdict::kFree;
  std::vector<std::string> namespaces;  // in whose region it lies; the key's own first, or the one it follows furthest
  // Of that one:
  std::string grammar;
  std::vector<Field> fields;  // as far as the key matches
  std::optional<Problem> problem;
  // If it is governed:
  std::optional<Bytes> partition;
  std::optional<Bytes> tenant;
  Profile profile = Profile::kLookup;
  std::optional<Duration> default_ttl;
  std::optional<RetentionRule> retention;
  bool envelope_required = false;
  bool feed = false;
  bool dropping = false;

  // Some lines of text.
  std::string ToString() const;
};

KeyExplanation ExplainKey(const NamespaceTable& table, BytesView user_key);

}  // namespace kvarts
