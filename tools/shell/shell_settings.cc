// The shell's commands that begin with a dot: how it answers, and where to.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/bytes.h"
#include "base/utf8.h"
#include "cellar/plugin.h"
#include "tools/shell/shell_call.h"

namespace cellar {
namespace {

// Position 0, which must be one of these words.
Result<std::string> word_among(ShellCall& call, const std::vector<std::string>& words,
                               std::string_view kind) {
  CELLAR_TRY(call.take({}, 1, 1));
  CELLAR_TRY_ASSIGN(const std::string word, call.text(0));
  if (std::ranges::find(words, word) != words.end()) return word;
  const std::string nearest = nearest_name(word, words);
  return call.fault(
      call.position(0), fmt::format("unknown {} \"{}\"", kind, escaped(word)),
      nearest.empty() ? fmt::format("{}", fmt::join(words, ", ")) : fmt::format("did you mean {}?", nearest));
}

Status run_format(ShellCall& call) {
  CELLAR_TRY_ASSIGN(const std::string name,
                    word_among(call, {"table", "json", "jsonl", "csv", "raw"}, "format"));
  call.state().format = format_of(name);
  return {};
}

Status run_bytes(ShellCall& call) {
  CELLAR_TRY_ASSIGN(const std::string name, word_among(call, value_forms(), "form"));
  call.state().values = value_form_of(name);
  return {};
}

// ".timer on", ".explain off", ".echo on".
Status run_switch(ShellCall& call) {
  CELLAR_TRY(call.take({}, 1, 1));
  CELLAR_TRY_ASSIGN(const std::string word, call.text(0));
  if (word != "on" && word != "off") return call.fault(call.position(0), "expected on or off");
  ShellState& state = call.state();
  const std::string& name = call.statement().name;
  bool& which = name == ".timer" ? state.timer : name == ".echo" ? state.echo : state.explain;
  which = word == "on";
  return {};
}

Status run_limit(ShellCall& call) {
  CELLAR_TRY(call.take({}, 1, 1));
  if (call.position(0).is_word("off")) {
    call.state().row_limit = 0;
    return {};
  }
  CELLAR_TRY_ASSIGN(const int64_t rows, call.number_of(call.position(0), 1));
  call.state().row_limit = static_cast<uint64_t>(rows);
  return {};
}

// Closes the store, so that the next command opens it as is asked.
Status run_mode(ShellCall& call) {
  CELLAR_TRY_ASSIGN(const std::string word, word_among(call, {"read-only", "read-write"}, "mode"));
  ShellState& state = call.state();
  if (word == "read-write" && state.only_reading)
    return call.at(call.position(0), Status::read_only("the shell was started with --read-only")
                                         .hinting("start it without --read-only to write"));
  if (state.read_only == (word == "read-only")) return {};
  state.read_only = word == "read-only";
  if (state.engine == nullptr) return {};
  const Status closed = state.engine->close();
  state.engine.reset();
  return closed;
}

Status run_read(ShellCall& call) {
  constexpr size_t kNestedMax = 16;
  CELLAR_TRY(call.take({}, 1, 1));
  CELLAR_TRY_ASSIGN(const std::string path, call.text(0));
  ShellState& state = call.state();
  if (state.files_open >= kNestedMax)
    return call.fault(call.position(0), fmt::format(".read is nested deeper than {}", kNestedMax),
                      "does a file read itself?");
  ++state.files_open;
  const Status read = state.read_file(path);
  --state.files_open;
  return call.at(call.position(0), read);
}

Status run_output(ShellCall& call) {
  CELLAR_TRY(call.take({}, 0, 1));
  Output& out = call.session().out();
  out.flush();
  int descriptor = -1;
  if (call.positions() == 1) {
    CELLAR_TRY_ASSIGN(const std::string path, call.text(0));
    constexpr int kMode = 0666;
    descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode);
    if (descriptor < 0)
      return call.at(call.position(0),
                     Status::io_error(fmt::format("{}: {}", escaped(path), std::strerror(errno))));
  }
  const Status lost = out.status();
  out.redirect(descriptor < 0 ? STDOUT_FILENO : descriptor);
  const int before = std::exchange(call.state().output, descriptor);
  if (before >= 0 && ::close(before) != 0 && lost.ok()) return Status::io_error(std::strerror(errno));
  return lost;
}

Status run_history(ShellCall& call) {
  CELLAR_TRY(call.take({}, 0, 1));
  int64_t wanted = INT64_MAX;
  if (call.positions() == 1) {
    CELLAR_TRY_ASSIGN(wanted, call.number_of(call.position(0), 1));
  }
  std::vector<std::string> lines;
  if (call.state().history) lines = call.state().history();
  if (lines.empty())
    call.session().talk("note   no history: lines are stored only at a terminal, if libedit is built in");
  const auto shown = std::min(lines.size(), static_cast<size_t>(wanted));
  Session& session = call.session();
  Records records(session.out(), session.format(), "cellar.shell/1", "answers");
  for (size_t i = lines.size() - shown; i < lines.size(); ++i) {
    const std::string line = lines[i].substr(0, lines[i].find_last_not_of("\r\n") + 1);
    if (session.format() == Format::kTable) {
      session.out().write(printable_utf8(line) + "\n");
    } else {
      if (session.format() != Format::kRaw) records.text("name", "history");
      records.text("value", printable_utf8(line)).add();
    }
  }
  if (session.format() != Format::kTable) records.finish();
  return {};
}

constexpr std::array kSettingVerbs = {
    ShellVerb{".format", ".format table|json|jsonl|csv|raw\n.format jsonl\n.format table",
              "Set the output format", run_format},
    ShellVerb{".bytes",
              ".bytes escaped|utf8|hex|long|int|short|double|float|boolean|json\n.bytes hex\n.bytes escaped",
              "Set how values are printed without FORMATTER", run_bytes},
    ShellVerb{".limit", ".limit ROWS|off\n.limit 100\n.limit off", "Set the limit for scans without LIMIT",
              run_limit},
    ShellVerb{".timer", ".timer on|off\n.timer on\n.timer off",
              "Print how long each command took; on at a terminal", run_switch},
    ShellVerb{".explain", ".explain on|off\n.explain on\n.explain off",
              "Print what each read cost: files, blocks, cells", run_switch},
    ShellVerb{".echo", ".echo on|off\n.echo on\n.echo off", "Print each command before it runs", run_switch},
    ShellVerb{".mode", ".mode read-only|read-write\n.mode read-only\n.mode read-write",
              "Set whether commands may write", run_mode},
    ShellVerb{".read", ".read FILE\n.read nightly.txt\n.echo on; .read nightly.txt",
              "Run the commands of a file", run_read},
    ShellVerb{".output", ".output [FILE]\n.output answers.txt\n.output",
              "Write answers to a new file; without a name, to standard output", run_output},
    ShellVerb{".history", ".history [N]\n.history 10\n.history", "Print the last lines that were typed",
              run_history},
};

}  // namespace

std::span<const ShellVerb> shell_setting_verbs() { return kSettingVerbs; }

}  // namespace cellar
