// cellar shell: HBase's shell for a store, without a virtual machine.
#include <unistd.h>

#include "tools/frame/command.h"
#include "tools/shell/shell.h"

namespace cellar {
namespace {

class ShellCommand final : public Command {
 public:
  explicit ShellCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  std::string_view summary() const override {
    return "HBase's shell for a store: commands typed, or from a file";
  }

  void declare(Arguments& arguments) override {
    arguments.optional_operand("STORE", store_, "directory of the store, which stays open; without it: .")
        .option_list("-c,--command", commands_, "TEXT", "carry this out and end; may be given again")
        .option_list("-f,--file", files_, "FILE", "carry out what the file holds and end")
        .flag("--keep-going", keep_going_, "an error does not end it; the exit status is that of the first")
        .flag("--echo", echo_, "each command is printed to standard error before it is carried out")
        .flag("--yes", yes_, "at a terminal, do not ask before much is removed")
        .flag("--read-only", read_only_, "nothing is written, not even a lock")
        .flag("--no-history", no_history_, "what is typed is not kept in a file")
        .flag("--no-rc", no_rc_, "at a terminal, do not carry out ~/.config/cellar/shellrc first")
        .formats({"table", "json", "jsonl", "csv", "raw"})
        .note(
            "Without -c and -f: from standard input, line by line at a terminal. HBase's syntax and plain\n"
            "words: put 't', 'row', 'f:q', 'value' or put t row f:q value. Type help for the commands.")
        .example("cellar shell shop -c \"get 'orders', 'user42', {COLUMN => 'd', VERSIONS => 3}\"",
                 "one command of HBase's")
        .example("cellar shell shop -c 'put orders user50 d:name Ada; scan orders limit=2' --format jsonl",
                 "two in plain words, for a program")
        .more_example("echo \"count 'orders'\" | cellar shell shop", "from another program")
        .more_example("cellar shell shop -f nightly.txt --keep-going --echo --yes",
                      "a file, in a job that does what it can and tells what it does")
        .more_example("cellar shell shop --read-only --no-rc --no-history",
                      "at a terminal, to look around and leave no trace");
  }

  Status run(Session& session) override {
    Shell shell(session, {.path = store_.empty() ? "." : store_,
                          .read_only = read_only_,
                          .keep_going = keep_going_,
                          .history = !no_history_,
                          .echo = echo_,
                          .asks = !yes_,
                          .rc = !no_rc_});
    Status status = carry_out(shell);
    const Status closed = shell.close();
    if (status.ok()) status = closed;
    if (status.ok() && shell.failed() != Exit::kFine) session.answer(shell.failed());
    return status;
  }

 private:
  Status carry_out(Shell& shell) const {
    for (const std::string& text : commands_)
      if (!shell.ended()) CELLAR_TRY(shell.run_text(text, ""));
    for (const std::string& file : files_)
      if (!shell.ended()) CELLAR_TRY(shell.run_file(file));
    if (!commands_.empty() || !files_.empty()) return {};
    return ::isatty(STDIN_FILENO) != 0 ? shell.run_terminal() : shell.run_descriptor(STDIN_FILENO, "");
  }

  std::string store_;
  std::vector<std::string> commands_;
  std::vector<std::string> files_;
  bool keep_going_ = false;
  bool read_only_ = false;
  bool no_history_ = false;
  bool no_rc_ = false;
  bool echo_ = false;
  bool yes_ = false;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_shell_cmd_shell, "shell", ShellCommand)

}  // namespace cellar
