// A library to be loaded into a program before all others (LD_PRELOAD): the wall clock that the program then sees is
// off by so many seconds as KVARTS_TEST_CLOCK_OFF says. Time that only passes, on the monotonic clock, is as it is.
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>

namespace {

time_t Off() {
  static const time_t off = [] {
    const char* const said = getenv("KVARTS_TEST_CLOCK_OFF");
    return said == nullptr ? 0 : static_cast<time_t>(strtoll(said, nullptr, 10));
  }();
  return off;
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t id, timespec* now) noexcept {
  const long result = syscall(SYS_clock_gettime, id, now);
  if (result == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) now->tv_sec += Off();
  return static_cast<int>(result);
}

int gettimeofday(timeval* now, void*) noexcept {
  timespec precise{};
  const int result = clock_gettime(CLOCK_REALTIME, &precise);
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return result;
}

time_t time(time_t* to) noexcept {
  timespec precise{};
  clock_gettime(CLOCK_REALTIME, &precise);
  if (to != nullptr) *to = precise.tv_sec;
  return precise.tv_sec;
}

}  // extern "C"
