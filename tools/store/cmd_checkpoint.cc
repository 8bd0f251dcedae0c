// cellar checkpoint: the whole store as of one instant, as another store.
#include <fmt/format.h>

#include "cellar/engine.h"
#include "tools/frame/command.h"
#include "tools/store/snapshot_list.h"
#include "tools/store/store.h"

namespace cellar {
namespace {

class CheckpointCommand final : public Command {
 public:
  explicit CheckpointCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  std::string_view summary() const override { return "Write a copy of the whole store as a new store"; }

  void declare(Arguments& arguments) override {
    arguments.operand("STORE", store_, "directory of the store")
        .operand("DIR", directory_, "a new or empty directory in an existing one")
        .note(
            "Files are hard links on the same file system, and copies on another one. Data in the log is\n"
            "written to files. The new store is complete: it can be read and written.")
        .example("cellar checkpoint shop backup", "a copy that takes little space on the same disk")
        .example("cellar checkpoint --quiet shop today", "the same in a job that prints only errors");
  }

  Status run(Session& session) override {
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine, open_store(session, store_, OpenFor::kLooking));
    CELLAR_TRY_ASSIGN(const CheckpointInfo made, engine->checkpoint(directory_));
    session.talk(fmt::format("wrote store {}: {}", directory_, size_text(made)));
    return engine->close();
  }

 private:
  std::string store_;
  std::string directory_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_store_cmd_checkpoint, "checkpoint", CheckpointCommand)

}  // namespace cellar
