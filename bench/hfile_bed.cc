// Files live in a memory file system: what is measured is the format, not a device.
#include "bench/hfile_bed.h"

#include "base/memory_file_system.h"
#include "base/plugins.h"
#include "bench/bed.h"
#include "cell/cell_key.h"
#include "cellar/compressor.h"
#include "hfile/encoding/encoding.h"

namespace cellar::bench {
namespace {

constexpr const char* kName = "file";

template <class T>
T value_or_give_up(Result<T> result) {
  if (!result.ok()) give_up(result.status());
  return std::move(result).value();
}

}  // namespace

std::vector<std::string> encoding_names() {
  register_hfile_plugins();
  return Registry<BlockEncoding>::instance().names();
}

std::vector<std::string> codec_names() {
  register_hfile_plugins();
  return Registry<Compressor>::instance().names();
}

FileInMemory::FileInMemory(uint64_t cells, const CellAt& cell_at, const HFileWriterOptions& options)
    : files_(make_memory_file_system()), directory_(value_or_give_up(files_->open_directory("bench", true))) {
  const std::unique_ptr<WritableFile> to = value_or_give_up(directory_->create(kName, {}));
  const std::unique_ptr<HFileWriter> writer = value_or_give_up(HFileWriter::create(*to, options));
  OwnedCell cell;
  for (uint64_t i = 0; i < cells; ++i) {
    cell_at(i, cell);
    if (const Status status = writer->add(cell.view()); !status.ok()) give_up(status);
  }
  summary_ = value_or_give_up(writer->finish());
  Status status = to->sync();
  if (status.ok()) status = to->close();
  if (!status.ok()) give_up(status);
}

FileInMemory::~FileInMemory() = default;

std::shared_ptr<HFileReader> FileInMemory::open(uint64_t cache_bytes) const {
  HFileReaderOptions options;
  if (cache_bytes > 0) options.cache = value_or_give_up(BlockCache::create(cache_bytes, "clock", 0));
  options.name = kName;
  return value_or_give_up(HFileReader::open(open_file(), options));
}

std::unique_ptr<ReadableFile> FileInMemory::open_file() const {
  return value_or_give_up(directory_->open(kName));
}

double FileInMemory::bytes_per_cell() const {
  return static_cast<double>(summary_.file_bytes) / static_cast<double>(summary_.cells);
}

double FileInMemory::raw_bytes_per_cell() const {
  return static_cast<double>(summary_.key_bytes + summary_.value_bytes) / static_cast<double>(summary_.cells);
}

uint64_t FileInMemory::index_bytes() const { return open(0)->trailer().uncompressed_data_index_bytes; }

const FileInMemory& file_of(const std::string& key,
                            const std::function<std::unique_ptr<FileInMemory>()>& make) {
  static std::string kept_key;
  static std::unique_ptr<FileInMemory> kept;
  if (kept == nullptr || kept_key != key) {
    kept = make();
    kept_key = key;
  }
  return *kept;
}

void scan_uncached(benchmark::State& state, const FileInMemory& file) {
  const std::shared_ptr<HFileReader> reader = file.open(0);
  uint64_t cells = 0;
  for (auto unused : state) {
    static_cast<void>(unused);
    const Result<uint64_t> walked = scan_file(*reader, false);
    if (!walked.ok()) give_up(walked.status());
    cells += *walked;
  }
  if (cells != file.summary().cells * static_cast<uint64_t>(state.iterations()))
    state.SkipWithError("wrong number of cells");
  state.SetItemsProcessed(static_cast<int64_t>(cells));
  state.counters["bytes per cell"] = file.bytes_per_cell();
  state.counters["raw bytes per cell"] = file.raw_bytes_per_cell();
  state.counters["compression ratio"] = file.raw_bytes_per_cell() / file.bytes_per_cell();
}

Result<uint64_t> scan_file(const HFileReader& file, bool fill_cache) {
  const std::unique_ptr<CellCursor> cursor =
      file.cursor({.fill_cache = fill_cache, .sequential = !fill_cache});
  OwnedCell first;
  first_of_row(first, "");
  uint64_t cells = 0;
  for (const CellView* cell = cursor->seek(first.view()); cell != nullptr; cell = cursor->next()) ++cells;
  CELLAR_TRY(cursor->status());
  return cells;
}

}  // namespace cellar::bench
