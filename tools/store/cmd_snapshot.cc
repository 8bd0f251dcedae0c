// cellar snapshot: tables as of one instant, kept under a name until they are dropped.
#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "cellar/engine.h"
#include "tools/frame/command.h"
#include "tools/frame/operands.h"
#include "tools/store/snapshot_list.h"
#include "tools/store/store.h"
#include "tools/store/store_progress.h"

namespace cellar {
namespace {

class SnapshotCommand final : public Command {
 public:
  explicit SnapshotCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  std::string_view summary() const override {
    return "Manage named snapshots: create, list, restore, clone, export, drop";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("ACTION", action_, "create, list, restore, clone, export or drop")
        .operand("STORE", store_, "directory of the store")
        .optional_operand("NAME", name_, "name of the snapshot; required except for list")
        .operands("ARG", rest_, "arguments of the action, see below", false)
        .formats({"table", "json", "jsonl", "csv"})
        .note(
            "create  [TABLE…]     snapshots these tables, or all, atomically; files are hard links\n"
            "restore [TABLE…]     restores these tables, or all tables of the snapshot\n"
            "clone   TABLE NEW    creates table NEW from TABLE in the snapshot\n"
            "export  DIR          writes the snapshot as a new store\n"
            "A snapshot is read like a store: cellar scan STORE/snapshots/NAME TABLE")
        .example("cellar snapshot create shop before", "a snapshot of all tables")
        .example("cellar snapshot clone shop yesterday orders orders_then",
                 "a new table with the rows of yesterday")
        .example("cellar snapshot restore shop yesterday orders", "restore one table");
  }

  Status run(Session& session) override {
    if (action_ == "list") return list(session);
    const std::vector<std::string> actions = {"create", "list", "restore", "clone", "export", "drop"};
    if (std::ranges::find(actions, action_) == actions.end()) return unknown_action(action_, actions);
    if (name_.empty()) return usage("NAME is missing", "cellar snapshot list STORE shows them");
    if (action_ == "export") return write_out(session);
    if (action_ == "clone" && rest_.size() != 2)
      return usage("clone needs a table and the name of the new table",
                   "cellar snapshot clone STORE NAME TABLE NEW");
    if (action_ == "drop" && !rest_.empty()) return usage("drop takes one name");
    StoreProgress progress(session, "snapshot " + action_);
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine,
                      open_store(session, store_, OpenFor::kWriting, &progress));
    CELLAR_TRY(change(session, *engine, progress));
    return engine->close();
  }

 private:
  static Status usage(std::string text, std::string hint = {}) {
    return Status::invalid_argument(std::move(text)).hinting(std::move(hint));
  }

  Status list(Session& session) {
    if (!name_.empty()) return usage("list takes no arguments after the store");
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine, open_store(session, store_, OpenFor::kLooking));
    CELLAR_TRY_ASSIGN(const std::vector<CheckpointInfo> snapshots, engine->named_snapshots().list());
    print_snapshots(session, snapshots);
    if (session.format() == Format::kTable) session.talk(counted(snapshots.size(), "snapshot"));
    return engine->close();
  }

  Status change(Session& session, Engine& engine, StoreProgress& progress) {
    if (action_ == "create") {
      CELLAR_TRY_ASSIGN(const CheckpointInfo made,
                        progress.watch([&] { return engine.named_snapshots().create(name_, rest_); }));
      if (session.format() != Format::kTable) print_snapshots(session, {made});
      session.talk(fmt::format("created snapshot {}: {}", name_, size_text(made)));
    } else if (action_ == "restore") {
      CELLAR_TRY(progress.watch([&] { return engine.named_snapshots().restore(name_, rest_); }));
      session.talk(fmt::format("restored {} of snapshot {}",
                               rest_.empty() ? "all tables" : counted(rest_.size(), "table"), name_));
    } else if (action_ == "clone") {
      CELLAR_TRY(
          progress.watch([&] { return engine.named_snapshots().clone(name_, rest_[0], rest_[1]).status(); }));
      session.talk(fmt::format("created table {} from {} in snapshot {}", rest_[1], rest_[0], name_));
    } else {
      CELLAR_TRY(engine.named_snapshots().drop(name_));
      session.talk(fmt::format("dropped snapshot {}", name_));
    }
    return {};
  }

  Status write_out(Session& session) {
    if (rest_.size() != 1) return usage("export needs a directory", "cellar snapshot export STORE NAME DIR");
    StoreProgress progress(session, "snapshot export");
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine,
                      open_store(session, store_, OpenFor::kLooking, &progress));
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> snapshot, engine->named_snapshots().open(name_));
    CELLAR_TRY_ASSIGN(const CheckpointInfo made,
                      progress.watch([&] { return snapshot->checkpoint(rest_[0]); }));
    session.talk(fmt::format("wrote store {}: {}", rest_[0], size_text(made)));
    CELLAR_TRY(snapshot->close());
    return engine->close();
  }

  std::string action_;
  std::string store_;
  std::string name_;
  std::vector<std::string> rest_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_store_cmd_snapshot, "snapshot", SnapshotCommand)

}  // namespace cellar
