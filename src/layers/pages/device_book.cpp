// SPDX-License-Identifier: Apache-2.0
#include "layers/pages/device_book.h"

#include <array>
#include <boost/json.hpp>
#include <cmath>
#include <optional>
#include <span>

#include "base/json.h"
#include "base/log.h"
#include "layers/pages/small_file.h"

namespace hearth {
namespace {

namespace json = boost::json;

constexpr std::int64_t kVersion = 1;
constexpr std::size_t kMostDevices = 64;
constexpr std::size_t kMostStyles = 64;
constexpr double kMostRate = 1e12;
constexpr std::int64_t kMostBlock = std::int64_t{1} << 30;

constexpr std::array kWays{ReadWay::kMapped, ReadWay::kBuffered, ReadWay::kDirect};
constexpr std::array kDirections{ReadDirection::kForward, ReadDirection::kBackward};

template <class Word, std::size_t kCount>
std::optional<Word> word_named(const std::array<Word, kCount>& words, const json::value& name) {
  const json::string* text = name.if_string();
  if (text == nullptr) return std::nullopt;
  for (const Word word : words) {
    if (name_of(word) == std::string_view{*text}) return word;
  }
  return std::nullopt;
}

const json::value& member(const json::object& object, std::string_view key) {
  static const json::value kNone;
  const json::value* found = object.if_contains(key);
  return found == nullptr ? kNone : *found;
}

std::optional<std::int64_t> whole(const json::value& value, std::int64_t most) {
  const std::int64_t* number = value.if_int64();
  if (number == nullptr || *number < 1 || *number > most) return std::nullopt;
  return *number;
}

std::optional<StyleRate> rate_of(const json::value& value) {
  const json::object* object = value.if_object();
  if (object == nullptr) return std::nullopt;
  const auto way = word_named(kWays, member(*object, "way"));
  const auto direction = word_named(kDirections, member(*object, "direction"));
  const auto readers = whole(member(*object, "readers"), 64);
  const auto block = whole(member(*object, "block"), kMostBlock);
  const auto reads = whole(member(*object, "reads"), 1'000'000'000);
  const json::value& rate = member(*object, "bytes_per_s");
  if (!way || !direction || !readers || !block || !reads || !rate.is_number()) return std::nullopt;
  StyleRate found;
  found.style = {*way, static_cast<int>(*readers), *direction,
                 Bytes{static_cast<std::uint64_t>(*block)}};
  found.bytes_per_s = rate.to_number<double>();
  found.reads = static_cast<int>(*reads);
  if (!(found.bytes_per_s > 0 && found.bytes_per_s < kMostRate)) return std::nullopt;
  return found;
}

Failed corrupt(const std::string& what) {
  return fail(ErrorCode::kCorrupt, "device rates: " + what);
}

Result<> write_all(const Files& files, const std::string& path, const std::string& text) {
  Result<Fd> file = files.open_write(path, Files::Create::kIfMissing);
  if (!file) return Failed{std::move(file).error()};
  if (auto emptied = files.resize(*file, Bytes{}); !emptied) return emptied;
  if (auto written = files.write_at(*file, 0, std::as_bytes(std::span{text})); !written) {
    return written;
  }
  return files.sync(*file);
}

}  // namespace

std::string encode(const DeviceBook& book) {
  json::array devices;
  for (const auto& [key, rates] : book) {
    json::array styles;
    for (const StyleRate& rate : rates) {
      styles.push_back(json::object{{"way", name_of(rate.style.way)},
                                    {"readers", rate.style.readers},
                                    {"direction", name_of(rate.style.direction)},
                                    {"block", rate.style.block.count()},
                                    {"bytes_per_s", std::round(rate.bytes_per_s)},
                                    {"reads", rate.reads}});
    }
    devices.push_back(json::object{{"key", key}, {"styles", std::move(styles)}});
  }
  return json::serialize(json::object{{"version", kVersion}, {"devices", std::move(devices)}});
}

Result<DeviceBook> decode_device_book(const std::string& text) {
  const Result<json::value> parsed = parse_json(text);
  if (!parsed) return corrupt(parsed.error().message());
  const json::object* top = parsed->if_object();
  if (top == nullptr || member(*top, "version") != kVersion) return corrupt("unknown version");
  const json::array* devices = member(*top, "devices").if_array();
  if (devices == nullptr || devices->size() > kMostDevices) return corrupt("no list of devices");
  DeviceBook book;
  for (const json::value& value : *devices) {
    const json::object* device = value.if_object();
    const json::string* key = device == nullptr ? nullptr : member(*device, "key").if_string();
    const json::array* styles = device == nullptr ? nullptr : member(*device, "styles").if_array();
    if (key == nullptr || styles == nullptr || styles->size() > kMostStyles) {
      return corrupt("a device without key or styles");
    }
    DeviceRates& rates = book[std::string{*key}];
    for (const json::value& style : *styles) {
      const std::optional<StyleRate> rate = rate_of(style);
      if (!rate) return corrupt("a rate that makes no sense");
      rates.push_back(*rate);
    }
  }
  return book;
}

DeviceBook load_device_book(const Files& files, const std::string& path) {
  if (!files.info(path)) return {};
  Result<DeviceBook> book = decode_device_book(small_text(files, path));
  if (book) return *std::move(book);
  log::warn("devices.begun_anew", {{"path", path}, {"reason", book.error().message()}});
  if (const auto moved = files.rename(path, path + ".bad"); !moved) {
    log::warn("devices.not_moved", {{"path", path}, {"reason", moved.error().message()}});
  }
  return {};
}

Result<> save_device_book(const Files& files, const std::string& path, const DeviceBook& book) {
  const std::string fresh = path + ".new";
  if (auto written = write_all(files, fresh, encode(book)); !written) {
    (void)files.remove(fresh);
    return written;
  }
  if (auto renamed = files.rename(fresh, path); !renamed) return renamed;
  return files.sync_directory(path.substr(0, path.rfind('/')));
}

}  // namespace hearth
