// HFileOutput: the writer over a file that is named at the end.
#include "tools/files/hfile_output.h"

#include <fmt/format.h>

#include <algorithm>

#include "cellar/environment.h"
#include "hfile/format/file_info.h"
#include "hfile/write/writer_options_like.h"
#include "tools/frame/operands.h"
#include "tools/hbase/hfile_paths.h"

namespace cellar {
namespace {

constexpr uint64_t kCellBytesMax = 128u << 20;  // what can be read can be written

// Returns the error of a file that exists already with the hint of the command line.
Status with_replace_hint(const Status& status) {
  if (!status.is(Code::kInvalidArgument)) return status;
  return Status::invalid_argument(std::string(status.message()))
      .at(status.place())
      .hinting("add --replace to overwrite it, or choose another name");
}

}  // namespace

void HFileShape::declare(Arguments& arguments) {
  arguments.option("--compression", compression, "NAME", "codec; default: as in the input")
      .option("--encoding", encoding, "NAME", "data block encoding; default: as in the input")
      .option("--bloom", bloom, "NAME", "Bloom filter, or none; default: as in the input")
      .option("--block-size", block_size, "SIZE", "size of data blocks, such as 16k (64k)");
}

Status HFileShape::apply(HFileWriterOptions& options) const {
  if (!compression.empty()) options.compression = compression;
  if (!encoding.empty()) options.encoding = encoding;
  if (!bloom.empty()) options.bloom = bloom;
  if (!block_size.empty()) {
    CELLAR_TRY_ASSIGN(const uint64_t bytes, for_argument("--block-size", parse_size(block_size)));
    options.block_bytes = static_cast<uint32_t>(std::min<uint64_t>(bytes, UINT32_MAX));
  }
  options.cell_bytes_max = kCellBytesMax;
  options.create_time_ms = system_clock().wall_ms();
  return {};
}

Result<HFileWriterOptions> HFileShape::options_for(const HFileReaders& inputs) const {
  CELLAR_TRY_ASSIGN(HFileWriterOptions options, writer_options_like(*inputs.front()));
  for (const auto& input : inputs) {
    const CellFormat format = input->cell_format();
    options.tags = options.tags || format.tags;
    options.mvcc = options.mvcc || format.mvcc;
  }
  CELLAR_TRY(apply(options));
  return options;
}

Result<std::unique_ptr<NamedFile>> create_output(const std::string& path, bool replace) {
  Result<std::unique_ptr<NamedFile>> file = NamedFile::create(posix_file_system(), path, replace);
  if (!file.ok()) return with_replace_hint(file.status());
  return file;
}

Result<std::unique_ptr<HFileOutput>> HFileOutput::create(const std::string& path,
                                                         const HFileWriterOptions& options, bool replace) {
  auto made = std::make_unique<HFileOutput>();
  CELLAR_TRY_ASSIGN(made->file_, create_output(path, replace));
  CELLAR_TRY_ASSIGN(made->writer_, HFileWriter::create(made->file_->file(), options));
  return made;
}

Result<HFileSummary> HFileOutput::finish() {
  CELLAR_TRY_ASSIGN(HFileSummary summary, writer_->finish());
  CELLAR_TRY(with_replace_hint(file_->publish()));
  return summary;
}

Status merge_facts(const HFileReaders& from, HFileWriter& to) {
  uint64_t newest = 0;
  for (const auto& file : from) newest = std::max(newest, file->max_sequence());
  FileInfo facts;
  if (newest > 0) facts.set_i64(info_key::kMaxSequence, static_cast<int64_t>(newest));
  for (const auto& [key, value] : facts.entries()) CELLAR_TRY(to.set_info(key, value));
  return {};
}

Result<HFileReaders> open_hfiles(Session& session, const std::vector<std::string>& paths) {
  HFileReaders files;
  for (const std::string& path : paths) {
    CELLAR_TRY_ASSIGN(std::shared_ptr<HFileReader> file, open_hfile(session, path));
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace cellar
