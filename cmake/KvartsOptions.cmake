# Language level, warnings, sanitizers and ccache. Everything our own code is compiled with hangs on the interface
# library kvarts_options, so that a dependency's headers are never subject to our warnings.

set(KVARTS_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize= (address,undefined or thread)")
option(KVARTS_FUZZ "Build the fuzz targets with libFuzzer and instrument everything for coverage" OFF)

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS ON)  # __int128 with its std traits: decimals are written over it
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1 -fno-omit-frame-pointer")

find_program(KVARTS_CCACHE ccache)
if(KVARTS_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The sloppiness is for PCH, and does no harm without it; with the rest all clones of the tree share one cache.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_NOHASHDIR=1
      "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" ${KVARTS_CCACHE})
endif()

add_library(kvarts_options INTERFACE)
target_include_directories(kvarts_options INTERFACE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include")
target_compile_definitions(kvarts_options INTERFACE KVARTS_VERSION="${PROJECT_VERSION}")
# No -Wpedantic: it rejects __int128. No -Wrestrict: GCC 12 reports it falsely for std::string concatenation.
target_compile_options(kvarts_options INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
                                                -Wno-restrict -Werror)

if(KVARTS_SANITIZE)
  add_compile_options(-fsanitize=${KVARTS_SANITIZE} -fno-sanitize-recover=all)
  # A program that is loaded anywhere must first mend all that the sanitizers note about its source, which takes half as
  # long again as the rest of its beginning.
  add_link_options(-fsanitize=${KVARTS_SANITIZE} -no-pie)
  # The instrumentation itself makes GCC see faults that are not there.
  target_compile_options(kvarts_options INTERFACE -Wno-maybe-uninitialized -Wno-array-bounds -Wno-mismatched-new-delete
                                                  -Wno-stringop-overflow -Wno-stringop-overread)
endif()
if(KVARTS_FUZZ)
  # The targets that libFuzzer drives are compiled by GCC like everything else: trace-pc is the coverage GCC can emit, and
  # fuzz/support/coverage.cc turns it into the counters that libFuzzer reads.
  set(KVARTS_COVERAGE -fsanitize-coverage=trace-pc,trace-cmp)
  target_compile_options(kvarts_options INTERFACE ${KVARTS_COVERAGE})
endif()
