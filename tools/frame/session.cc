// Errors as text and JSON, exit statuses, and signals.
#include "tools/frame/session.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>

#include "base/bytes.h"
#include "base/utf8.h"
#include "tools/frame/short_text.h"
#include "tools/frame/terminal_line.h"

namespace cellar {

namespace {

std::atomic<int> stop_signal{0};  // SIGINT or SIGTERM, 0: neither
std::atomic<const char*> last_words{nullptr};
std::atomic<size_t> last_words_bytes{0};

Exit exit_of_signal(int signal) { return signal == SIGTERM ? Exit::kTerminated : Exit::kInterrupted; }

extern "C" void on_interrupt(int signal) {
  const char* words = last_words.load();
  if (words != nullptr || stop_signal.exchange(signal) != 0) {
    if (words != nullptr) [[maybe_unused]]
      const ssize_t n = ::write(STDERR_FILENO, words, last_words_bytes.load());
    _exit(static_cast<int>(exit_of_signal(signal)));
  }
}

Exit exit_of(Code code) {
  switch (code) {
    case Code::kOk:
      return Exit::kFine;
    case Code::kInvalidArgument:
    case Code::kLimit:
      return Exit::kUsage;
    case Code::kNotSupported:
      return Exit::kNotSupported;
    default:
      return Exit::kCannot;
  }
}

// "CEL-INVALID-ARGUMENT"
std::string code_text(Code code) {
  std::string text = "CEL-";
  for (const char c : code_name(code))
    text += c == '_' ? '-' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  return text;
}

void append_member(std::string& to, std::string_view name, std::string_view value) {
  to += to.ends_with('{') ? "" : ",";
  append_json_string(to, name);
  to += ":";
  append_json_string(to, with_replacements(value));  // it may quote a file's name, or what was typed
}

void append_part(std::string& to, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  to += "       ";
  to += name;
  to += std::string(12 - name.size(), ' ');
  to += value;
  to += "\n";
}

void print_error(std::string_view message) {
  const std::string text = escaped_controls(message);  // a name in it must not drive the terminal
  TerminalLine::instance().wipe();
  size_t at = 0;
  while (at < text.size()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data() + at, text.size() - at);
    if (written <= 0) return;
    at += static_cast<size_t>(written);
  }
}

}  // namespace

namespace {
uint64_t block_bytes = 16u << 20;
}  // namespace

uint64_t block_bytes_max() { return block_bytes; }
void set_block_bytes_max(uint64_t bytes) { block_bytes = bytes; }

void Session::talk(std::string_view line) const {
  if (!quiet_) print_error(std::string(line) + "\n");
}

Status Session::name_failure(std::string code, Exit exit, Status status) {
  failure_code_ = std::move(code);
  failure_exit_ = exit;
  return status;
}

Exit Session::end(const Status& status) {
  out_.flush();
  Status failure = status;
  if (failure.ok()) failure = out_.status();
  if (failure.ok()) return exit_;
  std::string code = failure_code_.empty() ? code_text(failure.code()) : failure_code_;
  Exit exit = failure_code_.empty() ? exit_of(failure.code()) : failure_exit_;
  if (interrupted() && failure.is(Code::kAborted)) {
    code = "CEL-INTERRUPTED";
    exit = exit_of_signal(stop_signal.load());
  }
  std::string text;
  if (json_errors()) {
    text = "{\"error\":{";
    append_member(text, "code", code);
    append_member(text, "message", shortened(failure.message()));
    if (!failure.place().empty()) append_member(text, "place", failure.place());
    if (!failure.hint().empty()) append_member(text, "hint", shortened(failure.hint()));
    text += ",\"exit\":" + std::to_string(static_cast<int>(exit)) + "}}\n";
  } else {
    text = "error  " + code + (code.size() < 10 ? std::string(10 - code.size(), ' ') : "") + "  " +
           shortened(failure.message()) + "\n";
    append_part(text, "place", failure.place());
    append_part(text, "hint", shortened(failure.hint()));
  }
  print_error(text);
  return exit;
}

bool Session::stopping() const { return interrupted() || out_.reader_gone(); }

void install_signal_handlers() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
}

bool interrupted() { return stop_signal.load(std::memory_order_relaxed) != 0; }
void forget_interrupt() { stop_signal.store(0); }

Status interrupted_status(std::string_view what_remains) {
  return Status::aborted("interrupted; " + std::string(what_remains));
}

ExitOnInterrupt::ExitOnInterrupt(std::string_view line) {
  last_words_bytes = line.size();
  last_words = line.data();
}

ExitOnInterrupt::~ExitOnInterrupt() { last_words = nullptr; }

}  // namespace cellar
