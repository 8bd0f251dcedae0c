// RowChanges: what mutations of one row come to, given what the row holds before them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cellar/mutation.h"
#include "engine/store/table_state.h"
#include "engine/values/mutation_reader.h"
#include "engine/write/newest_cell.h"
#include "engine/write/prepared_batch.h"

namespace cellar {

// The refusal of a mutation without columns; `what` is "put".
Status no_columns(std::string_view what, std::string_view row);

// kLimit for a mutation that was given more bytes than it can hold; `what` is "put".
Status check_size(std::string_view what, const RowMutation& mutation);

// Adds the families that the mutation writes to, each once. Errors: kInvalidArgument for an unknown family,
// and for a mutation without columns; kLimit for a mutation that is too large.
Status add_touched(TableState& table, const RowMutations::Mutation& mutation, std::vector<Store*>& touched);
Status add_touched(TableState& table, const Put& put, std::vector<Store*>& touched);
Status add_touched(TableState& table, const Delete& erase, std::vector<Store*>& touched);
Status add_touched(TableState& table, const Increment& increment, std::vector<Store*>& touched);
Status add_touched(TableState& table, const Append& append, std::vector<Store*>& touched);

// Returns true if the delete asks for latest versions, which must be read.
bool looks_up(const Delete& erase);

// Turns mutations into cells of a batch. Mutations that read need the row's lock, held exclusively until the
// batch is committed. They all see the row as it is visible now. One write, one thread. The families have
// been looked up by add_touched(). Mutations are borrowed until the batch is finished.
class RowChanges {
 public:
  // How the row is read, where that is not as it is visible now.
  using Read = std::function<Status(const Get& get, RowBatch& found)>;

  RowChanges(TableState& table, PreparedBatch& batch, int64_t now_ms, const Read* read = nullptr)
      : table_(table), batch_(batch), now_ms_(now_ms), read_(read) {}

  int64_t now_ms() const { return now_ms_; }

  // Cells without a timestamp get `unstamped`, which may be kNow.
  Status put(const Put& put, int64_t unstamped = kNow);
  Status erase(const Delete& erase);
  // A cell as it is, except that an unstamped one is stamped.
  Status cell(const Cell& cell);
  // The new values, in the order of Increment::add; as cells, too, only if they are wanted.
  Result<std::vector<int64_t>> increment(const Increment& increment, bool cells_wanted);
  Status append(const Append& append);
  // One of the above, whichever the mutation is; `unstamped` as of put().
  Status apply(const Put& mutation, int64_t unstamped = kNow) { return put(mutation, unstamped); }
  Status apply(const Delete& mutation, int64_t /*unstamped*/ = kNow) { return erase(mutation); }
  Status apply(const Cell& mutation, int64_t /*unstamped*/ = kNow) { return cell(mutation); }
  Status apply(const Append& mutation, int64_t /*unstamped*/ = kNow) { return append(mutation); }
  Status apply(const Increment& mutation, int64_t /*unstamped*/ = kNow) {
    return increment(mutation, mutation.return_cells()).status();
  }
  Status apply(const RowMutations& mutations, int64_t unstamped = kNow);

  // The new cells of increments and appends that are to be returned, in order; of equal coordinates the last.
  Row take_new_cells(std::string_view row);

 private:
  // A column to be written anew, and its current cell, if there is one.
  struct Column {
    std::string_view row, family, qualifier;
    const CellView* current = nullptr;
    Spot spot = {};  // of the current cell, if it was found in memory
  };
  // The columns of a mutation that reads, while their current cells are looked up.
  struct Reading {
    std::string_view row;
    int64_t time_from, time_until;
    const MutationReader& reader;
    NewestCell newest = {};              // of the column that was looked up last
    std::optional<RowBatch> found = {};  // the current cells of all columns, if one had to be read
  };
  // One of the columns with its current cell, which lives until the next call.
  Result<Column> current_of(Reading& reading, const MutationPiece& piece) const;
  Store* store_of(std::string_view family) const;
  Status read(const Get& get, RowBatch& found) const;
  Result<int64_t> stamp_of(const Store& store, std::string_view row, std::string_view qualifier,
                           CellType type, int64_t unstamped) const;
  Status check_time(const Put& put, const MutationPiece& piece) const;
  Result<int64_t> looked_up_timestamp(const Delete& erase, size_t piece);
  Result<int64_t> sum_of(const Increment& increment, const Column& column) const;
  // Writes `value` in place of the current one: later than it, and with its tags.
  Status replace(const Column& column, std::string value, int64_t timestamp, std::string_view tags,
                 bool returned);

  TableState& table_;
  PreparedBatch& batch_;
  const int64_t now_ms_;
  const Read* read_;
  std::vector<Cell> new_cells_;
};

}  // namespace cellar
