// The parameters that CONFIG knows, under the names of Redis: one line for each (parameters.cc). Some are what the
// server goes by, and can be changed; others tell what is true here, and can only be set to that.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "protocol/resp/settings.h"

namespace kvarts::resp {

struct Service;

struct Parameter {
  enum class Kind : uint8_t {
    kFixed,    // true here, whatever anybody wants
    kStartup,  // it cannot be changed while the server runs, in Redis neither
    kNumber,
    kBytes,
    kBool,
    kOwn,  // it has functions of its own
  };

  std::string_view name;
  Kind kind;
  // Of what is fixed.
  std::string_view text = {};
  // Of numbers.
  Number number = Number::kCount_;
  int64_t initial = 0;
  int64_t at_least = 0;
  int64_t at_most = 0;
  // Of those with functions of their own, and of what is fixed but known only to the server.
  std::string (*read)(const Service& service) = nullptr;
  // Says why not, if not: a constant, or empty. `apply`: else it is only checked.
  std::string (*write)(Service& service, std::string_view value, bool apply) = nullptr;
  // Another name of the same.
  std::string_view alias = {};
};

std::span<const Parameter> AllParameters();
// In any case of letters; null when there is none.
const Parameter* FindParameter(std::string_view name);

std::string ValueOf(const Parameter& parameter, const Service& service);
// Why the value cannot be set, in Redis' words; empty: it can, and with `apply` it is.
std::string SetValue(const Parameter& parameter, Service& service, std::string_view value, bool apply);

}  // namespace kvarts::resp
