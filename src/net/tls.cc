#include "net/tls.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

namespace kvarts::net {
namespace {

constexpr size_t kRecordBytes = 16 << 10;  // the most that a record holds

Error Refused(const char* text, const std::string& file) {
  const unsigned long code = ERR_get_error();  // NOLINT: OpenSSL's type
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  return Error(ErrorCode::kInvalidArgument, text, {{"file", file}, {"cause", reason == nullptr ? "" : reason}});
}

}  // namespace

Result<std::shared_ptr<const TlsContext>> TlsContext::Load(const TlsOptions& options) {
  ERR_clear_error();
  std::shared_ptr<TlsContext> made(new TlsContext(SSL_CTX_new(TLS_server_method())));
  SSL_CTX* context = made->context_;
  if (context == nullptr) return Error(ErrorCode::kInternal, "OpenSSL cannot be used");
  SSL_CTX_set_min_proto_version(context, options.allow_tls12 ? TLS1_2_VERSION : TLS1_3_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  // Idle connections give their buffers back.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  // Without one, clients with certificates cannot resume a session.
  static constexpr unsigned char kSessions[] = "kvarts";
  SSL_CTX_set_session_id_context(context, kSessions, sizeof(kSessions) - 1);
  if (SSL_CTX_use_certificate_chain_file(context, options.certificate.c_str()) != 1) {
    return Refused("the certificate cannot be used", options.certificate);
  }
  if (SSL_CTX_use_PrivateKey_file(context, options.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return Refused("the private key cannot be used", options.key);
  }
  if (SSL_CTX_check_private_key(context) != 1) {
    return Refused("the private key does not belong to the certificate", options.key);
  }
  if (!options.client_ca.empty()) {
    if (SSL_CTX_load_verify_locations(context, options.client_ca.c_str(), nullptr) != 1) {
      return Refused("the clients' certificate authority cannot be used", options.client_ca);
    }
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  return std::shared_ptr<const TlsContext>(std::move(made));
}

TlsContext::~TlsContext() { SSL_CTX_free(context_); }

std::unique_ptr<TlsSession> TlsContext::Accept() const { return std::make_unique<TlsSession>(SSL_new(context_)); }

TlsSession::TlsSession(ssl_st* session)
    : session_(session), from_peer_(BIO_new(BIO_s_mem())), to_peer_(BIO_new(BIO_s_mem())) {
  SSL_set_bio(session_, from_peer_, to_peer_);
  SSL_set_accept_state(session_);
}

TlsSession::~TlsSession() { SSL_free(session_); }

bool TlsSession::Feed(std::string_view bytes) {
  return BIO_write(from_peer_, bytes.data(), static_cast<int>(bytes.size())) == static_cast<int>(bytes.size());
}

bool TlsSession::Decrypt(Bytes* plain) {
  while (true) {
    const size_t before = plain->size();
    plain->resize(before + kRecordBytes);
    ERR_clear_error();
    const int got = SSL_read(session_, plain->data() + before, kRecordBytes);
    plain->resize(before + static_cast<size_t>(std::max(got, 0)));
    if (got > 0) continue;
    const int why = SSL_get_error(session_, got);
    return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE;
  }
}

bool TlsSession::Encrypt(std::string_view plain) {
  while (!plain.empty()) {
    const auto size = static_cast<int>(std::min<size_t>(plain.size(), 1 << 30));
    ERR_clear_error();
    const int written = SSL_write(session_, plain.data(), size);
    if (written <= 0) return false;
    plain.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

void TlsSession::Shutdown() {
  ERR_clear_error();
  SSL_shutdown(session_);
}

bool TlsSession::HasToSend() const { return BIO_ctrl_pending(to_peer_) != 0; }

Bytes TlsSession::TakeToSend() {
  Bytes bytes(BIO_ctrl_pending(to_peer_), '\0');
  if (!bytes.empty()) BIO_read(to_peer_, bytes.data(), static_cast<int>(bytes.size()));
  return bytes;
}

}  // namespace kvarts::net
