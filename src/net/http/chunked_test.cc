#include "net/http/chunked.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "net/http/response_head.h"

namespace kvarts::http {
namespace {

using Text = std::string;

struct Decoded {
  Text body;
  size_t consumed = 0;
  bool done = false;
  int status = 0;
  friend bool operator==(const Decoded&, const Decoded&) = default;
};

std::ostream& operator<<(std::ostream& out, const Decoded& decoded) {
  return out << decoded.body << " consumed=" << decoded.consumed << " done=" << decoded.done
             << " status=" << decoded.status;
}

// In place, in pieces of so many bytes; what was decoded is gathered at the front.
Decoded DecodeInPieces(Text input, size_t piece, uint64_t limit = 1 << 20) {
  ChunkedDecoder decoder(limit);
  Decoded decoded;
  size_t produced = 0;
  for (size_t at = 0; at < input.size() && !decoded.done && decoded.status == 0; at += piece) {
    const std::string_view next = std::string_view(input).substr(at, piece);
    const ChunkedDecoder::Progress progress = decoder.Decode(next, input.data() + produced);
    EXPECT_LE(progress.produced, progress.consumed);
    if (!progress.done && !progress.error) {
      EXPECT_EQ(progress.consumed, next.size());
    }
    produced += progress.produced;
    decoded.consumed += progress.consumed;
    decoded.done = progress.done;
    decoded.status = progress.error.status;
  }
  decoded.body = input.substr(0, produced);
  return decoded;
}

Decoded Decode(const Text& input, uint64_t limit = 1 << 20) {
  const Decoded whole = DecodeInPieces(input, std::max<size_t>(input.size(), 1), limit);
  for (const size_t piece : {1, 2, 3, 7}) {
    EXPECT_EQ(DecodeInPieces(input, piece, limit), whole) << input << " in pieces of " << piece;
  }
  return whole;
}

TEST(ChunkedTest, ChunksAreJoined) {
  const Text input = "5\r\nhello\r\n1\r\n \r\n0000a\r\n0123456789\r\nB\r\nworld\r\nmore\r\n0\r\n\r\n";
  const Decoded decoded = Decode(input + "GET /next");
  EXPECT_EQ(decoded.body, "hello 0123456789world\r\nmore");
  EXPECT_TRUE(decoded.done);
  EXPECT_EQ(decoded.consumed, input.size());
}

TEST(ChunkedTest, MoreIsAwaitedAtEveryPrefix) {
  const Text input = "3;a=b\r\nabc\r\n0\r\nX: y\r\n\r\n";
  for (size_t size = 0; size < input.size(); ++size) {
    const Decoded decoded = Decode(input.substr(0, size));
    EXPECT_FALSE(decoded.done) << size;
    EXPECT_EQ(decoded.status, 0) << size;
  }
  EXPECT_TRUE(Decode(input).done);
}

TEST(ChunkedTest, ExtensionsAndTrailersAreDropped) {
  EXPECT_EQ(Decode("3;a=b;c=\"d e\"\r\nabc\r\n0;x\r\nExpires: never\r\nX-Y:\r\n\r\n").body, "abc");
  EXPECT_TRUE(Decode("0\r\nContent-Length: 100\r\nHost: x\r\n\r\n").done) << "a trailer cannot change the framing";
}

TEST(ChunkedTest, MalformedFramingIsRefused) {
  for (const Text& input : std::initializer_list<Text>{"\r\n",
                                                       "\n",
                                                       "g\r\n",
                                                       "-1\r\n",
                                                       "+1\r\na",
                                                       "0x1\r\na",
                                                       "1 \r\na",
                                                       " 1\r\na",
                                                       "1\t\r\na",
                                                       "1\na\n0\n\n",
                                                       "1\n",
                                                       "1\ra",
                                                       "1\r\r\n",
                                                       ";a\r\n",
                                                       "1;\n",
                                                       "1;a\nb\r\n",
                                                       "1;a\rb",
                                                       "1;\x01\r\n",
                                                       "1;\x7f\r\n",
                                                       "1\r\nab\r\n",
                                                       "1\r\na\n",
                                                       "1\r\na\rb",
                                                       "1\r\na0\r\n\r\n",
                                                       "2\r\na\r\n0\r\n\r\n",
                                                       "0\r\n\n",
                                                       "0\r\n\rX",
                                                       "0\r\n X: y\r\n",
                                                       "0\r\n: y\r\n",
                                                       "0\r\nX\r\n",
                                                       "0\r\nX : y\r\n",
                                                       "0\r\nX: y\n\r\n",
                                                       "0\r\nX: y\rZ",
                                                       "0\r\nX: \x01\r\n",
                                                       "0\r\nX: a\r\n b\r\n",
                                                       "0\n\n",
                                                       "0\r\n\r\r",
                                                       "00000000000000001\r\na",
                                                       "10000000000000000\r\n",
                                                       "1,2\r\n",
                                                       "1.0\r\n",
                                                       "\xef\xbc\x91\r\n",
                                                       Text("1\0\r\na", 5)}) {
    EXPECT_EQ(Decode(input).status, 400) << input;
    EXPECT_FALSE(Decode(input).done);
  }
}

TEST(ChunkedTest, SizesDoNotOverflow) {
  EXPECT_EQ(Decode("ffffffffffffffff\r\n").status, 413);
  EXPECT_EQ(Decode("1\r\na\r\nffffffffffffffff\r\n").status, 413);
  EXPECT_EQ(Decode("FFFFFFFFFFFFFFFF\r\nabc", ~0ull).status, 0);
  EXPECT_EQ(Decode("1\r\na\r\nffffffffffffffff\r\n", ~0ull).status, 413);
}

TEST(ChunkedTest, TheBodyHasALimit) {
  EXPECT_TRUE(Decode("5\r\nhello\r\n0\r\n\r\n", 5).done);
  EXPECT_EQ(Decode("5\r\nhello\r\n0\r\n\r\n", 4).status, 413);
  EXPECT_EQ(Decode("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", 5).body, "abcde");
  const Decoded over = Decode("3\r\nabc\r\n3\r\nde", 5);
  EXPECT_EQ(over.status, 413) << "as soon as it is announced";
  EXPECT_EQ(over.body, "abc");
  EXPECT_TRUE(Decode("0\r\n\r\n", 0).done);
  EXPECT_EQ(Decode("1\r\na", 0).status, 413);
}

TEST(ChunkedTest, FramingIsBounded) {
  const Text extension(ChunkedDecoder::kMaxExtensionBytes, 'x');
  EXPECT_EQ(Decode("1;" + extension + "\r\na\r\n0\r\n\r\n").body, "a");
  EXPECT_EQ(Decode("1;" + extension + "x\r\n").status, 400);
  EXPECT_EQ(Decode("1;" + extension + "\r\na\r\n1;x\r\n").status, 400) << "of all chunks together";
  const Text trailer = "X: " + Text(ChunkedDecoder::kMaxTrailerBytes - 4, 'y');
  EXPECT_TRUE(Decode("0\r\n" + trailer + "\r\n\r\n").done);
  EXPECT_EQ(Decode("0\r\n" + trailer + "y\r\n\r\n").status, 431);
  EXPECT_EQ(Decode("0\r\n" + trailer + "\r\nX: y\r\n\r\n").status, 431);
}

RC_GTEST_PROP(ChunkedProperty, WhatIsWrittenInChunksIsReadBack, (const std::vector<Text>& chunks)) {
  Bytes written;
  Text body;
  for (const Text& chunk : chunks) {
    AppendChunk(&written, chunk);
    body += chunk;
  }
  AppendLastChunk(&written);
  const size_t piece = *rc::gen::inRange<size_t>(1, written.size() + 1);
  const Decoded decoded = DecodeInPieces(written, piece);
  RC_ASSERT(decoded.done);
  RC_ASSERT(decoded.body == body);
  RC_ASSERT(decoded.consumed == written.size());
}

}  // namespace
}  // namespace kvarts::http
