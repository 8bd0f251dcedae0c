// cellar help: the commands, one command, or a topic.
#include "tools/frame/command.h"
#include "tools/frame/help.h"

namespace cellar {
namespace {

class HelpCommand final : public Command {
 public:
  explicit HelpCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kOther; }
  std::string_view summary() const override { return "The commands, one command, or a topic"; }

  void declare(Arguments& arguments) override {
    arguments
        .optional_operand("COMMAND", what_,
                          "a command, or a topic: formats, filters, times, limits, hbase, exit-codes")
        .formats({"table"})
        .example("cellar help scan", "all about one command")
        .example("cellar help exit-codes", "a topic that concerns all commands");
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
    if (!command.ok()) return session.name_failure("CEL-USAGE", Exit::kUsage, command.status());
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
