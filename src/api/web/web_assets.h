// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace hearth::api {

// A file that browsers get, as it is built into the program.
struct WebAsset {
  std::string_view path;  // below /ui/
  std::string_view type;
  std::string_view etag;  // with its quotes; of what is sent
  std::span<const unsigned char> gzip;
};

// All of them, by path. Made by scripts/embed_web.py from what web/ is built into.
std::span<const WebAsset> web_assets();

}  // namespace hearth::api
