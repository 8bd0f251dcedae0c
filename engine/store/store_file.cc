// StoreFile: what it tells of itself.
#include "engine/store/store_file.h"

#include "engine/manifest/file_order.h"

namespace cellar {

StoreFileInfo info_of(const StoreFile& file) {
  const FileRecord& record = file.record();
  StoreFileInfo info;
  info.id = file.number();
  info.name = record.name;
  info.path = file.reader().name();
  info.bytes = record.bytes;
  info.cells = record.cells;
  info.deletes = record.deletes;
  info.first_row = first_row_of(record);
  info.last_row = last_row_of(record);
  info.sequence_min = record.sequence_min;
  info.sequence_max = record.sequence_max;
  info.time_min = record.time_min;
  info.time_max = record.time_max;
  info.earliest_put = record.earliest_put;
  info.earliest_delete = file.earliest_delete();
  info.created_ms = record.created_ms;
  info.last_read = file.last_read();
  info.run = record.run;
  info.level = record.level;
  info.major = record.major;
  info.exclude_from_minor = file.exclude_from_minor();
  info.busy = file.busy() || file.is_aside();
  return info;
}

}  // namespace cellar
