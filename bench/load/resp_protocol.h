// Redis' protocol as far as a client needs it that knows what it asked for: commands from a template, and of an answer
// where it ends, and whether it is an error or nothing at all.
//
// A template is a line of words: "HSET {key} field {value}". {key} is the key that the workload has chosen, {value} a
// value for it, {number} the number of the key, and every other word is sent as it is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "load/protocol.h"

namespace kvarts::load {

struct RespSettings {
  std::string get = "GET {key}";
  std::string put = "SET {key} {value}";  // of a fill, too, which is one of them for each key
  size_t value_bytes = 100;
};

class RespProtocol final : public Protocol {
 public:
  explicit RespProtocol(const RespSettings& settings);
  void AppendRequest(const Operation& operation, std::string* out) const override;
  Answer Look(OperationKind asked, std::string_view in) const override;

 private:
  enum class Varying : uint8_t { kNothing, kKey, kValue, kNumber };
  // What is sent as it is, and what stands behind it.
  struct Part {
    std::string fixed;
    Varying varying;
  };
  using Template = std::vector<Part>;

  static Template TemplateOf(std::string_view line);

  const size_t value_bytes_;
  const Template get_;
  const Template put_;
};

}  // namespace kvarts::load
