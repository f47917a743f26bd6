// What becomes of a row in one write, as its indexes see it. Only for the files of RowWriter.
#pragma once

#include "model/table/rows.h"

namespace kvarts {

struct RowWriter::Change {
  BytesView row_key;                         // behind TableInfo::rows()
  const Record* before = nullptr;            // what is stored; null when nothing is
  std::optional<DocumentView> old_row = {};  // of that
  std::optional<DocumentView> new_row = {};  // nothing: the row goes
  Timestamp expiry = kNever;                 // of the new row
};

}  // namespace kvarts
