// The search for a row, block by block, with the index and the filters of the file.
#include "tools/files/row_finder.h"

#include "cell/cell_key.h"
#include "engine/log/wal_reader.h"
#include "hfile/block/file_parts.h"
#include "hfile/encoding/encoding.h"
#include "hfile/encoding/hfile_cursor.h"
#include "hfile/read/hfile_reader.h"

namespace cellar {
namespace {

BloomWord ask_bloom(const FileParts& parts, const RowTarget& target) {
  if (parts.bloom == nullptr) return parts.bloom_trouble.ok() ? BloomWord::kNone : BloomWord::kUnreadable;
  if (parts.bloom_type == nullptr) return BloomWord::kNone;
  std::string key;
  if (parts.bloom_type->key_of_row(target.row, key)) {
    if (!parts.last_bloom_key.empty() && key > parts.last_bloom_key) return BloomWord::kNo;
  } else if (!target.column || !target.column->qualifier ||
             !parts.bloom_type->key_of_column(target.row, *target.column->qualifier, key)) {
    return BloomWord::kNone;
  }
  const Result<bool> answer = parts.bloom->test(key, nullptr);
  if (!answer.ok()) return BloomWord::kUnreadable;
  return *answer ? BloomWord::kMaybe : BloomWord::kNo;
}

// One look into the blocks that can hold the row.
class BlockSearch {
 public:
  BlockSearch(const FileParts& parts, const RowTarget& target,
              const std::function<bool(const FoundCell&)>& take, FileSearch& search)
      : parts_(parts),
        target_(target),
        take_(take),
        search_(search),
        order_(parts.meta_order),
        index_(parts.index.get()) {
    first_of_row(first_, target.row);
    last_of_row(last_, target.row);
  }

  Status run() {
    if (parts_.encoding == nullptr) return parts_.encoding_status;
    search_.looked = true;
    walker_ = parts_.encoding->make_walker(parts_.format);
    CELLAR_TRY(index_.seek(first_.view(), IndexSearch::kUpTo, nullptr));
    if (!index_.valid()) CELLAR_TRY(index_.to_first(nullptr));
    while (index_.valid() && !done_ && order_(index_.key(), last_.view()) <= 0) {
      CELLAR_TRY(search_block());
      ++ordinal_;
      CELLAR_TRY(index_.next(nullptr));
    }
    return {};
  }

 private:
  Status search_block() {
    const uint64_t offset = index_.offset();
    CELLAR_TRY_ASSIGN(Block* const block,
                      parts_.blocks->read(offset, index_.disk_bytes(), parts_.trailer.load_on_open_offset,
                                          nullptr, nullptr));
    const Pin pin(block);
    if (!is_data(block->kind()))
      return parts_.blocks->corruption(offset, "the index leads to a block without cells");
    search_.blocks_read += 1;
    CELLAR_TRY(walker_->open(block->payload()).at(parts_.blocks->place(offset)));
    for (const CellView* cell = walker_->next(); cell != nullptr; cell = walker_->next()) {
      if (order_(*cell, first_.view()) < 0) continue;
      if (order_(*cell, last_.view()) > 0) {
        done_ = true;
        return {};
      }
      if (!target_.matches(*cell)) continue;
      if (!counted_) CELLAR_TRY(count_blocks_before(offset));
      search_.found += 1;
      if (!take_({*cell, ordinal_, offset})) {
        done_ = true;
        return {};
      }
    }
    return walker_->status().at(parts_.blocks->place(offset));
  }

  // Blocks carry no number: the index is walked from its beginning.
  Status count_blocks_before(uint64_t offset) {
    IndexCursor each(parts_.index.get());
    ordinal_ = 0;
    CELLAR_TRY(each.to_first(nullptr));
    for (; each.valid() && each.offset() != offset; ++ordinal_) CELLAR_TRY(each.next(nullptr));
    counted_ = true;
    return {};
  }

  const FileParts& parts_;
  const RowTarget& target_;
  const std::function<bool(const FoundCell&)>& take_;
  FileSearch& search_;
  FileOrder order_;
  IndexCursor index_;
  OwnedCell first_;
  OwnedCell last_;
  std::unique_ptr<BlockWalker> walker_;
  uint64_t ordinal_ = 0;
  bool counted_ = false;
  bool done_ = false;
};

bool outside(const FileParts& parts, const RowTarget& target) {
  const FileOrder order(parts.meta_order);
  OwnedCell first;
  OwnedCell last;
  first_of_row(first, target.row);
  last_of_row(last, target.row);
  return order(last.view(), parts.first) < 0 || order(first.view(), parts.last) > 0;
}

}  // namespace

bool RowTarget::matches(const CellView& cell) const {
  if (cell.row() != row) return false;
  return !column ||
         (column->family == cell.family() && (!column->qualifier || *column->qualifier == cell.qualifier()));
}

std::string_view verdict_word(FindVerdict verdict) {
  static constexpr std::string_view kWords[] = {"found", "empty", "outside", "bloom_no", "not_there"};
  return kWords[static_cast<size_t>(verdict)];
}

std::string_view bloom_word(BloomWord word) {
  static constexpr std::string_view kWords[] = {"none", "no", "maybe", "unreadable"};
  return kWords[static_cast<size_t>(word)];
}

std::string_view log_state_word(LogState state) {
  static constexpr std::string_view kWords[] = {"only_here", "flushed", "dropped"};
  return kWords[static_cast<size_t>(state)];
}

Status search_file(const HFileReader& file, const RowTarget& target, bool thorough,
                   const std::function<bool(const FoundCell&)>& take, FileSearch& search) {
  const FileParts& parts = file.parts();
  if (parts.first_key.empty()) {
    search.verdict = FindVerdict::kEmptyFile;
    return {};
  }
  if (outside(parts, target)) {
    search.verdict = FindVerdict::kOutside;
    return {};
  }
  search.bloom = ask_bloom(parts, target);
  if (search.bloom == BloomWord::kNo && !thorough) {
    search.verdict = FindVerdict::kBloomNo;
    return {};
  }
  const Status status = BlockSearch(parts, target, take, search).run();
  search.verdict = search.found > 0 ? FindVerdict::kFound : FindVerdict::kNotThere;
  return status;
}

Status search_log(const std::string& path, const ManifestState& state, const TableRecord* only,
                  const RowTarget& target, const std::function<bool(const LogMention&)>& take) {
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> root, posix_file_system().open_directory(path, false));
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> wal, open_wal_directory(*root, false));
  bool stopped = false;
  const Result<LogSummary> summary = read_log(
      *wal, state.log_facts(posix_file_system().boot_identity()), [&](const LogRecord& record) -> Status {
        LogCells cells(record.payload, record.count, record.sequence);
        LogCell each;
        while (!stopped && cells.next(each)) {
          if (!target.matches(each.cell)) continue;
          const auto [table, family] = state.family(each.family_id);
          if (only != nullptr && table != only) continue;
          LogMention mention{each.cell, segment_name(record.segment), record.offset, table,
                             LogState::kOnlyHere};
          if (family == nullptr) {
            mention.state = LogState::kDropped;
          } else if (record.sequence <= family->flushed_sequence) {
            mention.state = LogState::kFlushed;
          }
          stopped = !take(mention);
        }
        if (stopped) return Status::aborted("the search was ended");
        return cells.status();
      });
  return stopped || summary.ok() ? Status() : summary.status();
}

}  // namespace cellar
