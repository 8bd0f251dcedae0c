// Cellar's side of the comparison with HBase: cells in memory become a file, and the file is scanned.
#include "tests/interop/bench.h"

#include <chrono>
#include <cstdio>

#include "cellar/hfile.h"
#include "hfile/hfile_writer.h"
#include "tests/interop/draw_cells.h"

namespace cellar::interop {
namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void report(const std::string& codec, const char* work, uint64_t round, double took, uint64_t bytes,
            uint64_t cells) {
  std::printf(
      R"({"engine":"cellar","codec":"%s","work":"%s","round":%llu,"seconds":%.6f,"bytes":%llu,"cells":%llu})"
      "\n",
      codec.c_str(), work, static_cast<unsigned long long>(round), took,
      static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(cells));
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

// The bytes of all keys and values.
Result<uint64_t> scan(const std::filesystem::path& path) {
  CELLAR_TRY_ASSIGN(const HFile file, HFile::open(path.string()));
  HFileCells cells = file.cells();
  uint64_t bytes = 0;
  while (const CellView* cell = cells.next()) bytes += cell->key_size + cell->value_size;
  CELLAR_TRY(cells.status());
  return bytes;
}

}  // namespace

Status measure(const std::filesystem::path& directory, uint64_t cells, uint64_t rounds) {
  const std::vector<OwnedCell> views = page_views(cells);
  uint64_t expected = 0;
  for (const OwnedCell& cell : views) expected += cell.view().key_size + cell.view().value_size;
  for (const std::string codec : {"none", "snappy", "gz"}) {
    const std::string name = "cellar-" + codec;
    for (uint64_t round = 0; round <= rounds; ++round) {  // round 0 warms up
      const double begin = seconds();
      CELLAR_TRY_ASSIGN(const uint64_t bytes, write(directory, name, codec, views));
      const double written = seconds();
      CELLAR_TRY_ASSIGN(const uint64_t read, scan(directory / name));
      const double scanned = seconds();
      if (read != expected) return Status::corruption("the scan missed something");
      if (round == 0) continue;
      report(codec, "write", round, written - begin, bytes, cells);
      report(codec, "scan", round, scanned - written, bytes, cells);
    }
  }
  return {};
}

}  // namespace cellar::interop
