// cellar filter: the cells of HFiles that were asked for, in a new HFile.
#include <fmt/format.h>

#include "base/bytes.h"
#include "hfile/read/hfile_reader.h"
#include "hfile/write/writer_options_like.h"
#include "tools/files/cell_selection.h"
#include "tools/files/hfile_output.h"
#include "tools/frame/command.h"
#include "tools/frame/progress.h"
#include "tools/hbase/hfile_paths.h"

namespace cellar {
namespace {

class FilterCommand final : public Command {
 public:
  explicit FilterCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kFiles; }
  std::string_view summary() const override {
    return "Write the selected cells of an HFile, or all others, to a new HFile";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("FILE", path_, "an HFile")
        .option("-o,--output", output_, "PATH", "the new file")
        .flag("--invert", invert_, "keep the cells that are not selected");
    selection_.declare(arguments);
    shape_.declare(arguments);
    arguments.flag("--replace", replace_, "overwrite an existing file")
        .note("Cells are copied as stored: without a delete marker, the cells that it hid are visible again.")
        .example("cellar filter versions.hfile -o some.hfile --prefix row-00 --types put",
                 "puts of some rows, without delete markers")
        .example("cellar filter versions.hfile -o rest.hfile --row row-003 --invert --replace",
                 "all rows except one")
        .more_example(
            "cellar filter versions.hfile -o part.hfile --start row-010 --stop row-020 --time ..2020-09-20",
            "some rows up to a day")
        .more_example(
            "cellar filter weblog.hfile -o hits.hfile --column cf:hits \\\n      --compression gz --encoding "
            "fast_diff --bloom row --block-size 16k",
            "one column, with another codec and encoding");
  }

  Status run(Session& session) override {
    if (output_.empty())
      return Status::invalid_argument("--output is missing").hinting("name the new file: -o NEW.hfile");
    CELLAR_TRY(selection_.parse());
    CELLAR_TRY_ASSIGN(const HFileReaders input, open_hfiles(session, {path_}));
    const HFileReader& file = *input.front();
    CELLAR_TRY_ASSIGN(const HFileWriterOptions options, shape_.options_for(input));
    CELLAR_TRY_ASSIGN(const std::unique_ptr<HFileOutput> output,
                      HFileOutput::create(output_, options, replace_));
    Status written;
    uint64_t seen = 0;
    Progress progress(session, "filter " + path_, file.cells(), Progress::Unit::kCells);
    const auto take = [&](const CellView& cell) {
      seen += 1;
      progress.step(seen, seen);
      if (!invert_ || !selection_.wanted(cell)) written = output->writer().add(cell);
      return written.ok();
    };
    const Status walked = (invert_ ? CellSelection() : selection_).walk(file, take);
    if (!walked.ok()) return name_file_failure(session, walked);
    CELLAR_TRY(written);
    if (interrupted()) return interrupted_status("no file was written");
    CELLAR_TRY(copy_facts(file, output->writer()));
    CELLAR_TRY_ASSIGN(const HFileSummary made, output->finish());
    Records records(session.out(), session.format(), "cellar.filter/1", "files");
    records.text("file", output_)
        .size("bytes", made.file_bytes)
        .count("cells", made.cells)
        .count("left_out", file.cells() - made.cells)
        .add();
    records.finish();
    return {};
  }

 private:
  std::string path_;
  std::string output_;
  CellSelection selection_;
  HFileShape shape_;
  bool invert_ = false;
  bool replace_ = false;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_files_cmd_filter, "filter", FilterCommand)

}  // namespace cellar
