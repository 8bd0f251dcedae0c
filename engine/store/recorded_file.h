// Opening a store file as the manifest records it: what every opening of a store asks of its files, and what
// `cellar verify` asks of them without opening the store.
#pragma once

#include <memory>

#include "cellar/file_system.h"
#include "cellar/options.h"
#include "engine/manifest/manifest.h"
#include "hfile/read/hfile_reader.h"

namespace cellar {

// Returns the largest decompressed payload that a block of a store file may have.
uint64_t store_block_bytes_max(const EngineOptions& options);

struct RecordedFile {
  std::shared_ptr<HFileReader> reader;
  uint64_t number = 0;  // of its name
};

// Opens `file` (what Directory::open() of its name returned) and compares it with its record: size, cells,
// family markers, rows, checksums, a name of this store. `options` says how it is read; its name stands in
// errors. kCorruption for what differs, and for a file that is missing; else what reading it says.
Result<RecordedFile> open_recorded_file(Result<std::unique_ptr<ReadableFile>> file, const FileRecord& record,
                                        const Identity& identity, HFileReaderOptions options);

}  // namespace cellar
