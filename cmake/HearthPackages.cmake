# SPDX-License-Identifier: Apache-2.0
# Debian's libraries, grouped by who needs them.

find_package(Threads REQUIRED)
find_package(OpenSSL 3.0 REQUIRED COMPONENTS Crypto)
find_package(Boost 1.81 REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(SQLite3 3.40 REQUIRED)
find_package(CURL 7.88 REQUIRED)
find_package(prometheus-cpp CONFIG REQUIRED)
find_package(GTest REQUIRED)

add_library(hearth_packages_base INTERFACE)
add_library(hearth::packages::base ALIAS hearth_packages_base)
target_link_libraries(hearth_packages_base INTERFACE fmt::fmt Boost::headers OpenSSL::Crypto Threads::Threads)
target_compile_definitions(hearth_packages_base INTERFACE
  BOOST_ASIO_DISABLE_BOOST_DATE_TIME
  BOOST_ASIO_NO_DEPRECATED
  BOOST_ERROR_CODE_HEADER_ONLY
  BOOST_ALL_NO_LIB)

add_library(hearth_packages_sqlite INTERFACE)
add_library(hearth::packages::sqlite ALIAS hearth_packages_sqlite)
target_link_libraries(hearth_packages_sqlite INTERFACE SQLite::SQLite3)

add_library(hearth_packages_curl INTERFACE)
add_library(hearth::packages::curl ALIAS hearth_packages_curl)
target_link_libraries(hearth_packages_curl INTERFACE CURL::libcurl)

add_library(hearth_packages_metrics INTERFACE)
add_library(hearth::packages::metrics ALIAS hearth_packages_metrics)
target_link_libraries(hearth_packages_metrics INTERFACE prometheus-cpp::core)

# xxHash has no CMake package in Debian 12.
find_library(HEARTH_XXHASH xxhash REQUIRED)
add_library(hearth_packages_xxhash INTERFACE)
add_library(hearth::packages::xxhash ALIAS hearth_packages_xxhash)
target_link_libraries(hearth_packages_xxhash INTERFACE ${HEARTH_XXHASH})

# CLI11 and toml++ are headers only; libedit has neither a CMake package nor need of one.
find_library(HEARTH_LIBEDIT edit REQUIRED)
add_library(hearth_packages_cli INTERFACE)
add_library(hearth::packages::cli ALIAS hearth_packages_cli)
target_link_libraries(hearth_packages_cli INTERFACE ${HEARTH_LIBEDIT})
