// redis-server beside which Kvarts is measured, and what is asked of either one by one.
#pragma once

#include <string>
#include <vector>

#include "servers/process.h"

namespace kvarts::load {

// How Redis writes what it is told.
enum class AppendOnly : uint8_t { kOff, kEverySecond, kAlways };

// Without snapshots. `dir` is made.
ServerProcess StartRedis(const std::string& dir, AppendOnly append_only);

// Asks one thing, and waits for the answer: its first line with its type, or the text of a bulk string. Of an
// aggregate, its head.
std::string Ask(uint16_t port, const std::vector<std::string>& words);

// What redis-benchmark, which others wrote, finds: requests a second. `test` is what it calls one of its tests.
double RunRedisBenchmark(uint16_t port, const std::string& test, uint32_t connections, uint32_t pipeline, uint64_t keys,
                         uint64_t requests, size_t value_bytes);

}  // namespace kvarts::load
