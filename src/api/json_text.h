// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hearth::api {

// Appends `text` as a JSON string with its quotes. `text` is UTF-8.
void append_json_string(std::string& out, std::string_view text);
std::string json_string(std::string_view text);

// Writes a JSON object member by member, without a tree in between.
//   JsonObject{}.text("id", id).integer("created", 5).take()
class JsonObject {
 public:
  JsonObject& text(std::string_view key, std::string_view value);
  // An empty value becomes null.
  JsonObject& text_or_null(std::string_view key, std::string_view value);
  JsonObject& integer(std::string_view key, std::int64_t value);
  // At most three decimals; what is not finite becomes null.
  JsonObject& real(std::string_view key, double value);
  // `json` is a complete JSON value.
  JsonObject& raw(std::string_view key, std::string_view json);

  std::string take();

 private:
  void key(std::string_view name);

  std::string out_{"{"};
};

}  // namespace hearth::api
