// Opens a store file and compares it with its record in the manifest. Every opening of a store makes these
// checks, and so does `cellar verify`, which does not open the store.
#pragma once

#include <memory>

#include "cellar/file_system.h"
#include "cellar/options.h"
#include "engine/manifest/manifest.h"
#include "hfile/read/hfile_reader.h"

namespace cellar {

// Returns the largest decompressed payload that a block of a store file may have.
uint64_t store_block_bytes_max();

struct RecordedFile {
  std::shared_ptr<HFileReader> reader;
  uint64_t number = 0;  // of its name
};

// Opens `file` (the result of Directory::open() for its name) and compares it with its record. It compares
// the size, cells, family markers, rows, checksums, and the file's name. `options` defines how the file is
// read; errors contain its name. Returns kCorruption for a difference and for a missing file. Otherwise
// returns the error of reading the file.
Result<RecordedFile> open_recorded_file(Result<std::unique_ptr<ReadableFile>> file, const FileRecord& record,
                                        const Identity& identity, HFileReaderOptions options);

}  // namespace cellar
