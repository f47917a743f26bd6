#include "base/digest.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>

namespace kvarts {
namespace {

// Finding an algorithm takes OpenSSL far longer than running it on a few hundred bytes, so each thread keeps its own,
// ready to run.
struct Closer {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  void operator()(EVP_MD* digest) const { EVP_MD_free(digest); }
  void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
  void operator()(EVP_MAC* mac) const { EVP_MAC_free(mac); }
};

void Require(bool holds) {
  if (!holds) std::abort();
}

const unsigned char* Raw(BytesView bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }
unsigned char* Raw(Digest* digest) { return reinterpret_cast<unsigned char*>(digest->bytes.data()); }

class Sha {
 public:
  Sha() : digest_(EVP_MD_fetch(nullptr, "SHA256", nullptr)), context_(EVP_MD_CTX_new()) {
    Require(digest_ != nullptr && context_ != nullptr);
  }

  Digest Run(BytesView bytes) {
    Digest result;
    Require(EVP_DigestInit_ex2(context_.get(), digest_.get(), nullptr) == 1 &&
            EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1 &&
            EVP_DigestFinal_ex(context_.get(), Raw(&result), nullptr) == 1);
    return result;
  }

 private:
  std::unique_ptr<EVP_MD, Closer> digest_;
  std::unique_ptr<EVP_MD_CTX, Closer> context_;
};

class Hmac {
 public:
  Hmac() : mac_(EVP_MAC_fetch(nullptr, "HMAC", nullptr)) {
    Require(mac_ != nullptr);
    context_.reset(EVP_MAC_CTX_new(mac_.get()));
    char name[] = "SHA256";
    const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name, 0),
                                     OSSL_PARAM_construct_end()};
    Require(context_ != nullptr && EVP_MAC_CTX_set_params(context_.get(), parameters) == 1);
  }

  Digest Run(BytesView key, std::initializer_list<BytesView> parts) {
    Digest result;
    size_t size = 0;
    // A null key would mean the one before.
    Require(EVP_MAC_init(context_.get(), key.empty() ? Raw("") : Raw(key), key.size(), nullptr) == 1);
    for (const BytesView part : parts) Require(EVP_MAC_update(context_.get(), Raw(part), part.size()) == 1);
    Require(EVP_MAC_final(context_.get(), Raw(&result), &size, Digest::kSize) == 1 && size == Digest::kSize);
    return result;
  }

 private:
  std::unique_ptr<EVP_MAC, Closer> mac_;
  std::unique_ptr<EVP_MAC_CTX, Closer> context_;
};

}  // namespace

bool operator==(const Digest& a, const Digest& b) { return EqualSecret(a.view(), b.view()); }

Digest Sha256(BytesView bytes) {
  thread_local Sha sha;
  return sha.Run(bytes);
}

Digest HmacSha256(BytesView key, std::initializer_list<BytesView> parts) {
  thread_local Hmac hmac;
  return hmac.Run(key, parts);
}

bool EqualSecret(BytesView a, BytesView b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

Bytes RandomBytes(size_t size) {
  // The system gives up to so many at once and is never interrupted on the way.
  constexpr size_t kAtOnce = 256;
  Bytes bytes(size, '\0');
  for (size_t done = 0; done < size;) {
    const ssize_t got = getrandom(bytes.data() + done, std::min(size - done, kAtOnce), 0);
    Require(got > 0 || errno == EINTR);
    if (got > 0) done += static_cast<size_t>(got);
  }
  return bytes;
}

}  // namespace kvarts
