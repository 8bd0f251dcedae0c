// cellar merge: many HFiles become one, by the rules of a compaction.
#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "cell/merging_cursor.h"
#include "cellar/environment.h"
#include "compaction/rewrite.h"
#include "tools/files/hfile_output.h"
#include "tools/frame/command.h"
#include "tools/frame/operands.h"
#include "tools/frame/progress.h"
#include "tools/frame/read_options.h"
#include "tools/hbase/hfile_paths.h"

namespace cellar {
namespace {

constexpr std::pair<Drop, const char*> kReasons[] = {
    {Drop::kExpired, "dropped_expired"},       {Drop::kCellTtl, "dropped_cell_expired"},
    {Drop::kMasked, "dropped_deleted"},        {Drop::kDuplicate, "dropped_overwritten"},
    {Drop::kVersions, "dropped_old_versions"}, {Drop::kMarker, "dropped_markers"}};

// The new file of a merge.
class OneFile final : public RewriteOutput {
 public:
  OneFile(NamedFile& file, const HFileReaders& inputs, bool major)
      : file_(file), inputs_(inputs), major_(major) {}
  Result<WritableFile*> begin() override { return &file_.file(); }
  Status add_facts(HFileWriter& writer) override {
    CELLAR_TRY(merge_facts(inputs_, writer));
    return writer.set_info(info_key::kMajorCompaction, std::string(1, major_ ? '\xff' : '\0'));
  }
  Status end() override { return {}; }  // publish() syncs

 private:
  NamedFile& file_;
  const HFileReaders& inputs_;
  bool major_;
};

class MergeCommand final : public Command {
 public:
  explicit MergeCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kFiles; }
  std::string_view summary() const override {
    return "Merge HFiles of one family into one, as a compaction would";
  }

  void declare(Arguments& arguments) override {
    arguments.operands("FILE", paths_, "HFiles of one family, or directories of them", true)
        .option("-o,--output", output_, "PATH", "the new file")
        .flag("--major", major_, "the files are all files of the family: drop markers and hidden cells")
        .option_if("--versions", versions_, "N", "versions of a column that are kept (all)")
        .option_if("--min-versions", min_versions_, "N",
                   "versions of a column that are kept even if expired (0)")
        .option_if("--ttl", ttl_, "TIME", "time to live of cells, such as 7d (forever)")
        .option_if("--now", now_, "TIME", "the time that --ttl counts from (now)")
        .choice("--keep-deleted", keep_deleted_, {"false", "true", "ttl"},
                "whether a major merge keeps what markers hide");
    shape_.declare(arguments);
    arguments.flag("--replace", replace_, "overwrite an existing file")
        .note(
            "Without --major, delete markers drop older cells of these files, and stay. Of cells with\n"
            "equal keys, the one in the file with the highest sequence number is kept; if these are\n"
            "equal, the one in the file named last.")
        .example("cellar merge versions.hfile weblog.hfile -o both.hfile --format json",
                 "two files into one, as in a minor compaction")
        .example("cellar merge versions.hfile -o newest.hfile --major --versions 1",
                 "the newest values alone, without delete markers")
        .more_example(
            "cellar merge versions.hfile -o kept.hfile --major --ttl 7d --now 2020-09-25 \\\n      "
            "--min-versions 1 --keep-deleted ttl",
            "cells expire after a week, except the newest of each column")
        .more_example(
            "cellar merge versions.hfile weblog.hfile -o both.hfile --replace \\\n      --compression gz "
            "--encoding fast_diff --bloom rowcol --block-size 16k",
            "two files with another codec and encoding; overwrites both.hfile");
  }

  Status run(Session& session) override {
    if (output_.empty())
      return Status::invalid_argument("--output is missing").hinting("name the new file: -o NEW.hfile");
    RewriteJob job;
    CELLAR_TRY(parse_rules(job.rules));
    CELLAR_TRY_ASSIGN(const std::vector<std::string> paths, find_all_hfiles(session, paths_));
    CELLAR_TRY_ASSIGN(HFileReaders files, open_hfiles(session, paths));
    CELLAR_TRY_ASSIGN(job.file, shape_.options_for(files));
    CELLAR_TRY_ASSIGN(const std::unique_ptr<CellCursor> merged, merge(files));
    job.source = merged.get();
    uint64_t cells = 0;
    for (const auto& file : files) cells += file->cells();
    Progress progress(session, "merge", cells, Progress::Unit::kCells);
    job.checkpoint = [&](uint64_t cells_in) {
      progress.show(cells_in, cells_in);
      return interrupted() ? interrupted_status("no file was written") : Status();
    };
    return write(session, files, job);
  }

 private:
  Status parse_rules(RewriteRules& rules) {
    FamilyRules& family = rules.family;
    family.max_versions = UINT32_MAX;
    if (versions_) {
      CELLAR_TRY_ASSIGN(family.max_versions, for_argument("--versions", parse_versions(*versions_)));
    }
    if (min_versions_) {
      CELLAR_TRY_ASSIGN(const int64_t number, for_argument("--min-versions", parse_integer(*min_versions_)));
      if (number < 0 || number > family.max_versions) {
        return Status::invalid_argument("--min-versions is 0 to the number of --versions");
      }
      family.min_versions = static_cast<uint32_t>(number);
    }
    if (ttl_) {
      CELLAR_TRY_ASSIGN(family.ttl_ms, for_argument("--ttl", parse_duration_ms(*ttl_)));
    }
    rules.now_ms = system_clock().wall_ms();
    if (now_) {
      CELLAR_TRY_ASSIGN(rules.now_ms, for_argument("--now", parse_time(*now_)));
    }
    family.keep_deleted_cells = keep_deleted_ == "true"  ? KeepDeleted::kTrue
                                : keep_deleted_ == "ttl" ? KeepDeleted::kTtl
                                                         : KeepDeleted::kFalse;
    rules.all_files = major_;
    return {};
  }

  // Merges the files, sorted newest first as the merge requires.
  static Result<std::unique_ptr<CellCursor>> merge(HFileReaders& files) {
    std::ranges::reverse(files);
    std::ranges::stable_sort(files, std::greater(), [](const auto& file) { return file->max_sequence(); });
    std::vector<MergeSource> sources;
    for (const auto& file : files) {
      if (file->meta_order()) {
        return Status::not_supported("files in the order of hbase:meta or -ROOT- can be read, not written")
            .at(file->name());
      }
      sources.push_back(
          {file->cursor({.fill_cache = false, .sequential = true}), static_cast<uint32_t>(sources.size())});
    }
    return make_merging_cursor(std::move(sources));
  }

  Status write(Session& session, const HFileReaders& files, const RewriteJob& job) {
    CELLAR_TRY_ASSIGN(const std::unique_ptr<NamedFile> output, create_output(output_, replace_));
    OneFile one(*output, files, major_);
    const Result<RewriteResult> result = rewrite(job, one);
    if (!result.ok())
      return result.status().is(Code::kCorruption) ? name_file_failure(session, result.status())
                                                   : result.status();
    if (result->files.empty()) {
      return session.name_failure("CEL-NOTHING-LEFT", Exit::kNegative,
                                  Status::not_found("no cell is left, and no file was written"));
    }
    CELLAR_TRY(output->publish());
    const HFileSummary& written = result->files.front().summary;
    Records records(session.out(), session.format(), "cellar.merge/1", "files");
    records.text("file", output_)
        .count("inputs", files.size())
        .size("bytes", written.file_bytes)
        .count("cells_in", result->cells_in)
        .count("cells", written.cells);
    for (const auto& [reason, name] : kReasons) {
      const uint64_t dropped = result->dropped[static_cast<size_t>(reason)];
      if (dropped > 0 || session.format() != Format::kTable) records.count(name, dropped);
    }
    records.add();
    records.finish();
    return {};
  }

  std::vector<std::string> paths_;
  std::string output_;
  std::optional<std::string> versions_;
  std::optional<std::string> min_versions_;
  std::optional<std::string> ttl_;
  std::optional<std::string> now_;
  std::string keep_deleted_;
  HFileShape shape_;
  bool major_ = false;
  bool replace_ = false;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_files_cmd_merge, "merge", MergeCommand)

}  // namespace cellar
