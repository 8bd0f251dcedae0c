// verify, level cells: every cell decoded, in order, and what the file says of them true.
#include <fmt/format.h>

#include "base/bytes.h"
#include "hfile/verifier.h"

namespace cellar {

void Verifier::walk_cells(const Block& block, const Walked& walked) {
  if (const Status opened = walker_->open(block.payload()); !opened.ok()) {
    set_risk(add_at("V-ENCODING", std::string(opened.message()), walked), walked);
    all_cells_seen_ = false;
    return;
  }
  const uint64_t cells_before = tally_.cells;
  const CellView* cell = walker_->next();
  if (cell != nullptr) check_first_cell(*cell, walked);
  bool ordered = true;
  for (; cell != nullptr; cell = walker_->next()) {
    ordered = check_order(*cell, walked) && ordered;
    count(*cell);
    last_cell_ = *cell;
    has_last_cell_ = true;
  }
  // The last cell is compared with the next block's first: its block, or its key, stays until then.
  if (tally_.cells > cells_before) {
    last_block_ = Pin(&block);
    if (last_cell_.key_in_scratch) {
      last_key_.assign(last_cell_.key_bytes());
      last_cell_.key = last_key_.data();
    }
  }
  if (!walker_->status().ok()) {
    set_risk(add_at("V-CELL", std::string(walker_->status().message()), walked), walked);
    all_cells_seen_ = false;
    return;
  }
  if (ordered) report_.data_blocks_readable += 1;
}

bool Verifier::check_first_cell(const CellView& cell, const Walked& walked) {
  if (!walked.indexed) return true;
  const FileOrder order(parts().meta_order);
  const auto by_key = [&](const CellView& a, const CellView& b) {
    return order.meta_order() ? compare_meta_keys(a, b) : compare_keys(a, b);
  };
  const IndexedBlock& indexed = index_[*walked.indexed];
  bool bounded;
  if (indexed.row_only) {
    bounded = indexed.key.row() <= cell.row() && (!has_last_cell_ || last_cell_.row() <= indexed.key.row());
  } else {
    bounded = by_key(indexed.key, cell) <= 0 && (!has_last_cell_ || by_key(last_cell_, indexed.key) < 0);
  }
  if (!bounded) {
    add_at("V-INDEX-KEY",
           fmt::format("index key {} does not separate {} from {}", key_text(indexed.key),
                       has_last_cell_ ? key_text(last_cell_) : "the beginning", key_text(cell)),
           walked);
  }
  return bounded;
}

bool Verifier::check_order(const CellView& cell, const Walked& walked) {
  if (!has_last_cell_) {
    tally_.rows += 1;
    return true;
  }
  if (!same_row(last_cell_, cell)) tally_.rows += 1;
  if (FileOrder(parts().meta_order)(last_cell_, cell) <= 0) return true;
  add_at("V-ORDER", fmt::format("{} comes after {}", key_text(cell), key_text(last_cell_)), walked);
  return false;
}

void Verifier::count(const CellView& cell) {
  tally_.cells += 1;
  tally_.key_bytes += cell.key_size;
  tally_.value_bytes += cell.value_size;
  tally_.timestamp_min = std::min(tally_.timestamp_min, cell.timestamp);
  tally_.timestamp_max = std::max(tally_.timestamp_max, cell.timestamp);
  tally_.max_sequence = std::max(tally_.max_sequence, cell.sequence);
  tally_.max_tags = std::max<uint32_t>(tally_.max_tags, cell.tags_size);
  if (cell.cell_type == CellType::kPut) tally_.earliest_put = std::min(tally_.earliest_put, cell.timestamp);
  if (covers_family(cell.cell_type)) tally_.family_deletes += 1;
  if (tally_.families.size() < 2 && !tally_.families.contains(cell.family())) {
    tally_.families.insert(std::string(cell.family()));
  }
}

void Verifier::check_tally() {
  report_.cells = tally_.cells;
  report_.rows = tally_.rows;
  if (tally_.families.size() > 1) {
    add("W-FAMILIES", fmt::format("cells of more than one family ({}, {}); HBase expects one",
                                  escaped(*tally_.families.begin()), escaped(*tally_.families.rbegin())));
  }
  if (!all_cells_seen_) return;  // every further difference would only say that again
  if (tally_.cells != report_.cells_expected) {
    add("V-COUNT", fmt::format("{} cells, the trailer says {}", tally_.cells, report_.cells_expected));
  }
  check_last_key();
  check_times();
  check_averages();
  const std::optional<uint64_t> deletes = parts().family_deletes;
  if (deletes && *deletes != tally_.family_deletes) {
    add("V-DELETE-COUNT",
        fmt::format("DELETE_FAMILY_COUNT is {}, there are {}", *deletes, tally_.family_deletes));
  }
}

void Verifier::check_last_key() {
  if (!has_last_cell_ || !parts().last_key_in_info) return;
  const CellView& stored = parts().last;
  // A row alone was read as the last key of its row.
  const bool row_only = stored.cell_type == CellType::kMinimum;
  const bool same =
      row_only ? stored.row() == last_cell_.row() : stored.key_bytes() == last_cell_.key_bytes();
  if (same) return;
  add("V-LASTKEY",
      fmt::format("hfile.LASTKEY is {}, the last cell is {}", key_text(stored), key_text(last_cell_)));
}

void Verifier::check_times() {
  if (tally_.cells == 0) return;
  const std::optional<TimestampRange> times = parts().times;
  if (times && (times->min > tally_.timestamp_min || times->max < tally_.timestamp_max)) {
    add("V-TIMERANGE",
        fmt::format("TIMERANGE is {} to {}, cells are from {} to {}: reads of a time would miss some",
                    times->min, times->max, tally_.timestamp_min, tally_.timestamp_max));
  }
  const std::optional<int64_t> earliest = parts().earliest_put_ts;
  if (earliest && *earliest > tally_.earliest_put) {
    add("V-EARLIEST-PUT",
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
    add("W-AVERAGES", fmt::format("hfile.AVG_KEY_LEN is not {}", tally_.key_bytes / cells));
  }
  if (differs(info_key::kAvgValueLen, tally_.value_bytes)) {
    add("W-AVERAGES", fmt::format("hfile.AVG_VALUE_LEN is not {}", tally_.value_bytes / cells));
  }
  const Result<std::optional<int64_t>> mvcc = info.i64(info_key::kMaxMvcc);
  if (parts().format.mvcc && mvcc.ok() && mvcc->has_value() &&
      static_cast<uint64_t>(**mvcc) != tally_.max_sequence) {
    add("W-MVCC",
        fmt::format("MAX_MEMSTORE_TS_KEY is {}, the largest MVCC is {}", **mvcc, tally_.max_sequence));
  }
  const Result<std::optional<int32_t>> tags = info.i32(info_key::kMaxTagsLen);
  if (tags.ok() && tags->has_value() && static_cast<uint32_t>(**tags) != tally_.max_tags) {
    add("W-TAGS",
        fmt::format("hfile.MAX_TAGS_LEN is {}, the longest tags have {} bytes", **tags, tally_.max_tags));
  }
}

}  // namespace cellar
