// SPDX-License-Identifier: Apache-2.0
#include "front/config/otel.h"

#include <string>
#include <utility>

#include "base/text.h"
#include "front/config/options.h"
#include "front/config/value.h"

namespace hearth::front {
namespace {

constexpr std::string_view kBlank = " \t\r\n";

class Reader {
 public:
  Reader(Config& config, const Environment& environment)
      : config_{config}, environment_{environment} {}

  void read() {
    if (lower_case(text_of("OTEL_SDK_DISABLED")) == "true") return;
    if (text_of("OTEL_TRACES_EXPORTER") == "none") return;
    read_endpoint();
    if (config_.traces_endpoint.empty()) return;  // nothing else matters
    const bool own = !text_of("OTEL_EXPORTER_OTLP_TRACES_HEADERS").empty();
    const std::string headers =
        own ? "OTEL_EXPORTER_OTLP_TRACES_HEADERS" : "OTEL_EXPORTER_OTLP_HEADERS";
    take("traces_headers", headers, text_of(headers));
    take("traces_service_name", "OTEL_SERVICE_NAME", text_of("OTEL_SERVICE_NAME"));
  }

 private:
  std::string text_of(const std::string& variable) const {
    const auto found = environment_.find(variable);
    return found == environment_.end() ? "" : std::string{trimmed(found->second, kBlank)};
  }

  // The one for traces is taken as it is; the general one is where all kinds of data go.
  void read_endpoint() {
    const std::string own = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
    const std::string general = "OTEL_EXPORTER_OTLP_ENDPOINT";
    std::string text = text_of(own);
    const std::string variable = text.empty() ? general : own;
    if (text.empty()) {
      text = text_of(general);
      if (text.empty()) return;
      text += text.ends_with('/') ? "v1/traces" : "/v1/traces";
    } else if (const std::size_t scheme = text.find("://"); scheme != std::string::npos) {
      if (text.find('/', scheme + 3) == std::string::npos) text += '/';
    }
    if (config_.set_by.contains("traces_endpoint")) return;
    if (speaks_grpc()) {
      return ignore(variable, "traces_endpoint", "it is for gRPC, and traces are sent over HTTP");
    }
    take("traces_endpoint", variable, text);
  }

  bool speaks_grpc() const {
    const std::string own = text_of("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL");
    return (own.empty() ? text_of("OTEL_EXPORTER_OTLP_PROTOCOL") : own) == "grpc";
  }

  void take(const std::string& name, const std::string& variable, const std::string& text) {
    if (text.empty() || config_.set_by.contains(name)) return;
    const Option& option = *find_option(name);
    Result<Value> value = parse_value(option, text);
    if (!value) return ignore(variable, name, value.error().message());
    set_value(config_, option, std::move(*value));
    config_.set_by[name] = Origin{Source::kEnvironment, variable};
    const bool secret = option.shown == Option::Shown::kNamesOnly;
    config_.notices.push_back({Notice::Kind::kFromOtel, variable, secret ? "" : text, name});
  }

  void ignore(const std::string& variable, const std::string& option, std::string reason) {
    config_.notices.push_back(
        {Notice::Kind::kOtelIgnored, variable, "", option, std::move(reason)});
  }

  Config& config_;
  const Environment& environment_;
};

}  // namespace

void read_otel_variables(Config& config, const Environment& environment) {
  Reader{config, environment}.read();
}

}  // namespace hearth::front
