// What a golden directory holds: the same records in every format, so that one check fits all of them.
#pragma once

#include <memory>

#include "base/clock.h"
#include "engine/engine.h"

namespace kvarts::test {

// The time at which golden directories are written and looked at.
std::shared_ptr<ManualClock> GoldenClock();

// Writes the records: values of every kind, counters with adds that are not summed up yet, a large value, expiry, owned
// values, a range with a profile, an erased range; some of it in table files, some only in the log.
Status WriteGolden(Engine& engine);

// Expects to find exactly those, with gtest.
void ExpectGolden(Engine& engine);

}  // namespace kvarts::test
