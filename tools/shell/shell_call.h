// ShellCall: one statement of the shell being carried out: its arguments, the store, and errors that say at
// which argument.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/engine.h"
#include "tools/frame/operands.h"
#include "tools/frame/session.h"
#include "tools/frame/value_form.h"
#include "tools/shell/shell_activity.h"
#include "tools/shell/shell_syntax.h"
#include "tools/store/store_progress.h"

namespace re2 {
class RE2;
}

namespace cellar {

// State that lasts as long as the shell. One thread.
struct ShellState {
  std::string path;
  bool read_only = false;
  bool only_reading = false;       // read_only cannot be taken back
  ShellActivity activity;          // outlives the engine that tells it
  std::unique_ptr<Engine> engine;  // null until there is a store
  bool is_current = false;         // a store that is only read was refreshed for this statement
  bool explain = false;            // what each read cost
  bool timer = false;              // how long each statement took
  bool echo = false;               // each statement is printed before it is carried out
  bool asks = false;               // a person is there to be asked before much is removed
  bool quit = false;
  Format format = Format::kTable;
  std::optional<ValueForm> values;  // how they are shown; none: text in a table, escaped elsewhere
  bool full = false;                // values are shown whole at a terminal, too
  bool pager = true;                // long answers go through a pager at a terminal
  uint64_t row_limit = 0;           // of scans that name none; 0: no limit
  size_t files_open = 0;            // .read within .read
  int output = -1;                  // the file that answers go to, when not standard output
  // Set by the shell.
  std::function<Status(const std::string& path)> read_file;
  std::function<std::vector<std::string>()> history;

  // Opens the store at its first use; `creating` makes one. A store that is only read shows what other
  // processes have written, as of the first use in the statement.
  Result<Engine*> open(Session& session, bool creating = false);
};

// An option that is accepted and changes nothing, and why.
struct IgnoredOption {
  std::string_view name;
  std::string_view why;
};

class ShellCall {
 public:
  ShellCall(Session& session, ShellState& state, const ShellStatement& statement)
      : session_(session), state_(state), statement_(statement) {}

  Session& session() { return session_; }
  ShellState& state() { return state_; }
  const ShellStatement& statement() const { return statement_; }
  const std::vector<ShellValue>& arguments() const { return statement_.arguments; }

  // Tells positions from options: {KEY => value}, KEY => value, and after the first `least` arguments also
  // key=value of known keys. Refuses an unknown option, naming the nearest, and a wrong number of positions.
  Status take(std::span<const std::string_view> known, size_t least, size_t most);
  size_t positions() const { return positions_.size(); }
  const ShellValue& position(size_t i) const { return *positions_[i]; }
  // Returns position `i` as text. Refuses lists and pairs.
  Result<std::string> text(size_t i);
  const ShellValue* option(std::string_view name) const;
  bool has(std::string_view name) const { return option(name) != nullptr; }
  // All values of these options: columns may be given again and again.
  std::vector<const ShellValue*> options(std::span<const std::string_view> names) const;
  Result<std::string> text_of(const ShellValue& value);
  // The texts of a list, or one text alone.
  Result<std::vector<std::string>> texts_of(const ShellValue& value);
  Result<int64_t> number_of(const ShellValue& value, int64_t least);
  // Position `i` as a regular expression.
  Result<std::shared_ptr<const re2::RE2>> pattern(size_t i);
  // Milliseconds since 1970, or what cellar's --time takes.
  Result<int64_t> time_of(const ShellValue& value);
  Result<bool> flag_of(const ShellValue& value);

  Result<Engine*> engine() { return state_.open(session_); }
  // Returns true if the shell works on an HBase cluster.
  bool on_cluster() const;
  // Runs `work`, which waits for the engine and prints nothing; draws its progress meanwhile.
  template <class Work>
  auto watched(Work work) {
    StoreProgress progress(session_, statement_.name);
    const ShellActivity::Forwarding forwarding(state_.activity, progress);
    return progress.watch(work);
  }
  // A table's name: HBase's default:t is t.
  Result<std::string> table_name(const ShellValue& value);
  // The table that position `i` names.
  Result<std::shared_ptr<Table>> table(size_t i = 0);

  // CEL-USAGE at this argument.
  Status fault(const ShellValue& value, std::string message, std::string_view hint = {});
  // For what answers one document: CEL-USAGE in csv and raw, which are for lists.
  Status answers_a_document();
  // Remembers the argument an error of something below is about.
  Status at(const ShellValue& value, const Status& status);
  std::optional<size_t> fault_at() const { return fault_at_; }

  // Returns true if a person at a terminal says yes to the question, or if there is nobody to ask.
  bool confirmed(const std::string& question);
  // Text for people that no format is for: to standard output, in the formats for programs to standard error.
  void explain(const std::string& text);
  // One answer: a sentence for people, a record ("cellar.shell/1") in the other formats.
  void answer(std::string_view sentence, std::string_view name, std::string_view value);
  void answer_flag(std::string_view sentence, std::string_view name, bool value);
  void answer_count(std::string_view sentence, std::string_view name, uint64_t value);

 private:
  void answer_with(std::string_view sentence, std::string_view name,
                   const std::function<void(Records&)>& add_value);
  Status add_option(const ShellValue& pair, std::span<const std::string_view> known);
  Result<std::string> digits_of(const ShellValue& value);

  Session& session_;
  ShellState& state_;
  const ShellStatement& statement_;
  std::vector<const ShellValue*> positions_;
  std::vector<std::pair<std::string, ShellValue>> options_;
  std::optional<size_t> fault_at_;
};

// A command of the shell.
struct ShellVerb {
  std::string_view name;
  std::string_view usage;    // in HBase's syntax; further lines are examples
  std::string_view summary;  // one line
  Status (*run)(ShellCall& call);
  std::span<const std::string_view> options = {};  // for completion
};

std::span<const ShellVerb> shell_read_verbs();
std::span<const ShellVerb> shell_write_verbs();
std::span<const ShellVerb> shell_table_verbs();
std::span<const ShellVerb> shell_table_set_verbs();
std::span<const ShellVerb> shell_snapshot_verbs();
std::span<const ShellVerb> shell_other_verbs();
std::span<const ShellVerb> shell_setting_verbs();
std::vector<std::span<const ShellVerb>> all_shell_verbs();
// Every verb's name, for completion and hints.
std::vector<std::string> shell_verb_names();
const ShellVerb* find_shell_verb(std::string_view name);
// A command that HBase has and a store cannot: why, and what to use instead; empty for other names.
std::string_view why_not_here(std::string_view name);

}  // namespace cellar
