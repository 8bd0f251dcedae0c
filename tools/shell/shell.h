// Shell: carries out statements of the shell on one store that stays open.
#pragma once

#include <string>
#include <string_view>

#include "tools/frame/session.h"
#include "tools/shell/shell_call.h"
#include "tools/shell/shell_editor.h"

namespace cellar {

struct ShellOptions {
  std::string path;
  bool read_only = false;
  bool keep_going = false;
  bool history = true;
  bool echo = false;
  bool asks = true;  // at a terminal, before much is removed
  bool rc = true;    // at a terminal, shellrc is carried out first
};

// One thread.
class Shell {
 public:
  Shell(Session& session, ShellOptions options);

  // These return ok when statements failed, too: their errors are printed, and failed() says so.
  Status run_text(std::string_view text, const std::string& origin);
  // To the end of the file, statement by statement. kNotFound, kIoError.
  Status run_file(const std::string& path);
  Status run_descriptor(int descriptor, const std::string& origin);
  // At a terminal: a prompt, lines that can be edited where that is built in; errors do not end it.
  Status run_terminal();
  // Returns true if no further statement may run: after exit, or after an error without keep_going.
  bool ended() const { return state_.quit || (failed_ != Exit::kFine && !options_.keep_going); }
  // Returns the exit status of the first statement that failed. Else returns kNegative if an answer was no:
  // for example, a condition of put did not hold.
  Exit failed() const { return failed_ == Exit::kFine && negative_ ? Exit::kNegative : failed_; }
  void forget_failure() {
    failed_ = Exit::kFine;
    negative_ = false;
  }
  Status close();

 private:
  // Runs the statements that are complete.
  void run_ready(ShellSplitter& splitter, const std::string& origin);
  void run_statement(const std::string& text, const std::string& origin, size_t line, size_t column);
  Status carry_out(Session& session, const std::string& text, size_t& fault_at, bool& has_place);
  Status carry_out(Session& session, const ShellStatement& statement, size_t& fault_at, bool& has_place);
  void note_failure(Exit exit);
  Status run_rc();
  ShellNames names();

  Session& session_;
  ShellOptions options_;
  ShellState state_;
  Exit failed_ = Exit::kFine;
  bool negative_ = false;
  bool may_page_ = false;  // not with --no-pager
};

}  // namespace cellar
