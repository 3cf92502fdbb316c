// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "layers/artifact/model_settings.h"

namespace hearth {

// What a Modelfile says, for the part of that language which means something here.
struct Modelfile {
  std::string from;                   // as it stands there: a model's name or a path
  std::vector<std::string> adapters;  // as they stand there: paths
  ModelSettings settings;
  std::vector<std::string> notes;  // what will have no effect, each a sentence with its line
};

// Understands FROM, PARAMETER, TEMPLATE, SYSTEM, ADAPTER, LICENSE and MESSAGE, in any case;
// comments, values in one or three double quotes over several lines; all line ends; a byte order
// mark. RENDERER, PARSER, REQUIRES and DRAFT are noted and left. Errors: kInvalid with the line,
// for anything else.
Result<Modelfile> parse_modelfile(std::string_view text);

// The same as text: parse_modelfile() of it gives `file` back (without its notes). A value that the
// language cannot express becomes a comment which says so.
std::string to_modelfile(const Modelfile& file);

}  // namespace hearth
