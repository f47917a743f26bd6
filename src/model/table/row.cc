#include "model/table/row.h"

namespace kvarts {

Result<Bytes> EncodeRow(const Context& context, uint32_t schema, const DocumentView& document) {
  EnvelopeView envelope;
  envelope.schema = schema;
  envelope.actor = context.actor;
  envelope.trace = context.trace;
  envelope.command = context.command;
  envelope.payload = document.bytes();
  return envelope.Encode();
}

Error NoDocument() { return Error(ErrorCode::kCorruption, "a row holds no document"); }

Result<RowView> OpenRow(BytesView value) {
  RowView row;
  KVARTS_CHECK_OK(row.envelope.Read(value));
  if (row.envelope.payload.empty()) return NoDocument();
  KVARTS_CHECK_OK(CheckDocument(row.envelope.payload));
  return row;
}

}  // namespace kvarts
