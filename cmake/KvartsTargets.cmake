# How a folder becomes targets. Sources are globbed with CONFIGURE_DEPENDS, so adding a file is just adding a file; a
# folder without sources yet becomes an empty library.

include(GoogleTest)

# What ./test builds and runs under each sanitizer; see LABELS below.
add_custom_target(gate_asan)
add_custom_target(gate_tsan)

# kvarts_gtest(NAME SOURCES a_test.cc... LINK libs... [LABELS asan tsan] [POSTGRES_LABELS asan tsan] [SERIAL suites...])
# One GoogleTest binary. Every case of it is a ctest test called <name without _test>.<Suite>.<Case>; under sanitizers,
# where a process takes longer to begin than most cases do to run, they are a few tests, each of many cases.
#   LABELS  the sanitizer gates of ./test that run it: asan, tsan, both or none (./test --long runs everything).
#   POSTGRES_LABELS  those of LABELS that also run its cases on the postgres engine, which are called …/postgres.
#   SERIAL  suites that never run beside another test: they measure time, or need the machine.
function(kvarts_gtest name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;LABELS;POSTGRES_LABELS;SERIAL" ${ARGN})
  if(NOT KVARTS_TESTS OR NOT ARG_SOURCES)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE kvarts_options kvarts_allocator ${ARG_LINK} rapidcheck rapidcheck_gtest
                                        GTest::gmock GTest::gtest GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE KVARTS_BINARY_DIR="${CMAKE_BINARY_DIR}"
                                             KVARTS_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  # What a test costs under sanitizers is mostly its compilation, and twice as much when it is optimised.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Debug>:-O0>)
  foreach(label IN LISTS ARG_LABELS)
    add_dependencies(gate_${label} ${name})
  endforeach()
  list(TRANSFORM ARG_SERIAL APPEND ".*" OUTPUT_VARIABLE serial)
  list(JOIN serial ":" serial)
  kvarts_gtest_cases(${name} "" "-*/postgres:${serial}" "${ARG_LABELS}")
  kvarts_gtest_cases(${name} _postgres "*/postgres" "${ARG_POSTGRES_LABELS}")
  if(ARG_SERIAL)
    kvarts_gtest_cases(${name} _serial "${serial}" "${ARG_LABELS}" RUN_SERIAL ON)
  endif()
endfunction()

# The cases of a binary whose names match the filter, with the labels of their gates, and properties.
function(kvarts_gtest_cases name suffix filter labels)
  # A single label such as "gate:asan+tsan": ctest -L asan matches inside it, and no list has to survive the discovery.
  list(JOIN labels "+" labels)
  string(REGEX REPLACE "_test$" "" prefix ${name})
  set(properties LABELS "gate:${labels}" ${ARGN})
  if(KVARTS_SANITIZE)
    set(parts 9)  # odd, so that each has cases of every engine
    foreach(part RANGE 1 ${parts})
      set(test ${prefix}.all${suffix}_${part}of${parts})
      math(EXPR index "${part} - 1")
      add_test(NAME ${test} COMMAND ${name} "--gtest_filter=${filter}")
      set_tests_properties(${test} PROPERTIES ${properties} ENVIRONMENT
                                              "GTEST_TOTAL_SHARDS=${parts};GTEST_SHARD_INDEX=${index}")
    endforeach()
    return()
  endif()
  gtest_discover_tests(${name} TEST_PREFIX "${prefix}." TEST_FILTER "${filter}" DISCOVERY_MODE PRE_TEST
                       DISCOVERY_TIMEOUT 120 PROPERTIES ${properties})
endfunction()

# kvarts_layer(NAME LINK libs... [TEST_LINK libs...] [TEST_LABELS asan tsan] [TEST_POSTGRES_LABELS asan tsan]
#              [EXCLUDE files...])
# The current folder as static library kvarts_<name>, and its *_test.cc as <name>_test.
function(kvarts_layer name)
  cmake_parse_arguments(ARG "" "" "LINK;TEST_LINK;TEST_LABELS;TEST_POSTGRES_LABELS;EXCLUDE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cc")
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  foreach(file IN LISTS ARG_EXCLUDE)
    list(REMOVE_ITEM sources "${CMAKE_CURRENT_SOURCE_DIR}/${file}")
  endforeach()

  set(library kvarts_${name})
  if(sources)
    add_library(${library} STATIC ${sources})
    target_link_libraries(${library} PRIVATE kvarts_options PUBLIC ${ARG_LINK})
  else()
    add_library(${library} INTERFACE)
    target_link_libraries(${library} INTERFACE ${ARG_LINK})
  endif()

  if(NOT DEFINED ARG_TEST_LABELS)
    set(ARG_TEST_LABELS asan)
  endif()
  kvarts_gtest(${name}_test SOURCES ${tests} LINK ${ARG_TEST_LINK} ${library} LABELS ${ARG_TEST_LABELS}
               POSTGRES_LABELS ${ARG_TEST_POSTGRES_LABELS})
endfunction()

# kvarts_test_folder(NAME [LABELS asan tsan] [POSTGRES_LABELS asan tsan] [SERIAL suites...] [PROGRAM])
# tests/<name>: its *_test.cc become the binary <name>_test; each x_main.cc becomes a helper executable x that the tests may
# start (they find it under KVARTS_BINARY_DIR); other *.cc are shared by all of them. With PROGRAM they may start the product
# itself, and use its library.
function(kvarts_test_folder name)
  cmake_parse_arguments(ARG "PROGRAM" "" "LABELS;POSTGRES_LABELS;SERIAL" ${ARGN})
  file(GLOB shared CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cc")
  set(tests ${shared})
  set(mains ${shared})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER mains INCLUDE REGEX "_main\\.cc$")
  list(FILTER shared EXCLUDE REGEX "_(test|main)\\.cc$")

  set(link kvarts_test_support)
  if(ARG_PROGRAM)
    list(APPEND link kvarts_cli)
  endif()
  if(tests)
    kvarts_gtest(${name}_test SOURCES ${tests} ${shared} LINK ${link} LABELS ${ARG_LABELS}
                 POSTGRES_LABELS ${ARG_POSTGRES_LABELS} SERIAL ${ARG_SERIAL})
  endif()
  foreach(main IN LISTS mains)
    cmake_path(GET main STEM stem)
    string(REGEX REPLACE "_main$" "" helper ${stem})
    add_executable(${helper} ${main} ${shared})
    target_link_libraries(${helper} PRIVATE kvarts_options kvarts_allocator ${link})
    if(TARGET ${name}_test)
      add_dependencies(${name}_test ${helper})
    endif()
  endforeach()
  if(ARG_PROGRAM AND TARGET ${name}_test AND TARGET kvarts)
    add_dependencies(${name}_test kvarts)
  endif()
endfunction()
