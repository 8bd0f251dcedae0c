// TableScanner: merges the families of a table row by row, within a budget.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "base/recycled.h"
#include "cellar/environment.h"
#include "cellar/row_batch.h"
#include "cellar/scanner.h"
#include "engine/read/family_page.h"
#include "engine/read/read_filter.h"
#include "engine/read/scan_pace.h"
#include "engine/read/store_reader.h"
#include "engine/store/operation_meter.h"

namespace cellar {

struct ScanBudget {
  uint64_t rows = 0;            // 0: no limit
  uint32_t cells_per_part = 0;  // 0: whole rows
  uint64_t bytes_per_part = 0;  // 0: whole rows
  uint64_t row_bytes_max = 0;   // limit for a row, or part of one, in a family; 0: no limit
  PageBounds page = {};         // page of each family of a row
  ScanPace* pace = nullptr;     // borrowed; null: no cursors are returned

  bool in_parts() const { return cells_per_part != 0 || bytes_per_part != 0; }
};

class RowBatchBuilder;
using StoreReaders =
    std::vector<std::unique_ptr<StoreReader>, RecycledAllocator<std::unique_ptr<StoreReader>>>;

// RowReader: the implementation of get and scan: one StoreReader per family. One thread at a time.
class RowReader {
 public:
  // `families` are in the order of their names. `stats` is borrowed and counts the returned cells and
  // rows. The bounds of `range` and `filter`, which may be null, are borrowed, too.
  RowReader(StoreReaders families, const RowRange& range, const ScanBudget& budget, ReadStats* stats,
            Executor* executor, ReadFilter* filter);

  // Adds the next row, a part of a row, or a cursor to `out`. Returns false at the end or after an error.
  bool next(RowBatch& out) { return next_rows(out, {}); }
  // Ahead: how many rows to read at once. After the first row the read ends early once it has examined so
  // many cells, or once its rows have so many bytes. Reads that are not plain give one row.
  struct Ahead {
    size_t rows = 1;
    uint64_t cells = UINT64_MAX;
    uint64_t bytes = UINT64_MAX;
  };
  bool next_rows(RowBatch& out, const Ahead& ahead) {
    return is_plain_ ? next_plain(out, ahead) : next_row(out);
  }
  const Status& status() const { return status_; }
  // Lets go of memtables that were flushed since the read began: it goes on in their files, where it can.
  // Returns whether it has. Nothing that was returned before uses the memtables then, except pinned rows.
  bool leave_flushed() {
    for (const auto& family : families_)
      if (family->may_move()) [[unlikely]]
        return move_to_files();
    return false;
  }
  // Returns whether the read has returned as many rows as it may.
  bool has_all_rows() const { return budget_.rows != 0 && rows_ == budget_.rows && !in_row_; }

 private:
  bool move_to_files();
  bool choose_row();
  bool choose_row_of_one(StoreReader& family);
  bool find_row_of_one(StoreReader& family);
  const RowRange* later_part(std::string_view row) const;
  bool enter_later_part(std::string_view row);
  std::optional<std::string_view> first_row() const;
  bool leave_gap();
  bool failed();
  enum class Entered : uint8_t { kRow, kCursor, kEnd };
  bool next_row(RowBatch& out);
  bool next_plain(RowBatch& out, const Ahead& ahead);
  size_t add_plain_rows(StoreReader& family, RowBatchBuilder& to, const Ahead& ahead);
  size_t add_single_cells(Walk<ReadJudge>& walk, uint64_t row_bytes_max, RowBatchBuilder& to,
                          const Ahead& ahead);
  size_t count_rows(size_t rows, uint64_t cells);
  bool add_plain_row(StoreReader& family, RowBatchBuilder& to);
  Entered enter_next_row(RowBatch& out);
  void pass_checkpoint();
  std::optional<std::string_view> peek_row();
  bool add_cursor_if_due(RowBatch& out);
  bool collect(RowBatch& out);
  bool collect_family(StoreReader& family, RowBatch& out);
  const CellView* next_cell(StoreReader& family);
  template <bool kPaged>
  const CellView* next_chosen(StoreReader& family);
  bool is_on_page(const CellView& cell, StoreReader& family);
  bool is_part_full(const CellView& cell, const RowBatch& out);
  bool count_bytes(const CellView& cell, const StoreReader& family);
  bool add(const CellView& cell, StoreReader& family, RowBatch& out);
  bool decide(RowBatch& out);
  static std::span<const CellView> wanted_row(StoreReader& family);
  bool filter_plain_rows(RowBatch& out);
  bool filter_plain_row(StoreReader& family, std::span<const CellView> row, RowBatch& out);
  void count_examined();

  StoreReaders families_;
  StoreReaders rest_;  // families that are read only for rows that pass the filter
  RowRange range_;     // or the part of the range that is being read
  const std::vector<RowRange>* parts_;
  size_t part_ = 0;
  std::vector<std::unique_ptr<std::string>> resumed_at_;  // rows, which moved readers borrow
  ScanBudget budget_;
  ReadStats* stats_;
  Executor* executor_;
  ReadFilter* filter_;
  std::optional<FamilyPage> page_;
  bool in_parts_;
  bool is_plain_;            // True if one family is read, in whole rows, as its walk gives them
  bool choosy_;              // True if the read may return only some of the walks' cells
  bool filters_only_;        // True if one family is read, in whole rows, and only the filter chooses
  CellView shown_;           // the last cell as the filter returned it
  bool changed_ = false;     // True if the value of shown_ lies elsewhere than that of the stored cell
  uint64_t row_bytes_ = 0;   // bytes of the row, or of its part, in one family
  uint64_t part_bytes_ = 0;  // bytes of the part; counted only if parts are limited by bytes
  std::string row_;          // current row, if there is more than one family, including `rest_`
  size_t family_ = 0;        // index of the family being collected
  bool in_row_ = false;
  // A cell already found that belongs to the next part; its cursor has not moved since.
  const CellView* pending_ = nullptr;
  uint64_t rows_ = 0;
  uint64_t examined_ = 0;
  uint32_t since_checkpoint_ = 0;
  Status status_;
};

// TableScanner: the Scanner for users: a RowReader and one reused batch. The class that derives from it holds
// what the reader borrows, and calls end() before it lets go of that. One thread at a time.
class TableScanner : public Scanner {
 public:
  bool next() final { return ++at_ < rows_ || read_ahead(); }
  RowView row() const final { return at_ < rows_ ? batch_[at_] : RowView(); }
  // The errors name the table. An error that was met ahead of the current row has not happened yet.
  Status status() const final;
  bool next_batch(RowBatch& batch, size_t rows) final;

 protected:
  TableScanner();
  ~TableScanner() override { CELLAR_DCHECK(!reader_); }

  // The objects that a RowReader borrows.
  struct Reads {
    ReadStats* stats;
    Executor* executor;
    ReadFilter* filter;
    OperationMeter* meter = nullptr;  // counts the pieces; null: nobody does
  };
  // Begins, with the arguments of a RowReader. The scanner reads up to `rows_ahead` rows at once. That is 1
  // for a scan whose statistics somebody reads, or whose cells may change.
  void begin(StoreReaders&& families, const RowRange& range, const ScanBudget& budget, const Reads& reads,
             size_t rows_ahead);
  // Lets go of all that it read. The scanner has no rows then.
  void end();
  virtual const std::string& table_name() const = 0;

 private:
  static constexpr uint64_t kCellsAhead = 256;
  static constexpr uint64_t kBytesAhead = 64 << 10;
  static constexpr size_t kRowsAtOnce = 16;  // a scan of so few rows reads them in one piece
  static constexpr size_t kRowsAtFirst = 8;

  bool read_ahead();

  std::optional<RowReader> reader_;
  OperationMeter* meter_ = nullptr;
  RowBatch batch_;
  size_t rows_ = 0;  // in the batch
  size_t at_ = 0;    // of the current row
  size_t rows_ahead_ = 1;
  size_t rows_now_ = 1;
};

}  // namespace cellar
