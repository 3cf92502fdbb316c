// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/api_client.h"
#include "cli/terminal.h"

namespace hearth::cli {

enum class OutputFormat { kHuman, kJson };

// Exit codes, the same for every verb.
constexpr int kExitOk = 0;
constexpr int kExitFailed = 1;    // the server or the arguments' values said no
constexpr int kExitNoServer = 2;  // nobody answers
constexpr int kExitUsage = 64;    // the command line cannot be parsed
constexpr int kExitInterrupted = 130;

// What every verb works with: the server, and how its output wants to be.
struct Session {
  ApiClient api;
  OutputFormat format = OutputFormat::kHuman;
  OutputStyle out = style_of(1);
  OutputStyle error = style_of(2);

  bool json() const { return format == OutputFormat::kJson; }
};

// Writes to standard output at once. A reader that went away ends nothing: the exit code is the
// verb's.
void print(std::string_view text);

// "hearth: <message>" to standard error; returns the exit code that belongs to the error.
int report(const Error& error, const OutputStyle& style = style_of(2));

// The JSON object that an answer must be. Errors: kInternal, for an answer that is none.
Result<boost::json::object> object_of(const Result<std::string>& answer);

}  // namespace hearth::cli
