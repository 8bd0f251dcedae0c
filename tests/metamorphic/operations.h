// Plan: a store's options and a list of operations on it, both drawn from a seed. Each operation can be done
// and printed without those before it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cellar/check_and_mutate.h"
#include "cellar/options.h"
#include "tests/cell_support/model_table.h"

namespace cellar::testing {

enum class Work : uint8_t {
  kManual,     // flushes and compactions only when an operation asks for them
  kAutomatic,  // and whenever the engine thinks fit
};

// The condition of a check_and_mutate.
struct ModelCheck {
  std::string family;
  std::string qualifier;
  CompareOp compare = CompareOp::kEqual;
  std::string expected;         // OP what is stored
  bool expects_stored = false;  // what is stored at the time, in place of `expected`
};

// Changes of one row that the user hands over in a single object: a delete, or changes of one kind.
struct RowChange {
  uint32_t table = 0;
  std::string row;
  bool is_delete = false;
  std::vector<ModelChange> changes = {};   // a delete without any deletes the row
  std::optional<int64_t> timestamp = {};   // of a whole-row delete
  std::optional<int64_t> put_ttl_ms = {};  // of every cell of a put
};

// In a list of actions, an entry that is no row change is a get.
inline bool is_get(const RowChange& change) { return !change.is_delete && change.changes.empty(); }

// A filter of which the model knows what it lets pass.
struct ModelFilter {
  enum class Kind : uint8_t {
    kRowPrefix,
    kRow,
    kFamily,
    kColumnPrefix,
    kColumn,
    kValue,
    kPage,
    kRowByColumn
  };
  Kind kind = Kind::kRowPrefix;
  CompareOp compare = CompareOp::kEqual;  // what is stored OP bytes
  std::string bytes;
  uint64_t rows = 1;      // of a page
  std::string family;     // whose column judges rows by its newest value
  std::string qualifier;  // of that column
  bool required = false;  // rows without it are out
};

struct Operation {
  enum class Kind : uint8_t {
    kPut,
    kDelete,
    kIncrement,
    kAppend,
    kRowMutations,
    kCheckAndMutate,
    kBatch,
    kGet,
    kGetMany,
    kExists,
    kScan,
    kOpenScanner,
    kDrainScanner,
    kOpenSnapshot,
    kCloseSnapshot,
    kFlush,
    kCompact,
    kClock,
    kAlter,
    kReopen,
    kReopenReadOnly,
    kIngest,
    kSettle,
    kCrash,
    kGetInto,  // a batch that is used again
    kRowAtOrAfter,
    kRowAtOrBefore,
    kScanOnward,  // page by page, each page a scan that starts after the last row
    kFilteredGet,
    kFilteredScan,
    kCountRows,
    kEstimate,
    kSplitPoints,
    kExplainedGet,
    kExplainedScan,
    kActionList,
    kTransaction,
    kTransactionRolledBack,
    kTransactionInConflict,
    kFlushAll,
    kCompactMajor,
    kRecode,  // a family gets another encoding, codec, Bloom filter and block size
    kTruncate,
    kDropAndCreate,
    kFamilyAnew,  // a family is removed, and one of its name and options added
    kNameSnapshot,
    kDropNamed,
    kReadNamed,
    kRestoreNamed,
    kCloneNamed,
    kCheckpoint,
    kIngestExported,  // what a scan found, written to files that are taken in
  };
  static constexpr size_t kKinds = static_cast<size_t>(Kind::kIngestExported) + 1;
  Kind kind = Kind::kGet;
  uint32_t table = 0;
  std::vector<RowChange> rows;  // one, of a batch several; of an ingest what its files hold; of row mutations
                                // and checks several of one row
  bool unlogged = false;        // written without the log

  ModelCheck check;               // its time range is the scan's
  std::string row;                // of a get
  std::vector<std::string> many;  // rows of a get of many
  ModelScan scan;                 // of a get, exists or scan
  std::string prefix;             // of a scan, in place of bounds
  bool in_batches = false;
  uint64_t cursor_cells = 0;  // of a scan: 0 for no cursors
  bool resumes = false;       // it goes on with a new scan where a cursor says
  ModelFilter filter;         // of a filtered read
  bool on_demand = true;      // it reads families that the filter does not look at only for rows that pass

  uint32_t which = 0;        // a snapshot or scanner, modulo those that are open; of a crash: its seed; of an
                             // ingest: into how many files of a family its rows go, less one
  bool at_snapshot = false;  // read at snapshot `which`, if there is one
  bool major = false;
  std::string family;         // to compact, empty for all; to alter or recode
  int64_t clock_ms = 0;       // the wall clock's new value
  uint32_t max_versions = 1;  // of an altered family
  int64_t ttl_s = 0;
  FamilyOptions coded = {};  // of a recoded family: encoding, compression, bloom and block_bytes count
};
std::string to_text(const Operation& operation);

struct Plan {
  uint64_t seed = 1;
  Work work = Work::kManual;
  bool power_cuts = false;     // crashes are of the machine; every logged write waits for the medium
  bool keeps_history = false;  // the run notes what it was answered
  bool observed = false;       // an observer of the first table adds to the second, and refuses some writes
  EngineOptions engine;
  std::vector<TableOptions> tables;  // named t0, t1, …
  int64_t clock_ms = 0;
  std::vector<Operation> operations;
};
std::string table_name(uint32_t table);
// Options and operations.
Plan make_plan(uint64_t seed, Work work, size_t operations);
// Returns the options of the plan's store, for messages.
std::string options_text(const Plan& plan);

// The family's options as the reference model knows them.
FamilyRules rules_of(const FamilyOptions& family);

}  // namespace cellar::testing
