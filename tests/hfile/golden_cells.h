// The cells and options of the files in tests/data/golden, which HBase's own classes wrote.
#pragma once

#include <string>
#include <vector>

#include "cellar/cell.h"
#include "hfile/write/hfile_writer.h"
#include "tests/hfile_support/writer_support.h"

namespace cellar::testing {

struct GoldenFile {
  std::string name;  // "g1"; the file is tests/data/golden/<name>.hfile
  HFileWriterOptions options;
};

// Returns the files that our encodings, filters and codecs can write.
std::vector<GoldenFile> golden_files();
GoldenFile golden_file(const std::string& name);

// The cells of a file, as the file holds them: tags and sequences only where it stores them.
std::vector<Cell> golden_cells(const GoldenFile& file);

// The facts that were added to the file's own.
Facts golden_facts();

std::string golden_bytes(const std::string& name);

}  // namespace cellar::testing
