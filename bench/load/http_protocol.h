// HTTP/1.1 as far as a client needs it that knows what it asked for: requests from a template, and of an answer the
// status, the length and whether the connection stays. Bodies are skipped, not read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "load/protocol.h"

namespace kvarts::load {

struct HttpSettings {
  std::string host = "127.0.0.1";  // of the Host header
  std::string path;                // asked for when the workload has no keys
  bool accept_raw = false;         // values as they are, and not in JSON
  bool put_json = false;           // values are sent in JSON, and not as they are
  size_t value_bytes = 100;
  std::vector<std::string> headers;  // "Name: value", of every request
};

class HttpProtocol final : public Protocol {
 public:
  explicit HttpProtocol(const HttpSettings& settings);
  void AppendRequest(const Operation& operation, std::string* out) const override;
  Answer Look(OperationKind asked, std::string_view in) const override;

 private:
  void AppendBody(std::string_view body, std::string* out) const;
  void AppendFill(const Operation& operation, std::string* out) const;

  const HttpSettings settings_;
  // What follows the key, or the path, up to the first line whose content varies.
  std::string get_rest_;
  std::string put_rest_;
  std::string fill_head_;
  std::string path_request_;
};

}  // namespace kvarts::load
