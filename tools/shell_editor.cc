// libedit, or plain lines without it.
#include "tools/shell_editor.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "tools/session.h"

#ifdef CELLAR_WITH_EDIT
#include <histedit.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#endif

namespace cellar {

#ifdef CELLAR_WITH_EDIT

namespace {

namespace fs = std::filesystem;

// Empty when there is no place for it.
std::string history_file() {
  const char* const state = std::getenv("XDG_STATE_HOME");
  const char* const home = std::getenv("HOME");
  fs::path folder;
  if (state != nullptr && *state != '\0') {
    folder = state;
  } else if (home != nullptr && *home != '\0') {
    folder = fs::path(home) / ".local" / "state";
  } else {
    return "";
  }
  folder /= "cellar";
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) return "";
  return folder / "shell_history";
}

}  // namespace

struct ShellEditor::Implementation {
  EditLine* line = nullptr;
  History* history = nullptr;
  HistEvent event = {};
  std::string file;
  std::string prompt;
  ShellEditor::Complete complete;

  static char* prompt_of(EditLine* line) {
    void* self = nullptr;
    el_get(line, EL_CLIENTDATA, &self);
    return static_cast<Implementation*>(self)->prompt.data();
  }

  // Completes what stands before the cursor as far as all candidates agree; lists them when that is no
  // further.
  static unsigned char complete_line(EditLine* line, int) {
    void* client = nullptr;
    el_get(line, EL_CLIENTDATA, &client);
    const auto* const self = static_cast<Implementation*>(client);
    const LineInfo* const info = el_line(line);
    const std::string_view text(info->buffer, static_cast<size_t>(info->lastchar - info->buffer));
    const auto cursor = static_cast<size_t>(info->cursor - info->buffer);
    const ShellCompletion found = self->complete(text, cursor);
    if (found.candidates.empty() || found.from > cursor) return CC_REFRESH_BEEP;
    const std::string common = common_start(found.candidates);
    if (common.size() > cursor - found.from)
      return el_insertstr(line, common.c_str() + (cursor - found.from)) == 0 ? CC_REFRESH : CC_ERROR;
    std::string all;
    for (const std::string& each : found.candidates) all += "  " + each;
    std::fprintf(stderr, "\n%s\n", all.c_str());
    return CC_REDISPLAY;
  }
};

ShellEditor::ShellEditor(bool history) : implementation_(std::make_unique<Implementation>()) {
  Implementation& it = *implementation_;
  it.line = el_init("cellar", stdin, stderr, stderr);
  it.history = history_init();
  if (it.line == nullptr || it.history == nullptr) return;
  constexpr int kLines = 1000;
  ::history(it.history, &it.event, H_SETSIZE, kLines);
  if (history) it.file = history_file();
  if (!it.file.empty()) ::history(it.history, &it.event, H_LOAD, it.file.c_str());
  el_set(it.line, EL_CLIENTDATA, &it);
  el_set(it.line, EL_PROMPT, &Implementation::prompt_of);
  el_set(it.line, EL_EDITOR, "emacs");
  el_set(it.line, EL_HIST, ::history, it.history);
  // Of narrow names libedit makes copies that it never frees.
  el_wset(it.line, EL_ADDFN, L"cellar-complete", L"completes a command or a table",
          &Implementation::complete_line);
  el_set(it.line, EL_BIND, "^I", "cellar-complete", nullptr);
}

ShellEditor::~ShellEditor() {
  if (implementation_->history != nullptr) history_end(implementation_->history);
  if (implementation_->line != nullptr) el_end(implementation_->line);
}

bool ShellEditor::read_line(const std::string& prompt, Complete complete, std::string& line) {
  Implementation& it = *implementation_;
  if (it.line == nullptr || it.history == nullptr) return false;
  it.prompt = prompt;
  it.complete = std::move(complete);
  int count = 0;
  const char* const text = el_gets(it.line, &count);
  if (interrupted()) {
    el_reset(it.line);
    line.clear();
    return true;
  }
  if (text == nullptr || count <= 0) return false;
  line.assign(text, static_cast<size_t>(count));
  if (line.find_first_not_of(" \t\r\n") == std::string::npos) return true;
  ::history(it.history, &it.event, H_ENTER, line.c_str());
  if (!it.file.empty()) ::history(it.history, &it.event, H_SAVE, it.file.c_str());
  return true;
}

// Oldest first.
std::vector<std::string> ShellEditor::history() const {
  Implementation& it = *implementation_;
  std::vector<std::string> lines;
  if (it.history == nullptr) return lines;
  for (int found = ::history(it.history, &it.event, H_LAST); found >= 0;
       found = ::history(it.history, &it.event, H_PREV))
    lines.emplace_back(it.event.str);
  return lines;
}

#else

struct ShellEditor::Implementation {
  std::string read;  // and not yet given out
};

ShellEditor::ShellEditor(bool) : implementation_(std::make_unique<Implementation>()) {}
ShellEditor::~ShellEditor() = default;
std::vector<std::string> ShellEditor::history() const { return {}; }

bool ShellEditor::read_line(const std::string& prompt, Complete, std::string& line) {
  std::fputs(prompt.c_str(), stderr);
  std::string& read = implementation_->read;
  while (read.find('\n') == std::string::npos) {
    char chunk[4096];
    const ssize_t bytes = ::read(STDIN_FILENO, chunk, sizeof chunk);
    if (interrupted()) {
      read.clear();
      line.clear();
      return true;
    }
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) break;
    read.append(chunk, static_cast<size_t>(bytes));
  }
  const size_t end = read.find('\n');
  line = read.substr(0, end == std::string::npos ? end : end + 1);
  read.erase(0, line.size());
  return !line.empty();
}

#endif

}  // namespace cellar
