// HFileBed: the parts that benchmarks of files share. They are generated cells, files in memory, and the
// names that the build registers.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cell/cell_codec.h"
#include "hfile/encoding/encoding.h"
#include "hfile/read/hfile_reader.h"
#include "hfile/write/hfile_writer.h"

namespace cellar::bench {

// All block encodings and codecs of this build, by the names that options take.
std::vector<std::string> encoding_names();
std::vector<std::string> codec_names();

// The i-th cell of a file, in the file's order.
using CellAt = std::function<void(uint64_t i, OwnedCell& cell)>;

// One file in memory, written with these options.
class FileInMemory {
 public:
  FileInMemory(uint64_t cells, const CellAt& cell_at, const HFileWriterOptions& options);
  ~FileInMemory();
  FileInMemory(const FileInMemory&) = delete;
  FileInMemory& operator=(const FileInMemory&) = delete;

  const HFileSummary& summary() const { return summary_; }
  // A reader of its own, with a cache of this size; 0: none.
  std::shared_ptr<HFileReader> open(uint64_t cache_bytes) const;
  std::unique_ptr<ReadableFile> open_file() const;
  double bytes_per_cell() const;
  // Keys and values as they are, without what the format adds.
  double raw_bytes_per_cell() const;
  // Returns the bytes of the index of data blocks, as it is in memory.
  uint64_t index_bytes() const;

 private:
  std::unique_ptr<FileSystem> files_;
  std::unique_ptr<Directory> directory_;
  HFileSummary summary_;
};

// Returns the file of this key. Only the last one is kept: cases that share one should follow each other.
const FileInMemory& file_of(const std::string& key,
                            const std::function<std::unique_ptr<FileInMemory>()>& make);

// Walks the whole file again and again, and reads and unpacks every block. Reports bytes per cell.
void scan_uncached(benchmark::State& state, const FileInMemory& file);

// Walks all cells; their number.
Result<uint64_t> scan_file(const HFileReader& file, bool fill_cache);

}  // namespace cellar::bench
