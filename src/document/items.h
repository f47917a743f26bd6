// Items, as callers in C++ write values down (include/kvarts/item.h), as values of documents.
#pragma once

#include "base/item.h"
#include "encoding/document_writer.h"

namespace kvarts {

// `invalid_argument` for what no document can hold; then what was written is of no use.
Status WriteItem(const Item& item, DocumentWriter* to);

}  // namespace kvarts
