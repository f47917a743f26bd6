// An item of an answer: a key with what is under it, as people and pipes want to see it.
#pragma once

#include <optional>
#include <string>

#include "cli/json_object.h"

namespace kvarts::cli {

struct Item {
  Bytes key;
  std::optional<Bytes> value = {};  // of JSON its text; nothing if it was not asked for
  bool is_json = false;
  std::string version = {};
  std::string expiry = {};  // as a time, or empty
  std::string type = {};    // of a value with a media type
  bool has_envelope = false;

  // `unavailable` when the object is no item.
  static Result<Item> Of(const JsonObject& object);

  // "version 17…, expires 2026-07-05T10:15:30Z": what stands beside the value.
  std::string About() const;
};

// A value on a terminal: text with its lines, everything that could disturb it escaped, cut off after so many bytes.
std::string ValueForTerminal(BytesView value, size_t at_most);

}  // namespace kvarts::cli
