// cellar compact: merges store files.
#include <fmt/format.h>

#include "base/bytes.h"
#include "tools/frame/command.h"
#include "tools/frame/progress.h"
#include "tools/store/store.h"
#include "tools/store/store_progress.h"

namespace cellar {
namespace {

struct Shape {
  uint64_t files = 0;
  uint64_t bytes = 0;
  uint64_t cells = 0;
};

Shape shape_of(const Table& table, const std::string& family) {
  Shape shape;
  for (const FamilyInfo& each : table.info().families) {
    if (!family.empty() && each.options.name != family) continue;
    shape.files += each.files.size();
    for (const StoreFileInfo& file : each.files) {
      shape.bytes += file.bytes;
      shape.cells += file.cells;
    }
  }
  return shape;
}

class CompactCommand final : public Command {
 public:
  explicit CompactCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  std::string_view summary() const override {
    return "Compact store files; --major drops deleted, expired and superseded cells";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("STORE", store_, "directory of the store")
        .optional_operand("TABLE", table_, "one table; default: all tables")
        .flag("--major", major_,
              "rewrite all files of a family into one; default: what the family's policy picks")
        .option("--family", family_, "NAME", "only this family of TABLE")
        .note(
            "Data in memory is not compacted: run cellar flush first.\n"
            "Interrupting is safe: the old files stay in use.")
        .example("cellar compact shop orders --major --family d",
                 "drop deleted, expired and superseded cells of one family")
        .example("cellar compact shop --format json",
                 "all tables, by their policies; the result for a program");
  }

  Status run(Session& session) override {
    if (!family_.empty() && table_.empty())
      return session.name_failure(
          "CEL-USAGE", Exit::kUsage,
          Status::invalid_argument("--family needs a table").hinting("cellar compact --help"));
    StoreProgress progress(session, "compact");
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine,
                      open_store(session, store_, OpenFor::kWriting, &progress));
    std::vector<std::string> names = engine->list_tables();
    if (!table_.empty()) names = {table_};
    Records records(session.out(), session.format(), "cellar.compact/1", "tables");
    for (const std::string& name : names) {
      CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, open_table(session, *engine, store_, name));
      if (!family_.empty()) CELLAR_TRY(check_family(session, *table, family_));
      const Shape before = shape_of(*table, family_);
      const Progress clock(session, "compact", 0);
      {
        const ExitOnInterrupt safe("\ninterrupted; nothing changed: the old files are still in use\n");
        CELLAR_TRY(
            progress.watch([&] { return major_ ? table->major_compact(family_) : table->compact(family_); }));
      }
      const Shape after = shape_of(*table, family_);
      records.text("table", name).count("files_before", before.files).count("files_after", after.files);
      records.size("bytes_before", before.bytes).size("bytes_after", after.bytes);
      records.count("cells_before", before.cells).count("cells_after", after.cells);
      records.micros(clock.micros()).add();
    }
    CELLAR_TRY(engine->close());
    records.finish();
    return {};
  }

 private:
  std::string store_;
  std::string table_;
  bool major_ = false;
  std::string family_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_store_cmd_compact, "compact", CompactCommand)

}  // namespace cellar
