// PreparedBatch: validated, stamped and encoded cells of one write, ready for the log and the memtables.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "cellar/mutation.h"
#include "cellar/options.h"
#include "engine/log/wal_format.h"
#include "engine/store/store.h"
#include "engine/write/rising_stamps.h"

namespace cellar {

class CommitCheck;
class TableState;

// PreparedBatch: collects items, then encodes them. Reused from write to write by its thread; one thread at a
// time.
class PreparedBatch {
 public:
  struct Limits {
    uint64_t cell_bytes_max = 0;
    uint64_t batch_bytes_max = 0;
  };
  // A cell as it was added.
  struct Item {
    Store* store;
    std::string_view row;
    std::string_view qualifier;
    std::string_view value;
    std::string_view tags;
    int64_t timestamp;
    CellType type;
    bool superseded;
    Spot spot = {};  // where its memtable should look for its place
  };
  struct PreparedCell {
    Store* store;
    CellView cell;  // bytes lie in the payload; the sequence is set when it has been logged
    Spot spot;
  };

  // `stamps` are those of all cells of the write; none: each family's.
  void begin(std::optional<Stamps> stamps = {});
  // Returns true if unstamped cells of the family get rising stamps: rising_stamp() with now_ms and book().
  bool rises(const Store& store) const { return stamps_.value_or(store.stamps()) == Stamps::kRising; }
  // The cells so far of families whose stamps rise.
  const StampBook& book() const { return book_; }
  // Adds one cell. Bytes are borrowed until finish(). kNow is replaced by the time given to finish().
  void add(Store& store, std::string_view row, std::string_view qualifier, int64_t timestamp, CellType type,
           std::string_view value, std::string_view tags);
  // The cell added last follows the cell that Memtable::find() found here.
  void set_spot(const Spot& spot) {
    CELLAR_ASSERT(!items_.empty());
    items_.back().spot = spot;
  }
  // Keeps `bytes` alive until the next begin(); returns them there.
  std::string_view keep(std::string bytes);

  bool empty() const { return items_.empty(); }
  // Returns the added cells, in this order; until finish() with the timestamps given to add().
  const std::vector<Item>& items() const { return items_; }

  // Stamps, checks limits, lets the last of equal coordinates win, and encodes. Errors name the cell.
  Status finish(int64_t now_ms, const Limits& limits);

  // After finish(): more can be added, and finish() called again. payload() and cells() end; timestamps stay.
  void reopen();
  // Checks an item with a timestamp as finish() will.
  Status check(const Item& item, const Limits& limits) const;

  std::string_view payload() const { return payload_; }
  uint32_t count() const { return builder_.count(); }
  std::vector<PreparedCell>& cells() { return cells_; }
  // Each store that is written to, once.
  const std::vector<Store*>& stores() const { return stores_; }

 private:
  static bool same_coordinates(const Item& a, const Item& b);
  static bool before(const Item& a, const Item& b);
  void resolve_duplicates();
  void resolve_duplicates(std::span<std::pair<uint64_t, uint32_t>> of_one_hash);

  std::optional<Stamps> stamps_;
  StampBook book_;
  std::vector<Item> items_;
  std::vector<std::pair<uint64_t, uint32_t>> hashes_;  // of row and qualifier, with the item's place
  std::vector<std::unique_ptr<std::string>> kept_;     // the first kept_used_ are in use, the others spare
  size_t kept_used_ = 0;
  RecordBuilder builder_;
  std::vector<PreparedCell> cells_;
  std::vector<Store*> stores_;
  std::string_view payload_;
};

// PreparedWrite: a write that is ready to be committed.
struct PreparedWrite {
  PreparedBatch& batch;
  uint64_t sequence = 0;
  CommitCheck* check = nullptr;  // null: the write needs no check
  uint64_t watch = 0;            // of the write path, when the write looked for observers
};

}  // namespace cellar
