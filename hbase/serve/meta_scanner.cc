// Sorts the rows of hbase:meta, and reads one after the other.
#include "hbase/serve/meta_scanner.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "hbase/wire/client.pb.h"
#include "hbase/wire/from_wire_read.h"

namespace cellar::hbase::serve {
namespace {

// The parts of a row: "t", "first row" and "7.0a…." of "t,first row,7.0a….".
struct MetaRow {
  std::string_view table;
  bool has_rest = false;
  std::string_view start;
  std::string_view id;

  explicit MetaRow(std::string_view row) : table(row.substr(0, row.find(','))) {
    has_rest = table.size() < row.size();
    if (!has_rest) return;
    start = row.substr(table.size() + 1);
    const size_t comma = start.rfind(',');
    if (comma == start.npos) return;
    id = start.substr(comma + 1);
    start = start.substr(0, comma);
  }
};

class MetaScanner final : public Scanner {
 public:
  MetaScanner(std::shared_ptr<Table> table, std::vector<std::string> rows, wire::WireGet asked)
      : table_(std::move(table)), rows_(std::move(rows)), asked_(std::move(asked)) {}

  bool next() override {
    while (status_.ok() && at_ < rows_.size()) {
      asked_.set_row(rows_[at_++]);
      const Result<Get> get = wire::from_wire_get(asked_);
      status_ = get.ok() ? table_->get_into(*get, batch_) : get.status();
      if (status_.ok() && !batch_.empty()) return true;
    }
    batch_.clear();
    return false;
  }
  RowView row() const override { return batch_.row(); }
  Status status() const override { return status_; }
  bool next_batch(RowBatch& batch, size_t) override {
    const bool more = next();
    batch = std::exchange(batch_, {});
    return more;
  }

 private:
  std::shared_ptr<Table> table_;
  std::vector<std::string> rows_;
  wire::WireGet asked_;
  size_t at_ = 0;
  RowBatch batch_;
  Status status_;
};

// A get that asks for the same cells of one row.
wire::WireGet get_of(const wire::WireScan& scan) {
  wire::WireGet get;
  *get.mutable_columns() = scan.columns();
  *get.mutable_family_time_ranges() = scan.family_time_ranges();
  if (scan.has_filter()) *get.mutable_filter() = scan.filter();
  if (scan.has_time_range()) *get.mutable_time_range() = scan.time_range();
  get.set_max_versions(scan.max_versions());
  if (scan.has_store_limit()) get.set_store_limit(scan.store_limit());
  if (scan.has_store_offset()) get.set_store_offset(scan.store_offset());
  return get;
}

// Returns whether a row lies within the ends of a scan.
bool is_in(const Scan& scan, const std::string& row) {
  const int sign = scan.reversed() ? -1 : 1;
  if (!scan.start().empty()) {
    const int order = sign * compare_meta_rows(row, scan.start());
    if (order < 0 || (order == 0 && !scan.start_inclusive())) return false;
  }
  if (scan.stop().empty()) return true;
  const int order = sign * compare_meta_rows(row, scan.stop());
  return order < 0 || (order == 0 && scan.stop_inclusive());
}

}  // namespace

int compare_meta_rows(std::string_view a, std::string_view b) {
  const MetaRow left(a);
  const MetaRow right(b);
  if (const int order = left.table.compare(right.table); order != 0) return order;
  if (left.has_rest != right.has_rest) return left.has_rest ? 1 : -1;
  if (const int order = left.start.compare(right.start); order != 0) return order;
  return left.id.compare(right.id);
}

Result<std::unique_ptr<Scanner>> scan_meta(const std::shared_ptr<Table>& table, const Scan& scan,
                                           const wire::WireScan& asked) {
  // A read without rows tells whether the families exist.
  wire::WireGet get = get_of(asked);
  get.set_row("none");
  CELLAR_TRY_ASSIGN(const Get probe, wire::from_wire_get(get));
  CELLAR_TRY(table->exists(probe));
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Scanner> all, table->scan(Scan()));
  std::vector<std::string> rows;
  for (const RowView row : *all)
    if (is_in(scan, std::string(row.row()))) rows.emplace_back(row.row());
  CELLAR_TRY(all->status());
  std::ranges::sort(rows,
                    [](const std::string& a, const std::string& b) { return compare_meta_rows(a, b) < 0; });
  if (scan.reversed()) std::ranges::reverse(rows);
  return std::unique_ptr<Scanner>(std::make_unique<MetaScanner>(table, std::move(rows), std::move(get)));
}

}  // namespace cellar::hbase::serve
