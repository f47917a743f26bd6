// What the catalog says in several places when it refuses.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/error.h"

namespace kvarts {

// The name is a user's, and may be anything.
inline Error NoSuchNamespace(std::string_view name) {
  return Error(ErrorCode::kNotFound, "there is no such namespace", {{"namespace", Escaped(name.substr(0, 100))}});
}

inline Error NamespaceIsDropped(const std::string& name) {
  return Error(ErrorCode::kPreconditionFailed, "the namespace is being dropped", {{"namespace", name}});
}

}  // namespace kvarts
