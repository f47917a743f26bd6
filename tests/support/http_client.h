// A plain client of HTTP/1.1: it sends the bytes that it is given, good or bad, as slowly as it is told, and reads
// answers one by one. What it reads it holds to the framing of RFC 9112; anything else there is shown as a broken
// answer.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kvarts::test {

struct HttpAnswer {
  int status = 0;  // zero: there was none, or it was broken
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};

  // By its name in any case; empty when it is absent.
  std::string Header(std::string_view name) const;
  bool Has(std::string_view name) const;
};

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

class HttpClient {
 public:
  // "127.0.0.1:7700" or "unix:/path". Whether it is connected says connected().
  explicit HttpClient(const std::string& address);
  // On a socket that is connected already, which it takes over.
  explicit HttpClient(int socket) : socket_(socket) {}
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  HttpClient(HttpClient&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)), unread_(std::move(other.unread_)) {}

  bool connected() const { return socket_ >= 0; }
  // Sends all of it; false when the server no longer takes it.
  bool Send(std::string_view bytes);
  // The same in parts of so many bytes, each in a packet of its own.
  bool SendInParts(std::string_view bytes, size_t part);
  // Ends what this side has to say.
  void EndInput();
  // Ends the connection without a word, by a reset.
  void Reset();

  // The next answer, of `method`; its status is zero when the connection ended first, or the time was over.
  HttpAnswer Read(std::string_view method = "GET");
  // Sends a request and reads its answer. A body gets its Content-Length.
  HttpAnswer Call(std::string_view method, std::string_view target, const HttpHeaders& headers = {},
                  std::string_view body = {});
  // Whether the server ends the connection within this time, after whatever it still sends (which is dropped).
  bool EndsWithin(std::chrono::milliseconds time);
  // What there is, at most so many bytes; empty at the end.
  std::string ReadSome(size_t at_most);
  // Whether the server has ended the connection, as far as was read.
  bool ended() const { return ended_; }
  // Whatever arrives within this time.
  std::string ReadRaw(std::chrono::milliseconds time);

  void set_patience(std::chrono::milliseconds patience) { patience_ = patience; }

 private:
  // Appends what arrives to unread_; false at the end of the connection or of the time.
  bool Fill(std::chrono::milliseconds time);
  // Waits until so many bytes are there.
  bool FillTo(size_t size);
  std::optional<std::string> TakeLine();
  bool TakeBody(std::string_view method, HttpAnswer* answer);
  bool TakeChunks(std::string* body);

  int socket_ = -1;
  bool ended_ = false;
  std::string unread_;
  std::chrono::milliseconds patience_{20'000};
};

// A request as text, with Host and, if there is a body, Content-Length.
std::string RequestText(std::string_view method, std::string_view target, const HttpHeaders& headers = {},
                        std::string_view body = {});

}  // namespace kvarts::test
