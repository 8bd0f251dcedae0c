// cellar export: a table as a stream of cells that load takes back, or as HFiles that HBase bulk-loads.
#include <fmt/format.h>

#include "base/bytes.h"
#include "tools/frame/cell_printer.h"
#include "tools/frame/command.h"
#include "tools/frame/progress.h"
#include "tools/query/scan_options.h"
#include "tools/store/store.h"
#include "tools/transfer/hfile_export.h"

namespace cellar {
namespace {

class ExportCommand final : public Command {
 public:
  explicit ExportCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kMove; }
  std::string_view summary() const override {
    return "A table's cells in the form that load takes back, or as HFiles for HBase's bulk load";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("STORE", store_, "directory of the store")
        .operand("TABLE", table_, "name of the table");
    rows_.declare(arguments);
    arguments.option("--versions", versions_, "N|all", "up to N versions of each column (all)")
        .flag("--raw", raw_, "delete markers and hidden cells, too, while they are stored")
        .flag("--tags", tags_, "tags of each cell, such as its time to live (--to jsonl only)")
        .choice("--to", to_, {"jsonl", "csv", "hfile"}, "the form")
        .option("-o,--output", output_, "DIR", "hfile: a new directory, for DIR/<family>/<32 hex digits>")
        .option("--splits", splits_, "FILE", "hfile: where regions begin, a row key a line")
        .formats({"table", "json", "jsonl", "csv"})
        .note(
            "Cells go to standard output whatever --format says; of HFiles it says how they are listed.\n"
            "HFiles have the family's codec, encoding and Bloom filter, and tags, such as times to live.")
        .example("cellar export shop orders --to jsonl --raw --tags > orders.jsonl",
                 "all that is stored, with markers and times to live, to load it elsewhere")
        .example("cellar export shop orders --to csv --prefix user4 --column d --versions 1",
                 "the newest values of some rows, for a spreadsheet")
        .example("cellar export shop orders --to hfile -o out --splits splits.txt",
                 "HFiles that HBase takes in, none of which crosses a region's border")
        .more_example(
            "cellar export shop orders --start user41 --start-exclusive --stop user43 --stop-inclusive",
            "behind user41, up to and with user43")
        .more_example(
            "cellar export shop orders --time now-7d.. --filter \"ValueFilter(=, 'binary:Ada')\" --limit 100",
            "what became Ada in the last week, at most a hundred rows");
  }

  Status run(Session& session) override {
    CELLAR_TRY(check());
    constexpr uint32_t kCellsAtOnce = 1000;
    Scan scan;
    scan.raw(raw_).fill_cache(false);
    ScanOptions rows = rows_;
    rows.read.versions = versions_;
    CELLAR_TRY(rows.apply(scan));
    if (scan.filter() == nullptr || !scan.filter()->needs_whole_row()) scan.batch(kCellsAtOnce);
    CELLAR_TRY_ASSIGN(const OpenedTable opened, open_store_table(session, store_, table_, OpenFor::kLooking));
    CELLAR_TRY(check_columns(session, *opened.table, rows_.read.columns));
    CELLAR_TRY(to_ == "hfile" ? to_files(session, *opened.table, scan)
                              : to_stream(session, *opened.table, scan));
    return opened.engine->close();
  }

 private:
  Status check() const {
    const bool files = to_ == "hfile";
    if (files && output_.empty())
      return Status::invalid_argument("--output is missing: HFiles go into a directory");
    if (!files && !(output_.empty() && splits_.empty()))
      return Status::invalid_argument("--output and --splits are for --to hfile");
    if (files && tags_) return Status::invalid_argument("HFiles have the tags anyway: leave out --tags");
    return {};
  }

  // Hands each cell to `add`, until that fails.
  template <class Add>
  Status walk(Session& session, Table& table, const Scan& scan, Progress& progress, const Add& add) {
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Scanner> scanner, table.scan(scan));
    // Files are whole or not at all, whether or not somebody reads what is said of them.
    const auto stopping = [&] { return to_ == "hfile" ? interrupted() : session.stopping(); };
    while (!stopping() && scanner->next()) {
      for (const CellView& cell : scanner->row()) {
        CELLAR_TRY(add(cell));
        ++cells_;
      }
      progress.step(0, cells_);
    }
    return scanner->status();
  }

  Status to_stream(Session& session, Table& table, const Scan& scan) {
    Progress progress(session, "export", 0);
    CellPrinter printer(session.out(), {.format = to_ == "csv" ? Format::kCsv : Format::kJsonl,
                                        .what = tags_ ? CellText::kTags : CellText::kPlain});
    CELLAR_TRY(walk(session, table, scan, progress, [&](const CellView& cell) {
      printer.add(cell);
      return Status();
    }));
    if (interrupted()) return interrupted_status(fmt::format("{} cells were printed", human_count(cells_)));
    printer.finish();
    session.out().flush();
    session.talk(fmt::format("exported {} in {}", counted(cells_, "cell"), human_micros(progress.micros())));
    return {};
  }

  Status to_files(Session& session, Table& table, const Scan& scan) {
    CELLAR_TRY_ASSIGN(RowSplits splits, RowSplits::read(splits_));
    const size_t regions = splits.regions();
    CELLAR_TRY_ASSIGN(const std::unique_ptr<HFileExport> made,
                      HFileExport::create(output_, table.info(), std::move(splits)));
    Progress progress(session, "export", 0);
    CELLAR_TRY(walk(session, table, scan, progress, [&](const CellView& cell) { return made->add(cell); }));
    if (interrupted()) return interrupted_status("nothing was left behind");
    CELLAR_TRY(made->finish());
    print_families(session, output_, *made);
    session.out().flush();
    session.talk(fmt::format("exported {} for {} in {}", counted(cells_, "cell"), counted(regions, "region"),
                             human_micros(progress.micros())));
    return {};
  }

  std::string store_;
  std::string table_;
  ScanOptions rows_;
  std::string versions_ = "all";
  bool raw_ = false;
  bool tags_ = false;
  std::string to_;
  std::string output_;
  std::string splits_;
  uint64_t cells_ = 0;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_transfer_cmd_export, "export", ExportCommand)

}  // namespace cellar
