// SPDX-License-Identifier: Apache-2.0
#include "cli/keys.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/files.h"
#include "cli/answer.h"
#include "cli/data_directory.h"
#include "cli/format.h"
#include "cli/json_fields.h"
#include "cli/table.h"
#include "front/key_store.h"
#include "timeline/json_writer.h"

namespace hearth::cli {
namespace {

namespace json = boost::json;

constexpr const char* kTarget = "/api/hearth/keys";

struct KeysOptions {
  std::string name, role, data;
};

// ---- the store of a directory that no server uses, in the API's words ----

struct OpenStore {
  Fd lock;  // held as long as the store is used
  front::KeyStore store;
};

Result<OpenStore> open_store(const std::string& data) {
  if (auto there = Files::real().info(data); !there) {
    return Failed{std::move(there).error().during("--data")};
  }
  auto lock = claim_data_directory(data);
  if (!lock && lock.error().code() == ErrorCode::kConflict) {
    return fail(ErrorCode::kConflict,
                lock.error().message() + "; leave out --data to ask that server, or stop it first");
  }
  if (!lock) return Failed{std::move(lock).error()};
  auto store = front::KeyStore::open(data + "/keys.db", Clock::real());
  if (!store) return Failed{std::move(store).error()};
  return OpenStore{std::move(*lock), std::move(*store)};
}

JsonWriter key_json(const front::KeyInfo& key) {
  JsonWriter out;
  out.string("id", key.id).string("name", key.name).string("role", front::name_of(key.role));
  out.integer("created_at_us", key.created_at_us);
  return out;
}

Result<std::string> list_stored(const std::string& data) {
  auto open = open_store(data);
  if (!open) return Failed{std::move(open).error()};
  const auto keys = open->store.list();
  if (!keys) return Failed{keys.error()};
  std::string list = "[";
  for (const front::KeyRing::Kept& key : *keys) {
    if (list.size() > 1) list += ',';
    list += key_json(key.info).object();
  }
  return JsonWriter{}.raw("keys", list + "]").object();
}

Result<std::string> add_stored(const KeysOptions& options) {
  auto open = open_store(options.data);
  if (!open) return Failed{std::move(open).error()};
  const auto role = front::role_named(options.role);
  const auto key = open->store.add(options.name, role.value_or(front::Role::kUse));
  if (!key) return Failed{key.error()};
  return key_json(key->info).string("secret", key->secret).object();
}

Result<std::string> remove_stored(const KeysOptions& options) {
  auto open = open_store(options.data);
  if (!open) return Failed{std::move(open).error()};
  if (auto removed = open->store.remove(options.name); !removed) {
    return Failed{std::move(removed).error()};
  }
  return JsonWriter{}.string("removed", options.name).object();
}

// ---- the same from wherever the keys are ----

Result<std::string> list_answer(const Session& session, const std::string& data) {
  return data.empty() ? session.api.get(kTarget) : list_stored(data);
}

Result<json::array> keys_of(const Result<std::string>& answer) {
  auto object = object_of(answer);
  if (!object) return Failed{std::move(object).error()};
  const auto* keys = array_in(*object, "keys");
  return keys == nullptr ? json::array{} : *keys;
}

// Names may hold what a path cannot, so the API is asked by id.
Result<std::string> remove_answer(const Session& session, const KeysOptions& options) {
  if (!options.data.empty()) return remove_stored(options);
  const auto keys = keys_of(session.api.get(kTarget));
  if (!keys) return Failed{keys.error()};
  std::string id = options.name;
  for (const json::value& key : *keys) {
    if (key.is_object() && text_in(key.get_object(), "name") == options.name) {
      id = text_in(key.get_object(), "id");
    }
  }
  return session.api.remove(std::string{kTarget} + "/" + percent_encode(id));
}

// ---- the verbs ----

int list_keys(const Session& session, const KeysOptions& options) {
  const auto answer = list_answer(session, options.data);
  if (session.json()) return print_json(answer);
  const auto keys = keys_of(answer);
  if (!keys) return report(keys.error());
  if (keys->empty()) {
    print("no keys: whoever reaches the server may do everything\n");
    return kExitOk;
  }
  Table table{{{"ID"}, {"NAME"}, {"ROLE"}, {"MADE"}}};
  const std::int64_t now = Clock::real().wall_us();
  for (const json::value& value : *keys) {
    if (!value.is_object()) continue;
    const json::object& key = value.get_object();
    table.add({text_in(key, "id"), text_in(key, "name"), text_in(key, "role"),
               format_age(seconds_since(key, "created_at_us", now))});
  }
  print(table.render(session.out));
  return kExitOk;
}

// The key alone goes to standard output, for scripts; what to know about it goes beside.
int add_key(const Session& session, const KeysOptions& options) {
  const auto before = keys_of(list_answer(session, options.data));
  if (!before) return report(before.error());
  const std::string body =
      JsonWriter{}.string("name", options.name).string("role", options.role).object();
  const auto answer = options.data.empty() ? session.api.post(kTarget, body) : add_stored(options);
  if (session.json()) return print_json(answer);
  const auto key = object_of(answer);
  if (!key) return report(key.error());
  const std::string secret = text_in(*key, "secret");
  print(secret + "\n");
  fmt::print(
      stderr,
      "\nThis is the only time that the key is shown. Clients take it as their API key; here "
      "it is\n\n  export HEARTH_API_KEY={}\n\n",
      secret);
  if (before->empty()) {
    fmt::print(stderr,
               "It is the first one: from now on the server answers nobody without a key.\n");
  }
  return kExitOk;
}

int remove_key(const Session& session, const KeysOptions& options) {
  const auto answer = remove_answer(session, options);
  if (session.json()) return print_json(answer);
  const auto removed = object_of(answer);
  if (!removed) return report(removed.error());
  print("removed the key " + options.name + "; whoever has it is refused from now on\n");
  // The key that was removed may have been this command's own: then nobody is told more.
  const auto left = keys_of(list_answer(session, options.data));
  if (left && left->empty()) {
    fmt::print(stderr, "No key is left: whoever reaches the server may do everything.\n");
  }
  return kExitOk;
}

}  // namespace

void add_keys(Program& program) {
  // Both live as long as the callbacks that own them.
  auto options = std::make_shared<KeysOptions>();
  auto action = std::make_shared<int (*)(const Session&, const KeysOptions&)>(list_keys);
  auto* keys = program.verb("keys", "Who may use the server",
                            [options, action](Session& s) { return (*action)(s, *options); });
  keys->add_option("--data", options->data,
                   "Work on this data directory instead of asking a server; none may be using it")
      ->type_name("DIR");
  keys->require_subcommand(0, 1);
  keys->fallthrough();
  keys->footer(example("hearth keys add phone --role use"));
  auto* add = keys->add_subcommand("add", "Make a key; the first one must be an admin's");
  add->add_option("NAME", options->name, "Whose it is, for the lists")->required();
  add->add_option("--role", options->role,
                  "use: ask models; read-only: watch, ask nothing; admin: everything")
      ->required()
      ->check(CLI::IsMember({"use", "read-only", "admin"}));
  add->callback([action] { *action = add_key; });
  keys->add_subcommand("list", "All keys, without their secrets")->alias("ls");
  auto* remove = keys->add_subcommand("rm", "Take a key back");
  remove->add_option("NAME", options->name, "Its name or id")->required();
  remove->callback([action] { *action = remove_key; });
}

}  // namespace hearth::cli
