// cellar help: the commands, one command, a topic, an error code, or the code of a finding.
#include "tools/frame/command.h"
#include "tools/frame/help.h"

namespace cellar {
namespace {

class HelpCommand final : public Command {
 public:
  explicit HelpCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kOther; }
  std::string_view summary() const override {
    return "List the commands, or explain one command, a topic or a code";
  }

  void declare(Arguments& arguments) override {
    arguments
        .optional_operand("COMMAND", what_,
                          "a command; a topic: formats, filters, times, limits, hbase, policies, "
                          "experiments, exit-codes, errors, "
                          "findings; or a code of an error or a finding")
        .formats({"table"})
        .example("cellar help scan", "the arguments of one command")
        .example("cellar help exit-codes", "a topic that concerns all commands")
        .more_example("cellar help CEL-LOCKED", "what an error means, its causes, and what to do")
        .more_example("cellar help V-ORDER", "what a finding of verify means for the data, and what to do");
  }

  Status run(Session& session) override {
    if (what_.empty()) {
      session.out().write(help_of_all());
      return {};
    }
    if (const std::string topic = help_of_topic(what_); !topic.empty()) {
      session.out().write(topic);
      return {};
    }
    Result<std::unique_ptr<Command>> command = make_command(what_);
    if (!command.ok()) return session.name_failure("CEL-USAGE", Exit::kUsage, unknown_topic(what_));
    Arguments arguments("cellar " + what_, std::string((*command)->summary()));
    (*command)->declare(arguments);
    CELLAR_TRY(arguments.parse({"--help"}));
    session.out().write(arguments.help());
    return {};
  }

 private:
  std::string what_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_frame_cmd_help, "help", HelpCommand)

}  // namespace cellar
