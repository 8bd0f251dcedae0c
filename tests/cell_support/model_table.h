// ModelTable: several families, what users ask of them, and the answers, as simple as the data model allows.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cellar/status.h"
#include "tests/cell_support/model_store.h"

namespace cellar::testing {

// One thing a user does to one row.
struct ModelChange {
  enum class Kind : uint8_t {
    kPut,
    kDeleteVersion,  // exactly the timestamp
    kDeleteLatest,   // the newest visible version; the n-th such change of a column in a batch: the n-th
                     // newest
    kDeleteColumn,
    kDeleteFamily,
    kDeleteFamilyVersion,  // exactly the timestamp
    kDeleteRow,            // of every family
    kIncrement,
    kAppend,
  };
  Kind kind = Kind::kPut;
  std::string row = {};
  std::string family = {};
  std::string qualifier = {};
  std::optional<int64_t> timestamp = {};  // absent: the time of the write
  std::string value = {};                 // put, append
  int64_t amount = 0;                     // increment
  std::optional<int64_t> ttl_ms =
      {};  // of the new cell; increment and append carry on the old cell's without
};

struct ModelScan {
  std::string start = {};
  std::string stop = {};
  bool start_inclusive = true;
  bool stop_inclusive = false;
  bool reversed = false;             // start is then the upper end
  uint64_t rows_max = 0;             // 0: all
  uint64_t cells_per_part = 0;       // 0: whole rows; else a row comes in parts of so many cells
  uint64_t bytes_per_part = 0;       // 0: whole rows; else parts of so many bytes, but at least one cell
  uint64_t family_max = 0;           // 0: all; else so many columns of each family of a row
  uint64_t family_offset = 0;        // so many columns are skipped first
  bool family_counts_cells = false;  // in place of columns
  std::map<std::string, std::set<std::string>> columns =
      {};  // family to wanted columns (none: all); empty: all families
  uint32_t versions = 1;
  int64_t time_from = 0;
  int64_t time_until = kLatestTimestamp;
  std::map<std::string, std::pair<int64_t, int64_t>> family_times = {};  // in place of those, by family
  bool strict_versions = false;
  uint64_t read_point = UINT64_MAX;
  bool at_snapshot = false;  // the read point is one
  bool raw = false;
  // A filter of single cells, asked before versions are counted; empty: all pass.
  std::function<bool(const Cell&)> passes = {};
  // A filter of whole rows, asked about what is left of one; empty: all pass.
  std::function<bool(const Cells&)> row_passes = {};
};

// Returns the read of one family that the scan makes.
ModelQuery query_of(const ModelScan& scan, const std::string& family, int64_t now_ms);

// Returns the cells of a row that the limits per family leave.
Cells page_of(const Cells& row, const ModelScan& scan);
// Returns the cells of a family of a row that a filter and then the number of versions leave. `cells` are all
// versions.
Cells filtered(const Cells& cells, const ModelScan& scan);
// A row in the parts in which it comes; none for an empty one.
std::vector<Cells> parts_of(const Cells& row, const ModelScan& scan);

// Is shown each cell of a write, in order, and may change the time of one that was written without.
using ModelStamping = std::function<void(Cell& cell, bool unstamped)>;

// One thread at a time. Writes come with rising sequences; `now_ms` never falls.
class ModelTable {
 public:
  explicit ModelTable(const std::map<std::string, FamilyRules>& families);

  // Applies the changes in a single write. Reads among them see the table before it. Nothing is written, and
  // kInvalidArgument is returned, for an unknown family or a counter that is not 8 bytes or would overflow.
  Status apply(const std::vector<ModelChange>& changes, uint64_t sequence, int64_t now_ms);
  // The cells that apply would write, by family.
  Result<std::map<std::string, Cells>> cells_of(const std::vector<ModelChange>& changes, int64_t now_ms,
                                                const ModelStamping& stamping = {}) const;

  // One element for each returned row or part of a row.
  std::vector<Cells> scan(const ModelScan& scan, int64_t now_ms) const;
  // The cells of one row.
  Cells get(const std::string& row, ModelScan scan, int64_t now_ms) const;

  ModelStore& family(const std::string& name) { return families_.at(name); }
  const std::map<std::string, ModelStore>& families() const { return families_; }

 private:
  Cells column(const ModelChange& change, uint32_t versions, int64_t now_ms) const;
  Result<Cell> computed(const std::vector<ModelChange>& changes, size_t i, int64_t now_ms) const;

  std::map<std::string, ModelStore> families_;
};

}  // namespace cellar::testing
