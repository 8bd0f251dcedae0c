// cellar compact: merges store files, or says what the policies would merge.
#include <fmt/format.h>

#include <optional>

#include "base/bytes.h"
#include "tools/frame/command.h"
#include "tools/frame/operands.h"
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
  bool takes_clusters() const override { return true; }
  std::string_view summary() const override {
    return "Compact store files; --major drops deleted, expired and superseded cells";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("STORE", store_, "directory of the store")
        .optional_operand("TABLE", table_, "one table; default: all tables")
        .flag("--major", major_,
              "rewrite all files of a family into one; default: what the family's policy picks")
        .option("--family", family_, "NAME", "only this family of TABLE")
        .flag("--explain", explain_, "print what would be compacted next, and why; compact nothing")
        .note(
            "Data in memory is not compacted: run cellar flush first.\n"
            "Interrupting is safe: the old files stay in use.")
        .example("cellar compact shop orders --major --family d",
                 "drop deleted, expired and superseded cells of one family")
        .example("cellar compact shop --format json",
                 "all tables, by their policies; the result for a program")
        .example("cellar compact shop --explain", "why the policies would compact, or would not");
  }

  Status run(Session& session) override {
    if (!family_.empty() && table_.empty())
      return session.name_failure(
          "CEL-USAGE", Exit::kUsage,
          Status::invalid_argument("--family needs a table").hinting("cellar compact --help"));
    if (explain_) return print_plans(session);
    StoreProgress progress(session, "compact");
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine,
                      open_engine(session, store_, OpenFor::kWriting, &progress));
    Records records(session.out(), session.format(), "cellar.compact/1", "tables");
    for (const std::string& name : names_of(*engine)) {
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
      records.text("table", name);
      if (!is_cluster(store_)) {
        records.count("files_before", before.files).count("files_after", after.files);
        records.size("bytes_before", before.bytes).size("bytes_after", after.bytes);
        records.count("cells_before", before.cells).count("cells_after", after.cells);
      }
      records.micros(clock.micros()).add();
    }
    CELLAR_TRY(engine->close());
    records.finish();
    return {};
  }

 private:
  std::vector<std::string> names_of(Engine& engine) const {
    return table_.empty() ? engine.list_tables() : std::vector{table_};
  }

  // The reasons follow the table, and are a list of each record elsewhere.
  Status print_plans(Session& session) {
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine, open_store(session, store_, OpenFor::kLooking));
    Records records(session.out(), session.format(), "cellar.compact.explain/1", "families");
    std::string reasons;
    const bool people = session.format() == Format::kTable;
    for (const std::string& name : names_of(*engine)) {
      CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, open_table(session, *engine, store_, name));
      if (!family_.empty()) CELLAR_TRY(check_family(session, *table, family_));
      for (const FamilyInfo& family : table->info().families) {
        if (!family_.empty() && family.options.name != family_) continue;
        std::vector<std::string> trace;
        CELLAR_TRY_ASSIGN(const std::optional<CompactionInfo> plan,
                          table->next_compaction(family.options.name, major_, &trace));
        if (family.files.empty()) trace = {"the family has no store files"};
        add_plan(records, name, family, plan, people);
        if (!people) records.list("trace", trace, "; ");
        records.add();
        reasons += fmt::format("\n{}:{}, {}\n", name, family.options.name, family.options.compaction);
        for (const std::string& line : trace) reasons += "  " + line + "\n";
      }
    }
    records.finish();
    if (people) session.out().write(reasons);
    return engine->close();
  }

  static void add_plan(Records& records, const std::string& table, const FamilyInfo& family,
                       const std::optional<CompactionInfo>& plan, bool people) {
    records.text("table", table).text("family", family.options.name);
    records.text("policy", family.options.compaction).count("files", family.files.size());
    const std::string action = !plan ? "nothing" : plan->dropped ? "drop" : plan->moved ? "move" : "merge";
    const CompactionInfo info = plan.value_or(CompactionInfo());
    records.text("next", action);
    if (people) records.count("inputs", info.inputs.size());
    if (!people) records.list("inputs", info.inputs, " ");
    records.size("bytes_in", info.bytes_in).count("cells_in", info.cells_in).text("why", info.why);
  }

  std::string store_;
  std::string table_;
  bool major_ = false;
  bool explain_ = false;
  std::string family_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_store_cmd_compact, "compact", CompactCommand)

}  // namespace cellar
