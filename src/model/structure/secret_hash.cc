#include "model/structure/secret_hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/digest.h"

namespace kvarts::structure {

size_t SecretHash::operator()(BytesView bytes) const {
  static const Bytes secret = RandomBytes(XXH3_SECRET_DEFAULT_SIZE);
  return XXH3_64bits_withSecret(bytes.data(), bytes.size(), secret.data(), secret.size());
}

}  // namespace kvarts::structure
