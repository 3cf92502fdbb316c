// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hearth {

// The quantisation that a file's name tells of, in upper case: "Q4_K_M", "IQ2_XXS", "BF16",
// "UD-Q4_K_XL". Empty: none. A directory, a shard's number and ".gguf" may be there.
std::string quantisation_in(std::string_view file_name);

// `text` in upper case if all of it is the name of a quantisation.
std::optional<std::string> quantisation_named(std::string_view text);

// Which one is taken when nobody says: the smallest number. First those of four bits, Q4_K_M
// foremost, then more bits up to Q8_0, then three and fewer, then what is not quantised. An unknown
// one comes last.
int quantisation_rank(std::string_view quantisation);

}  // namespace hearth
