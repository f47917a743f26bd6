// Which RocksDB this is: the library that was loaded, which an update of the system may have changed since the build.
#pragma once

#include <string>

namespace kvarts {

// "7.8.3".
std::string RocksVersion();

}  // namespace kvarts
