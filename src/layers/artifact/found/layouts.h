// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "layers/artifact/found/look.h"

namespace hearth::found {

// models--ORG--REPO/snapshots/COMMIT/**.gguf, as links into blobs/. Models are called
// hf.co/ORG/REPO:QUANTISATION. Where the revision "main" has a model of a name, older snapshots
// have none of that name.
void look_into_hugging_face(Look& look, const std::string& root);

// manifests/HOST/NAMESPACE/NAME/TAG, small JSON files that name blobs by their digests. Models are
// called as Ollama calls them.
void look_into_ollama(Look& look, const std::string& root);

// PUBLISHER/REPO/FILE.gguf: PUBLISHER/REPO:QUANTISATION.
void look_into_lm_studio(Look& look, const std::string& root);

// **.gguf: the file's name.
void look_into_folder(Look& look, const std::string& root);

}  // namespace hearth::found
