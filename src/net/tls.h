// TLS over OpenSSL, as a filter between the bytes of a socket and those of a protocol. It owns no socket and waits for
// nothing: whoever has the socket feeds it what arrived and sends what it wants sent.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

struct ssl_ctx_st;
struct ssl_st;
struct bio_st;

namespace kvarts::net {

struct TlsOptions {
  std::string certificate;  // a file: the certificate and those that vouch for it, PEM
  std::string key;          // a file: its private key, PEM
  std::string client_ca;    // if given, clients must have a certificate that one of these vouches for
  bool allow_tls12 = true;  // else 1.3 alone
};

class TlsSession;

// A certificate with its key, ready to serve. Safe from any thread; sessions keep theirs when it is replaced.
class TlsContext {
 public:
  // `invalid_argument` says which file is wrong, and how.
  static Result<std::shared_ptr<const TlsContext>> Load(const TlsOptions& options);
  ~TlsContext();

  std::unique_ptr<TlsSession> Accept() const;

 private:
  explicit TlsContext(ssl_ctx_st* context) : context_(context) {}
  ssl_ctx_st* context_;
};

// The server's side of one connection.
class TlsSession {
 public:
  explicit TlsSession(ssl_st* session);
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  // What arrived from the peer.
  bool Feed(std::string_view bytes);
  // Appends what can be read of it. False when the session has ended or failed.
  bool Decrypt(Bytes* plain);
  // Encrypts; the result is to be sent.
  bool Encrypt(std::string_view plain);
  // Says goodbye.
  void Shutdown();

  bool HasToSend() const;
  Bytes TakeToSend();

 private:
  ssl_st* session_;
  bio_st* from_peer_;  // of the session
  bio_st* to_peer_;    // of the session
};

}  // namespace kvarts::net
