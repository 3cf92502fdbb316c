# SPDX-License-Identifier: Apache-2.0
# The end-to-end suite (pytest) as one ctest entry. It talks to the real executables, so it belongs to
# the builds without sanitizers.

file(GLOB end_to_end_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/*.py)
if(end_to_end_sources AND TARGET hearth AND NOT HEARTH_SANITIZE)
  add_test(NAME end_to_end
    COMMAND ${CMAKE_SOURCE_DIR}/build/venv/bin/python -m pytest -q ${CMAKE_SOURCE_DIR}/tests
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(end_to_end PROPERTIES
    TIMEOUT 900
    RUN_SERIAL ON
    ENVIRONMENT "HEARTH_BIN=$<TARGET_FILE:hearth>;HEARTH_MODELS=${CMAKE_SOURCE_DIR}/build/models;PYTHONDONTWRITEBYTECODE=1")
endif()
