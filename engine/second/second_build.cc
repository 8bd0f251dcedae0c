// Building a second table, and verifying one.
#include "engine/second/second_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/bytes.h"
#include "engine/second/second_observer.h"

namespace cellar {
namespace {

constexpr size_t kRowsAtOnce = 256;
constexpr size_t kExamples = 10;

Status told(const SecondProgress& on_way, uint64_t rows) {
  if (on_way && !on_way(rows)) return Status::aborted("the caller ended it");
  return {};
}

// The rows of one batch, with the row of the source in an error.
Result<SecondRows> rows_of(const SecondPair& pair, const RowView& row) {
  Result<SecondRows> rows = pair.definition.rows_of(row);
  if (rows.ok()) return rows;
  return rows.status().with_context(fmt::format("table {}, row {}", pair.source->name(), escaped(row.row())));
}

// One transaction's part of the work. `next` is the first row that is not done; empty after the last one.
Status build_part(const SecondPair& pair, TransactionImpl& transaction, size_t rows_max, std::string& next,
                  uint64_t& rows) {
  Scan scan;
  scan.start(next).limit(rows_max);
  pair.definition.choose(scan);
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Scanner> scanner, transaction.scan(pair.source, scan));
  rows = 0;
  while (scanner->next()) {
    const RowView row = scanner->row();
    CELLAR_TRY_ASSIGN(const SecondRows made, rows_of(pair, row));
    for (const std::string& key : made.keys)
      CELLAR_TRY(transaction.put(pair.second, second_row_put(key, made.cells, nullptr)));
    next = std::string(row.row()) + '\0';
    ++rows;
  }
  CELLAR_TRY(scanner->status());
  if (rows < rows_max) next.clear();
  return {};
}

// Compares a row of one table with the other table.
class Comparison {
 public:
  Comparison(const SecondPair& pair, std::shared_ptr<const Snapshot> snapshot)
      : pair_(pair), snapshot_(std::move(snapshot)) {}

  Status source_row(const RowView& row) {
    CELLAR_TRY_ASSIGN(const SecondRows must, rows_of(pair_, row));
    ++check_.source_rows;
    std::vector<Get> gets;
    for (const std::string& key : must.keys) gets.push_back(std::move(Get(key).snapshot(snapshot_)));
    CELLAR_TRY_ASSIGN(const std::vector<RowBatch> found, pair_.second->get_many(gets));
    for (size_t i = 0; i < found.size(); ++i) {
      ++check_.keys;
      if (found[i].empty())
        note(check_.missing, "is missing", must.keys[i], row.row());
      else if (cells_of(found[i].row()) != must.cells)
        note(check_.differing, "has other cells", must.keys[i], row.row());
    }
    return {};
  }

  // A row of the second table: whether its source has it.
  Status second_row(const RowView& row) {
    const std::string source(row.value(kSecondTableFamily, "").value_or(""));
    bool has = false;
    if (!source.empty()) {
      Get get(source);
      get.snapshot(snapshot_);
      pair_.definition.choose(get);
      CELLAR_TRY_ASSIGN(const RowBatch found, pair_.source->get(get));
      CELLAR_TRY_ASSIGN(const SecondRows rows, rows_of(pair_, found.row()));
      has = std::ranges::binary_search(rows.keys, row.row(), {},
                                       [](const auto& key) { return std::string_view(key); });
    }
    if (!has) note(check_.surplus, "should not be there", row.row(), source);
    return {};
  }

  SecondTableCheck take() { return std::move(check_); }

 private:
  static SecondRows::Cells cells_of(const RowView& row) {
    SecondRows::Cells cells;
    for (const CellView& cell : row)
      cells[{std::string(cell.family()), std::string(cell.qualifier())}] = cell.value_bytes();
    return cells;
  }

  void note(uint64_t& count, std::string_view what, std::string_view key, std::string_view source) {
    ++count;
    if (check_.examples.size() < kExamples)
      check_.examples.push_back(
          fmt::format("key {} {} (row {} of {})", escaped(key), what, escaped(source), pair_.source->name()));
  }

  const SecondPair& pair_;
  const std::shared_ptr<const Snapshot> snapshot_;
  SecondTableCheck check_;
};

}  // namespace

Status build_second(const SecondPair& pair, const std::function<std::unique_ptr<TransactionImpl>()>& begin,
                    const SecondProgress& on_way) {
  CELLAR_ASSERT(begin != nullptr);
  size_t rows_max = kRowsAtOnce;
  uint64_t done = 0;
  std::string from;
  do {
    const std::unique_ptr<TransactionImpl> transaction = begin();
    transaction->keep_second_tables();
    std::string next = from;
    uint64_t rows = 0;
    Status status = build_part(pair, *transaction, rows_max, next, rows);
    if (status.ok() && rows != 0) status = transaction->commit();
    // A writer came between, or the rows are too large for one write: fewer at a time.
    if (status.is(Code::kConflict) || (status.is(Code::kLimit) && rows_max > 1)) {
      rows_max = std::max<size_t>(1, rows_max / 2);
      continue;
    }
    CELLAR_TRY(status);
    rows_max = std::min(rows_max * 2, kRowsAtOnce);
    done += rows;
    from = std::move(next);
    CELLAR_TRY(told(on_way, done));
    if (from.empty()) return {};
  } while (true);
}

Result<SecondTableCheck> verify_second(const SecondPair& pair,
                                       const std::shared_ptr<const Snapshot>& snapshot,
                                       const SecondProgress& on_way) {
  Comparison comparison(pair, snapshot);
  uint64_t rows = 0;
  Scan of_source;
  of_source.snapshot(snapshot);
  pair.definition.choose(of_source);
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Scanner> sources, pair.source->scan(of_source));
  while (sources->next()) {
    CELLAR_TRY(comparison.source_row(sources->row()));
    if (++rows % kRowsAtOnce == 0) CELLAR_TRY(told(on_way, rows));
  }
  CELLAR_TRY(sources->status());
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Scanner> seconds, pair.second->scan(Scan().snapshot(snapshot)));
  for (uint64_t at = 0; seconds->next(); ++at) {
    CELLAR_TRY(comparison.second_row(seconds->row()));
    if (at % kRowsAtOnce == 0) CELLAR_TRY(told(on_way, rows));
  }
  CELLAR_TRY(seconds->status());
  return comparison.take();
}

}  // namespace cellar
