// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hearth::gguf {

// The types of a metadata value, by their number in the file.
enum class ValueType : std::uint32_t {
  kUint8,
  kInt8,
  kUint16,
  kInt16,
  kUint32,
  kInt32,
  kFloat32,
  kBool,
  kString,
  kArray,
  kUint64,
  kInt64,
  kFloat64,
};
constexpr std::uint32_t kValueTypes = 13;

// Bytes of one value; 0 for strings and arrays, whose length stands in the file.
std::uint64_t width_of(ValueType type);

// How a tensor's numbers are packed: `block` of them share `bytes` bytes.
struct Packing {
  std::string_view name;  // "Q4_K"
  std::uint32_t block = 1;
  std::uint32_t bytes = 0;
};

// nullopt for numbers that are unknown or were withdrawn.
std::optional<Packing> packing_of(std::uint32_t type);

// "Q4_K_M" and the like, for general.file_type; nullopt for an unknown number.
std::optional<std::string_view> quantisation_named_by(std::uint64_t file_type);

}  // namespace hearth::gguf
