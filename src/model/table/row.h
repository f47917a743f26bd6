// A row as it is stored: an envelope (core/envelope.h) around a document. Who wrote it, in which trace and by which
// schema is in the envelope, when is its version, and which row of which table it is says its key.
#pragma once

#include "core/context.h"
#include "core/envelope.h"
#include "encoding/document.h"

namespace kvarts {

// The document is checked.
Result<Bytes> EncodeRow(const Context& context, uint32_t schema, const DocumentView& document);

// A row where it lies.
struct RowView {
  EnvelopeView envelope;

  DocumentView document() const { return DocumentView(envelope.payload); }
};
// `corruption` when the bytes are no row. It looks at all of them.
Result<RowView> OpenRow(BytesView value);
// That error, of an envelope that holds nothing.
Error NoDocument();

}  // namespace kvarts
