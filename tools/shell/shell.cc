// Statements from a text, a file, a pipe or a terminal, one after the other.
#include "tools/shell/shell.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/bytes.h"
#include "base/text_width.h"
#include "base/utf8.h"
#include "cellar/environment.h"
#include "cellar/plugin.h"
#include "tools/store/store.h"

namespace cellar {
namespace {

// "line 2, column 14", the line itself and a caret below the place. Columns count the characters of the whole
// line, of which `first_column` stand before the text.
std::string place_text(const std::string& origin, size_t first_line, size_t first_column,
                       std::string_view text, size_t at) {
  constexpr size_t kShown = 72;  // columns of the line after the caret, half as many before it
  at = std::min(at, text.size());
  const size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;  // npos + 1 is 0
  const size_t end = std::min(text.find('\n', at), text.size());
  const size_t line =
      first_line +
      static_cast<size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
  size_t from = begin;
  while (from < end && (text[from] == ' ' || text[from] == '\r') && from < at) ++from;
  // The text may hold what would confuse a terminal, or a reader of JSON.
  const std::string all_before = printable_utf8(text.substr(from, at - from));
  const std::string_view before = last_columns(all_before, kShown / 2);
  const std::string after = printable_utf8(text.substr(at, end - at));
  const std::string margin(19, ' ');
  return fmt::format("{}line {}, column {}\n{}{}{}\n{}{}^", origin.empty() ? "" : origin + ", ", line,
                     (begin == 0 ? first_column : 0) + from - begin + utf8_length(all_before) + 1, margin,
                     before, first_columns(after, kShown), margin, std::string(text_width(before), ' '));
}

// "> scan 't'", for --echo.
std::string shown_statement(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  std::string shown = "> ";
  for (size_t end; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1))
    shown += printable_utf8(text.substr(0, end)) + "\n  ";
  return shown + printable_utf8(text);
}

// $XDG_CONFIG_HOME/cellar/shellrc or ~/.config/cellar/shellrc; empty when there is no such place.
std::string rc_file() {
  const char* const config = std::getenv("XDG_CONFIG_HOME");
  const char* const home = std::getenv("HOME");
  if (config != nullptr && *config != '\0') return std::string(config) + "/cellar/shellrc";
  return home != nullptr && *home != '\0' ? std::string(home) + "/.config/cellar/shellrc" : "";
}

}  // namespace

Shell::Shell(Session& session, ShellOptions options) : session_(session), options_(std::move(options)) {
  state_.path = options_.path;
  state_.read_only = options_.read_only;
  state_.only_reading = options_.read_only;
  state_.echo = options_.echo;
  may_page_ = session.out().may_page();
  state_.format = session.format();
  state_.read_file = [this](const std::string& path) { return run_file(path); };
}

void Shell::note_failure(Exit exit) {
  if (failed_ == Exit::kFine) failed_ = exit;
}

Status Shell::carry_out(Session& session, const ShellStatement& statement, size_t& fault_at,
                        bool& has_place) {
  const ShellVerb* const verb = find_shell_verb(statement.name);
  state_.is_current = false;
  if (verb != nullptr) {
    ShellCall call(session, state_, statement);
    const Status done = verb->run(call);
    if (const std::optional<size_t> at = call.fault_at()) {
      fault_at = *at;
      has_place = true;
    }
    return done;
  }
  fault_at = statement.at;
  has_place = true;
  const std::string name = escaped(statement.name);
  if (const std::string_view why = why_not_here(statement.name); !why.empty())
    return Status::not_supported(fmt::format("{} does not apply to a store", name)).hinting(why);
  const std::string nearest = nearest_name(statement.name, shell_verb_names());
  return session.name_failure(
      "CEL-USAGE", Exit::kUsage,
      Status::invalid_argument(fmt::format("unknown command \"{}\"", name))
          .hinting(nearest.empty() ? "help lists the commands" : fmt::format("did you mean {}?", nearest)));
}

Status Shell::carry_out(Session& session, const std::string& text, size_t& fault_at, bool& has_place) {
  const Result<ShellStatement> statement = parse_shell_statement(text, fault_at);
  if (!statement.ok()) {
    has_place = true;
    return session.name_failure("CEL-USAGE", Exit::kUsage, statement.status());
  }
  return statement->name.empty() ? Status() : carry_out(session, *statement, fault_at, has_place);
}

void Shell::run_statement(const std::string& text, const std::string& origin, size_t line, size_t column) {
  Session session(session_.out());
  session.set_format(state_.format);
  session.set_quiet(session_.quiet());
  session.out().allow_pager(may_page_ && state_.pager);
  if (state_.echo) session.talk(shown_statement(text));
  const int64_t started = system_clock().steady_us();
  size_t fault_at = 0;
  bool has_place = false;
  Status done = carry_out(session, text, fault_at, has_place);
  // Errors of the engine may have a place of their own, in a file.
  if (!done.ok() && has_place && done.place().empty())
    done = done.at(place_text(origin, line, column, text, fault_at));
  const int64_t micros = system_clock().steady_us() - started;  // without what a person reads in a pager
  const Exit exit = session.end(done);
  if (!done.ok() || !session_.out().status().ok()) {
    note_failure(exit);
  } else {
    negative_ = negative_ || exit == Exit::kNegative;
  }
  // The time of a setting or of exit is of no interest.
  const bool setting = text.find('.') == text.find_first_not_of(" \t\r\n");
  if (state_.timer && !state_.quit && !setting) session.talk(fmt::format("took {}", human_micros(micros)));
}

void Shell::run_ready(ShellSplitter& splitter, const std::string& origin) {
  std::string statement;
  size_t line = 0;
  while (!ended() && !session_.stopping() && splitter.next(statement, line))
    run_statement(statement, origin, line, splitter.column());
}

Status Shell::run_text(std::string_view text, const std::string& origin) {
  ShellSplitter splitter;
  splitter.add(text);
  splitter.finish();
  run_ready(splitter, origin);
  return interrupted() ? interrupted_status("the remaining statements were not run") : Status();
}

Status Shell::run_descriptor(int descriptor, const std::string& origin) {
  ShellSplitter splitter;
  std::array<char, 64 * 1024> chunk;
  while (!ended() && !session_.stopping()) {
    const ssize_t bytes = ::read(descriptor, chunk.data(), chunk.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0)
      return Status::io_error(std::strerror(errno)).at(origin.empty() ? "standard input" : origin);
    if (bytes == 0) splitter.finish();
    splitter.add({chunk.data(), static_cast<size_t>(bytes)});
    run_ready(splitter, origin);
    if (bytes == 0) break;
    if (splitter.pending_bytes() > kShellStatementBytesMax)
      return Status::limit("a statement is larger than 64 MiB: is a quote or a bracket not closed?")
          .at(origin.empty() ? "standard input" : origin);
    session_.out().flush();
  }
  return interrupted() ? interrupted_status("the remaining statements were not run") : Status();
}

Status Shell::run_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    const std::string why = std::strerror(errno);
    return errno == ENOENT ? Status::not_found(fmt::format("the file {} does not exist", path))
                           : Status::io_error(fmt::format("{}: {}", path, why));
  }
  const Status status = run_descriptor(descriptor, path);
  ::close(descriptor);
  return status;
}

Status Shell::run_rc() {
  const std::string path = options_.rc ? rc_file() : "";
  std::error_code unknown;
  return path.empty() || !std::filesystem::exists(path, unknown) ? Status() : run_file(path);
}

ShellNames Shell::names() {
  ShellNames names;
  names.files = paths_beginning;
  Engine* const engine = state_.engine.get();
  if (engine == nullptr) return names;
  names.tables = engine->list_tables();
  if (const auto snapshots = engine->named_snapshots().list(); snapshots.ok())
    for (const CheckpointInfo& each : *snapshots) names.snapshots.push_back(each.name);
  names.families = [engine](const std::string& name) {
    std::vector<std::string> families;
    if (const auto table = engine->open_table(name); table.ok())
      for (const FamilyInfo& family : (*table)->info().families) families.push_back(family.options.name);
    return families;
  };
  return names;
}

Status Shell::run_terminal() {
  options_.keep_going = true;
  state_.asks = options_.asks;
  const Result<Engine*> opened = state_.open(session_);
  if (!opened.ok() && !opened.status().is(Code::kNotFound)) return opened.status();
  session_.talk(
      opened.ok()
          ? fmt::format("store {}, {}; help, help scan, exit", options_.path,
                        options_.read_only ? "read-only" : "read and write")
          : fmt::format("the store {} does not exist yet: create 'table', 'family' makes it", options_.path));
  state_.timer = true;
  CELLAR_TRY(run_rc());
  ShellEditor editor(options_.history);
  state_.history = [&editor] { return editor.history(); };
  ShellSplitter splitter;
  // Completion looks at the lines of the statement before, too.
  const auto complete = [&](std::string_view typed, size_t cursor) {
    const std::string before(splitter.pending_text());
    ShellCompletion found = complete_shell(before + std::string(typed), before.size() + cursor, names());
    found.from -= std::min(found.from, before.size());
    return found;
  };
  std::string line;
  while (!ended()) {
    const std::string prompt = splitter.pending() ? std::string("      > ")
                                                  : fmt::format("cellar:{}{}> ", options_.path,
                                                                state_.read_only ? " (read-only)" : "");
    if (!editor.read_line(prompt, complete, line)) break;
    splitter.add(line);
    if (!interrupted()) run_ready(splitter, "");
    session_.out().flush();
    if (!interrupted()) continue;
    forget_interrupt();
    splitter.discard();
    session_.talk("");
  }
  if (!ended()) session_.talk("");
  splitter.finish();
  run_ready(splitter, "");
  state_.history = nullptr;
  forget_failure();  // the person has seen the errors
  return {};
}

Status Shell::close() {
  Status status;
  if (state_.output >= 0) {
    session_.out().flush();
    status = session_.out().status();
    session_.out().redirect(STDOUT_FILENO);
    if (::close(state_.output) != 0 && status.ok()) status = Status::io_error(std::strerror(errno));
    state_.output = -1;
  }
  if (state_.engine == nullptr) return status;
  const Status closed = state_.engine->close();
  return status.ok() ? closed : status;
}

}  // namespace cellar
