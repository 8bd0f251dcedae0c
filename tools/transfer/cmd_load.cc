// cellar load: cells from JSON Lines, CSV and TSV into a table, in batches that are written whole or not at
// all.
#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "cell/cell_codec.h"
#include "cellar/environment.h"
#include "tools/frame/command.h"
#include "tools/frame/progress.h"
#include "tools/frame/short_text.h"
#include "tools/store/store.h"
#include "tools/store/write_choice.h"
#include "tools/transfer/cell_reader.h"

namespace cellar {
namespace {

// The outcome of one load; for people and as JSON.
struct LoadCounts {
  uint64_t lines = 0;
  uint64_t cells = 0;
  uint64_t skipped = 0;
  uint64_t batches = 0;
};

class LoadCommand final : public Command {
 public:
  explicit LoadCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kMove; }
  std::string_view summary() const override {
    return "Load cells from JSON Lines (as dump and export print them), CSV or TSV";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("STORE", store_, "directory of the store")
        .operand("TABLE", table_, "name of the table")
        .operands("FILE", files_, "files to read, also compressed by gzip; - is standard input", true)
        .choice("--from", source_, {"auto", "jsonl", "csv", "tsv"},
                "format of the files; auto: by the name, else jsonl")
        .option_if("--map", map_, "MAP", "CSV, TSV: which column is what: 'row=id, d:name=name, ts=updated'")
        .option_if("--null", null_, "TEXT",
                   "with --map: a field with this text is no cell, like an empty field")
        .option("--family", family_, "NAME", "for cells with an empty family")
        .option_if("--ts", time_, "TIME", "for cells without a timestamp (default: now) or with LATEST")
        .option_count("--batch", batch_, "cells in one atomic batch (10,000)")
        .choice("--on-error", on_error_, {"stop", "skip"}, "what to do at an invalid line");
    write_.declare(arguments, WriteChoice::Levels::kAll);
    arguments.formats({"table", "json"})
        .example("cellar load shop orders cells.jsonl", "cells that dump or export printed")
        .example(
            "cellar load shop people people.csv --map 'row=id, d:name=name, d:mail=email' --on-error skip",
            "a CSV file with other columns; invalid lines are reported and skipped")
        .more_example(
            "cellar load shop people people.tsv --from tsv --map 'row=id, d:name=name' --null NULL --batch "
            "1000",
            "from a database that writes NULL for missing values")
        .more_example("cellar load shop orders cells.jsonl --durability skip_wal",
                      "without the log, for a file that can be loaded again after a crash")
        .more_example("cellar load shop orders hudi.jsonl --family d --ts 2026-11-20",
                      "cells that have neither families nor timestamps");
  }

  Status run(Session& session) override {
    CellReaderOptions options;
    if (map_) {
      CELLAR_TRY_ASSIGN(options.map, for_argument("--map", parse_cell_map(*map_)));
    }
    if (time_) {
      CELLAR_TRY_ASSIGN(options.timestamp, for_argument("--ts", parse_time(*time_)));
    }
    if (batch_ == 0)
      return Status::invalid_argument("--batch: a batch has at least 1 cell")
          .hinting("write --batch 1 or more");
    if (map_ && source_ == "jsonl")
      return Status::invalid_argument("--map is for CSV and TSV, and --from is jsonl")
          .hinting("leave one out");
    if (null_ && !map_)
      return Status::invalid_argument("--null needs --map")
          .hinting("--map 'row=id, d:name=name' --null NULL");
    options.null = null_;
    options.family = family_;
    options.now_ms = system_clock().wall_ms();
    CELLAR_TRY_ASSIGN(const OpenedTable opened, open_store_table(session, store_, table_, OpenFor::kWriting));
    for (const FamilyInfo& family : opened.table->info().families) families_.push_back(family.options.name);
    if (!family_.empty()) CELLAR_TRY(check_family(session, *opened.table, family_));
    if (options.map) {
      for (const auto& [column, name] : options.map->columns)
        CELLAR_TRY(check_family(session, *opened.table, column.family));
    }
    const Progress clock(session, "load", 0);
    Status status;
    for (const std::string& path : files_) {
      status = load_file(session, opened, path, options);
      if (!status.ok()) break;
    }
    if (write_.options().durability == Durability::kSkipWal) {  // nothing else keeps the cells
      const Status flushed = opened.table->flush();
      if (status.ok()) status = flushed;
    }
    const Status closed = opened.engine->close();
    report(session, clock.micros(), status.ok());
    return status.ok() ? closed : status;
  }

 private:
  CellSource source_of(std::string_view path) const {
    if (path.ends_with(".gz")) path.remove_suffix(3);
    if (source_ == "csv" || (source_ == "auto" && path.ends_with(".csv"))) return CellSource::kCsv;
    if (source_ == "tsv" || (source_ == "auto" && path.ends_with(".tsv"))) return CellSource::kTsv;
    return map_ && source_ == "auto" ? CellSource::kCsv : CellSource::kJsonl;
  }

  Status load_file(Session& session, const OpenedTable& opened, const std::string& path,
                   CellReaderOptions options) {
    const Result<std::unique_ptr<LineReader>> input = LineReader::open(path);
    if (!input.ok()) return cannot_use(session, input.status());
    const std::unique_ptr<LineReader>& lines = *input;
    options.source = source_of(path);
    CellReader reader(*lines, std::move(options));
    Progress progress(session, "load " + path, lines->size());
    std::vector<Cell> cells;
    Batch batch;
    while (!interrupted()) {
      cells.clear();
      const CellReader::Step step = reader.next(cells);
      if (step == CellReader::Step::kEnd) return write(opened, batch);
      if (step == CellReader::Step::kFailed && interrupted()) break;
      if (step == CellReader::Step::kFailed) return cannot_use(session, reader.problem());
      ++counts_.lines;
      Status problem = step == CellReader::Step::kBadLine ? reader.problem() : Status();
      if (problem.ok()) problem = check_cells(cells).at(fmt::format("{}:{}", lines->path(), lines->line()));
      if (!problem.ok()) {
        CELLAR_TRY(bad_line(session, problem));
        continue;
      }
      for (const Cell& cell : cells) {
        scratch_.assign(cell.row, cell.family, cell.qualifier, cell.timestamp, cell.type, 0, cell.value,
                        cell.tags);
        batch.cell(opened.table, scratch_.view());
      }
      constexpr size_t kBatchBytes = 32u << 20;
      if (batch.mutations() >= batch_ || batch.bytes() >= kBatchBytes) CELLAR_TRY(write(opened, batch));
      progress.step(lines->bytes(), counts_.cells + batch.mutations());
    }
    return interrupted_status("complete batches were loaded, and nothing of the last one");
  }

  Status check_cells(const std::vector<Cell>& cells) {
    for (const Cell& cell : cells) {
      if (std::ranges::find(families_, cell.family) == families_.end()) {
        const std::string nearest = nearest_name(cell.family, families_);
        return Status::invalid_argument(
                   fmt::format("table {} has no family \"{}\"", table_, escaped(cell.family)))
            .hinting(nearest.empty() ? fmt::format("families: {}", fmt::join(families_, ", "))
                                     : fmt::format("did you mean {}?", nearest));
      }
      scratch_.assign(cell.row, cell.family, cell.qualifier, cell.timestamp, cell.type, 0, cell.value,
                      cell.tags);
      CELLAR_TRY(check_cell(scratch_.view(), CellLimits()));
    }
    return {};
  }

  // Names the error of a file that holds no cells: an HFile, a JSON document and so on.
  Status cannot_use(Session& session, const Status& problem) const {
    const bool content = problem.is(Code::kInvalidArgument) && problem.place().empty();
    return content ? session.name_failure("CEL-BAD-LINE", Exit::kCannot, problem) : problem;
  }

  // Reports an invalid line. Returns an error if loading ends here.
  Status bad_line(Session& session, const Status& problem) {
    if (on_error_ == "stop") {
      const std::string more = "--on-error skip reports invalid lines and skips them";
      const std::string hint = problem.hint().empty() ? more : fmt::format("{}; {}", problem.hint(), more);
      return session.name_failure("CEL-BAD-LINE", Exit::kCannot,
                                  Status::with_code(problem.code(), std::string(problem.message()))
                                      .at(problem.place())
                                      .hinting(hint));
    }
    ++counts_.skipped;
    constexpr uint64_t kShown = 20;
    if (counts_.skipped <= kShown)
      session.talk(fmt::format("skipped  {}: {}", problem.place(), shortened(problem.message())));
    if (counts_.skipped == kShown + 1) session.talk("skipped  … further invalid lines are only counted");
    return {};
  }

  Status write(const OpenedTable& opened, Batch& batch) {
    if (batch.mutations() == 0) return {};
    CELLAR_TRY(opened.engine->write(batch, write_.options()));
    counts_.cells += batch.mutations();
    ++counts_.batches;
    batch.clear();
    return {};
  }

  // After an error, people are told what is in the table already, if there is any; the error itself follows.
  void report(Session& session, int64_t micros, bool complete) const {
    if (session.format() == Format::kJson) {
      session.out().write(
          fmt::format("{{\"schema\":\"cellar.load/1\",\"lines\":{},\"cells\":{},\"skipped\":{},"
                      "\"batches\":{},\"micros\":{}}}\n",
                      counts_.lines, counts_.cells, counts_.skipped, counts_.batches, micros));
      return;
    }
    if (!complete && counts_.cells == 0) return;
    session.talk(fmt::format(
        "loaded {} in {} in {}{}{}", counted(counts_.cells, "cell"),
        counts_.batches == 1 ? "1 batch" : human_count(counts_.batches) + " batches", human_micros(micros),
        counts_.skipped == 0 ? "" : fmt::format(", {} skipped", counted(counts_.skipped, "line")),
        complete ? "" : "; then loading ended"));
  }

  std::string store_;
  std::string table_;
  std::vector<std::string> files_;
  std::string source_;
  std::optional<std::string> map_;
  std::optional<std::string> null_;
  std::string family_;
  std::optional<std::string> time_;
  uint64_t batch_ = 10000;
  std::string on_error_;
  std::vector<std::string> families_;
  WriteChoice write_;
  OwnedCell scratch_;
  LoadCounts counts_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_transfer_cmd_load, "load", LoadCommand)

}  // namespace cellar
