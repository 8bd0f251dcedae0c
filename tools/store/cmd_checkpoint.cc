// cellar checkpoint: the whole store as of one instant, as another store.
#include <fmt/format.h>

#include "cellar/engine.h"
#include "tools/frame/command.h"
#include "tools/store/snapshot_list.h"
#include "tools/store/store.h"
#include "tools/store/store_progress.h"

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
        .option("--base", base_, "DIR",
                "an earlier checkpoint on the disk of the new one; files that it has are linked")
        .note(
            "Files are hard links on the same file system, and copies on another one. Data in the log is\n"
            "written to files. The new store is complete: it can be read and written. With --base, only new\n"
            "files are copied to another disk. Each checkpoint stays complete if others are removed.")
        .example("cellar checkpoint shop backup", "a copy that takes little space on the same disk")
        .example("cellar checkpoint --quiet shop today", "the same in a job that prints only errors")
        .more_example("cellar checkpoint shop today --base backup",
                      "the same on another disk, where backup is too: only new files are copied");
  }

  Status run(Session& session) override {
    StoreProgress progress(session, "checkpoint");
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine,
                      open_store(session, store_, OpenFor::kLooking, &progress));
    CELLAR_TRY_ASSIGN(const CheckpointInfo made,
                      progress.watch([&] { return engine->checkpoint(directory_, base_); }));
    session.talk(fmt::format("wrote store {}: {}", directory_, size_text(made)));
    return engine->close();
  }

 private:
  std::string store_;
  std::string directory_;
  std::string base_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_store_cmd_checkpoint, "checkpoint", CheckpointCommand)

}  // namespace cellar
