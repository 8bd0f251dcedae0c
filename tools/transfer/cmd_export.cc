// cellar export: a table as a stream of cells that load takes back, or as HFiles that HBase bulk-loads.
#include <fmt/format.h>

#include "base/bytes.h"
#include "tools/frame/cell_printer.h"
#include "tools/frame/command.h"
#include "tools/query/scan_options.h"
#include "tools/query/table_rows.h"
#include "tools/store/store.h"
#include "tools/transfer/hfile_export.h"

namespace cellar {
namespace {

class ExportCommand final : public Command {
 public:
  explicit ExportCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kMove; }
  bool takes_clusters() const override { return true; }
  std::string_view summary() const override {
    return "Export the cells of a table for load, or as HFiles for HBase's bulk load";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("STORE", store_, "directory of the store, or a cluster: hbase://MASTER:PORT")
        .operand("TABLE", table_, "name of the table");
    rows_.declare(arguments);
    arguments.option("--versions", versions_, "N|all", "up to N versions per column (all)")
        .flag("--raw", raw_, "include delete markers and hidden cells that are still stored")
        .flag("--tags", tags_, "include tags, such as times to live (--to jsonl only)")
        .choice("--to", to_, {"jsonl", "csv", "hfile"}, "format of the cells")
        .option("-o,--output", output_, "DIR", "hfile: a new directory, for DIR/<family>/<32 hex digits>")
        .option("--splits", splits_, "FILE", "hfile: first rows of the regions, one row key per line")
        .formats({"table", "json", "jsonl", "csv"})
        .note(
            "Cells are written to standard output, whatever --format is; it applies to the list of HFiles.\n"
            "HFiles have the codec, encoding and Bloom filter of the family, and keep tags. Cells of a "
            "cluster\n"
            "come without their times to live.")
        .example("cellar export shop orders --to jsonl --raw --tags > orders.jsonl",
                 "everything that is stored, with delete markers and times to live, to load it elsewhere")
        .example("cellar export shop orders --to csv --prefix user4 --column d --versions 1",
                 "the newest values of some rows, for a spreadsheet")
        .example("cellar export shop orders --to hfile -o out --splits splits.txt",
                 "HFiles for HBase; no file crosses the border of a region")
        .more_example(
            "cellar export shop orders --start user41 --start-exclusive --stop user43 --stop-inclusive",
            "after user41, up to and including user43")
        .more_example(
            "cellar export shop orders --time now-7d.. --filter \"ValueFilter(=, 'binary:Ada')\" --limit 100",
            "cells of the last week with the value Ada, at most 100 rows")
        .more_example("cellar export shop views --key user=alice",
                      "rows by the first fields of their keys, in a table that keeps key_fields");
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
    CELLAR_TRY(rows.apply_key(session, *opened.table, ValueRules(), scan));
    tell_of_empty_range(session, scan);
    CELLAR_TRY(to_ == "hfile" ? to_files(session, *opened.table, scan)
                              : to_stream(session, *opened.table, scan));
    return opened.engine->close();
  }

 private:
  Status check() const {
    const bool files = to_ == "hfile";
    if (files && output_.empty())
      return Status::invalid_argument("--output is missing")
          .hinting("name a new directory for the HFiles: -o DIR");
    if (!files && !(output_.empty() && splits_.empty()))
      return Status::invalid_argument("--output and --splits are for --to hfile");
    if (files && tags_) return Status::invalid_argument("HFiles have the tags anyway: leave out --tags");
    return {};
  }

  // Hands each cell to `add`, until that fails.
  template <class Add>
  Status walk(Session& session, Table& table, const Scan& scan, ScanProgress& progress, const Add& add) {
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Scanner> scanner, paced_scan(table, scan));
    // Files are whole or not written at all, whether or not somebody reads the report on them.
    const auto stopping = [&] { return to_ == "hfile" ? interrupted() : session.stopping(); };
    while (!stopping() && scanner->next()) {
      const RowView row = scanner->row();
      for (const CellView& cell : row) {
        CELLAR_TRY(add(cell));
        ++cells_;
      }
      row.is_cursor() ? progress.show(cells_) : progress.step(cells_);
    }
    return scanner->status();
  }

  Status to_stream(Session& session, Table& table, Scan& scan) {
    ScanProgress progress(session, "export", table, scan);
    CellPrinter printer(session.out(),
                        {.format = to_ == "csv" ? Format::kCsv : Format::kJsonl, .tags = tags_});
    CELLAR_TRY(walk(session, table, scan, progress, [&](const CellView& cell) {
      printer.add(cell);
      return Status();
    }));
    if (interrupted()) return interrupted_status(counted(cells_, "cell") + " printed");
    printer.finish();
    session.out().flush();
    if (session.stopping()) return {};  // not all was exported
    session.talk(fmt::format("exported {} in {}", counted(cells_, "cell"), human_micros(progress.micros())));
    return {};
  }

  Status to_files(Session& session, Table& table, Scan& scan) {
    CELLAR_TRY_ASSIGN(RowSplits splits, RowSplits::read(splits_));
    const size_t regions = splits.regions();
    CELLAR_TRY_ASSIGN(const std::unique_ptr<HFileExport> made,
                      HFileExport::create(output_, table.info(), std::move(splits)));
    ScanProgress progress(session, "export", table, scan);
    CELLAR_TRY(walk(session, table, scan, progress, [&](const CellView& cell) { return made->add(cell); }));
    if (interrupted()) return interrupted_status("no output was left");
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
