// Whole tuples: to bytes, back again, and the ranges of keys that belong to them.
//
// A physical key is a tuple, encoded so that byte order is tuple order (the rules are in
// tuple_writer.h, the bytes in FORMAT.md). This header brings all of it.
#pragma once

#include <span>

#include "encoding/element.h"
#include "encoding/key_buffer.h"
#include "encoding/key_range.h"
#include "encoding/tuple_codes.h"
#include "encoding/tuple_reader.h"
#include "encoding/tuple_writer.h"

namespace kvarts {

// Appends the elements to `to`. Refused, with nothing appended: a tail that is descending, nested
// or not the last; tuples nested deeper than kMaxTupleDepth.
Status EncodeTuple(std::span<const Element> elements, Bytes* to);
Result<Bytes> EncodeTuple(std::span<const Element> elements);
Result<Tuple> DecodeTuple(BytesView key);

// The keys of an encoded tuple and of all tuples that extend it.
KeyRange TuplePrefixRange(BytesView tuple);
// The same without the tuple itself.
KeyRange TupleExtensionRange(BytesView tuple);
// The keys that go on after `tuple` with a text, bytes or a tail that begins with `beginning`.
KeyRange TextPrefixRange(BytesView tuple, BytesView beginning, Order order = Order::kAscending);
KeyRange BytesPrefixRange(BytesView tuple, BytesView beginning, Order order = Order::kAscending);
KeyRange TailPrefixRange(BytesView tuple, BytesView beginning);

}  // namespace kvarts
