# What comes from the system's packages. The reason for each is in docs/decisions/0003-dependencies.md.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)

# kvarts_find(NAME HEADER LIBRARY): an imported target for a library that ships no CMake package we want to rely on.
function(kvarts_find name header library)
  find_path(${name}_INCLUDE_DIR ${header} REQUIRED)
  find_library(${name}_LIBRARY NAMES ${library} REQUIRED)
  add_library(${name} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${name} SYSTEM INTERFACE "${${name}_INCLUDE_DIR}")
  target_link_libraries(${name} INTERFACE "${${name}_LIBRARY}")
endfunction()

# RocksDB's own CMake package wants the development files of all its compressors; the shared library does not.
kvarts_find(kvarts_rocksdb rocksdb/db.h rocksdb)
kvarts_find(kvarts_xxhash xxhash.h xxhash)
kvarts_find(kvarts_re2 re2/re2.h re2)
kvarts_find(kvarts_pq postgresql/libpq-fe.h pq)
kvarts_find(kvarts_edit histedit.h edit)
kvarts_find(kvarts_curl curl/curl.h curl)
find_package(OpenSSL REQUIRED)

# Asio is headers alone; what is no template in it is compiled once, in src/net/asio.cc.
find_path(KVARTS_ASIO_INCLUDE_DIR asio.hpp REQUIRED)
add_library(kvarts_asio INTERFACE)
target_include_directories(kvarts_asio SYSTEM INTERFACE "${KVARTS_ASIO_INCLUDE_DIR}")
target_compile_definitions(kvarts_asio INTERFACE ASIO_STANDALONE ASIO_NO_DEPRECATED ASIO_SEPARATE_COMPILATION
                                                 ASIO_NO_TS_EXECUTORS
                                                 # Else it depends on what a file includes before Asio whether memory
                                                 # comes from new or from malloc, and another file gives it back.
                                                 ASIO_DISABLE_STD_ALIGNED_ALLOC)
target_link_libraries(kvarts_asio INTERFACE Threads::Threads)
if(KVARTS_SANITIZE MATCHES thread)
  # ThreadSanitizer knows no fences. Handlers are ordered by the scheduler's lock as well.
  target_compile_definitions(kvarts_asio INTERFACE ASIO_DISABLE_FENCED_BLOCK)
endif()
kvarts_find(kvarts_systemd systemd/sd-journal.h systemd)

# Headers alone; the package has a compiled library as well, which we do not need.
find_path(KVARTS_TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)
add_library(kvarts_tomlplusplus INTERFACE IMPORTED GLOBAL)
target_include_directories(kvarts_tomlplusplus SYSTEM INTERFACE "${KVARTS_TOMLPLUSPLUS_INCLUDE_DIR}")

# The allocator of the executables. Sanitizers bring their own.
add_library(kvarts_allocator INTERFACE)
if(NOT KVARTS_SANITIZE)
  find_library(KVARTS_JEMALLOC NAMES jemalloc REQUIRED)
  # Nothing refers to jemalloc by name, so a linker told to drop unneeded libraries would drop it.
  target_link_options(kvarts_allocator INTERFACE "LINKER:--push-state,--no-as-needed" "${KVARTS_JEMALLOC}"
                      "LINKER:--pop-state")
  target_sources(kvarts_allocator INTERFACE "${PROJECT_SOURCE_DIR}/src/allocator.cc")
endif()

# Only the tests and benchmarks need these; `./run` on a bare machine does without.
find_package(GTest QUIET)
find_package(rapidcheck QUIET)
find_package(benchmark QUIET)
if(TARGET GTest::gtest_main AND TARGET rapidcheck)
  set(KVARTS_TESTS ON)
else()
  set(KVARTS_TESTS OFF)
  message(STATUS "GoogleTest or RapidCheck is missing: building without tests")
endif()
