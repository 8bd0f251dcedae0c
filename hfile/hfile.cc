// HFile: the public face over HFileReader and verify.
#include "cellar/hfile.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/bytes.h"
#include "cell/cell_key.h"
#include "hfile/block/file_parts.h"
#include "hfile/check/verify.h"
#include "hfile/codec/codecs.h"
#include "hfile/read/hfile_reader.h"

namespace cellar {

struct HFile::Impl {
  std::shared_ptr<const HFileReader> reader;
  HFileFacts facts;
};

struct HFileCells::Impl {
  std::shared_ptr<const HFileReader> reader;
  KeyRange rows;
  ColumnMap columns;
  int64_t time_from = 0;
  std::optional<int64_t> time_until;
  std::unique_ptr<CellCursor> cursor;
  OwnedCell start;
  bool whole = false;  // nothing of the file is left out
  bool started = false;
  bool ended = false;
};

namespace {

HFileFacts facts_of(const HFileReader& reader) {
  const Trailer& trailer = reader.trailer();
  HFileFacts facts;
  facts.name = reader.name();
  facts.file_bytes = reader.file_bytes();
  facts.version = fmt::format("{}.{}", trailer.major_version, trailer.minor_version);
  facts.compression = codec_name(trailer.codec);
  facts.encoding = reader.encoding_name();
  facts.comparator = trailer.comparator;
  facts.bloom = reader.parts().bloom != nullptr ? reader.parts().bloom_type_name : "";
  facts.cells = reader.cells();
  facts.first_row = reader.first_row();
  facts.last_row = reader.last_row();
  facts.tags = reader.cell_format().tags;
  facts.mvcc = reader.cell_format().mvcc;
  if (const std::optional<TimestampRange> times = reader.times(); times && facts.cells > 0) {
    facts.timestamp_min = times->min;
    facts.timestamp_max = times->max;
  }
  facts.max_sequence = reader.max_sequence();
  facts.index_levels = trailer.data_index_levels;
  for (const auto& [key, value] : reader.info().entries()) facts.info.emplace_back(key, value);
  return facts;
}

bool holds(const ColumnMap& columns, const CellView& cell) {
  if (columns.empty()) return true;
  const auto family = columns.find(cell.family());
  if (family == columns.end()) return false;
  return family->second.empty() ||
         std::ranges::find(family->second, cell.qualifier()) != family->second.end();
}

}  // namespace

HFileCells::HFileCells(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HFileCells::HFileCells(HFileCells&&) noexcept = default;
HFileCells& HFileCells::operator=(HFileCells&&) noexcept = default;
HFileCells::~HFileCells() = default;

const CellView* HFileCells::next() {
  Impl& walk = *impl_;
  if (walk.whole && walk.started) return walk.cursor->next();
  while (!walk.ended) {
    const CellView* cell = walk.started ? walk.cursor->next() : walk.cursor->seek(walk.start.view());
    walk.started = true;
    const bool behind = cell != nullptr && !walk.rows.stop.empty() && cell->row() >= walk.rows.stop;
    // Rows of hbase:meta's old files are not in byte order: the bound filters them, but does not end the
    // walk.
    if (behind && walk.reader->meta_order()) continue;
    if (cell == nullptr || behind) {
      walk.ended = true;
      return nullptr;
    }
    if (walk.reader->meta_order() && cell->row() < walk.rows.start) continue;
    const bool in_time =
        cell->timestamp >= walk.time_from && (!walk.time_until || cell->timestamp < *walk.time_until);
    if (in_time && holds(walk.columns, *cell)) return cell;
  }
  return nullptr;
}

Status HFileCells::status() const { return impl_->cursor->status(); }

Result<HFile> HFile::open(FileSystem& files, const std::string& path) {
  CELLAR_TRY_ASSIGN(std::unique_ptr<ReadableFile> file, files.open_file(path));
  return open(std::move(file), path);
}

Result<HFile> HFile::open(std::unique_ptr<ReadableFile> file, std::string name) {
  HFileReaderOptions options;
  options.name = std::move(name);
  CELLAR_TRY_ASSIGN(std::shared_ptr<const HFileReader> reader,
                    HFileReader::open(std::move(file), std::move(options)));
  const std::shared_ptr<Impl> impl = std::make_shared<Impl>();
  impl->facts = facts_of(*reader);
  impl->reader = std::move(reader);
  return HFile(impl);
}

const HFileFacts& HFile::facts() const { return impl_->facts; }

HFileCells HFile::cells(const KeyRange& rows, const ColumnMap& columns, int64_t time_from,
                        std::optional<int64_t> time_until) const {
  std::unique_ptr<HFileCells::Impl> walk = std::make_unique<HFileCells::Impl>();
  walk->reader = impl_->reader;
  walk->rows = rows;
  walk->columns = columns;
  walk->time_from = time_from;
  walk->time_until = time_until;
  walk->cursor = impl_->reader->cursor({.fill_cache = false, .sequential = true});
  walk->whole = rows.stop.empty() && columns.empty() && time_from <= 0 && !time_until &&
                (rows.start.empty() || !impl_->reader->meta_order());
  const bool from_start = rows.start.empty() || impl_->reader->meta_order();
  first_of_row(walk->start, from_start ? impl_->reader->first_row() : std::string_view(rows.start));
  return HFileCells(std::move(walk));
}

bool HFile::may_contain_row(std::string_view row) const {
  return impl_->reader->may_contain_row(row, nullptr);
}

Result<std::string> HFile::meta_block(std::string_view name) const {
  const FileParts& parts = impl_->reader->parts();
  for (const MetaBlockEntry& entry : parts.meta_blocks) {
    if (entry.name != name) continue;
    CELLAR_TRY_ASSIGN(Block* const block,
                      parts.blocks->read(entry.offset, entry.disk_bytes, parts.trailer.load_on_open_offset,
                                         nullptr, nullptr));
    const Pin pin(block);
    if (block->kind() != BlockKind::kMeta) return parts.blocks->corruption(entry.offset, "not a meta block");
    return std::string(block->payload());
  }
  return Status::not_found(fmt::format("no meta block \"{}\"", escaped(name)));
}

HFileCheck HFile::verify(std::unique_ptr<ReadableFile> file, HFileCheckLevel level) {
  VerifyOptions options;
  options.level = static_cast<VerifyLevel>(level);
  const VerifyReport report = cellar::verify(std::move(file), options);
  HFileCheck check;
  check.sound = report.verdict == VerifyVerdict::kSound;
  if (!check.sound && report.verdict != VerifyVerdict::kUnsound) check.status = report.status;
  check.blocks = report.blocks;
  check.cells = report.cells;
  for (const VerifyFinding& finding : report.findings) {
    check.problems.push_back(
        {finding.code, finding.severity == VerifySeverity::kError, finding.text, finding.offset});
  }
  return check;
}

}  // namespace cellar
