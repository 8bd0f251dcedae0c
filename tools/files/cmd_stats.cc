// cellar stats: how the cells of HFiles are distributed.
#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "cellar/plugin.h"
#include "hfile/read/hfile_reader.h"
#include "tools/files/cell_selection.h"
#include "tools/files/stats_text.h"
#include "tools/frame/command.h"
#include "tools/frame/progress.h"
#include "tools/hbase/hfile_paths.h"

namespace cellar {
namespace {

constexpr uint64_t kTopMax = 1000;
constexpr int64_t kPrefixBytesMax = 1024;

class StatsCommand final : public Command {
 public:
  explicit StatsCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kFiles; }
  std::string_view summary() const override {
    return "Print distributions of the cells of HFiles: sizes, versions, ages, groups";
  }

  void declare(Arguments& arguments) override {
    arguments.operands("PATH", paths_, "HFiles, directories of them, or stores; counted together", true)
        .option("--histogram", histograms_, "LIST",
                "some of key,value,row,cols,versions,age; or none (value,row)")
        .option("--by", by_, "GROUP", "cells and bytes per family|qualifier|row-prefix[:N]|hour|day")
        .option_count("--top", top_, "print the N largest rows and the columns with most versions (5)")
        .option_if("--now", now_, "TIME", "ages are relative to this time; default: the newest timestamp");
    selection_.declare(arguments);
    arguments.formats({"table", "json", "jsonl"})
        .note(
            "All cells are read as stored, with delete markers. A row in two files counts twice.\n"
            "Bytes are those of keys, values and tags before compression; versions are the puts of a "
            "column.\n"
            "Figures are exact, except percentiles of more than 65,536 different values: these have a \"≤\".")
        .example("cellar stats versions.hfile --by day --top 3",
                 "the amount written per day, and the largest rows")
        .example(
            "cellar stats versions.hfile weblog.hfile --histogram age,versions --now 2026-11-20 --format "
            "json",
            "ages of the cells and versions of the columns of two files")
        .more_example(
            "cellar stats versions.hfile --start row-010 --stop row-020 --column cf:q0 \\\n      --types put "
            "--time ..2020-09-20",
            "puts of a column in some rows, up to a day")
        .more_example("cellar stats weblog.hfile --prefix uk. --by qualifier --histogram none",
                      "space per column, in rows with a prefix")
        .more_example("cellar stats versions.hfile --row row-003", "one row");
  }

  Status run(Session& session) override {
    CELLAR_TRY(parse(session));
    CELLAR_TRY_ASSIGN(const std::vector<std::string> files, find_all_hfiles(session, paths_));
    CellStats stats(options_);
    Status failure;
    for (const std::string& path : files) {
      if (session.stopping()) break;
      failure = count(session, path, stats);
      if (!failure.ok()) break;
    }
    view_.stats = &stats;
    view_.complete = failure.ok() && !interrupted();
    if (!stats.files().empty()) show(session);
    if (!failure.ok()) {
      session.out().flush();
      return name_file_failure(session, failure);
    }
    if (interrupted())
      return interrupted_status(fmt::format("{} cells were counted", human_count(stats.total().cells)));
    return {};
  }

 private:
  Status count(Session& session, const std::string& path, CellStats& stats) const {
    CELLAR_TRY_ASSIGN(const std::shared_ptr<HFileReader> file, open_hfile(session, path));
    Progress progress(session, "stats " + path, 0);
    uint64_t cells = 0;
    stats.begin_file(path);
    Status status = selection_.walk(*file, [&](const CellView& cell) {
      stats.add(cell);
      progress.step(0, ++cells);
      return !session.stopping();
    });
    stats.end_file();
    return status;
  }

  void show(Session& session) const {
    if (session.format() == Format::kJson) session.out().write(stats_json(view_).dump(2) + "\n");
    if (session.format() == Format::kJsonl) session.out().write(stats_lines(view_));
    if (session.format() == Format::kTable) session.out().write(stats_text(view_));
  }

  Status parse(Session& session) {
    CELLAR_TRY(selection_.parse());
    const Status words = parse_histograms();
    if (!words.ok()) return session.name_failure("CEL-USAGE", Exit::kUsage, words);
    const Status groups = parse_by();
    if (!groups.ok()) return session.name_failure("CEL-USAGE", Exit::kUsage, groups);
    if (top_ > kTopMax)
      return session.name_failure("CEL-USAGE", Exit::kUsage,
                                  Status::invalid_argument(fmt::format("--top: at most {}", kTopMax)));
    options_.top = top_;
    if (now_) {
      CELLAR_TRY_ASSIGN(view_.now, for_argument("--now", parse_time(*now_)));
    }
    return {};
  }

  Status parse_histograms() {
    if (histograms_ == "none") return {};
    for (const std::string& word : words_of(histograms_)) {
      const std::vector<std::string>& known = histogram_words();
      if (std::ranges::find(known, word) == known.end()) {
        const std::string nearest = nearest_name(word, known);
        return Status::invalid_argument(fmt::format("--histogram: unknown histogram \"{}\"", word))
            .hinting(nearest.empty() ? "key, value, row, cols, versions, age, or none"
                                     : fmt::format("did you mean {}?", nearest));
      }
      view_.histograms.push_back(word);
    }
    return {};
  }

  Status parse_by() {
    view_.by = by_;
    if (by_.empty()) return {};
    const size_t colon = std::min(by_.find(':'), by_.size());
    const std::string word = by_.substr(0, colon);
    if (word == "row-prefix") {
      options_.by = GroupBy::kRowPrefix;
      if (colon == by_.size()) return {};
      const Result<int64_t> bytes = parse_integer(by_.substr(colon + 1));
      if (!bytes.ok() || *bytes < 1 || *bytes > kPrefixBytesMax)
        return Status::invalid_argument("--by row-prefix:N takes 1 to 1,024 bytes");
      options_.prefix_bytes = static_cast<size_t>(*bytes);
      return {};
    }
    static const std::vector<std::string> kWords = {"family", "qualifier", "hour", "day"};
    static constexpr GroupBy kGroups[] = {GroupBy::kFamily, GroupBy::kQualifier, GroupBy::kHour,
                                          GroupBy::kDay};
    const auto at = std::ranges::find(kWords, by_);
    if (at == kWords.end()) {
      return Status::invalid_argument(fmt::format("--by: unknown group \"{}\"", by_))
          .hinting("family, qualifier, row-prefix, row-prefix:N, hour, or day");
    }
    options_.by = kGroups[at - kWords.begin()];
    return {};
  }

  std::vector<std::string> paths_;
  CellSelection selection_;
  std::string histograms_ = "value,row";
  std::string by_;
  uint64_t top_ = 5;
  std::optional<std::string> now_;
  CellStatsOptions options_;
  StatsView view_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_files_cmd_stats, "stats", StatsCommand)

}  // namespace cellar
