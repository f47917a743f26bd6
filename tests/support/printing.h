// How failed expectations show our types.
#pragma once

#include <ostream>

#include "base/clock.h"
#include "base/version.h"
#include "engine/record.h"

namespace kvarts {

inline void PrintTo(Version version, std::ostream* out) { *out << version.ToString(); }
inline void PrintTo(Timestamp time, std::ostream* out) { *out << time.ToString(); }
void PrintTo(const ValueHeader& header, std::ostream* out);
void PrintTo(const Record& record, std::ostream* out);

}  // namespace kvarts
