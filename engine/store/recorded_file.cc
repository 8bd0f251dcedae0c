// Compares a store file with its record in the manifest.
#include "engine/store/recorded_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "engine/manifest/file_order.h"
#include "hfile/format/caps.h"

namespace cellar {

uint64_t store_block_bytes_max() {
  return std::max<uint64_t>(kBlockPayloadBytesMax, 2 * kCellBytesHardMax + (1u << 20));
}

Result<RecordedFile> open_recorded_file(Result<std::unique_ptr<ReadableFile>> file, const FileRecord& record,
                                        const Identity& identity, HFileReaderOptions options) {
  const std::string name = options.name;
  if (!file.ok() && file.status().is(Code::kNotFound))
    return Status::corruption("a store file that the manifest names is missing").at(name);
  CELLAR_TRY(file.status().with_context(name));
  if ((*file)->size() != record.bytes)
    return Status::corruption(
               fmt::format("the file has {} bytes, the manifest says {}", (*file)->size(), record.bytes))
        .at(name);
  options.require_crc32c = record.adopted_as == 0;
  if (record.adopted_as != 0) options.sequence_override = record.adopted_as;
  RecordedFile opened;
  CELLAR_TRY_ASSIGN(opened.reader, HFileReader::open(std::move(file).value(), std::move(options)));
  if (opened.reader->end_sum() != record.trailer_crc)
    return Status::corruption(fmt::format("the end of the file has the checksum {:08x}, the manifest says "
                                          "{:08x}: it is another file",
                                          opened.reader->end_sum(), record.trailer_crc))
        .at(name);
  if (opened.reader->cells() != record.cells)
    return Status::corruption(fmt::format("the file holds {} cells, the manifest says {}",
                                          opened.reader->cells(), record.cells))
        .at(name);
  // Reads rely on it: a file without such markers is searched from the first column that is wanted.
  if (const auto markers = opened.reader->family_deletes(); markers && *markers != record.family_deletes)
    return Status::corruption(fmt::format("the file records {} family markers, the manifest says {}",
                                          *markers, record.family_deletes))
        .at(name);
  // Sorted runs rely on the rows. The index of another program's file may begin before its first row.
  if (record.adopted_as == 0 && (opened.reader->first_row() != first_row_of(record) ||
                                 opened.reader->last_row() != last_row_of(record)))
    return Status::corruption("the rows of the file are not those that the manifest names").at(name);
  if (!parse_store_file_name(identity, record.name, opened.number))
    return Status::corruption("the file name does not belong to this store").at(name);
  CELLAR_ASSERT(opened.reader != nullptr && opened.number < kCountMax);
  return opened;
}

}  // namespace cellar
