// Compression of answers: gzip, which every client knows.
#pragma once

#include <memory>

#include "base/bytes.h"

struct z_stream_s;

namespace kvarts::http {

// The whole of it at once.
void AppendGzip(Bytes* to, BytesView plain);

// A stream, part by part.
class GzipStream {
 public:
  GzipStream();
  ~GzipStream();

  // Appends what can be sent already.
  void Append(Bytes* to, BytesView plain);
  void Finish(Bytes* to);

 private:
  void Deflate(Bytes* to, BytesView plain, int mode);

  std::unique_ptr<z_stream_s> stream_;
};

}  // namespace kvarts::http
