#include "engine/sizes.h"

#include <string>

namespace kvarts {

Error LimitExceeded(const char* text, const char* limit_name, size_t limit, size_t size) {
  return Error(ErrorCode::kTooLarge, text,
               {{"limit", limit_name}, {"at_most", std::to_string(limit)}, {"is", std::to_string(size)}});
}

Status CheckSizes(BytesView key, BytesView value, const Limits& limits) {
  const size_t longest = limits.max_key_bytes + Limits::kKeyAllowance;
  if (key.size() > longest) return LimitExceeded("the key is too long", "max_key_bytes", longest, key.size());
  if (value.size() <= limits.max_value_bytes) return {};
  return LimitExceeded("the value is too large", "max_value_bytes", limits.max_value_bytes, value.size());
}

}  // namespace kvarts
