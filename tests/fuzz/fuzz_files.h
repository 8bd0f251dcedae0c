// Files for fuzz targets: small ones of many shapes.
#pragma once

#include <string>
#include <vector>

#include "hfile/write/hfile_writer.h"

namespace cellar::fuzz {

// How a file differs from the first of its options; blocks of such siblings mostly have the same sizes.
enum class Sibling : uint8_t { kFirst, kOtherValues, kOtherTime, kOtherRows };
// `cells` cells in few rows, with markers, tags and sequences as the options say.
std::string small_file(const HFileWriterOptions& options, size_t cells, Sibling sibling = Sibling::kFirst);
// Files of every codec and encoding there is, with and without tags and sequences, and some of other shapes.
std::vector<std::string> small_files();

}  // namespace cellar::fuzz
