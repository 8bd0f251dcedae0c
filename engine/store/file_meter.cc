// FileMeter: kinds of files by their names, and sums.
#include "engine/store/file_meter.h"

#include "base/assert.h"
#include "engine/log/directory.h"

namespace cellar {

FileClass file_class(std::string_view name) {
  CELLAR_ASSERT(!name.empty());  // or the file could not have been opened
  if (is_store_file_name(name)) return FileClass::kStoreFile;
  uint64_t number = 0;
  if (parse_segment_name(name, number) || is_segment_copy_name(name)) return FileClass::kLog;
  if (name == kCurrentName || name == kCurrentTempName || parse_manifest_name(name, number))
    return FileClass::kManifest;
  return FileClass::kOther;
}

std::map<std::string, uint64_t> FileMeter::map_of(const Figures& figures) {
  constexpr std::array<std::string_view, kFileClasses> kNames = {"log", "manifest", "other", "store_files"};
  std::map<std::string, uint64_t> bytes;
  for (size_t i = 0; i < kFileClasses; ++i)
    bytes.emplace(kNames[i], figures[i].load(std::memory_order_relaxed));
  CELLAR_ASSERT(bytes.size() == kFileClasses);
  return bytes;
}

Status FileMeter::sync(int kind, WritableFile& file) {
  if (kind != static_cast<int>(FileClass::kLog)) return file.sync();
  const Stopwatch::Start start = operations_.start();
  Status status = file.sync();
  operations_.note_since(Metered::kLogSync, start);
  return status;
}

}  // namespace cellar
