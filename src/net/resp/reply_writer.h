// ReplyWriter: writes answers as Redis' protocol has them, in version 2 or 3: what version 2 has no type for it writes
// as what clients of that version expect instead.
//
//   ReplyWriter reply(&stream.output(), 3);
//   reply.Map(1).Bulk("role").Bulk("master");
//
// An aggregate says how many elements follow, and they are written behind it. Whoever writes sees to it that they are.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.h"

namespace kvarts::resp {

class ReplyWriter {
 public:
  // `version` is 2 or 3. It may be another for the next answer.
  ReplyWriter(Bytes* out, int version) : out_(*out), version_(version) {}

  int version() const { return version_; }
  Bytes& out() { return out_; }

  // A constant of ours, in one line: "OK".
  ReplyWriter& Simple(std::string_view text);
  // "ERR syntax error": the first word says which kind of error it is. What would end the line is left
  // out around the text, and becomes a space within.
  ReplyWriter& Error(std::string_view text);
  ReplyWriter& Int(int64_t number);
  ReplyWriter& Bulk(BytesView bytes);
  // The same in pieces: so many bytes follow, which are appended to `out`, and behind them the end.
  ReplyWriter& BeginBulk(uint64_t size);
  ReplyWriter& EndBulk();
  // Nothing, where there might have been a bulk string; and where there might have been an array.
  ReplyWriter& Null();
  ReplyWriter& NullArray();
  ReplyWriter& Bool(bool value);
  // 17 digits, as Redis 7.0 writes it.
  ReplyWriter& Double(double number);
  // Text for people, of a format of three letters, such as "txt".
  ReplyWriter& Verbatim(std::string_view format, BytesView text);
  ReplyWriter& BigNumber(std::string_view digits);

  ReplyWriter& Array(size_t size) { return Head('*', size); }
  // So many pairs.
  ReplyWriter& Map(size_t size) { return version_ == 2 ? Head('*', 2 * size) : Head('%', size); }
  ReplyWriter& Set(size_t size) { return Head(version_ == 2 ? '*' : '~', size); }
  // What nobody has asked for just now.
  ReplyWriter& Push(size_t size) { return Head(version_ == 2 ? '*' : '>', size); }

 private:
  ReplyWriter& Head(char type, uint64_t size);
  ReplyWriter& Line(char type, std::string_view text);

  Bytes& out_;
  const int version_;
};

}  // namespace kvarts::resp
