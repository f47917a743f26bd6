// What the load generator prints at the end.
#pragma once

#include <string>

#include "load/generator.h"

namespace kvarts::load {

std::string ReportText(const Report& report, bool allow_missing);
// Times are in microseconds.
std::string ReportJson(const Report& report, bool allow_missing);

}  // namespace kvarts::load
