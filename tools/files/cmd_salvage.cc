// cellar salvage: what is readable of a damaged HFile, in a new one; and which rows lost something.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/bytes.h"
#include "cellar/environment.h"
#include "hfile/check/salvage.h"
#include "hfile/codec/codecs.h"
#include "hfile/write/writer_options_like.h"
#include "tools/files/hfile_output.h"
#include "tools/frame/command.h"
#include "tools/frame/progress.h"
#include "tools/hbase/hfile_paths.h"

namespace cellar {
namespace {

std::string rows_text(const SalvageLoss& loss) {
  if (!loss.data) return "none";
  const auto row = [](const std::string& bytes) { return "\"" + escaped(bytes) + "\""; };
  if (!loss.after_row && !loss.before_row) return "all";
  if (!loss.after_row) return "up to " + row(*loss.before_row);
  if (!loss.before_row) return "from " + row(*loss.after_row) + " on";
  return "from " + row(*loss.after_row) + " to " + row(*loss.before_row);
}

class SalvageCommand final : public Command {
 public:
  explicit SalvageCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kFiles; }
  std::string_view summary() const override {
    return "Copy the readable cells of a damaged HFile to a new HFile; exit status 1 if cells are lost";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("FILE", path_, "a damaged or truncated HFile")
        .option("-o,--output", output_, "PATH", "the new file");
    shape_.declare(arguments);
    arguments.flag("--replace", replace_, "overwrite an existing file")
        .note(
            "Cells are lost in whole blocks. The report names the rows that were kept before and after each\n"
            "gap. The lost cells are between these rows, and may include cells of these rows.")
        .example("cellar salvage damaged.hfile -o saved.hfile",
                 "the readable cells; prints between which rows cells are lost")
        .example("cellar salvage damaged.hfile -o saved.hfile --replace --format json",
                 "the same, for a program")
        .more_example(
            "cellar salvage damaged.hfile -o saved.hfile \\\n      --compression none --encoding none "
            "--bloom row --block-size 64k",
            "without compression and encoding, to look at the bytes");
  }

  Status run(Session& session) override {
    if (output_.empty())
      return Status::invalid_argument("--output is missing").hinting("name the new file: -o NEW.hfile");
    CELLAR_TRY_ASSIGN(std::unique_ptr<ReadableFile> opened, posix_file_system().open_file(path_));
    const std::shared_ptr<const ReadableFile> file = std::move(opened);
    Progress progress(session, "salvage " + path_, 0);
    std::unique_ptr<HFileOutput> output;
    uint64_t cells = 0;
    const SalvageTaker taker = {.begin = [&](const SalvageFormat& format) -> Status {
                                  CELLAR_TRY_ASSIGN(const HFileWriterOptions options, options_for(format));
                                  CELLAR_TRY_ASSIGN(output, HFileOutput::create(output_, options, replace_));
                                  return {};
                                },
                                .take = [&](const CellView& cell) -> Status {
                                  if (interrupted()) return interrupted_status("no file was written");
                                  progress.step(0, ++cells);
                                  return output->writer().add(cell);
                                }};
    const Result<SalvageReport> report = salvage(file, path_, taker, block_bytes_max());
    if (!report.ok()) return name_file_failure(session, report.status());
    if (output == nullptr)
      return Status::not_found("the file has no cells, and no file was written").at(path_);
    if (report->trouble.ok()) {
      CELLAR_TRY_ASSIGN(const HFileReaders input, open_hfiles(session, {path_}));
      if (const Status facts = copy_facts(*input.front(), output->writer()); !facts.ok()) {
        session.talk("note   file info of the application could not be copied: " + facts.to_text());
      }
    }
    CELLAR_TRY_ASSIGN(const HFileSummary made, output->finish());
    print(session, *report, made);
    return {};
  }

 private:
  Result<HFileWriterOptions> options_for(const SalvageFormat& format) const {
    HFileWriterOptions options = format.like;
    CELLAR_TRY(shape_.apply(options));
    return options;
  }

  void print(Session& session, const SalvageReport& report, const HFileSummary& made) const {
    Records records(session.out(), session.format(), "cellar.salvage/1", "losses");
    for (const SalvageLoss& loss : report.losses) {
      records.count("offset", loss.offset)
          .size("bytes", loss.bytes)
          .text("rows", rows_text(loss))
          .text("reason", loss.reason)
          .add();
    }
    records.text("file", output_).count("cells", made.cells);
    if (report.cells_expected) records.count("cells_expected", *report.cells_expected);
    records.count("cells_out_of_order", report.out_of_order)
        .count("losses_left_out", report.losses_left_out)
        .flag("guessed", report.format.guessed);
    records.finish();
    session.out().flush();
    if (!report.trouble.ok()) session.talk("note   the file does not open: " + report.trouble.to_text());
    if (report.format.guessed) {
      session.talk(fmt::format("note   determined by trial: codec {}, {} tags, {} sequence numbers",
                               codec_name(report.format.codec), report.format.cells.tags ? "with" : "no",
                               report.format.cells.mvcc ? "with" : "no"));
    }
    if (report.out_of_order > 0) {
      session.talk(fmt::format("note   {} not kept, out of order", counted(report.out_of_order, "cell")));
    }
    session.talk(
        fmt::format("saved  {}{}; {} lost", counted(made.cells, "cell"),
                    report.cells_expected ? fmt::format(" of {}", human_count(*report.cells_expected)) : "",
                    counted(report.losses.size() + report.losses_left_out, "piece")));
    const bool whole = report.losses.empty() && report.trouble.ok() && report.out_of_order == 0;
    if (!whole) session.answer_negative();
  }

  std::string path_;
  std::string output_;
  HFileShape shape_;
  bool replace_ = false;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_files_cmd_salvage, "salvage", SalvageCommand)

}  // namespace cellar
