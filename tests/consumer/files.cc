// A program of somebody else's that links cellar::hfile: files are written with each codec, and read back.
#include <cellar/compressor.h>
#include <cellar/hfile.h>
#include <cellar/hfile_builder.h>

#include <cstdio>
#include <string>

namespace {

using namespace cellar;

constexpr int kRows = 1000;

std::string row_of(int i) { return "row" + std::to_string(10000 + i); }

Status write_file(const std::string& path, const HFileBuilderOptions& options) {
  CELLAR_TRY_ASSIGN(HFileBuilder builder, HFileBuilder::create(posix_file_system(), path, options));
  for (int i = 0; i < kRows; ++i) {
    CELLAR_TRY(
        builder.add(Cell(row_of(i), "f", "q", 1700000000000, CellType::kPut, "value of " + row_of(i))));
  }
  CELLAR_TRY_ASSIGN(const HFileFacts built, builder.finish());
  return built.rows == kRows ? Status() : Status::corruption("rows are missing");
}

Status read_file(const std::string& path) {
  CELLAR_TRY_ASSIGN(const HFile file, HFile::open(path));
  if (!file.may_contain_row(row_of(1)) || file.may_contain_row("row10500+")) {
    return Status::corruption("the Bloom filter is wrong");
  }
  HFileCells cells = file.cells({.start = row_of(10)});
  int count = 0;
  while (const CellView* cell = cells.next()) {
    const std::string row = row_of(10 + count++);
    if (cell->row() != row || cell->value_bytes() != "value of " + row)
      return Status::corruption(row + " differs");
  }
  CELLAR_TRY(cells.status());
  CELLAR_TRY_ASSIGN(std::unique_ptr<ReadableFile> bytes, posix_file_system().open_file(path));
  const bool sound = HFile::verify(std::move(bytes), HFileCheckLevel::kDeep).sound;
  return sound && count == kRows - 10 ? Status() : Status::corruption("cells are missing");
}

Status check(const std::string& path, const HFileBuilderOptions& options) {
  CELLAR_TRY(write_file(path, options).with_context(path));
  return read_file(path).with_context(path);
}

Status run(const std::string& folder) {
  CELLAR_TRY(check(folder + "/plain", {.compression = "none"}));  // the first use of a codec registers all
  for (const std::string& codec : Registry<Compressor>::instance().names()) {
    for (const char* encoding : {"none", "row_index_v1", "prefix", "diff", "fast_diff"}) {
      HFileBuilderOptions options;
      options.compression = codec;
      options.encoding = encoding;
      CELLAR_TRY(check(folder + "/" + codec + "." + encoding, options));
    }
  }
  std::printf("codecs:");
  for (const std::string& codec : Registry<Compressor>::instance().names()) std::printf(" %s", codec.c_str());
  std::printf("\n");
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const Status status = run(argc > 1 ? argv[1] : ".");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.to_text().c_str());
  return status.ok() ? 0 : 1;
}
