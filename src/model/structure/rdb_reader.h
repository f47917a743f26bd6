// RdbReader: takes apart what Redis' own files and DUMP are made of: lengths, strings (also as numbers and compressed),
// and the packed forms that it keeps small collections in.
//
// It may be given any bytes. The first thing that is wrong sticks: everything after it reads as zero or empty. What is
// unpacked counts, and beyond a limit reading fails, too: so a small input does not take much memory.
#pragma once

#include <functional>

#include "base/bytes.h"

namespace kvarts::structure {

class RdbReader {
 public:
  RdbReader(BytesView bytes, uint64_t max_unpacked) : left_(bytes), room_(max_unpacked) {}

  uint8_t Byte();
  uint64_t Length();
  // At most as many as there could be of elements that take a byte each.
  uint64_t Count();
  Bytes String();
  double Double();
  // In digits, as early versions wrote it.
  double TextDouble();
  // Little-endian.
  uint64_t Fixed(size_t bytes);

  bool ok() const { return ok_; }
  bool too_large() const { return too_large_; }
  void Fail() { ok_ = false; }
  // Whether nothing is left, and nothing was wrong.
  bool Finished() const { return ok_ && left_.empty(); }

  // Packed elements, of what String has given; false when it is damaged.
  using Visit = std::function<void(BytesView element)>;
  bool ForEachInListpack(BytesView packed, const Visit& visit);
  bool ForEachInZiplist(BytesView packed, const Visit& visit);
  bool ForEachInIntset(BytesView packed, const Visit& visit);

 private:
  BytesView Take(uint64_t size);
  // `special`: what follows is no length, but of this kind.
  uint64_t LengthOr(bool* special);
  Bytes Compressed();
  bool TakeRoom(uint64_t bytes);

  BytesView left_;
  uint64_t room_;
  bool ok_ = true;
  bool too_large_ = false;
};

// How values are written.
void AppendRdbLength(Bytes* to, uint64_t length);
void AppendRdbString(Bytes* to, BytesView text);
void AppendRdbDouble(Bytes* to, double number);

}  // namespace kvarts::structure
