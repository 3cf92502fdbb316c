// SPDX-License-Identifier: Apache-2.0
#include "front/config/options.h"

#include <array>

#include "front/config/checks.h"
#include "front/config/named_table.h"
#include "front/config/ollama.h"
#include "front/config/prefix_group.h"
#include "front/config/traces.h"
#include "front/prefix_reasons/normaliser.h"
#include "wire/frame.h"

namespace hearth::front {
namespace {

constexpr std::int64_t kMillion = 1'000'000;
constexpr std::int64_t kDay = 86'400;
constexpr std::int64_t kMostBodyMib{wire::kMaxPayload >> 20};

constexpr std::array<std::string_view, 4> kLevels{"debug", "info", "warn", "error"};
constexpr std::array<std::string_view, 3> kStores{"huggingface", "ollama", "lmstudio"};
constexpr std::array<std::string_view, 3> kSerialReads{"auto", "always", "never"};
constexpr std::array<std::string_view, 5> kLayers{"artifact", "pages", "weights", "compiled",
                                                  "prefix"};

constexpr std::array kOptions{
    Option{.name = "listen",
           .member = &Config::listen,
           .help = "Address and port to serve on. Port 0 picks a free one; without an address it "
                   "is loopback, `0.0.0.0` and `[::]` are every address of the machine.",
           .check = check_listen,
           .ollama = {"OLLAMA_HOST", ollama::listen}},
    Option{.name = "data",
           .member = &Config::data,
           .help = "Directory of catalogue, keys and history, mode 0700. Empty: "
                   "`$XDG_DATA_HOME/hearth`, else `~/.local/share/hearth`, else "
                   "`/var/lib/hearth`."},
    Option{.name = "log_level",
           .member = &Config::log_level,
           .effect = Effect::kLive,
           .help = "What the log on standard error leaves out: everything below this level.",
           .words = kLevels,
           .ollama = {"OLLAMA_DEBUG", ollama::log_level}},
    Option{.name = "keep_alive",
           .member = &Config::keep_alive,
           .effect = Effect::kLive,
           .help = "How long weights stay after a model's last reply: seconds, or a duration such "
                   "as `5m` or `1h30m`; `0` gives them back at once, `-1` keeps them until the "
                   "memory is wanted. A request's own value goes first.",
           .ollama = {"OLLAMA_KEEP_ALIVE", ollama::same}},
    Option{.name = "context",
           .member = &Config::context,
           .help = "Longest sequence of a model. 0: what the model was trained for.",
           .unit = "tokens",
           .most = 16 * kMillion,
           .ollama = {"OLLAMA_CONTEXT_LENGTH", ollama::number_or_unset}},
    Option{.name = "parallel",
           .member = &Config::parallel,
           .help = "Sequences of one model that are evaluated together.",
           .least = 1,
           .most = 64,
           .ollama = {"OLLAMA_NUM_PARALLEL", ollama::number_or_unset}},
    Option{.name = "threads",
           .member = &Config::threads,
           .help = "Most evaluation threads of one model; how many there are at a moment follows "
                   "the processors that other programs leave free. 0: the physical cores.",
           .most = 1024},
    Option{.name = "exact",
           .member = &Config::exact,
           .help = "The same request gets the same bits, whatever else goes on: all threads, also "
                   "beside busy neighbours, requests of a model one after the other, and prompts "
                   "read anew from their first token on. All of this costs time."},
    Option{.name = "worker_nice",
           .member = &Config::worker_nice,
           .help = "Priority of evaluation against other programs, from -20 (first) to 19 (last). "
                   "Below 0 replies stay fast beside busy neighbours, which then get less: mind "
                   "the other services of this machine. It needs CAP_SYS_NICE, or LimitNICE in "
                   "the service's unit; what the system refuses is logged.",
           .least = -20,
           .most = 19},
    Option{.name = "queue",
           .member = &Config::queue,
           .help = "Requests that may wait for one model; one more gets a 503.",
           .unit = "requests",
           .most = kMillion,
           .ollama = {"OLLAMA_MAX_QUEUE", ollama::same}},
    Option{.name = "hang_seconds",
           .member = &Config::hang_seconds,
           .help = "A worker without progress for so long is ended. 0: never.",
           .unit = "s",
           .most = kDay,
           .ollama = {"OLLAMA_LOAD_TIMEOUT", ollama::seconds, Fallback::Unfit::kBent}},
    Option{.name = "drain_seconds",
           .member = &Config::drain_seconds,
           .effect = Effect::kLive,
           .help = "How long a stop waits for replies under way.",
           .unit = "s",
           .most = kDay},
    Option{.name = "hollow_workers",
           .member = &Config::hollow_workers,
           .help = "Models, last used first, whose vocabulary is kept ready from the start.",
           .most = 64},
    Option{.name = "compiled_disk_gib",
           .member = &Config::compiled_disk_gib,
           .help = "Disk for what starts compute and can use again: repacked weights, and what GPU "
                   "drivers compile. 0: nothing is kept.",
           .unit = "GiB",
           .most = kMillion},
    Option{.name = "prefix_memory_mib",
           .member = &Config::prefix_memory_mib,
           .effect = Effect::kLive,
           .help = "Memory for prompt state that outlives its worker, all models together. -1: a "
                   "tenth of what is available at the start. 0: nothing is kept beyond a loaded "
                   "model, neither in memory nor on disk.",
           .unit = "MiB",
           .least = -1,
           .most = kMillion * 16},
    Option{.name = "prefix_disk_gib",
           .member = &Config::prefix_disk_gib,
           .effect = Effect::kLive,
           .help = "Disk for prompt state that outlives the server: what was used again, and what "
                   "conversations end with. It is as private as the prompts: mode 0600, and "
                   "`hearth cool --layer prefix` deletes it. 0: nothing is written.",
           .unit = "GiB",
           .most = kMillion},
    Option{.name = "prefix_daily_gib",
           .member = &Config::prefix_daily_gib,
           .effect = Effect::kLive,
           .help = "Most prompt state that is written to disk in one day, so that flash lasts. 0: "
                   "nothing is written.",
           .unit = "GiB",
           .most = kMillion},
    Option{.name = "prefix_days",
           .member = &Config::prefix_days,
           .effect = Effect::kLive,
           .help = "Prompt state that nobody used for so long is deleted.",
           .unit = "days",
           .least = 1,
           .most = 36'500},
    Option{.name = "prefix_groups",
           .member = &Config::prefix_groups,
           .effect = Effect::kLive,
           .help = "API keys, by name, that may use each other's prompt state: `family: anna, "
                   "ben`. Without a group each key has its own, so that nobody learns from the "
                   "speed of a reply what others have asked. On the command line and in the "
                   "environment one key an item: `family:anna,family:ben`.",
           .check = check_prefix_group},
    Option{.name = "prefix_normalise",
           .member = &Config::prefix_normalise,
           .effect = Effect::kLive,
           .help = "What is cut out of system prompts before they are evaluated, because it is "
                   "another text in every request and so keeps all that follows from being used "
                   "again: `Current date: *` cuts what stands for `*`, within a line. The model "
                   "does not see it any more. `hearth doctor` names candidates.",
           .check = check_normalise_pattern},
    Option{.name = "memory_mib",
           .member = &Config::memory_mib,
           .effect = Effect::kLive,
           .help = "Memory for all that models hold: weights, prompt state, pinned pages, workers. "
                   "0: 80 % of what is available at the start. More than there is counts as all "
                   "there is, and the log says so (`memory.limit_too_large`); a cgroup's limit "
                   "and what other programs need come first in any case. See "
                   "[levels.md](levels.md).",
           .unit = "MiB",
           .most = kMillion * 16},
    Option{.name = "memory_reserve_mib",
           .member = &Config::memory_reserve_mib,
           .effect = Effect::kLive,
           .help = "Memory that stays available for other programs: below it, models cool step by "
                   "step. 0: 5 % of the machine's, at least 256 MiB.",
           .unit = "MiB",
           .most = kMillion * 16},
    Option{.name = "device_mib",
           .member = &Config::device_mib,
           .effect = Effect::kLive,
           .help = "Memory of each GPU that models may hold. 0: all of it.",
           .unit = "MiB",
           .most = kMillion * 16},
    Option{.name = "psi_limit",
           .member = &Config::psi_limit,
           .effect = Effect::kLive,
           .help = "When some program has waited for memory for this share of the last ten seconds "
                   "(`some avg10` in `/proc/pressure/memory`), models cool step by step. 0: it is "
                   "not looked at.",
           .unit = "percent",
           .most = 100},
    Option{.name = "prewarm",
           .member = &Config::prewarm,
           .effect = Effect::kLive,
           .help = "Whether models are loaded, at idle priority, before the hour at which they "
                   "are usually asked."},
    Option{.name = "prewarm_daily_gib",
           .member = &Config::prewarm_daily_gib,
           .effect = Effect::kLive,
           .help = "Most that is read from disks in a day to load models before anybody asks. 0: "
                   "only what needs no reading.",
           .unit = "GiB",
           .most = kMillion},
    Option{.name = "pinned_mib",
           .member = &Config::pinned_mib,
           .help = "Pages of model files that pins may lock into memory, all models together. 0: "
                   "half of the machine's memory.",
           .unit = "MiB",
           .most = kMillion * 16},
    Option{.name = "read_serial",
           .member = &Config::read_serial,
           .effect = Effect::kLive,
           .help = "Whether models are read from one device one after the other. `auto`: from "
                   "disks with moving heads and from network shares, as far as the system tells; "
                   "it cannot tell behind a virtual disk or a RAID controller.",
           .words = kSerialReads},
    Option{.name = "history_rows",
           .member = &Config::history_rows,
           .help = "Requests that the history keeps.",
           .unit = "requests",
           .least = 100,
           .most = 10 * kMillion},
    Option{.name = "traces_endpoint",
           .member = &Config::traces_endpoint,
           .effect = Effect::kLive,
           .help = "Where each request's trace is sent: an OTLP/HTTP collector, such as "
                   "`http://127.0.0.1:4318/v1/traces`. Empty: nowhere. See [traces.md](traces.md).",
           .check = check_traces_endpoint,
           .otel = "`OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` or `OTEL_EXPORTER_OTLP_ENDPOINT`"},
    Option{.name = "traces_headers",
           .member = &Config::traces_headers,
           .effect = Effect::kLive,
           .help = "Headers that the collector wants, `NAME=VALUE` with `%20` for a blank. Shown "
                   "nowhere; on the command line others could read them.",
           .check = check_traces_header,
           .otel = "`OTEL_EXPORTER_OTLP_TRACES_HEADERS` or `OTEL_EXPORTER_OTLP_HEADERS`",
           .shown = Option::Shown::kNamesOnly},
    Option{.name = "traces_sample_percent",
           .member = &Config::traces_sample_percent,
           .effect = Effect::kLive,
           .help = "How many of the requests that come without a trace are sent. Of one that comes "
                   "with a `traceparent`, that decides.",
           .unit = "percent",
           .most = 100},
    Option{.name = "traces_service_name",
           .member = &Config::traces_service_name,
           .effect = Effect::kLive,
           .help = "What this server is called in traces.",
           .check = check_traces_service_name,
           .otel = "`OTEL_SERVICE_NAME`"},
    Option{.name = "layers_off",
           .member = &Config::layers_off,
           .help = "Cache layers that keep nothing, so that their effect can be seen.",
           .words = kLayers},
    Option{.name = "stores",
           .member = &Config::stores,
           .effect = Effect::kLive,
           .help =
               "Other programs' stores whose models are listed and used where they lie; nothing "
               "in them is ever written.",
           .words = kStores},
    Option{.name = "folders",
           .member = &Config::folders,
           .effect = Effect::kLive,
           .help = "Folders, absolute, that are watched for GGUF files; these are used where they "
                   "lie.",
           .check = check_folder},
    Option{.name = "pull_hosts",
           .member = &Config::pull_hosts,
           .effect = Effect::kLive,
           .help =
               "Servers that models may be pulled from: `models.example`, `*.example`, `*`, or "
               "`http://nas.lan:8080` for one without encryption. One at a private address must "
               "be named in full. Redirects may lead to any public address.",
           .check = check_pull_host},
    Option{.name = "huggingface_endpoint",
           .member = &Config::huggingface_endpoint,
           .effect = Effect::kLive,
           .help = "Where `hf.co/...` is pulled from: Hugging Face, or a mirror of it.",
           .check = check_endpoint,
           .ollama = {"HF_ENDPOINT", ollama::same}},
    Option{.name = "ollama_registry",
           .member = &Config::ollama_registry,
           .effect = Effect::kLive,
           .help = "Where names without a host are pulled from: Ollama's registry, or a mirror.",
           .check = check_endpoint},
    Option{.name = "pull_rate_mib",
           .member = &Config::pull_rate_mib,
           .effect = Effect::kLive,
           .help = "Most that one pull takes from the network. 0: no limit.",
           .unit = "MiB/s",
           .most = kMillion},
    Option{.name = "pull_connections",
           .member = &Config::pull_connections,
           .effect = Effect::kLive,
           .help = "Connections of one pull at once.",
           .least = 1,
           .most = 16},
    Option{.name = "pull_stall_seconds",
           .member = &Config::pull_stall_seconds,
           .effect = Effect::kLive,
           .help = "A connection that brings nothing for so long is given up and begun anew.",
           .unit = "s",
           .least = 1,
           .most = kDay},
    Option{.name = "partial_days",
           .member = &Config::partial_days,
           .effect = Effect::kLive,
           .help = "How long what a stopped pull has brought is kept. 0: until `hearth prune`.",
           .unit = "days",
           .most = 36'500},
    Option{.name = "verify_days",
           .member = &Config::verify_days,
           .effect = Effect::kLive,
           .help = "How often every model's content is read again, while nothing else is going on, "
                   "to find what has rotted. 0: only when `hearth verify` asks.",
           .unit = "days",
           .most = 36'500},
    Option{.name = "hosts",
           .member = &Config::hosts,
           .effect = Effect::kLive,
           .help = "Names, without port, by which clients may call this server, beside addresses "
                   "and local names (single words, `.local`, `.internal`, `.localhost`): "
                   "`ai.home.example`, `*.home.example` for all names below one, `*` for all. "
                   "Pages under other names than the one called need `origins`.",
           .check = check_host},
    Option{.name = "origins",
           .member = &Config::origins,
           .effect = Effect::kLive,
           .help = "Web pages that may use this server from a browser, beside local ones and those "
                   "that come from the name or address that they call: "
                   "`https://chat.home.example`, `https://*.home.example`, `http://box:*` (any "
                   "port), `chat.home.example` (http and https), `chrome-extension://*`, `null` "
                   "(files), `*` (all others).",
           .check = check_origin,
           .ollama = {"OLLAMA_ORIGINS", ollama::same, Fallback::Unfit::kBent}},
    Option{.name = "max_header_kib",
           .member = &Config::max_header_kib,
           .help = "Longest request line, and longest header, of a request.",
           .unit = "KiB",
           .least = 1,
           .most = 1024},
    Option{.name = "max_body_mib",
           .member = &Config::max_body_mib,
           .help = "Largest body of a request. More than 64 MiB does not fit into a message to a "
                   "worker.",
           .unit = "MiB",
           .least = 1,
           .most = kMostBodyMib},
    Option{.name = "max_bodies_mib",
           .member = &Config::max_bodies_mib,
           .help =
               "Memory for the bodies of all requests together, never less than one body's. One "
               "that does not fit gets a 503.",
           .unit = "MiB",
           .least = 1,
           .most = kMillion},
    Option{.name = "max_connections",
           .member = &Config::max_connections,
           .help = "Connections at once; one more gets a 503.",
           .least = 8,
           .most = kMillion},
    Option{.name = "max_connections_per_address",
           .member = &Config::max_connections_per_address,
           .help = "Connections at once from one address other than loopback; of IPv6, from one "
                   "/64 network. 0: no limit.",
           .most = kMillion},
    Option{.name = "header_timeout_seconds",
           .member = &Config::header_timeout_seconds,
           .help = "For a request's line and header, from its first byte on.",
           .unit = "s",
           .least = 1,
           .most = kDay},
    Option{.name = "body_timeout_seconds",
           .member = &Config::body_timeout_seconds,
           .help = "How long a request's body may pause. In all it may take as long, plus the "
                   "time that it needs at 16 KiB a second.",
           .unit = "s",
           .least = 1,
           .most = kDay},
    Option{.name = "idle_timeout_seconds",
           .member = &Config::idle_timeout_seconds,
           .help = "How long a connection may rest between two requests.",
           .unit = "s",
           .least = 1,
           .most = kDay},
    Option{.name = "write_timeout_seconds",
           .member = &Config::write_timeout_seconds,
           .help = "A client that takes none of its answer for so long is cut off.",
           .unit = "s",
           .least = 1,
           .most = kDay},
};

}  // namespace

std::span<const Option> options() { return kOptions; }
const Option* find_option(std::string_view name) { return find_in(kOptions, name); }
const std::vector<std::string_view>& option_names() {
  static const auto names = names_in(kOptions);
  return names;
}

}  // namespace hearth::front
