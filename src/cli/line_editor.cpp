// SPDX-License-Identifier: Apache-2.0
#include "cli/line_editor.h"

#include <histedit.h>

#include <cerrno>
#include <clocale>
#include <cstdio>
#include <string_view>

#include "cli/interrupt.h"

namespace hearth::cli {
namespace {

constexpr int kHistoryLines = 1000;

// libedit reads characters by the process's locale; a plain "C" would refuse all but ASCII.
void use_utf8() {
  std::setlocale(LC_CTYPE, "");
  if (MB_CUR_MAX == 1) std::setlocale(LC_CTYPE, "C.UTF-8");
}

}  // namespace

struct LineEditor::Library {
  explicit Library(std::string text) : prompt{std::move(text)} {
    use_utf8();
    editor = ::el_init("hearth", stdin, stdout, stderr);
    history = ::history_init();
    HistEvent event;
    ::history(history, &event, H_SETSIZE, kHistoryLines);
    ::history(history, &event, H_SETUNIQUE, 1);
    ::el_set(editor, EL_CLIENTDATA, this);
    ::el_set(editor, EL_PROMPT, &Library::prompt_of);
    ::el_set(editor, EL_EDITOR, "emacs");
    ::el_set(editor, EL_HIST, ::history, history);
    ::el_set(editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  }
  ~Library() {
    ::el_end(editor);
    ::history_end(history);
  }

  static char* prompt_of(EditLine* editor) {
    void* self = nullptr;
    ::el_get(editor, EL_CLIENTDATA, &self);
    return static_cast<Library*>(self)->prompt.data();
  }

  std::string prompt;
  EditLine* editor = nullptr;
  History* history = nullptr;
};

LineEditor::LineEditor(std::string prompt)
    : library_{std::make_unique<Library>(std::move(prompt))} {}

LineEditor::~LineEditor() = default;

std::optional<std::string> LineEditor::read() {
  while (true) {
    InterruptWatch watch;
    InterruptWatch::forget();
    int length = 0;
    const char* text = ::el_gets(library_->editor, &length);
    if (text == nullptr || length <= 0) {
      if (!InterruptWatch::interrupted()) return std::nullopt;
      std::fputs("\n", stdout);
      ::el_reset(library_->editor);
      continue;
    }
    std::string_view line{text, static_cast<std::size_t>(length)};
    if (line.ends_with('\n')) line.remove_suffix(1);
    if (!line.empty()) {
      HistEvent event;
      ::history(library_->history, &event, H_ENTER, std::string{line}.c_str());
    }
    return std::string{line};
  }
}

}  // namespace hearth::cli
