// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/gguf_types.h"

#include <array>

namespace hearth::gguf {
namespace {

constexpr std::array<std::uint8_t, kValueTypes> kWidths{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

// Index = number in the file; a block of 0 marks a number that must not occur.
constexpr Packing kNone{"", 0, 0};
constexpr std::array<Packing, 43> kPackings{{
    {"F32", 1, 4},
    {"F16", 1, 2},
    {"Q4_0", 32, 18},
    {"Q4_1", 32, 20},
    kNone,
    kNone,
    {"Q5_0", 32, 22},
    {"Q5_1", 32, 24},
    {"Q8_0", 32, 34},
    {"Q8_1", 32, 36},
    {"Q2_K", 256, 84},
    {"Q3_K", 256, 110},
    {"Q4_K", 256, 144},
    {"Q5_K", 256, 176},
    {"Q6_K", 256, 210},
    {"Q8_K", 256, 292},
    {"IQ2_XXS", 256, 66},
    {"IQ2_XS", 256, 74},
    {"IQ3_XXS", 256, 98},
    {"IQ1_S", 256, 50},
    {"IQ4_NL", 32, 18},
    {"IQ3_S", 256, 110},
    {"IQ2_S", 256, 82},
    {"IQ4_XS", 256, 136},
    {"I8", 1, 1},
    {"I16", 1, 2},
    {"I32", 1, 4},
    {"I64", 1, 8},
    {"F64", 1, 8},
    {"IQ1_M", 256, 56},
    {"BF16", 1, 2},
    kNone,
    kNone,
    kNone,
    {"TQ1_0", 256, 54},
    {"TQ2_0", 256, 66},
    kNone,
    kNone,
    kNone,
    {"MXFP4", 32, 17},
    {"NVFP4", 64, 36},
    {"Q1_0", 128, 18},
    {"Q2_0", 64, 18},
}};

constexpr std::array<std::string_view, 42> kQuantisations{
    "F32",   "F16",     "Q4_0",   "Q4_1",   "",       "",        "",       "Q8_0",   "Q5_0",
    "Q5_1",  "Q2_K",    "Q3_K_S", "Q3_K_M", "Q3_K_L", "Q4_K_S",  "Q4_K_M", "Q5_K_S", "Q5_K_M",
    "Q6_K",  "IQ2_XXS", "IQ2_XS", "Q2_K_S", "IQ3_XS", "IQ3_XXS", "IQ1_S",  "IQ4_NL", "IQ3_S",
    "IQ3_M", "IQ2_S",   "IQ2_M",  "IQ4_XS", "IQ1_M",  "BF16",    "",       "",       "",
    "TQ1_0", "TQ2_0",   "MXFP4",  "NVFP4",  "Q1_0",   "Q2_0"};

}  // namespace

std::uint64_t width_of(ValueType type) { return kWidths[static_cast<std::size_t>(type)]; }

std::optional<Packing> packing_of(std::uint32_t type) {
  if (type >= kPackings.size() || kPackings[type].block == 0) return std::nullopt;
  return kPackings[type];
}

std::optional<std::string_view> quantisation_named_by(std::uint64_t file_type) {
  if (file_type >= kQuantisations.size() || kQuantisations[file_type].empty()) return std::nullopt;
  return kQuantisations[file_type];
}

}  // namespace hearth::gguf
