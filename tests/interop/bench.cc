// Cellar's side of the comparison with HBase: cells in memory become a file, and the file is scanned.
#include "tests/interop/bench.h"

#include <cstdio>

#include "cellar/hfile.h"
#include "hfile/write/hfile_writer.h"
#include "tests/interop/bench_rows.h"
#include "tests/interop/draw_cells.h"

namespace cellar::interop {
namespace {

struct Moment {
  double wall = 0;
  double cpu = 0;  // of this thread, the kernel's part included
};

Moment moment() { return {seconds(CLOCK_MONOTONIC), seconds(CLOCK_THREAD_CPUTIME_ID)}; }

void report(const std::string& codec, const char* work, const Moment& from, const Moment& until,
            uint64_t bytes) {
  std::printf(R"({"engine":"cellar","codec":"%s","work":"%s","wall":%.6f,"cpu":%.6f,"bytes":%llu})"
              "\n",
              codec.c_str(), work, until.wall - from.wall, until.cpu - from.cpu,
              static_cast<unsigned long long>(bytes));
}

// Returns the sum of the fields that a reader looks at: sizes of row, qualifier and value, and the time.
uint64_t fields_of(const CellView& cell) {
  return cell.row_size + cell.qualifier().size() + cell.value_size +
         (static_cast<uint64_t>(cell.timestamp) & 1);
}

// As HBase's flush writes: blocks of 64 KiB, a row filter, MVCC. No sync: the other side makes none.
Result<uint64_t> write(const std::filesystem::path& directory, const std::string& name,
                       const std::string& codec, const std::vector<OwnedCell>& cells) {
  std::filesystem::remove(directory / name);
  CELLAR_TRY_ASSIGN(const auto opened, posix_file_system().open_directory(directory.string(), false));
  CELLAR_TRY_ASSIGN(const auto file, opened->create(name, {}));
  HFileWriterOptions options;
  options.compression = codec;
  options.bloom = "row";
  options.mvcc = true;
  CELLAR_TRY_ASSIGN(const auto writer, HFileWriter::create(*file, options));
  for (const OwnedCell& cell : cells) CELLAR_TRY(writer->add(cell.view()));
  CELLAR_TRY_ASSIGN(const HFileSummary summary, writer->finish());
  CELLAR_TRY(file->close());
  return summary.file_bytes;
}

Result<uint64_t> scan(const std::filesystem::path& path) {
  CELLAR_TRY_ASSIGN(const HFile file, HFile::open(path.string()));
  HFileCells cells = file.cells();
  uint64_t bytes = 0;
  while (const CellView* cell = cells.next()) bytes += fields_of(*cell);
  CELLAR_TRY(cells.status());
  return bytes;
}

}  // namespace

Status measure(const std::filesystem::path& directory, uint64_t cells, uint64_t rounds) {
  const std::vector<OwnedCell> views = page_views(cells);
  uint64_t expected = 0;
  for (const OwnedCell& cell : views) expected += fields_of(cell.view());
  for (const std::string codec : {"none", "snappy", "gz"}) {
    const std::string name = "cellar-" + codec;
    for (uint64_t round = 0; round <= rounds; ++round) {  // round 0 warms up
      const Moment begin = moment();
      CELLAR_TRY_ASSIGN(const uint64_t bytes, write(directory, name, codec, views));
      const Moment written = moment();
      CELLAR_TRY_ASSIGN(const uint64_t read, scan(directory / name));
      const Moment scanned = moment();
      if (read != expected) return Status::corruption("the scan missed something");
      if (round == 0) continue;
      report(codec, "write", begin, written, bytes);
      report(codec, "scan", written, scanned, bytes);
    }
  }
  return {};
}

}  // namespace cellar::interop
