// What the files of src/api see of the values of the public interface, and others do not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/update.h"
#include "kvarts/document.h"
#include "kvarts/table.h"

namespace kvarts {

struct DocumentAccess {
  struct Maker;

  // Of bytes that are a document; or that have one in them, at `from`.
  static Document Of(std::string document);
  static Document Of(std::string memory, size_t from, size_t size);
};

struct Update::Parts {
  std::vector<FieldUpdate> updates;
  Status wrong;  // with the first of them that is none
};

struct UpdateAccess {
  // `invalid_argument` when one of them is none.
  static Result<std::vector<FieldUpdate>> UpdatesOf(const Update& update);
};

}  // namespace kvarts
