// verify, level cells: every cell decoded, in order, and what the file says of them true.
#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "hfile/check/verifier.h"
#include "hfile/encoding/encoding.h"

namespace cellar {

void CellTally::add(const CellView& cell) {
  cells += 1;
  key_bytes += cell.key_size;
  value_bytes += cell.value_size;
  timestamp_min = std::min(timestamp_min, cell.timestamp);
  timestamp_max = std::max(timestamp_max, cell.timestamp);
  max_sequence = std::max(max_sequence, cell.sequence);
  max_tags = std::max<uint32_t>(max_tags, cell.tags_size);
  if (cell.cell_type == CellType::kPut) earliest_put = std::min(earliest_put, cell.timestamp);
  if (covers_family(cell.cell_type)) family_deletes += 1;
  add_family(cell.family());
}

void CellTally::add(const CellTally& later) {
  cells += later.cells;
  key_bytes += later.key_bytes;
  value_bytes += later.value_bytes;
  timestamp_min = std::min(timestamp_min, later.timestamp_min);
  timestamp_max = std::max(timestamp_max, later.timestamp_max);
  max_sequence = std::max(max_sequence, later.max_sequence);
  max_tags = std::max(max_tags, later.max_tags);
  earliest_put = std::min(earliest_put, later.earliest_put);
  family_deletes += later.family_deletes;
  for (const std::string& family : later.families) add_family(family);
}

void CellTally::add_family(std::string_view family) {
  constexpr size_t kFamiliesKept = 2;
  if (families.size() < kFamiliesKept && std::ranges::find(families, family) == families.end())
    families.emplace_back(family);
}

std::unique_ptr<BlockWalker> Verifier::make_walker() const {
  return decodes_ ? parts().encoding->make_walker(parts().format) : nullptr;
}

void Verifier::walk_cells(const Block& block, const Walked& walked, BlockWalker& walker, CellTally& tally,
                          BlockCells& cells, const std::function<void(VerifyFinding)>& found) const {
  if (const Status opened = walker.open(block.payload()); !opened.ok()) {
    found(risk_at("V-ENCODING", std::string(opened.message()), walked));
    return;
  }
  const FileOrder order(parts().meta_order);
  const CellView* before = nullptr;
  for (const CellView* cell = walker.next(); cell != nullptr; cell = walker.next()) {
    if (before == nullptr) {
      cells.first.assign_key(cell->key_bytes(), cell->sequence);
    } else {
      cells.rows_begun += same_row(*before, *cell) ? 0 : 1;
      if (order(*before, *cell) > 0) {
        cells.ordered = false;
        found(disorder(*before, *cell, walked));
      }
    }
    if (options_.on_cell) options_.on_cell(*cell);
    if (!options_.sequences.holds(cell->sequence)) found(wrong_sequence(*cell, walked));
    tally.add(*cell);
    cells.cells += 1;
    before = cell;
  }
  if (before != nullptr) cells.last.assign_key(before->key_bytes(), before->sequence);
  cells.complete = walker.status().ok();
  if (!cells.complete) found(risk_at("V-CELL", std::string(walker.status().message()), walked));
}

VerifyFinding Verifier::disorder(const CellView& before, const CellView& cell, const Walked& walked) const {
  return finding_at("V-ORDER", fmt::format("{} comes after {}", key_text(cell), key_text(before)), walked);
}

VerifyFinding Verifier::wrong_sequence(const CellView& cell, const Walked& walked) const {
  return risk_at("V-SEQUENCE",
                 fmt::format("{} has sequence {}, the manifest says {} to {} of the file: its block is from "
                             "another file or time",
                             key_text(cell), cell.sequence, options_.sequences.min, options_.sequences.max),
                 walked);
}

// Compares a block with the one before it. Returns true if its first cell belongs there.
bool Verifier::check_seam(const BlockCells& cells, const Walked& walked) {
  const CellView& first = cells.first.view();
  check_first_cell(first, walked);
  bool ordered = true;
  if (!has_last_cell_) {
    report_.rows += 1;
  } else {
    const CellView& last = last_cell_.view();
    report_.rows += same_row(last, first) ? 0 : 1;
    ordered = FileOrder(parts().meta_order)(last, first) <= 0;
    if (!ordered) report(disorder(last, first, walked));
  }
  last_cell_ = cells.last;
  has_last_cell_ = true;
  return ordered;
}

void Verifier::check_first_cell(const CellView& cell, const Walked& walked) {
  if (!walked.indexed) return;
  const FileOrder order(parts().meta_order);
  const auto by_key = [&](const CellView& a, const CellView& b) {
    return order.meta_order() ? compare_meta_keys(a, b) : compare_keys(a, b);
  };
  const IndexedBlock& indexed = index_[*walked.indexed];
  const CellView& last = last_cell_.view();
  bool bounded;
  if (indexed.row_only) {
    bounded = indexed.key.row() <= cell.row() && (!has_last_cell_ || last.row() <= indexed.key.row());
  } else {
    bounded = by_key(indexed.key, cell) <= 0 && (!has_last_cell_ || by_key(last, indexed.key) < 0);
  }
  if (bounded) return;
  report(finding_at("V-INDEX-KEY",
                    fmt::format("index key {} does not separate {} from {}", key_text(indexed.key),
                                has_last_cell_ ? key_text(last) : "the beginning", key_text(cell)),
                    walked));
}

void Verifier::check_tally() {
  report_.cells = tally_.cells;
  if (tally_.families.size() > 1) {
    const auto [first, second] = std::minmax(tally_.families[0], tally_.families[1]);
    report("W-FAMILIES", fmt::format("cells of more than one family ({}, {}); HBase expects one",
                                     escaped(first), escaped(second)));
  }
  if (!all_cells_seen_) return;  // every further difference would only say that again
  if (tally_.cells != report_.cells_expected) {
    report("V-COUNT", fmt::format("{} cells, the trailer says {}", tally_.cells, report_.cells_expected));
  }
  check_last_key();
  check_times();
  check_averages();
  const std::optional<uint64_t> deletes = parts().family_deletes;
  if (deletes && *deletes != tally_.family_deletes) {
    report("V-DELETE-COUNT",
           fmt::format("DELETE_FAMILY_COUNT is {}, the file has {}", *deletes, tally_.family_deletes));
  }
}

void Verifier::check_last_key() {
  if (!has_last_cell_ || !parts().last_key_in_info) return;
  const CellView& stored = parts().last;
  // A row alone was read as the last key of its row.
  const bool row_only = stored.cell_type == CellType::kMinimum;
  const bool same = row_only ? stored.row() == last_cell_.view().row()
                             : stored.key_bytes() == last_cell_.view().key_bytes();
  if (same) return;
  report("V-LASTKEY", fmt::format("hfile.LASTKEY is {}, the last cell is {}", key_text(stored),
                                  key_text(last_cell_.view())));
}

void Verifier::check_times() {
  if (tally_.cells == 0) return;
  const std::optional<TimestampRange> times = parts().times;
  if (times && (times->min > tally_.timestamp_min || times->max < tally_.timestamp_max)) {
    report("V-TIMERANGE",
           fmt::format("TIMERANGE is {} to {}, cells are from {} to {}: reads of a time would miss some",
                       times->min, times->max, tally_.timestamp_min, tally_.timestamp_max));
  }
  const std::optional<int64_t> earliest = parts().earliest_put_ts;
  if (earliest && *earliest > tally_.earliest_put) {
    report("V-EARLIEST-PUT",
           fmt::format("EARLIEST_PUT_TS is {}, the earliest put is of {}", *earliest, tally_.earliest_put));
  }
}

void Verifier::check_averages() {
  const FileInfo& info = parts().info;
  const uint64_t cells = std::max<uint64_t>(tally_.cells, 1);
  const auto differs = [&](std::string_view key, uint64_t sum) {
    const Result<std::optional<int32_t>> stored = info.i32(key);
    return stored.ok() && stored->has_value() && static_cast<uint64_t>(**stored) != sum / cells;
  };
  if (row_only_keys_ == 0 && differs(info_key::kAvgKeyLen, tally_.key_bytes)) {
    report("W-AVERAGES", fmt::format("hfile.AVG_KEY_LEN is not {}", tally_.key_bytes / cells));
  }
  if (differs(info_key::kAvgValueLen, tally_.value_bytes)) {
    report("W-AVERAGES", fmt::format("hfile.AVG_VALUE_LEN is not {}", tally_.value_bytes / cells));
  }
  const Result<std::optional<int64_t>> mvcc = info.i64(info_key::kMaxMvcc);
  if (parts().format.mvcc && mvcc.ok() && mvcc->has_value() &&
      static_cast<uint64_t>(**mvcc) != tally_.max_sequence) {
    report("W-MVCC",
           fmt::format("MAX_MEMSTORE_TS_KEY is {}, the largest MVCC is {}", **mvcc, tally_.max_sequence));
  }
  const Result<std::optional<int32_t>> tags = info.i32(info_key::kMaxTagsLen);
  if (tags.ok() && tags->has_value() && static_cast<uint32_t>(**tags) != tally_.max_tags) {
    report("W-TAGS",
           fmt::format("hfile.MAX_TAGS_LEN is {}, the longest tags have {} bytes", **tags, tally_.max_tags));
  }
}

}  // namespace cellar
