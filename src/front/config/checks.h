// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

// What a text must be to be an option's value. Errors: kInvalid, as the end of a sentence that
// begins with the option's name: `must be a name without port, not "a:1"`.
namespace hearth::front {

Result<> check_listen(const std::string& text);
Result<> check_host(const std::string& text);
Result<> check_origin(const std::string& text);
Result<> check_model_name(const std::string& text);
Result<> check_folder(const std::string& text);
Result<> check_pull_host(const std::string& text);
Result<> check_endpoint(const std::string& text);  // "https://host[:port][/path]", http too

// Of protected services.
Result<> check_service_name(const std::string& text);
Result<> check_process(const std::string& text);
Result<> check_cgroup(const std::string& text);
Result<> check_probed_url(const std::string& text);  // "http://host[:port][/path]"

// A duration of at least a second, with an end.
Result<> check_gap(const std::string& text);

}  // namespace hearth::front
