// HBase's rules for regions and store files that are not recorded in any file.
#include "tools/hbase/hbase_regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <tuple>

#include "base/bytes.h"
#include "base/coding.h"
#include "cell/cell_codec.h"
#include "cellar/file_system.h"
#include "hfile/read/file_sequence.h"
#include "tools/frame/session.h"

namespace cellar {
namespace {

namespace fs = std::filesystem;

// Returns whether `end` is at or before `row`. An open (empty) end is after every row.
bool ends_before(const std::string& end, const std::string& row) { return !end.empty() && end <= row; }
bool overlap(const HBaseRegion& a, const HBaseRegion& b) {
  return !ends_before(a.end, b.start) && !ends_before(b.end, a.start);
}

// Returns whether the regions, sorted and without overlaps, hold all rows of `region`.
bool cover(const std::vector<const HBaseRegion*>& regions, const HBaseRegion& region) {
  std::string at = region.start;
  for (const HBaseRegion* each : regions) {
    if (each->start > at) return false;
    if (each->end.empty()) return true;
    at = std::max(at, each->end);
    if (!region.end.empty() && at >= region.end) return true;
  }
  return false;
}

// FileOrder: the sequence by which HBase sorts a file, and the sequence of its cells.
struct FileOrder {
  int64_t sequence = -1;
  std::optional<uint64_t> of_all_cells;  // if set, every cell of the file has this sequence
};

Result<FileOrder> order_of(const FileInfo& info, const HBaseStoreFile& file) {
  FileOrder order;
  const bool top = file.half && file.half->top;
  CELLAR_TRY_ASSIGN(const std::optional<int64_t> sequence, file_sequence(info, file.name));
  if (sequence) order.sequence = *sequence + (top ? 1 : 0);
  if (!bulk_load_sequence(file.name) && !info.has(info_key::kBulkLoadTime)) return order;
  CELLAR_TRY_ASSIGN(const std::optional<bool> as_stored, info.boolean(info_key::kSkipResetSequence));
  if (as_stored.value_or(false)) {
    order.sequence += 1;
  } else {
    order.of_all_cells = static_cast<uint64_t>(std::max<int64_t>(order.sequence, 0));
  }
  return order;
}

Result<std::shared_ptr<HFileReader>> open_reader(const HBaseStoreFile& file,
                                                 std::optional<uint64_t> sequence) {
  CELLAR_TRY_ASSIGN(std::unique_ptr<ReadableFile> opened, posix_file_system().open_file(file.path));
  HFileReaderOptions options;
  options.name = file.path;
  options.block_payload_bytes_max = block_bytes_max();
  options.sequence_override = sequence;
  if (file.half) (file.half->top ? options.start_row : options.stop_row) = file.half->split_row;
  return HFileReader::open(std::move(opened), std::move(options));
}

// Returns whether the file has MOB references. A single zero byte means that it has none.
bool has_mob_values(const FileInfo& info) {
  const std::string* refs = info.find(info_key::kMobRefs);
  return refs != nullptr && !refs->empty() && *refs != std::string(1, '\0');
}

}  // namespace

Result<std::vector<DescribedRegion>> live_regions(std::vector<DescribedRegion> regions,
                                                  std::vector<std::string>& notes) {
  std::ranges::sort(regions, {}, [](const DescribedRegion& each) {
    return std::tuple(~each.region.id, each.region.start, each.name);
  });
  std::vector<DescribedRegion> live;
  for (DescribedRegion& each : regions) {
    std::vector<const HBaseRegion*> later;
    for (const DescribedRegion& other : live)
      if (overlap(each.region, other.region)) later.push_back(&other.region);
    if (later.empty()) {
      live.push_back(std::move(each));
      continue;
    }
    std::ranges::sort(later, {}, [](const HBaseRegion* region) { return region->start; });
    if (!cover(later, each.region))
      return Status::not_supported(
                 fmt::format("region {} has rows from \"{}\" on, some of which another region has, too",
                             each.name, escaped(each.region.start)))
          .hinting("name the directory of one region, or repair the table (hbase hbck)");
    notes.push_back(fmt::format("left out, because later regions replaced it: region {}", each.name));
  }
  std::ranges::sort(live, {}, [](const DescribedRegion& each) { return each.region.start; });
  return live;
}

Result<std::optional<HBaseFileList>> file_list_of(const std::string& family_directory,
                                                  const std::optional<HBaseTableSchema>& schema) {
  constexpr uint64_t kListBytesMax = 17u << 20;
  const std::string directory = family_directory + "/.filelist";
  if (!is_plain_directory(directory)) return std::optional<HBaseFileList>();
  if (schema)
    for (const auto& [name, value] : schema->attributes)
      if (name == "hbase.store.file-tracker.impl" && value != "FILE") return std::optional<HBaseFileList>();
  std::optional<HBaseFileList> newest;
  bool any = false;
  std::error_code error;
  for (fs::directory_iterator at(directory, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    if (!is_plain_file(at->path().string()) || at->path().filename().string().starts_with('.')) continue;
    any = true;
    CELLAR_TRY_ASSIGN(const std::string bytes, read_small_file(at->path().string(), kListBytesMax));
    Result<HBaseFileList> list = parse_hbase_file_list(bytes);
    if (list.ok() && (!newest || list->timestamp > newest->timestamp)) newest = std::move(*list);
  }
  if (error) return Status::io_error(directory + ": " + error.message());
  if (any && !newest) return Status::corruption("HBase's list of files cannot be read").at(directory);
  return newest;
}

Result<std::string> family_of_cells(const std::vector<HBaseStoreFile>& files, const std::string& otherwise) {
  std::optional<std::string> family;
  for (const HBaseStoreFile& file : files) {
    CELLAR_TRY_ASSIGN(const std::shared_ptr<HFileReader> reader, open_reader(file, {}));
    CellView last;  // the last key is parsed: the first key may be a shortened one
    if (reader->cells() == 0 || !parse_flat_key(reader->last_key().data(), reader->last_key().size(), last))
      continue;
    if (family && *family != last.family())
      return Status::not_supported(fmt::format("one directory has files of the families \"{}\" and \"{}\"",
                                               escaped(*family), escaped(last.family())))
          .hinting("put each family's files into a directory of its name");
    family = last.family();
  }
  return family.value_or(otherwise);
}

Result<std::shared_ptr<HFileReader>> open_hbase_file(const HBaseStoreFile& file) {
  CELLAR_TRY_ASSIGN(std::shared_ptr<HFileReader> reader, open_reader(file, {}));
  CELLAR_TRY_ASSIGN(const FileOrder order, order_of(reader->info(), file));
  if (!order.of_all_cells) return reader;
  return open_reader(file, order.of_all_cells);
}

Result<std::vector<std::shared_ptr<HFileReader>>> open_hbase_files(const std::vector<HBaseStoreFile>& files) {
  struct Opened {
    std::tuple<int64_t, uint64_t, int64_t, std::string> key;
    std::shared_ptr<HFileReader> reader;
  };
  std::vector<Opened> opened;
  std::vector<std::string> compacted;
  for (const HBaseStoreFile& file : files) {
    CELLAR_TRY_ASSIGN(std::shared_ptr<HFileReader> reader, open_hbase_file(file));
    const FileInfo& info = reader->info();
    if (has_mob_values(info))
      return Status::not_supported(file.path + " keeps values in other files (MOB), which are not read")
          .hinting(
              "leave its family out: name the columns of others; cellar dump shows the cells as they are "
              "stored");
    CELLAR_TRY_ASSIGN(const FileOrder order, order_of(info, file));
    CELLAR_TRY_ASSIGN(const std::optional<int64_t> loaded, info.i64(info_key::kBulkLoadTime));
    if (const std::string* event = info.find(info_key::kCompactionEvent); event != nullptr) {
      CELLAR_TRY_ASSIGN(const std::vector<std::string> names, parse_compaction_event(*event));
      compacted.insert(compacted.end(), names.begin(), names.end());
    }
    // Among files with equal sequences, the larger file comes first.
    opened.push_back({{order.sequence, ~reader->file_bytes(),
                       loaded.value_or(std::numeric_limits<int64_t>::max()), file.name},
                      std::move(reader)});
  }
  std::ranges::sort(opened, {}, &Opened::key);
  std::vector<std::shared_ptr<HFileReader>> readers;
  for (Opened& each : opened)
    if (std::ranges::find(compacted, std::get<3>(each.key)) == compacted.end())
      readers.push_back(std::move(each.reader));
  return readers;
}

}  // namespace cellar
