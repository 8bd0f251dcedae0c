// cellar flush: what is in memory becomes store files.
#include <fmt/format.h>

#include "base/bytes.h"
#include "tools/frame/command.h"
#include "tools/frame/operands.h"
#include "tools/frame/progress.h"
#include "tools/store/store.h"
#include "tools/store/store_progress.h"

namespace cellar {
namespace {

class FlushCommand final : public Command {
 public:
  explicit FlushCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  bool takes_clusters() const override { return true; }
  std::string_view summary() const override { return "Flush memtables to store files"; }

  void declare(Arguments& arguments) override {
    arguments.operand("STORE", store_, "directory of the store")
        .optional_operand("TABLE", table_, "one table; default: all tables")
        .example("cellar flush shop", "all tables; the next open then has no log to replay")
        .example("cellar flush shop orders", "one table, before its files are copied");
  }

  Status run(Session& session) override {
    StoreProgress progress(session, "flush");
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine,
                      open_engine(session, store_, OpenFor::kWriting, &progress));
    const Progress clock(session, "flush", 0);
    {
      const ExitOnInterrupt safe(
          "\ninterrupted; nothing is lost: data that was not flushed is still in the log\n");
      if (table_.empty()) {
        CELLAR_TRY(progress.watch([&] { return engine->flush(); }));
      } else {
        CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, open_table(session, *engine, store_, table_));
        CELLAR_TRY(progress.watch([&] { return table->flush(); }));
      }
    }
    const EngineStatus status = engine->status();
    CELLAR_TRY(engine->close());
    if (is_cluster(store_))
      return session.talk(fmt::format("flushed in {}", human_micros(clock.micros()))), Status();
    session.talk(fmt::format("flushed in {}: {}, {}", human_micros(clock.micros()),
                             counted(status.store_files, "store file"), human_bytes(status.store_bytes)));
    return {};
  }

 private:
  std::string store_;
  std::string table_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_store_cmd_flush, "flush", FlushCommand)

}  // namespace cellar
