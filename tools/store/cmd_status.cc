// cellar status: what a store consists of and what opening it found.
#include "tools/frame/command.h"
#include "tools/store/store.h"
#include "tools/store/store_reports.h"

namespace cellar {
namespace {

class StatusCommand final : public Command {
 public:
  explicit StatusCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  std::string_view summary() const override {
    return "Print the sizes of a store, and what recovery found at open";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("STORE", store_, "directory of the store")
        .formats({"table", "json", "jsonl"})
        .example("cellar status shop", "sizes, and whether the store was closed cleanly")
        .example("cellar status shop --format json", "the same, for a program");
  }

  Status run(Session& session) override {
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine, open_store(session, store_, OpenFor::kLooking));
    print_status(session, *engine);
    return engine->close();
  }

 private:
  std::string store_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_store_cmd_status, "status", StatusCommand)

}  // namespace cellar
