# SPDX-License-Identifier: Apache-2.0
# The dashboard (web/), built into the room that serves it. scripts/build.sh brings node's packages; a build
# without them has a page that says what is missing.

file(GLOB_RECURSE web_sources CONFIGURE_DEPENDS
  ${CMAKE_SOURCE_DIR}/web/src/* ${CMAKE_SOURCE_DIR}/web/fallback/*)
file(GLOB web_packages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/build/web/.installed)
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/web/web_assets.cpp
  COMMAND ${CMAKE_SOURCE_DIR}/scripts/web.sh ${CMAKE_BINARY_DIR}/web
  DEPENDS ${web_sources} ${web_packages}
    ${CMAKE_SOURCE_DIR}/web/build.mjs
    ${CMAKE_SOURCE_DIR}/scripts/web.sh
    ${CMAKE_SOURCE_DIR}/scripts/embed_web.py
  COMMENT "Building the dashboard"
  VERBATIM)
target_sources(hearth_api PRIVATE ${CMAKE_BINARY_DIR}/web/web_assets.cpp)
