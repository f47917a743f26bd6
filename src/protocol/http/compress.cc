#include "protocol/http/compress.h"

#include <zlib.h>

#include <algorithm>

namespace kvarts::http {
namespace {

constexpr int kLevel = 1;              // the network is faster than a higher one
constexpr int kGzip = 15 + 16;         // the largest window, and gzip's framing
constexpr int kMemory = 8;             // zlib's default
constexpr size_t kGrowth = 16 << 10;   // room that is made for output at a time
constexpr size_t kMaxInput = 1 << 30;  // of one call of zlib

}  // namespace

GzipStream::GzipStream() : stream_(std::make_unique<z_stream>()) {
  deflateInit2(stream_.get(), kLevel, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY);
}

GzipStream::~GzipStream() { deflateEnd(stream_.get()); }

void GzipStream::Append(Bytes* to, BytesView plain) { Deflate(to, plain, Z_NO_FLUSH); }
void GzipStream::Finish(Bytes* to) { Deflate(to, {}, Z_FINISH); }

void GzipStream::Deflate(Bytes* to, BytesView plain, int mode) {
  do {
    const BytesView part = plain.substr(0, kMaxInput);
    plain.remove_prefix(part.size());
    stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
    stream_->avail_in = static_cast<uInt>(part.size());
    do {
      const size_t before = to->size();
      to->resize(before + kGrowth);
      stream_->next_out = reinterpret_cast<Bytef*>(to->data() + before);
      stream_->avail_out = kGrowth;
      deflate(stream_.get(), plain.empty() ? mode : Z_NO_FLUSH);
      to->resize(before + kGrowth - stream_->avail_out);
    } while (stream_->avail_out == 0);
  } while (!plain.empty());
}

void AppendGzip(Bytes* to, BytesView plain) {
  GzipStream stream;
  stream.Append(to, plain);
  stream.Finish(to);
}

}  // namespace kvarts::http
