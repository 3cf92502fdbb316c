// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace hearth::found {

// `text` as one part of a model's name: what a name cannot have becomes "-". May be empty.
std::string name_part(std::string_view text);

// "model:tag" below "host/namespace", "namespace" or nothing. Empty when that is no model's name.
std::string name_of(std::string_view above, std::string_view model, std::string_view tag);

// Of a file's name without ".gguf" and shard number: its quantisation, or all of it.
std::string tag_in(std::string_view stem);

// Whether a GGUF file belongs to a model but is none: a projector for images, or what was
// measured for quantising.
bool is_companion(std::string_view file_name);

}  // namespace hearth::found
