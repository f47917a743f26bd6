// The seam for protocols on one port: the first bytes of a connection tell which one it speaks.
#pragma once

#include <string_view>

#include "net/stream.h"

namespace kvarts::net {

class Protocol {
 public:
  virtual ~Protocol() = default;
  virtual std::string_view name() const = 0;

  enum class Match { kNo, kMaybe, kYes };
  // Whether a connection that begins with these bytes, at least one, speaks this protocol. kMaybe asks for more; with
  // kMaxSniffBytes it must be decided.
  static constexpr size_t kMaxSniffBytes = 16;
  virtual Match Sniff(std::string_view first) const = 0;

  // Serves the connection until its end; the first bytes are in its input. If `refuse` is set there are too many
  // connections: that is the answer, in the protocol's own form, to whatever is asked first.
  virtual Task<> Serve(Stream& stream, bool refuse) = 0;
};

}  // namespace kvarts::net
