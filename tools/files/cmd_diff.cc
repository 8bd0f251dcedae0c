// cellar diff: cells, and with --meta facts, that differ between two files, directories or stores.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/bytes.h"
#include "cell/merging_cursor.h"
#include "hfile/read/hfile_reader.h"
#include "tools/files/diff_printer.h"
#include "tools/frame/command.h"
#include "tools/frame/progress.h"
#include "tools/hbase/hfile_paths.h"
#include "tools/store/store_state.h"

namespace cellar {
namespace {

// One operand, with its files merged into a single run of cells.
struct DiffSide {
  std::vector<std::string> files;
  std::unique_ptr<CellCursor> cursor;
  bool meta_order = false;
  uint64_t cells = 0;
};

class DiffCommand final : public Command {
 public:
  explicit DiffCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kFiles; }
  std::string_view summary() const override {
    return "Compare the cells of two HFiles, directories or stores; exit status 1 if they differ";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("A", a_, "an HFile, a directory of them, or a store")
        .operand("B", b_, "what to compare A with")
        .flag("--meta", meta_, "compare trailer and file info, too; A and B are one HFile each")
        .flag("--keys", keys_, "compare keys only; values may differ")
        .flag("--ignore-mvcc", ignore_mvcc_, "sequence numbers may differ")
        .flag("--ignore-tags", ignore_tags_, "tags may differ")
        .option_if("--table", table_, "TABLE", "stores: the table; required if a store has several")
        .option_count("--limit", limit_, "print at most N differences; all are counted");
    shown_.declare(arguments, false);
    arguments.formats({"table", "json", "jsonl"})
        .note(
            "\"- \" only in A, \"+ \" only in B, \"! \" in both with another value, other tags or another "
            "number.\n"
            "Several files are merged in the order of keys; of a store only the files count, not its log.")
        .example("cellar diff versions.hfile later.hfile --limit 3",
                 "cells that a compaction dropped: the first three, and the number of all")
        .example("cellar diff shop backup --table orders --ignore-mvcc --ignore-tags --format json",
                 "is the backup equal to the store?")
        .more_example("cellar diff versions.hfile later.hfile --keys --meta --decode row=hex",
                      "keys, trailers and file infos, but not values");
  }

  Status run(Session& session) override {
    CELLAR_TRY_ASSIGN(const ValueRules rules, shown_.rules(session));
    DiffSide a;
    DiffSide b;
    CELLAR_TRY_ASSIGN(a, open_side(session, a_));
    CELLAR_TRY_ASSIGN(b, open_side(session, b_));
    if (a.meta_order != b.meta_order)
      return Status::not_supported(fmt::format("{} is in the order of hbase:meta, {} is not",
                                               a.meta_order ? a_ : b_, a.meta_order ? b_ : a_));
    std::vector<MetaDifference> facts;
    if (meta_) {
      CELLAR_TRY_ASSIGN(facts, compare_facts(session, a, b));
    }
    DiffPrinter printer(session.out(), session.format(), a_, b_, limit_, rules);
    for (const MetaDifference& fact : facts) printer.add(fact);
    printer.begin_cells();
    const Status status = compare_cells_of(session, a, b, printer);
    printer.finish(totals_, status.ok() && !session.stopping());
    session.out().flush();
    if (!session.out().is_lost()) say_totals(session, printer);
    if (!status.ok()) return name_file_failure(session, status);
    if (interrupted())
      return interrupted_status(
          fmt::format("{} were compared", counted(totals_.cells_a + totals_.cells_b, "cell")));
    if (totals_.differences() + printer.meta_differences() > 0) session.answer_negative();
    return {};
  }

 private:
  Status compare_cells_of(Session& session, const DiffSide& a, const DiffSide& b, DiffPrinter& printer) {
    const CellDiffOptions options = {
        .values = !keys_, .tags = !ignore_tags_, .mvcc = !ignore_mvcc_, .meta_order = a.meta_order};
    Progress progress(session, "diff", a.cells + b.cells, Progress::Unit::kCells);
    return diff_cells(
        *a.cursor, *b.cursor, options, [&](const CellDifference& found) { printer.add(found); },
        [&] {
          const uint64_t compared = totals_.cells_a + totals_.cells_b;
          progress.step(compared, compared);
          return !session.stopping();
        },
        totals_);
  }

  void say_totals(Session& session, const DiffPrinter& printer) const {
    std::string text =
        fmt::format("{} same, {} only in A, {} only in B, {} changed", human_count(totals_.same),
                    human_count(totals_.only_a), human_count(totals_.only_b), human_count(totals_.changed));
    if (meta_) text += fmt::format("; {} of trailer and file info differ", printer.meta_differences());
    const uint64_t all = totals_.differences() + printer.meta_differences();
    if (all > printer.printed())
      text += fmt::format("; {} not printed", counted(all - printer.printed(), "difference"));
    session.talk(text);
  }

  Result<DiffSide> open_side(Session& session, const std::string& path) const {
    DiffSide side;
    if (is_store(path)) {
      CELLAR_TRY_ASSIGN(side.files, files_of_store(session, path));
    } else {
      CELLAR_TRY_ASSIGN(side.files, find_all_hfiles(session, {path}));
    }
    std::vector<MergeSource> sources;
    for (const std::string& file : side.files) {
      CELLAR_TRY_ASSIGN(const std::shared_ptr<HFileReader> reader, open_hfile(session, file));
      side.meta_order = side.meta_order || reader->meta_order();
      side.cells += reader->cells();
      sources.push_back(
          {reader->cursor({.fill_cache = false, .sequential = true}), static_cast<uint32_t>(sources.size())});
    }
    if (side.meta_order && sources.size() > 1)
      return Status::not_supported(fmt::format("{}: files in the order of hbase:meta are not merged", path))
          .hinting("compare them one by one");
    side.cursor = make_merging_cursor(std::move(sources));
    return side;
  }

  Result<std::vector<std::string>> files_of_store(Session& session, const std::string& path) const {
    CELLAR_TRY_ASSIGN(const ManifestState state, read_store_state(session, path));
    const TableRecord* table = nullptr;
    if (table_) {
      CELLAR_TRY_ASSIGN(table, table_of_state(session, state, path, *table_));
    } else if (state.tables.size() == 1) {
      table = &state.tables.front();
    } else {
      return session.name_failure(
          "CEL-USAGE", Exit::kUsage,
          Status::invalid_argument(
              fmt::format("store {} has {}: files do not tell the rows of different tables apart", path,
                          counted(state.tables.size(), "table")))
              .hinting("choose one with --table   (cellar list " + path + ")"));
    }
    std::vector<std::string> files;
    for (const FamilyRecord& family : table->families)
      std::ranges::copy(files_of_family(path, *table, family), std::back_inserter(files));
    return files;
  }

  Result<std::vector<MetaDifference>> compare_facts(Session& session, const DiffSide& a,
                                                    const DiffSide& b) const {
    if (a.files.size() != 1 || b.files.size() != 1) {
      return session.name_failure("CEL-USAGE", Exit::kUsage,
                                  Status::invalid_argument("--meta compares two HFiles, not sets of them")
                                      .hinting("cellar diff --help"));
    }
    CELLAR_TRY_ASSIGN(const HFileDescription facts_a, describe_file(a.files[0]));
    CELLAR_TRY_ASSIGN(const HFileDescription facts_b, describe_file(b.files[0]));
    return diff_meta(facts_a, facts_b);
  }

  static Result<HFileDescription> describe_file(const std::string& path) {
    CELLAR_TRY_ASSIGN(std::unique_ptr<ReadableFile> file, open_whole_hfile(path));
    return describe(std::move(file), {.name = path});
  }

  std::string a_;
  std::string b_;
  bool meta_ = false;
  bool keys_ = false;
  bool ignore_mvcc_ = false;
  bool ignore_tags_ = false;
  std::optional<std::string> table_;
  uint64_t limit_ = 0;
  ShownParts shown_;
  CellDiffTotals totals_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_files_cmd_diff, "diff", DiffCommand)

}  // namespace cellar
