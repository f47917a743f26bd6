// What the generator needs of the operating system: connections, the clock, and a way to give up. A generator that
// cannot go on has nobody to tell but the person who started it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kvarts::load {

// Prints the text and ends the program.
[[noreturn]] void GiveUp(const std::string& what);

// A connection that sends at once and never blocks; -1 when nobody accepts it. `host` is an address in numbers.
int Connect(const std::string& host, uint16_t port);
// A port of the loopback interface that nobody listens on.
uint16_t FreePort();
// As many open files as the system lets the process have.
void RaiseFileLimit();

int64_t NowNanos();

}  // namespace kvarts::load
