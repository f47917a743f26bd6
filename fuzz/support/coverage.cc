// Coverage for libFuzzer from code compiled by GCC.
//
// libFuzzer reads arrays of 8-bit edge counters, which only Clang emits. GCC calls
// __sanitizer_cov_trace_pc() in every basic block instead, and libFuzzer's own function of that
// name refuses to work. The linker's --wrap sends those calls here, where the caller's address
// picks a counter. Two blocks may share a counter; with far more counters than blocks that costs a
// little guidance and no correctness. This file itself is compiled without coverage.

#include <cstddef>
#include <cstdint>

namespace {

constexpr int kCounterBits = 16;
constexpr std::size_t kCounters = std::size_t{1} << kCounterBits;
std::uint8_t counters[kCounters];

}  // namespace

extern "C" {

void __sanitizer_cov_8bit_counters_init(std::uint8_t* begin, std::uint8_t* end);

// Runs in every basic block of the code under test.
__attribute__((no_sanitize("address", "undefined"))) void __wrap___sanitizer_cov_trace_pc() {
  const auto caller = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  counters[(caller * 0x9E3779B97F4A7C15u) >> (64 - kCounterBits)]++;
}

// GCC also reports comparisons of floating point numbers, with which libFuzzer does nothing.
void __sanitizer_cov_trace_cmpf(float, float) {}
void __sanitizer_cov_trace_cmpd(double, double) {}

// libFuzzer keeps the input of a process that is killed by a signal, not of one that merely exits.
const char* __ubsan_default_options() { return "abort_on_error=1:print_stacktrace=1"; }
const char* __asan_default_options() { return "abort_on_error=1"; }

// libFuzzer asks for nothing; whoever has counters registers them before main.
__attribute__((constructor)) void RegisterCounters() {
  __sanitizer_cov_8bit_counters_init(counters, counters + kCounters);
}
}
