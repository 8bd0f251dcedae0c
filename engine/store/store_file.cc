// StoreFile: what it tells of itself.
#include "engine/store/store_file.h"

#include "cell/cell_codec.h"

namespace cellar {

StoreFileInfo info_of(const StoreFile& file) {
  const FileRecord& record = file.record();
  StoreFileInfo info;
  info.id = file.number();
  info.name = record.name;
  info.bytes = record.bytes;
  info.cells = record.cells;
  info.deletes = record.deletes;
  CellView key;
  if (parse_flat_key(record.first_key.data(), record.first_key.size(), key)) info.first_row = key.row();
  if (parse_flat_key(record.last_key.data(), record.last_key.size(), key)) info.last_row = key.row();
  info.sequence_max = record.sequence_max;
  info.time_min = record.time_min;
  info.time_max = record.time_max;
  info.created_ms = record.created_ms;
  info.major = record.major;
  info.busy = file.busy() || file.is_aside();
  return info;
}

}  // namespace cellar
