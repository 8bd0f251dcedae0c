// CellCounts.
#include "hfile/read/cell_counts.h"

#include "base/assert.h"
#include "base/coding.h"
#include "hfile/read/file_span.h"
#include "hfile/read/hfile_reader.h"

namespace cellar {
namespace {

constexpr uint8_t kForm = 1;

}  // namespace

bool parse_cell_counts(std::string_view text, uint64_t data_end, uint64_t cells_all,
                       std::vector<CellCount>& counts) {
  CELLAR_ASSERT(counts.size() == 1);  // the place where the data begins
  ByteReader reader(text);
  uint8_t form = 0;
  if (!reader.take_u8(form) || form != kForm) return false;
  while (!reader.empty()) {
    CellCount next = counts.back();
    uint64_t further = 0, cells = 0, rows = 0;
    if (!reader.take_varint(further) || !reader.take_varint(cells) || !reader.take_varint(rows)) return false;
    if (further == 0 || further > data_end - next.end || cells > cells_all - next.cells || rows > cells ||
        counts.size() > CellCountsWriter::kPlacesMax + 1)
      return false;
    next.end += further;
    next.cells += cells;
    next.rows += rows;
    CELLAR_DCHECK(next.rows <= next.cells);
    counts.push_back(next);
  }
  return counts.back().end == data_end && counts.back().cells == cells_all;
}

void CellCountsWriter::add(const CellCount& count) {
  CELLAR_ASSERT(count.end > last_.end && count.cells > last_.cells);  // a block holds cells
  CELLAR_ASSERT(count.rows >= last_.rows && count.rows <= count.cells);
  last_ = count;
  if (++blocks_ % stride_ != 0) return;
  counts_.push_back(count);
  if (counts_.size() < kPlacesMax) return;
  for (size_t i = 0; i < kPlacesMax / 2; ++i) counts_[i] = counts_[2 * i + 1];
  counts_.resize(kPlacesMax / 2);
  stride_ *= 2;
  CELLAR_DCHECK(counts_.size() < kPlacesMax && counts_.back().end == last_.end);
}

std::string CellCountsWriter::encode() const {
  if (blocks_ == 0) return {};
  CELLAR_ASSERT(counts_.size() < kPlacesMax && counts_.size() <= blocks_);
  std::string text(1, static_cast<char>(kForm));
  CellCount before;
  const auto append = [&](const CellCount& each) {
    CELLAR_ASSERT(each.end > before.end && each.cells > before.cells && each.rows >= before.rows);
    append_varint(text, each.end - before.end);
    append_varint(text, each.cells - before.cells);
    append_varint(text, each.rows - before.rows);
    before = each;
  };
  for (const CellCount& each : counts_) append(each);
  if (before.end != last_.end) append(last_);
  return text;
}

Result<CellCounts> read_cell_counts(const HFileReader& file, const FileSpan& span) {
  CellCounts result;
  result.counts.push_back({span.data_begin, 0, 0});
  const uint64_t end = span.data_begin + span.data_bytes;
  const std::string* const text = file.info().find(info_key::kCellCounts);
  if (text != nullptr) {
    if (!parse_cell_counts(*text, end, file.cells(), result.counts))
      return Status::corruption("the counts of cells in the file info contradict the file")
          .at(std::string(file.name()));
    result.rows_known = true;
    return result;
  }
  result.counts.push_back({end, file.cells(), file.cells()});
  return result;
}

}  // namespace cellar
