// cellar split: one HFile becomes several, each with rows of its own.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/bytes.h"
#include "hfile/read/hfile_reader.h"
#include "hfile/write/writer_options_like.h"
#include "tools/files/cell_selection.h"
#include "tools/files/hfile_output.h"
#include "tools/frame/command.h"
#include "tools/frame/operands.h"
#include "tools/frame/progress.h"
#include "tools/hbase/hfile_paths.h"

namespace cellar {
namespace {

class SplitCommand final : public Command {
 public:
  explicit SplitCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kFiles; }
  std::string_view summary() const override {
    return "Split an HFile at rows, or into parts with similar numbers of cells";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("FILE", path_, "an HFile")
        .option("-o,--output", output_, "DIR", "an existing directory, for FILE.000, FILE.001, …")
        .option_list("--at", at_texts_, "ROW", "first row of a part; may be repeated")
        .option_count("--parts", parts_, "split into N parts with similar numbers of cells; rows stay whole");
    shape_.declare(arguments);
    arguments.flag("--replace", replace_, "overwrite existing files")
        .note("Parts without rows are not written.")
        .example("cellar split versions.hfile -o . --parts 3", "three files with similar numbers of cells")
        .example("cellar split versions.hfile -o . --at row-010 --at row-020 --replace",
                 "at the borders of regions; overwrites existing files")
        .more_example(
            "cellar split weblog.hfile -o . --parts 2 \\\n      --compression snappy --encoding fast_diff "
            "--bloom row --block-size 16k",
            "two halves, with another codec and encoding");
  }

  Status run(Session& session) override {
    CELLAR_TRY(check());
    CELLAR_TRY_ASSIGN(const HFileReaders input, open_hfiles(session, {path_}));
    const HFileReader& file = *input.front();
    CELLAR_TRY_ASSIGN(const HFileWriterOptions options, shape_.options_for(input));
    Parts made{session, file, output_ + "/" + std::filesystem::path(path_).filename().string(), options,
               replace_};
    Progress progress(session, "split " + path_, file.cells(), Progress::Unit::kCells);
    Status written;
    uint64_t seen = 0;
    std::string row;
    const auto take = [&](const CellView& cell) {
      const bool new_row = seen == 0 || cell.row() != row;
      if (new_row) row.assign(cell.row());
      const uint64_t part = new_row ? part_of(row, seen, file.cells()) : made.number;
      if (part != made.number) written = made.close();
      made.number = part;
      if (written.ok()) written = made.add(cell);
      seen += 1;
      return written.ok();
    };
    const Status walked = CellSelection().walk(file, progress, take);
    if (written.ok() && walked.ok() && !interrupted()) written = made.close();
    made.records.finish();  // finished files stay and are reported
    if (!walked.ok()) return name_file_failure(session, walked);
    CELLAR_TRY(written);
    return interrupted() ? interrupted_status("the parts that were finished stay") : Status();
  }

 private:
  // The parts: one is open, those before are finished.
  struct Parts {
    Parts(Session& session, const HFileReader& from, std::string prefix, HFileWriterOptions options,
          bool replace)
        : file(from),
          name_prefix(std::move(prefix)),
          file_options(std::move(options)),
          may_replace(replace),
          records(session.out(), session.format(), "cellar.split/1", "files") {}

    Status add(const CellView& cell) {
      if (output == nullptr) {
        name = fmt::format("{}.{:03}", name_prefix, number);
        CELLAR_TRY_ASSIGN(output, HFileOutput::create(name, file_options, may_replace));
        first_row.assign(cell.row());
      }
      return output->writer().add(cell);
    }

    Status close() {
      if (output == nullptr) return {};
      CELLAR_TRY(copy_facts(file, output->writer()));
      CELLAR_TRY_ASSIGN(const HFileSummary made, output->finish());
      output.reset();
      records.text("file", name)
          .bytes("first_row", first_row)
          .count("rows", made.rows)
          .count("cells", made.cells)
          .size("bytes", made.file_bytes)
          .add();
      return {};
    }

    const HFileReader& file;
    const std::string name_prefix;
    const HFileWriterOptions file_options;
    const bool may_replace;
    Records records;
    std::unique_ptr<HFileOutput> output;
    std::string name;
    std::string first_row;
    uint64_t number = 0;
  };

  Status check() {
    if (output_.empty())
      return Status::invalid_argument("--output is missing").hinting("name an existing directory: -o DIR");
    if (at_texts_.empty() == (parts_ == 0)) {
      return Status::invalid_argument("either --at or --parts is needed")
          .hinting("--parts 4, or --at ROW for each cut");
    }
    if (parts_ > 100'000) return Status::invalid_argument("--parts: at most 100,000 parts");
    for (const std::string& text : at_texts_) {
      CELLAR_TRY_ASSIGN(std::string row, for_argument("--at", parse_bytes(text)));
      at_.push_back(std::move(row));
    }
    std::ranges::sort(at_);
    return {};
  }

  // Where the row belongs with which cell number `seen` begins.
  uint64_t part_of(const std::string& row, uint64_t seen, uint64_t cells) const {
    if (parts_ > 0) return std::min(seen * parts_ / std::max<uint64_t>(cells, 1), parts_ - 1);
    return static_cast<uint64_t>(std::ranges::upper_bound(at_, row) - at_.begin());
  }

  std::string path_;
  std::string output_;
  std::vector<std::string> at_texts_;
  std::vector<std::string> at_;
  uint64_t parts_ = 0;
  HFileShape shape_;
  bool replace_ = false;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_files_cmd_split, "split", SplitCommand)

}  // namespace cellar
