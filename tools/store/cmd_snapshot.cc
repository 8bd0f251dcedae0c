// cellar snapshot: tables as of one instant, kept under a name until they are dropped.
#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "cellar/engine.h"
#include "tools/frame/command.h"
#include "tools/frame/operands.h"
#include "tools/store/snapshot_list.h"
#include "tools/store/store.h"

namespace cellar {
namespace {

class SnapshotCommand final : public Command {
 public:
  explicit SnapshotCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  std::string_view summary() const override {
    return "Keep tables as they are now under a name; list, restore, clone, export, drop";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("ACTION", action_, "create, list, restore, clone, export or drop")
        .operand("STORE", store_, "directory of the store")
        .optional_operand("NAME", name_, "the snapshot; all but list want it")
        .operands("ARG", rest_, "see below", false)
        .formats({"table", "json", "jsonl", "csv"})
        .note(
            "create  [TABLE…]     these tables, or all, at one instant; files are shared by hard links\n"
            "restore [TABLE…]     gives these tables, or all of the snapshot, what it has of them\n"
            "clone   TABLE NEW    makes a table of one in the snapshot\n"
            "export  DIR          writes the snapshot as a store of its own\n"
            "A snapshot is read like a store: cellar scan STORE/snapshots/NAME TABLE")
        .example("cellar snapshot create shop before", "all tables as they are now, under a name")
        .example("cellar snapshot clone shop yesterday orders orders_then",
                 "a table of it beside the one of today")
        .example("cellar snapshot restore shop yesterday orders", "a table as it was");
  }

  Status run(Session& session) override {
    if (action_ == "list") return list(session);
    const std::vector<std::string> actions = {"create", "list", "restore", "clone", "export", "drop"};
    if (std::ranges::find(actions, action_) == actions.end()) return unknown_action(action_, actions);
    if (name_.empty()) return usage("NAME is missing", "cellar snapshot list STORE shows them");
    if (action_ == "export") return write_out(session);
    if (action_ == "clone" && rest_.size() != 2)
      return usage("clone wants a table and the new one's name",
                   "cellar snapshot clone STORE NAME TABLE NEW");
    if (action_ == "drop" && !rest_.empty()) return usage("drop takes one name");
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine, open_store(session, store_, OpenFor::kWriting));
    CELLAR_TRY(change(session, *engine));
    return engine->close();
  }

 private:
  static Status usage(std::string text, std::string hint = {}) {
    return Status::invalid_argument(std::move(text)).hinting(std::move(hint));
  }

  Status list(Session& session) {
    if (!name_.empty()) return usage("list takes the store alone");
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine, open_store(session, store_, OpenFor::kLooking));
    CELLAR_TRY_ASSIGN(const std::vector<CheckpointInfo> snapshots, engine->named_snapshots().list());
    print_snapshots(session, snapshots);
    if (session.format() == Format::kTable) session.talk(counted(snapshots.size(), "snapshot"));
    return engine->close();
  }

  Status change(Session& session, Engine& engine) {
    if (action_ == "create") {
      CELLAR_TRY_ASSIGN(const CheckpointInfo made, engine.named_snapshots().create(name_, rest_));
      if (session.format() != Format::kTable) print_snapshots(session, {made});
      session.talk(fmt::format("created snapshot {}: {}", name_, size_text(made)));
    } else if (action_ == "restore") {
      CELLAR_TRY(engine.named_snapshots().restore(name_, rest_));
      session.talk(fmt::format("restored {} from snapshot {}",
                               rest_.empty() ? "all its tables" : counted(rest_.size(), "table"), name_));
    } else if (action_ == "clone") {
      CELLAR_TRY(engine.named_snapshots().clone(name_, rest_[0], rest_[1]).status());
      session.talk(fmt::format("created table {} from {} in snapshot {}", rest_[1], rest_[0], name_));
    } else {
      CELLAR_TRY(engine.named_snapshots().drop(name_));
      session.talk(fmt::format("dropped snapshot {}", name_));
    }
    return {};
  }

  Status write_out(Session& session) {
    if (rest_.size() != 1) return usage("export wants a directory", "cellar snapshot export STORE NAME DIR");
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine, open_store(session, store_, OpenFor::kLooking));
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> snapshot, engine->named_snapshots().open(name_));
    CELLAR_TRY_ASSIGN(const CheckpointInfo made, snapshot->checkpoint(rest_[0]));
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
