// Whole files, as tests read and write them.
#pragma once

#include <string>
#include <string_view>

namespace kvarts::test {

// Empty when there is no such file.
std::string ReadBytes(const std::string& path);
// Throws when it cannot be written.
void WriteBytes(const std::string& path, std::string_view bytes);

}  // namespace kvarts::test
