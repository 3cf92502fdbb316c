# SPDX-License-Identifier: Apache-2.0
# A room is a folder of src/: its sources become one static library, its *_test.cpp one test binary.

add_custom_target(unit_tests)

# The prebuilt engine is not instrumented; what sanitizers think they see inside it is left out.
set(HEARTH_TEST_ENVIRONMENT
  HEARTH_BIN=${CMAKE_BINARY_DIR}/hearth
  HEARTH_MODELS=${CMAKE_SOURCE_DIR}/build/models
  "TSAN_OPTIONS=halt_on_error=1:suppressions=${CMAKE_SOURCE_DIR}/scripts/tsan.supp"
  "LSAN_OPTIONS=print_suppressions=0:suppressions=${CMAKE_SOURCE_DIR}/scripts/lsan.supp"
  UBSAN_OPTIONS=print_stacktrace=1)

# hearth_room(<name> LINKS <target>...)
#   src/<name>/**/*.cpp       -> hearth_<name>
#   src/<name>/**/*_test.cpp  -> tests/<name>_tests, run by ctest in random order
# A room without sources is an interface library, so that rooms above it link all the same.
function(hearth_room name)
  cmake_parse_arguments(ROOM "" "" "LINKS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")

  set(library hearth_${name})
  if(sources)
    add_library(${library} STATIC ${sources})
    target_include_directories(${library} PUBLIC ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(${library} PUBLIC ${ROOM_LINKS} PRIVATE hearth_warnings)
  else()
    add_library(${library} INTERFACE)
    target_include_directories(${library} INTERFACE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(${library} INTERFACE ${ROOM_LINKS})
  endif()
  hearth_skip_ubsan_for_beast(${sources} ${tests})

  if(tests)
    hearth_room_tests(${name} ${tests})
  endif()
endfunction()

function(hearth_room_tests name)
  set(binary ${name}_tests)
  add_executable(${binary} EXCLUDE_FROM_ALL ${ARGN})
  target_link_libraries(${binary} PRIVATE
    hearth_${name} hearth_warnings GTest::gtest_main GTest::gmock)
  set_target_properties(${binary} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests
    BUILD_WITH_INSTALL_RPATH ON
    INSTALL_RPATH "$ORIGIN/../lib")
  add_dependencies(unit_tests ${binary})
  add_test(NAME ${binary} COMMAND ${binary} --gtest_shuffle --gtest_brief=1)
  set_tests_properties(${binary} PROPERTIES
    TIMEOUT 300
    ENVIRONMENT "${HEARTH_TEST_ENVIRONMENT}")
endfunction()

# UBSan doubles what a Beast file costs to compile and finds nothing in Beast that ASan would not.
function(hearth_skip_ubsan_for_beast)
  if(NOT HEARTH_SANITIZE MATCHES "undefined")
    return()
  endif()
  foreach(source IN LISTS ARGN)
    if(source MATCHES "/src/http/" OR source MATCHES "/event_loop[^/]*\\.cpp$")
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS -fno-sanitize=undefined)
    endif()
  endforeach()
endfunction()

# hearth_executable(<name> SOURCE <file> LINKS <target>...): skipped while the file does not exist.
function(hearth_executable name)
  cmake_parse_arguments(EXE "" "SOURCE" "LINKS" ${ARGN})
  file(GLOB source CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${EXE_SOURCE})
  if(NOT source)
    return()
  endif()
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE ${EXE_LINKS} hearth_warnings)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}
    BUILD_WITH_INSTALL_RPATH ON
    INSTALL_RPATH "$ORIGIN/lib")
endfunction()
