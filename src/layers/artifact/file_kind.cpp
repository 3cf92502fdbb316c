// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/file_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/text.h"

namespace hearth {
namespace {

constexpr std::string_view kConvert =
    "; pull a GGUF version of the model, or convert it with llama.cpp's convert_hf_to_gguf.py";

struct Kind {
  bool (*is)(std::string_view beginning);
  ErrorCode code;
  std::string_view text;
};

template <class T>
T number_at(std::string_view bytes, std::size_t at) {
  T value{};
  if (bytes.size() >= at + sizeof(T)) std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

bool holds(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

std::string_view without_space(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos ? std::string_view{} : text.substr(first);
}

bool is_empty(std::string_view b) { return b.empty(); }

bool is_zeros(std::string_view b) {
  return b.size() >= 4 && b.find_first_not_of('\0') == std::string_view::npos;
}

bool is_lfs_pointer(std::string_view b) { return b.starts_with("version https://git-lfs."); }

bool is_web_page(std::string_view b) {
  const std::string text = lower_case(without_space(b));
  return text.starts_with("<!doctype html") || text.starts_with("<html") ||
         (text.starts_with("<?xml") && holds(text, "<html"));
}

// The length of a JSON object, then the object.
bool is_safetensors(std::string_view b) {
  constexpr std::uint64_t kMost = 100 << 20;
  const auto length = number_at<std::uint64_t>(b, 0);
  return b.size() > 9 && b[8] == '{' && length >= 2 && length <= kMost &&
         (b[9] == '"' || b[9] == '}' || b[9] == ' ');
}

// Four letters as a number, so they stand in the file backwards; "ggml" came without a version.
bool is_old_ggml(std::string_view b) {
  constexpr std::array<std::string_view, 8> kMagics{"lmgg", "fmgg", "tjgg", "algg",
                                                    "ggml", "ggmf", "ggjt", "ggla"};
  return std::ranges::find(kMagics, b.substr(0, 4)) != kMagics.end();
}

bool is_zip(std::string_view b) { return b.starts_with("PK\x03\x04"); }
bool is_torch_zip(std::string_view b) {
  return is_zip(b) &&
         (holds(b, "data.pkl") || holds(b, "archive/") || holds(b, "/.format_version"));
}

bool is_pickle(std::string_view b) {
  return b.size() > 2 && b[0] == '\x80' && b[1] >= 2 && b[1] <= 5;
}

// A protocol buffer that begins with a small version, then who made it or the graph.
bool is_onnx(std::string_view b) {
  if (b.size() < 4 || b[0] != 0x08 || b[1] < 1 || b[1] > 20) return false;
  return b[2] == 0x12 || b[2] == 0x1a || b[2] == 0x3a || b[2] == 0x42;
}

bool is_packed(std::string_view b) {
  return b.starts_with("\x1f\x8b") ||
         b.starts_with(
             "\xfd"
             "7zXZ") ||
         b.starts_with("\x28\xb5\x2f\xfd") || b.starts_with("7z\xbc\xaf") || b.starts_with("BZh");
}

bool is_json(std::string_view b) {
  const std::string_view text = without_space(b);
  return text.starts_with("{\"") || text.starts_with("[{");
}

bool is_gguf(std::string_view b) { return b.starts_with("GGUF") && b.size() >= 8; }
bool is_gguf_1(std::string_view b) { return is_gguf(b) && number_at<std::uint32_t>(b, 4) == 1; }
bool is_big_endian(std::string_view b) {
  const auto version = number_at<std::uint32_t>(b, 4);
  return (is_gguf(b) && version != 0 && (version & 0xffff) == 0) || b.starts_with("FUGG");
}

constexpr ErrorCode kOther = ErrorCode::kUnsupported;
constexpr ErrorCode kBad = ErrorCode::kCorrupt;

constexpr std::array kKinds{
    Kind{is_empty, kBad, "the file is empty; fetch it again"},
    Kind{is_zeros, kBad,
         "the file begins with zeros only, as one whose download was broken off; fetch it again"},
    Kind{is_lfs_pointer, kBad,
         "a Git LFS pointer, which only stands for the file; run `git lfs pull` in its folder"},
    Kind{is_web_page, kBad,
         "a web page under a model's name, perhaps one that asks to log in; fetch the file itself"},
    Kind{is_gguf_1, kOther,
         "a GGUF file of version 1, which only the first programs wrote; pull a newer one, or "
         "convert the model again"},
    Kind{is_big_endian, kOther,
         "a big-endian GGUF file; pull the usual one, or turn it with llama.cpp's "
         "gguf_convert_endian.py"},
    Kind{is_safetensors, kOther, "a safetensors file, not GGUF"},
    Kind{is_old_ggml, kOther,
         "a file of the GGML format that came before GGUF; pull a GGUF version of the model"},
    Kind{is_torch_zip, kOther, "a PyTorch file, not GGUF"},
    Kind{is_pickle, kOther, "a PyTorch (pickle) file, not GGUF, and nothing of it is ever run"},
    Kind{is_zip, kOther, "a zip archive; unpack it, and import the GGUF file that is in it"},
    Kind{is_packed, kOther, "a compressed file; unpack it, and import the GGUF file that is in it"},
    Kind{is_onnx, kOther, "an ONNX file, not GGUF"},
    Kind{is_json, kBad,
         "a JSON text, perhaps what a server said instead of the file; fetch the file itself"},
};

bool can_be_converted(const Kind& kind) { return kind.text.find("not GGUF") != kind.text.npos; }

}  // namespace

std::optional<Error> refusal_of(std::string_view beginning) {
  for (const Kind& kind : kKinds) {
    if (!kind.is(beginning)) continue;
    std::string text{kind.text};
    if (can_be_converted(kind)) text += kConvert;
    return Error{kind.code, std::move(text)};
  }
  if (beginning.size() < 4 || beginning.starts_with("GGUF")) return std::nullopt;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(beginning[i]); };
  return Error{kBad, fmt::format("not a GGUF file: the first bytes are {:02x} {:02x} {:02x} {:02x}",
                                 byte(0), byte(1), byte(2), byte(3))};
}

}  // namespace hearth
