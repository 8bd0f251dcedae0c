// Files for fuzz targets: small ones of many shapes.
#pragma once

#include <string>
#include <vector>

#include "hfile/hfile_writer.h"

namespace cellar::fuzz {

// `cells` cells in few rows, with markers, tags and sequences as the options say.
std::string small_file(const HFileWriterOptions& options, size_t cells);
// Files of every codec and encoding there is, with and without tags and sequences, and some of other shapes.
std::vector<std::string> small_files();

}  // namespace cellar::fuzz
