// The indexes of the tables that table_load.h writes, asked over HTTP and held against the rows of a scan. What should
// be in an index is worked out here once more, from the rows: normalised, partial, of every element, in its order.
#pragma once

#include <string>
#include <vector>

#include "http/table_load.h"

namespace kvarts::test {

// Indexes of users that come and go while it is written to.
struct ComingIndex {
  const char* name;
  const char* spec;  // the fields of its declaration
};
inline constexpr ComingIndex kComing[] = {
    {"serial", R"("partition":["kind"],"sort":["n"],"sparse":false,"unique":true)"},
    {"tagged", R"("partition":["tags[*]"],"sort":[{"path":"n","order":"desc"}],"include":"all")"},
    {"place", R"json("local":true,"sort":[{"path":"city","lower":true},"age"],"where":"exists(mail)")json"},
};

// What an index answers otherwise than the rows would, and values that are not unique. Nobody writes meanwhile, and
// every index is ready.
std::vector<std::string> CompareIndexes(const std::string& address, const TableState& state);

}  // namespace kvarts::test
