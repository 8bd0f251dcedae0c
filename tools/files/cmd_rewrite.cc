// cellar rewrite: the same cells in a file of another shape; or what the shapes would cost, without writing.
#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "cellar/environment.h"
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

// A file whose bytes are counted and forgotten.
class CountedFile final : public WritableFile {
 public:
  Status append(std::string_view bytes) override { return bytes_ += bytes.size(), Status(); }
  Status sync() override { return {}; }
  uint64_t size() const override { return bytes_; }
  Status close() override { return {}; }

 private:
  uint64_t bytes_ = 0;
};

std::vector<std::string> choices(const std::string& list) {
  return list.empty() ? std::vector<std::string>{""} : words_of(list);
}

class RewriteCommand final : public Command {
 public:
  explicit RewriteCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kFiles; }
  std::string_view summary() const override {
    return "Rewrite HFiles with another codec, encoding, block size or Bloom filter";
  }

  void declare(Arguments& arguments) override {
    arguments.operands("FILE", paths_, "HFiles, directories of them, or stores", true)
        .option("-o,--output", output_, "PATH", "the new file; for several inputs, an existing directory");
    shape_.declare(arguments);
    arguments.flag("--estimate", estimate_, "write nothing; print how large the files would be")
        .flag("--replace", replace_, "overwrite existing files")
        .note("With --estimate the options take lists: --compression none,snappy --block-size 16k,64k.")
        .example("cellar rewrite versions.hfile -o copy.hfile --compression gz --block-size 16k",
                 "the same cells with another codec, in smaller blocks")
        .example("cellar rewrite versions.hfile --estimate --compression none,snappy,gz --block-size 4k,64k",
                 "the sizes with three codecs and two block sizes")
        .more_example(
            "cellar rewrite versions.hfile -o copy.hfile --encoding fast_diff --bloom rowcol --replace",
            "for reads of single columns");
  }

  Status run(Session& session) override {
    CELLAR_TRY_ASSIGN(const std::vector<std::string> files, find_all_hfiles(session, paths_));
    if (estimate_) return estimate_all(session, files);
    if (output_.empty()) {
      return Status::invalid_argument("--output is missing")
          .hinting("name the new file: -o NEW.hfile; --estimate needs none");
    }
    std::error_code error;
    const bool into_directory = std::filesystem::is_directory(output_, error);
    if (files.size() > 1 && !into_directory) {
      return Status::invalid_argument(fmt::format("{} inputs, but --output is not a directory", files.size()))
          .at(output_);
    }
    CELLAR_TRY_ASSIGN(const std::vector<std::string> targets, targets_of(files, into_directory));
    Records records(session.out(), session.format(), "cellar.rewrite/1", "files");
    Status status;
    for (size_t i = 0; i < files.size() && status.ok(); ++i)
      status = rewrite_one(session, files[i], targets[i], records);
    records.finish();  // finished files stay and are reported
    return status;
  }

 private:
  // Where each file goes: kInvalidArgument when two go to one place.
  Result<std::vector<std::string>> targets_of(const std::vector<std::string>& files,
                                              bool into_directory) const {
    std::vector<std::string> targets;
    std::set<std::string> taken;
    for (const std::string& path : files) {
      const std::string name = std::filesystem::path(path).filename().string();
      targets.push_back(into_directory ? output_ + "/" + name : output_);
      if (!taken.insert(targets.back()).second) {
        return Status::invalid_argument(fmt::format("two inputs are called {}; nothing was written", name))
            .at(targets.back())
            .hinting("rewrite them one by one, to names of their own");
      }
    }
    return targets;
  }

  Status rewrite_one(Session& session, const std::string& path, const std::string& to, Records& records) {
    CELLAR_TRY_ASSIGN(const HFileReaders input, open_hfiles(session, {path}));
    CELLAR_TRY_ASSIGN(const HFileWriterOptions options, shape_.options_for(input));
    CELLAR_TRY_ASSIGN(const std::unique_ptr<HFileOutput> output, HFileOutput::create(to, options, replace_));
    CELLAR_TRY(copy_cells(session, *input.front(), output->writer()));
    CELLAR_TRY(copy_facts(*input.front(), output->writer()));
    CELLAR_TRY_ASSIGN(const HFileSummary made, output->finish());
    records.text("file", to)
        .size("before", input.front()->file_bytes())
        .size("bytes", made.file_bytes)
        .count("cells", made.cells)
        .add();
    return {};
  }

  static Status copy_cells(Session& session, const HFileReader& from, HFileWriter& to) {
    Progress progress(session, "rewrite " + from.name(), from.cells(), Progress::Unit::kCells);
    Status written;
    const Status walked = CellSelection().walk(from, progress, [&](const CellView& cell) {
      written = to.add(cell);
      return written.ok();
    });
    if (!walked.ok()) return name_file_failure(session, walked);
    CELLAR_TRY(written);
    return interrupted() ? interrupted_status("no file was written") : Status();
  }

  Status estimate_all(Session& session, const std::vector<std::string>& paths) const {
    CELLAR_TRY_ASSIGN(const HFileReaders inputs, open_hfiles(session, paths));
    uint64_t bytes_now = 0;
    for (const auto& input : inputs) bytes_now += input->file_bytes();
    Records records(session.out(), session.format(), "cellar.estimate/1", "shapes");
    for (const std::string& compression : choices(shape_.compression)) {
      for (const std::string& encoding : choices(shape_.encoding)) {
        for (const std::string& bloom : choices(shape_.bloom)) {
          for (const std::string& block_size : choices(shape_.block_size)) {
            CELLAR_TRY(
                estimate(session, inputs, {compression, encoding, bloom, block_size}, bytes_now, records));
          }
        }
      }
    }
    records.size("bytes_now", bytes_now);
    records.finish();
    session.talk(fmt::format("now    {}; nothing was written", counted(bytes_now, "byte")));
    return {};
  }

  // Writes the files into nowhere; the time is that of reading, encoding and compressing.
  static Status estimate(Session& session, const HFileReaders& inputs, const HFileShape& shape,
                         uint64_t bytes_now, Records& records) {
    uint64_t bytes = 0;
    uint64_t blocks = 0;
    const int64_t began = system_clock().steady_us();
    HFileWriterOptions options;
    for (const auto& input : inputs) {
      CELLAR_TRY_ASSIGN(options, shape.options_for({input}));
      CountedFile nowhere;
      CELLAR_TRY_ASSIGN(const std::unique_ptr<HFileWriter> writer, HFileWriter::create(nowhere, options));
      CELLAR_TRY(copy_cells(session, *input, *writer));
      CELLAR_TRY(copy_facts(*input, *writer));
      CELLAR_TRY_ASSIGN(const HFileSummary made, writer->finish());
      bytes += made.file_bytes;
      blocks += made.data_blocks;
    }
    const int64_t micros = system_clock().steady_us() - began;
    // Each input has its own, unless one is given or there is only one.
    const auto named = [&](const std::string& given, const std::string& last) {
      return given.empty() && inputs.size() > 1 ? "as is" : last;
    };
    records.text("compression", named(shape.compression, options.compression))
        .text("encoding", named(shape.encoding, options.encoding))
        .text("bloom", named(shape.bloom, options.bloom))
        .size("block_size", options.block_bytes)
        .size("bytes", bytes)
        .fraction("of_now", static_cast<double>(bytes) / static_cast<double>(bytes_now))
        .count("blocks", blocks)
        .count("milliseconds", static_cast<uint64_t>(micros / 1000))
        .add();
    return {};
  }

  std::vector<std::string> paths_;
  std::string output_;
  HFileShape shape_;
  bool estimate_ = false;
  bool replace_ = false;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_files_cmd_rewrite, "rewrite", RewriteCommand)

}  // namespace cellar
