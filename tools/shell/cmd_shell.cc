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
  bool takes_clusters() const override { return true; }
  std::string_view summary() const override {
    return "Run commands of HBase's shell on a store, typed or from a file";
  }

  void declare(Arguments& arguments) override {
    arguments.optional_operand("STORE", store_, "directory of the store, which stays open; default: .")
        .option_list("-c,--command", commands_, "TEXT", "run this command and end; may be repeated")
        .option_list("-f,--file", files_, "FILE", "run the commands of the file and end; may be repeated")
        .flag("--keep-going", keep_going_, "go on after an error; the exit status is that of the first error")
        .flag("--echo", echo_, "print each command to standard error before it runs")
        .flag("--yes", yes_, "at a terminal, do not ask before tables or many rows are removed")
        .flag("--read-only", read_only_, "write nothing, not even a lock")
        .flag("--no-history", no_history_, "do not store typed lines in a file")
        .flag("--no-rc", no_rc_, "at a terminal, do not run ~/.config/cellar/shellrc first")
        .formats({"table", "json", "jsonl", "csv", "raw"})
        .note(
            "Without -c and -f, commands are read from standard input. HBase's syntax and plain words both\n"
            "work: put 't', 'row', 'f:q', 'value' or put t row f:q value. Type help for the commands.")
        .example("cellar shell shop -c \"get 'orders', 'user42', {COLUMN => 'd', VERSIONS => 3}\"",
                 "one command, in HBase's syntax")
        .example("cellar shell shop -c 'put orders user50 d:name Ada; scan orders limit=2' --format jsonl",
                 "two commands in plain words, for a program")
        .more_example("echo \"count 'orders'\" | cellar shell shop", "commands from another program")
        .more_example("cellar shell shop -f nightly.txt --keep-going --echo --yes",
                      "a file, in a job that goes on after errors and prints each command")
        .more_example("cellar shell shop --read-only --no-rc --no-history",
                      "at a terminal, without writing anything");
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
