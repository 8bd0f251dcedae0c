// libedit, or plain lines without it.
#include "tools/shell/shell_editor.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "tools/frame/session.h"

#ifdef CELLAR_WITH_EDIT
#include <histedit.h>
#include <langinfo.h>
#include <locale.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/utf8.h"
#endif

namespace cellar {

#ifdef CELLAR_WITH_EDIT

namespace {

namespace fs = std::filesystem;

// Bytes that are no character travel through libedit as numbers that no character has, U+DC80 to U+DCFF.
constexpr uint32_t kLoneBytes = 0xDC00;

wchar_t lone_byte(char c) { return static_cast<wchar_t>(kLoneBytes + static_cast<unsigned char>(c)); }

// Takes a character, or a byte that is not part of one, from the front of `bytes`, which are not empty.
wchar_t take_wide(std::string& bytes) {
  constexpr uint32_t kKeys = 0x100;  // for smaller numbers libedit has commands, when they are not printed
  const Utf8Piece piece = utf8_piece(bytes);
  const uint32_t code = piece.whole ? utf8_code(std::string_view(bytes).substr(0, piece.bytes)) : 0;
  const bool command = code >= 0x80 && code < kKeys && iswprint(code) == 0;
  const bool taken_whole = piece.whole && !command;
  const wchar_t taken = taken_whole ? static_cast<wchar_t>(code) : lone_byte(bytes.front());
  bytes.erase(0, taken_whole ? piece.bytes : 1);
  return taken;
}

std::wstring wide(std::string_view bytes) {
  std::wstring text;
  while (!bytes.empty()) {
    std::string piece(bytes.substr(0, utf8_piece(bytes).bytes));
    bytes.remove_prefix(piece.size());
    while (!piece.empty()) text += take_wide(piece);
  }
  return text;
}

// The bytes again.
std::string narrow(const wchar_t* begin, const wchar_t* end) {
  std::string bytes;
  for (; begin != end; ++begin) {
    const auto code = static_cast<uint32_t>(*begin);
    if (code >= kLoneBytes + 0x80 && code < kLoneBytes + 0x100) {
      bytes += static_cast<char>(code - kLoneBytes);
    } else {
      append_utf8(bytes, code);
    }
  }
  return bytes;
}

// Which characters libedit can show: those of UTF-8, whether the environment names a locale or not. Without
// such a locale it shows their numbers.
locale_t characters_locale() {
  const locale_t own = newlocale(LC_CTYPE_MASK, "", nullptr);
  if (own != nullptr && std::string_view(nl_langinfo_l(CODESET, own)) == "UTF-8") return own;
  const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (utf8 == nullptr) return own;
  if (own != nullptr) freelocale(own);
  return utf8;
}

// While it lives, this thread has the locale; others never do.
class InLocale {
 public:
  explicit InLocale(locale_t locale) : before_(uselocale(locale)) {}
  ~InLocale() { uselocale(before_); }
  InLocale(const InLocale&) = delete;
  InLocale& operator=(const InLocale&) = delete;

 private:
  locale_t before_;
};

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

// libedit is given characters and not bytes: what it reads as bytes depends on the locale, and it drops what
// it does not know.
struct ShellEditor::Implementation {
  locale_t locale = nullptr;
  EditLine* line = nullptr;
  History* history = nullptr;
  HistEvent event = {};
  std::string file;
  std::string typed;  // the beginning of a character
  std::wstring prompt;
  std::wstring recalled;
  ShellEditor::Complete complete;

  static Implementation& of(EditLine* line) {
    void* self = nullptr;
    el_get(line, EL_CLIENTDATA, &self);
    return *static_cast<Implementation*>(self);
  }

  static wchar_t* prompt_of(EditLine* line) { return of(line).prompt.data(); }

  // 1 and a character, 0 at the end, -1 when it cannot be read or was interrupted.
  static int read_character(EditLine* line, wchar_t* to) {
    std::string& typed = of(line).typed;
    while (typed.empty() || utf8_piece(typed).open) {
      char c = 0;
      const ssize_t bytes = ::read(STDIN_FILENO, &c, 1);
      if (bytes < 0 && errno == EINTR && !interrupted()) continue;
      if (bytes == 0 && !typed.empty()) break;
      if (bytes <= 0) {
        *to = L'\0';
        return static_cast<int>(bytes);
      }
      typed += c;
    }
    *to = take_wide(typed);
    return 1;
  }

  // libedit walks through the lines with what takes no operand.
  static int recall(void* client, HistEventW* event, int what, ...) {  // NOLINT(cert-dcl50-cpp): its type
    auto* const self = static_cast<Implementation*>(client);
    if (what != H_FIRST && what != H_LAST && what != H_NEXT && what != H_PREV && what != H_CURR) return -1;
    HistEvent found = {};
    const int result = ::history(self->history, &found, what);
    self->recalled = result >= 0 && found.str != nullptr ? wide(found.str) : std::wstring();
    *event = {found.num, self->recalled.c_str()};
    return result;
  }

  // Completes what stands before the cursor as far as all candidates agree; lists them when that is no
  // further.
  static unsigned char complete_line(EditLine* line, int) {
    const LineInfoW* const info = el_wline(line);
    const std::string before = narrow(info->buffer, info->cursor);
    const size_t cursor = before.size();
    const ShellCompletion found = of(line).complete(before + narrow(info->cursor, info->lastchar), cursor);
    if (found.candidates.empty() || found.from > cursor) return CC_REFRESH_BEEP;
    const std::string common = common_start(found.candidates);
    if (common.size() > cursor - found.from)
      return el_winsertstr(line, wide(common.substr(cursor - found.from)).c_str()) == 0 ? CC_REFRESH
                                                                                        : CC_ERROR;
    std::string all;
    for (const std::string& each : found.candidates) all += "  " + each;
    std::fprintf(stderr, "\n%s\n", all.c_str());
    return CC_REDISPLAY;
  }
};

ShellEditor::ShellEditor(bool history) : implementation_(std::make_unique<Implementation>()) {
  Implementation& it = *implementation_;
  it.locale = characters_locale();
  const InLocale in_locale(it.locale);
  it.line = el_init("cellar", stdin, stderr, stderr);
  it.history = history_init();
  if (it.line == nullptr || it.history == nullptr) return;
  constexpr int kLines = 1000;
  ::history(it.history, &it.event, H_SETSIZE, kLines);
  if (history) it.file = history_file();
  if (!it.file.empty()) ::history(it.history, &it.event, H_LOAD, it.file.c_str());
  el_set(it.line, EL_CLIENTDATA, &it);
  el_wset(it.line, EL_GETCFN, &Implementation::read_character);
  el_wset(it.line, EL_PROMPT, &Implementation::prompt_of);
  el_set(it.line, EL_EDITOR, "emacs");
  el_wset(it.line, EL_HIST, &Implementation::recall, &it);
  // The names are wide: libedit never frees its copies of narrow ones.
  el_wset(it.line, EL_ADDFN, L"cellar-complete", L"completes a command or a table",
          &Implementation::complete_line);
  el_set(it.line, EL_BIND, "^I", "cellar-complete", nullptr);
}

ShellEditor::~ShellEditor() {
  if (implementation_->history != nullptr) history_end(implementation_->history);
  if (implementation_->line != nullptr) el_end(implementation_->line);
  if (implementation_->locale != nullptr) freelocale(implementation_->locale);
}

bool ShellEditor::read_line(const std::string& prompt, Complete complete, std::string& line) {
  Implementation& it = *implementation_;
  if (it.line == nullptr || it.history == nullptr) return false;
  const InLocale in_locale(it.locale);
  it.prompt = wide(with_replacements(prompt));
  it.complete = std::move(complete);
  int count = 0;
  const wchar_t* const text = el_wgets(it.line, &count);
  if (interrupted()) {
    el_reset(it.line);
    it.typed.clear();
    line.clear();
    return true;
  }
  if (text == nullptr || count <= 0) return false;
  line = narrow(text, text + count);
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
