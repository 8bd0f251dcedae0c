// Table: rows of named families; read, write, flush, compact.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/action.h"
#include "cellar/check_and_mutate.h"
#include "cellar/estimate.h"
#include "cellar/ingest.h"
#include "cellar/mutation.h"
#include "cellar/options.h"
#include "cellar/query.h"
#include "cellar/row_batch.h"
#include "cellar/scanner.h"

namespace CELLAR_PUBLIC cellar {

struct StoreFileInfo {
  std::string name;  // below tables/<table id>/<family>/
  uint64_t bytes = 0;
  uint64_t cells = 0;
  uint64_t deletes = 0;
  std::string first_row;
  std::string last_row;
  int64_t time_min = 0;
  int64_t time_max = 0;
  uint64_t sequence_max = 0;
  bool major = false;  // result of a compaction of all files
  int64_t created_ms = 0;
};

struct FamilyInfo {
  FamilyOptions options;
  uint32_t id = 0;
  uint64_t memtable_bytes = 0;  // frozen ones included
  uint64_t memtable_cells = 0;
  uint32_t memtables = 0;
  std::vector<StoreFileInfo> files;  // oldest first
};

struct TableInfo {
  std::string name;
  uint32_t id = 0;
  TableOptions options;              // as create_table takes them, families included
  std::vector<FamilyInfo> families;  // in order of their names
};

struct RangeCount {
  uint64_t rows = 0;
  uint64_t cells = 0;
  bool operator==(const RangeCount&) const = default;
};

struct FlushOptions {
  std::string family = {};  // empty: every family
};

struct CompactOptions {
  bool major = false;       // all files of a family into one, dropping what nobody can see any more
  std::string family = {};  // empty: every family
};

// Any thread may call any function. A table outlives its engine's close() only as a handle: every call then
// fails with kAborted; after a drop with kNotFound.
class Table {
 public:
  virtual ~Table() = default;

  virtual const std::string& name() const = 0;
  virtual TableInfo info() const = 0;

  // Writes: when they return ok, the change is visible and as durable as asked, all of it at once. Errors:
  // kInvalidArgument (unknown family with the nearest as hint, empty row, negative timestamp), kLimit,
  // kReadOnly, kBusy (waited too long for memory or compactions), kNoSpace, kIoError; after
  // kDurabilityUnknown the change may or may not survive.
  virtual Status put(const Put& put, const WriteOptions& options = {}) = 0;
  virtual Status erase(const Delete& erase, const WriteOptions& options = {}) = 0;
  // The new values, in the order of Increment::add (a column added twice: its one sum, twice).
  // kInvalidArgument when a current value is not 8 bytes long or a sum overflows: nothing is changed then.
  virtual Result<std::vector<int64_t>> increment(const Increment& increment,
                                                 const WriteOptions& options = {}) = 0;
  // The new cells, in order of families and qualifiers.
  virtual Result<Row> append(const Append& append, const WriteOptions& options = {}) = 0;
  // All of them or none, at one instant. The new cells of increments and appends, in order of families and
  // qualifiers. kInvalidArgument also for a mutation of another row.
  virtual Result<Row> mutate(const RowMutations& mutations, const WriteOptions& options = {}) = 0;
  // Nobody else's write comes between the condition and the change.
  virtual Result<CheckAndMutateResult> check_and_mutate(const CheckAndMutate& check,
                                                        const WriteOptions& options = {}) = 0;
  // Does these in their order and answers each: one that fails leaves the others alone. Puts and deletes that
  // stand side by side may be written as one, with one time. To have all or nothing, use Engine::write.
  virtual std::vector<ActionResult> batch(std::span<const Action> actions,
                                          const WriteOptions& options = {}) = 0;

  // The row's chosen cells: one row, or none when nothing is visible. kInvalidArgument, kCorruption,
  // kIoError.
  virtual Result<RowBatch> get(const Get& get) = 0;
  // … into a batch that is used again and again: nothing is allocated once it is warm.
  virtual Status get_into(const Get& get, RowBatch& batch) = 0;
  // Whether get() would find anything.
  virtual Result<bool> exists(const Get& get) = 0;
  // … of many, in their order, all as of one instant, as get_many. HBase: existsAll.
  virtual Result<std::vector<bool>> exists_many(std::span<const Get> gets) = 0;
  // The answers to many gets, in their order, all as of one instant; those with a snapshot as of that. They
  // are read in the order of their rows, so that neighbours share blocks. The first failure is the answer.
  virtual Result<std::vector<RowBatch>> get_many(std::span<const Get> gets) = 0;
  virtual Result<std::unique_ptr<Scanner>> scan(const Scan& scan) = 0;
  // Many scans, all as of one instant; those with a snapshot as of that. The first failure is the answer.
  virtual Result<std::vector<std::unique_ptr<Scanner>>> scan_many(std::span<const Scan> scans) = 0;
  // The nearest row that is not before, or not after, `row`: one, or none. `asked` chooses columns, versions
  // and times, and how far to look (Scan::stop). Nothing is before the empty row, all is after it.
  Result<RowBatch> row_at_or_after(std::string_view row, const Scan& asked = {});
  Result<RowBatch> row_at_or_before(std::string_view row, const Scan& asked = {});

  // Exactly how many rows and cells a scan would return, by reading them. `on_way` is called after each row
  // or part of one, and every 100 ms while nothing is found. False ends the count with kAborted.
  Result<RangeCount> count(const Scan& asked = {}, const std::function<bool(const RangeCount&)>& on_way = {});

  // How much there is between two rows, from indexes, filters and memory, whatever the size of the range.
  // kInvalidArgument for a range that ends before it starts, or an unknown family.
  virtual Result<RangeEstimate> estimate(const EstimateRequest& request = {}) = 0;
  // Rows that cut the range into `parts`, 1 to 100,000, of nearly the same size.
  virtual Result<RangeSplits> split_points(size_t parts, const EstimateRequest& request = {}) = 0;

  // Takes finished HFiles in, all of them or none, at one instant, for readers and for crashes. They count as
  // one write: every cell as if written after all that was acknowledged before, whatever sequence it has in
  // its file. Durable when it returns. What is in memory for these families is flushed first. Each file is
  // verified from end to end; one that is unsound (kCorruption), of another family (kInvalidArgument), or
  // not to be taken over (kNotSupported, kLimit) stops all, and the message says which and why. After a
  // failure nothing has come in, unless the engine has become read-only: then all of it may be there after
  // the next open.
  virtual Result<IngestInfo> ingest(const IngestRequest& request) = 0;

  // Writes what is in memory into store files and returns when that is done. kInvalidArgument for a family
  // that the table has not.
  virtual Status flush(const FlushOptions& options = {}) = 0;
  // Without `major` what the family's policy picks, again and again until it picks nothing.
  virtual Status compact(const CompactOptions& options = {}) = 0;
};

}  // namespace cellar
