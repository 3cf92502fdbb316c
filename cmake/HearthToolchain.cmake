# SPDX-License-Identifier: Apache-2.0
# Compiler, linker and sanitizer choices that hold for the whole build.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# Coroutines hand over to each other by tail calls; without them a long chain of co_await overflows
# the stack. Hence never -O0, and the optimisation is asked for by name at -O1.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g -foptimize-sibling-calls")

find_program(HEARTH_CCACHE ccache)
if(HEARTH_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${HEARTH_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${HEARTH_CCACHE})
endif()

include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=mold HEARTH_HAS_MOLD)
check_linker_flag(CXX -fuse-ld=lld HEARTH_HAS_LLD)
if(HEARTH_HAS_MOLD)
  add_link_options(-fuse-ld=mold)
elseif(HEARTH_HAS_LLD)
  add_link_options(-fuse-ld=lld)
endif()

# A binary loads only what it uses: the worker no SQLite, the front no engine.
add_link_options(LINKER:--as-needed)

set(HEARTH_SANITIZE "" CACHE STRING "Sanitizers for the whole build: address,undefined or thread")
if(HEARTH_SANITIZE)
  add_compile_options(-fsanitize=${HEARTH_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HEARTH_SANITIZE})
  if(HEARTH_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan)  # Asio's fences are not modelled; g++ says so in every file
  endif()
endif()

# For our own sources only; third-party headers are system headers everywhere.
add_library(hearth_warnings INTERFACE)
target_compile_options(hearth_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Werror)
