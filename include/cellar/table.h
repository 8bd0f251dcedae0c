// Table: rows of named families; read, write, flush, compact.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/action.h"
#include "cellar/check_and_mutate.h"
#include "cellar/estimate.h"
#include "cellar/events.h"
#include "cellar/ingest.h"
#include "cellar/mutation.h"
#include "cellar/options.h"
#include "cellar/query.h"
#include "cellar/row_batch.h"
#include "cellar/scanner.h"
#include "cellar/second_table.h"
#include "cellar/store_file.h"

namespace CELLAR_PUBLIC cellar {

struct FamilyInfo {
  FamilyOptions options;
  uint32_t id = 0;
  uint64_t memtable_bytes = 0;  // frozen memtables included
  uint64_t memtable_cells = 0;
  uint32_t memtables = 0;
  // The oldest run first; the files of a run ascending by rows.
  std::vector<StoreFileInfo> files;

  // Since the family was created, in this store and in all processes that had it open. A checkpoint and a
  // restored table begin at 0. Write amplification is bytes_put, which the log takes, and what flushes and
  // compactions wrote, over bytes_put.
  uint64_t bytes_put = 0;             // keys, values and tags of cells, those in memtables included
  uint64_t bytes_flushed = 0;         // of the files that flushes wrote
  uint64_t bytes_compacted = 0;       // of the files that compactions wrote
  uint64_t bytes_compacted_from = 0;  // of the files that those compactions read
  uint64_t flushes = 0;
  uint64_t compactions = 0;
  // Returns 0 if nothing was put.
  double write_amplification() const {
    const auto put = static_cast<double>(bytes_put);
    return bytes_put == 0 ? 0 : (put + static_cast<double>(bytes_flushed + bytes_compacted)) / put;
  }
};

struct TableInfo {
  std::string name;
  uint32_t id = 0;
  TableOptions options;                    // as create_table takes them, families included
  std::vector<FamilyInfo> families;        // in the order of their names
  std::optional<SecondTable> second = {};  // what it is derived from, if it is a second table
};

struct RangeCount {
  uint64_t rows = 0;
  uint64_t cells = 0;
  bool operator==(const RangeCount&) const = default;
};

// Table: a table of an engine (Engine::create_table, Engine::open_table). HBase: Table.
//
// Any thread may call any function. A handle may outlive the engine's close(): every call then fails with
// kAborted, and after the table is dropped with kNotFound.
class Table {
 public:
  virtual ~Table() = default;

  virtual const std::string& name() const CELLAR_LIFETIME_BOUND = 0;
  // Returns a value. Keep it in a variable: C++20 destroys a temporary before the loop of
  // "for (auto& file : table->info().families[0].files)" begins.
  virtual TableInfo info() const = 0;
  // Returns the store files of a family, in the order of FamilyInfo::files. The list is safe in a range-for.
  // Error: kInvalidArgument for a family that the table does not have.
  Result<std::vector<StoreFileInfo>> files(std::string_view family) const;

  // ---- Writes
  //
  // A write that returns ok is visible and as durable as requested, all of it atomically. It may wait for
  // memory or for compactions, at most EngineOptions::stall_ms_max. Errors: kInvalidArgument (an unknown
  // family, with the nearest one as the hint; an empty row; no columns; a negative timestamp). Also kLimit
  // (larger than an option of EngineOptions allows), kReadOnly, kBusy (waited too long), kConflict (the table
  // was changed meanwhile), kNoSpace, kIoError. After kDurabilityUnknown the change may survive a crash or
  // not.

  virtual Status put(const Put& put, const WriteOptions& options = {}) = 0;
  // Writes delete markers. A marker hides the cells that have its timestamp or an older one, also those that
  // are written later: that is HBase's rule. Two writes within one millisecond have the same timestamp. So of
  // put, erase and put within one millisecond nothing remains visible: the marker hides the second put. A
  // family with FamilyOptions::delete_order = kSequence does not have this problem: a marker hides only what
  // was written before it. The option stamps = kRising avoids it too.
  virtual Status erase(const Delete& erase, const WriteOptions& options = {}) = 0;
  // Returns the sums, in the order of Increment::add. A column that was added twice has its sum twice. Error:
  // kInvalidArgument if a current value is not 8 bytes long, or if a sum overflows; nothing is changed.
  virtual Result<std::vector<int64_t>> increment(const Increment& increment,
                                                 const WriteOptions& options = {}) = 0;
  // Increments one column, and returns its sum.
  Result<int64_t> increment_one(std::string_view row, std::string_view family, std::string_view qualifier,
                                int64_t amount = 1, const WriteOptions& options = {});
  // Returns the new cells, in the order of families and qualifiers.
  virtual Result<Row> append(const Append& append, const WriteOptions& options = {}) = 0;
  // Applies all mutations atomically. Returns the new cells of increments and appends, in the order of
  // families and qualifiers. kInvalidArgument also if a mutation has another row.
  virtual Result<Row> mutate(const RowMutations& mutations, const WriteOptions& options = {}) = 0;
  // Makes the change if the condition holds. No other write of the row comes between the two.
  virtual Result<ActionResult> check_and_mutate(const CheckAndMutate& check,
                                                const WriteOptions& options = {}) = 0;
  // Runs the actions in their order and returns a result for each. An action that fails does not stop the
  // others. Adjacent puts and deletes may be written together, with one timestamp. For all or nothing, use
  // Engine::write.
  virtual std::vector<Result<ActionResult>> batch(std::span<const Action> actions,
                                                  const WriteOptions& options = {}) = 0;

  // Deletes the rows that `which` finds when the function is called: whole rows, or the families and columns
  // that it chooses. Cells newer than its time range stay. Each row is deleted atomically, by one marker for
  // each family or column. The rows are deleted in groups, and not at one instant. Calls `on_way` after each
  // group with the number of rows so far. If it returns false, the function fails with kAborted, and what was
  // deleted stays deleted. Returns the number of rows. Error: kInvalidArgument also if the time range has a
  // beginning, because markers have none. HBase: the BulkDelete endpoint.
  Result<uint64_t> erase_rows(const Scan& which, const std::function<bool(uint64_t rows)>& on_way = {},
                              const WriteOptions& options = {});

  // ---- Reads
  //
  // Errors: kInvalidArgument (an unknown family, with the nearest one as the hint; an empty row; a snapshot
  // of another engine). Also kLimit (a row longer than EngineOptions::row_bytes_max), kCorruption, kIoError.

  // Returns the chosen cells of the row: a batch of one row, or of none if nothing is visible. The batch
  // keeps blocks of the cache in place; get_row() copies.
  virtual Result<RowBatch> get(const Get& get) = 0;
  // Reads into a batch that is used again and again. It does not allocate once the batch has grown.
  virtual Status get_into(const Get& get, RowBatch& batch) = 0;
  // Returns a copy of the row that owns its bytes. Without cells if nothing is visible.
  Result<Row> get_row(const Get& get);
  // Returns whether get() would find anything.
  virtual Result<bool> exists(const Get& get) = 0;
  // Returns the answers of exists() in the order of the gets, as of one instant. HBase: existsAll.
  virtual Result<std::vector<bool>> exists_many(std::span<const Get> gets) = 0;
  // Returns the answers to many gets in their order, as of one instant; gets with a snapshot as of that. They
  // are read in the order of their rows, so that neighbours share blocks. The first failure is returned.
  virtual Result<std::vector<RowBatch>> get_many(std::span<const Get> gets) = 0;
  // Opens a scan, of one range of rows or of many. kInvalidArgument also if the bounds contradict each other.
  virtual Result<std::unique_ptr<Scanner>> scan(const Scan& scan) = 0;
  // Opens many scans as of one instant; scans with a snapshot as of that. The first failure is returned.
  virtual Result<std::vector<std::unique_ptr<Scanner>>> scan_many(std::span<const Scan> scans) = 0;
  // Return the nearest row that is not before `row`, or not after it: a batch of one row, or of none. `asked`
  // chooses columns, versions and times, and how far to look (Scan::stop). No row is before the empty row,
  // and all rows are after it. To find the longest row that is a prefix of `row`, compare the row found: it
  // may be another one.
  Result<RowBatch> row_at_or_after(std::string_view row, const Scan& asked = {});
  Result<RowBatch> row_at_or_before(std::string_view row, const Scan& asked = {});

  // Counts the rows and cells that a scan would return, by reading them. Calls `on_way` after each row or
  // part of a row, and every 100 ms while the scan finds nothing. If it returns false, the count fails with
  // kAborted.
  Result<RangeCount> count(const Scan& asked = {}, const std::function<bool(const RangeCount&)>& on_way = {});

  // Estimates how much lies in a range of rows, from indexes, filters and memory. The cost does not grow with
  // the size of the range. Estimates of disjoint ranges may be added. No families: all. kInvalidArgument if
  // the range ends before it starts, or if a family is unknown.
  virtual Result<RangeEstimate> estimate(const KeyRange& range = {},
                                         const std::vector<std::string>& families = {}) = 0;
  // Returns rows that cut the range into `parts`, 1 to 100,000, of nearly the same size. key_ranges() makes
  // ranges of them.
  virtual Result<RangeSplits> split_points(size_t parts, const KeyRange& range = {},
                                           const std::vector<std::string>& families = {}) = 0;
  // Returns the first row of each region of a cluster's table, ascending. The first of them is the empty row.
  // A table of a store has one region. Errors of a cluster: kNotFound, kBusy, kIoError.
  virtual Result<std::vector<std::string>> region_starts();

  // ---- Files

  // Adopts finished HFiles, all of them or none, at one instant, for readers and for crashes. Durable on
  // return. All their cells count as written by one write, after all writes acknowledged before, whatever
  // sequence a cell has in its file. These families are flushed first. Each file is verified from its
  // beginning to its end. One bad file refuses all; the message tells which and why. Errors: kCorruption for
  // a damaged file; kInvalidArgument for one of another family; kNotSupported or kLimit for one that cannot
  // be adopted. After a failure nothing was adopted, unless the engine became read-only: then all may be
  // there after the next open. A cluster adopts them region by region, each region at one instant: after a
  // failure the message tells how many regions have their files. It refuses files whose rows are in several
  // regions, with kInvalidArgument, before it adopts any. HBase: bulk load.
  virtual Result<IngestInfo> ingest(const IngestRequest& request) = 0;

  // Flushes one family, or all: writes the memtables to store files, and returns when that is done. Error:
  // kInvalidArgument if the table does not have the family.
  virtual Status flush(std::string_view family = {}) = 0;
  // Runs the compactions that the policy of a family picks, until the policy picks nothing. No family: all.
  virtual Status compact(std::string_view family = {}) = 0;
  // Returns the inputs and the reason of a family's next compaction, or nothing if none can begin now. It
  // compacts nothing. `major`: that of major_compact(). `trace`, if not null, receives the lines with which
  // the policy explains itself. Error: kInvalidArgument for an unknown family, or an invalid plan of the
  // policy.
  virtual Result<std::optional<CompactionInfo>> next_compaction(
      std::string_view family, bool major = false, std::vector<std::string>* trace = nullptr) = 0;
  // Compacts all files of a family, or of every family, into one. It drops all that no reader can see.
  virtual Status major_compact(std::string_view family = {}) = 0;
};

}  // namespace cellar
