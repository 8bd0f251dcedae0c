// FileSpan: two searches of the index.
#include "hfile/read/file_span.h"

#include <algorithm>

#include "base/assert.h"
#include "cell/cell_key.h"
#include "hfile/block/file_parts.h"
#include "hfile/read/hfile_reader.h"

namespace cellar {
namespace {

struct BlockPlace {
  bool found = false;
  uint64_t begin = 0;
  uint64_t end = 0;
};

BlockPlace place_of(const IndexCursor& cursor) {
  if (!cursor.valid()) return {};
  CELLAR_ASSERT(cursor.disk_bytes() > 0);  // the index reader refuses entries without bytes
  return {true, cursor.offset(), cursor.offset() + cursor.disk_bytes()};
}

// The block in which the row would begin.
Result<BlockPlace> block_of(const IndexReader& index, std::string_view row, ReadStats* stats) {
  IndexCursor cursor(&index);
  OwnedCell target;
  first_of_row(target, row);
  CELLAR_TRY(cursor.seek(target.view(), IndexSearch::kUpTo, stats));
  return place_of(cursor);
}

// The range within the part of the file that the reader shows.
void clip(const HFileReaderOptions& part, std::string_view& start, std::string_view& end) {
  start = std::max(start, std::string_view(part.start_row));
  if (!part.stop_row.empty() && (end.empty() || end > part.stop_row)) end = part.stop_row;
}

bool within(std::string_view row, std::string_view start, std::string_view end) {
  return row >= start && (end.empty() || row < end);
}

// Adds what lies below the node, `depth` levels under the root, as entries of level `level`.
Status add_samples(const IndexReader& index, const IndexNode& node, uint32_t depth, uint32_t level,
                   std::string_view start, std::string_view end, ReadStats* stats,
                   std::vector<FileSample>& samples) {
  CELLAR_ASSERT(depth <= level && level < index.levels());
  for (uint32_t i = 0; i < node.size(); ++i) {
    if (!end.empty() && node.key_view(i).row() >= end) break;
    if (depth < level) {
      if (i + 1 < node.size() && node.key_view(i + 1).row() < start) continue;
      CELLAR_TRY_ASSIGN(const IndexNode* const child, index.child(node, i, depth, stats));
      CELLAR_TRY(add_samples(index, *child, depth + 1, level, start, end, stats, samples));
    } else if (within(node.key_view(i).row(), start, end)) {
      samples.push_back({std::string(node.key_view(i).row()),
                         node.children_are_data() ? static_cast<double>(node.child_disk_bytes(i)) : 0.0});
    }
  }
  return {};
}

}  // namespace

Result<FileSpan> file_span(const HFileReader& file, std::string_view start, std::string_view end,
                           ReadStats* stats) {
  const FileParts& parts = file.parts();
  FileSpan span;
  if (parts.first_key.empty()) return span;
  clip(parts.options, start, end);
  IndexCursor cursor(parts.index.get());
  CELLAR_TRY(cursor.to_first(stats));
  if (!cursor.valid()) return span;
  const BlockPlace first_block = place_of(cursor);
  const uint64_t first = first_block.begin;
  CELLAR_TRY(cursor.to_last(stats));
  const uint64_t last = cursor.offset() + cursor.disk_bytes();
  if (last <= first) return parts.blocks->corruption(first, "index: the first block lies after the last");
  span.data_begin = first;
  span.data_bytes = last - first;
  if (start > parts.last.row() || (!end.empty() && (end <= parts.first.row() || end <= start))) return span;
  uint64_t outer_from = first, inner_from = first, inner_to = last, outer_to = last;
  if (start > parts.first.row()) {
    CELLAR_TRY_ASSIGN(const BlockPlace from, block_of(*parts.index, start, stats));
    if (from.found) outer_from = from.begin, inner_from = from.end;
  }
  if (!end.empty() && end <= parts.last.row()) {
    CELLAR_TRY_ASSIGN(BlockPlace to, block_of(*parts.index, end, stats));
    if (!to.found) to = first_block;
    inner_to = to.begin, outer_to = to.end;
  }
  CELLAR_ASSERT(outer_from <= inner_from && inner_to <= outer_to);  // no block ends before it begins
  if (outer_from > outer_to) return parts.blocks->corruption(outer_to, "index: its blocks are out of order");
  span.outer_from = outer_from, span.inner_from = inner_from;
  span.inner_to = inner_to, span.outer_to = outer_to;
  span.inner_bytes = inner_to > inner_from ? inner_to - inner_from : 0;
  span.edge_bytes = outer_to - outer_from - span.inner_bytes;
  return span;
}

Result<std::vector<FileSample>> file_samples(const HFileReader& file, std::string_view start,
                                             std::string_view end, size_t wanted, ReadStats* stats) {
  CELLAR_ASSERT(wanted > 0);
  const FileParts& parts = file.parts();
  std::vector<FileSample> samples;
  if (parts.first_key.empty()) return samples;
  clip(parts.options, start, end);
  CELLAR_TRY_ASSIGN(const FileSpan span, file_span(file, start, end, stats));
  const IndexReader& index = *parts.index;
  for (uint32_t level = 0; level < index.levels() && samples.size() < wanted; ++level) {
    samples.clear();
    CELLAR_TRY(add_samples(index, index.root(), 0, level, start, end, stats, samples));
  }
  // Groups of blocks count alike.
  const double bytes = static_cast<double>(span.inner_bytes) + static_cast<double>(span.edge_bytes) / 2;
  for (FileSample& each : samples)
    if (each.bytes == 0) each.bytes = bytes / static_cast<double>(samples.size());
  return samples;
}

bool file_rows(const HFileReader& file, uint64_t& rows) {
  const std::optional<uint64_t> found = file.parts().rows_of_filter();
  rows = found.value_or(rows);
  return found.has_value();
}

}  // namespace cellar
