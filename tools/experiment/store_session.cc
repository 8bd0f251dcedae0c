// The calls of a workload, as calls of a table.
#include "tools/experiment/store_session.h"

#include <chrono>
#include <utility>

#include "bench/workload/course.h"
#include "bench/workload/data.h"
#include "tools/frame/session.h"

namespace cellar {
namespace {

constexpr std::array<std::string_view, kStoreCalls> kCallNames = {"get",    "scan",      "put",
                                                                  "delete", "increment", "load_batch"};

WriteOptions durable(bench::Keep keep) {
  if (keep == bench::Keep::kNothing) return {.durability = Durability::kSkipWal};
  if (keep == bench::Keep::kPower) return {.durability = Durability::kFsyncWal};
  return {};
}

}  // namespace

std::string_view call_name(StoreCall call) { return kCallNames[static_cast<size_t>(call)]; }

StoreCalls& StoreCalls::operator+=(const StoreCalls& other) {
  for (size_t i = 0; i < times.size(); ++i) times[i] += other.times[i];
  reads += other.reads;
  bytes_returned += other.bytes_returned;
  bytes_put += other.bytes_put;
  return *this;
}

template <class Call>
void StoreSession::time(StoreCall kind, Call&& call) {
  if (stopped()) return;
  const auto begun = std::chrono::steady_clock::now();
  status_ = call();
  const auto taken = std::chrono::steady_clock::now() - begun;
  const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(taken).count();
  calls_.times[static_cast<size_t>(kind)].add(static_cast<uint64_t>(nanoseconds));
}

bool StoreSession::stopped() {
  if (status_.ok() && interrupted()) status_ = interrupted_status("the run was left");
  return !status_.ok();
}

void StoreSession::fill(const bench::RowIn& row, int64_t timestamp) {
  put_.start(row.row);
  for (const bench::CellIn& cell : row.cells) {
    put_.add_at(cell.family, cell.qualifier, timestamp, cell.value);
    calls_.bytes_put += row.row.size() + cell.family.size() + cell.qualifier.size() + bench::kTimestampBytes +
                        cell.value.size();
  }
}

void StoreSession::put(const bench::RowIn& row, bench::Keep keep, int64_t timestamp) {
  fill(row, timestamp);
  time(StoreCall::kPut, [&] { return table_->put(put_, durable(keep)); });
}

void StoreSession::put_rows(std::span<const bench::RowIn> rows, bench::Keep keep, int64_t timestamp) {
  if (stopped()) return;
  batch_.clear();
  for (const bench::RowIn& row : rows) {
    fill(row, timestamp);
    batch_.put(table_, put_);
  }
  time(StoreCall::kLoadBatch, [&] { return engine_.write(batch_, durable(keep)); });
  if (on_batch_) on_batch_(rows.size());
}

void StoreSession::erase_row(const bench::RowIn& row, bench::Keep keep) {
  calls_.bytes_put += row.row.size() + bench::kFamily.size() + bench::kTimestampBytes;
  time(StoreCall::kDelete, [&] { return table_->erase(Delete(row.row), durable(keep)); });
}

bool StoreSession::get(std::string_view row, std::string_view family, std::string_view qualifier,
                       bench::Tally& tally) {
  return read(Get(row).column(family, qualifier), tally);
}

bool StoreSession::get_row(std::string_view row, std::string_view family, bench::Tally& tally) {
  return read(Get(row).family(family), tally);
}

bool StoreSession::read(Get get, bench::Tally& tally) {
  get.stats(&calls_.reads);
  time(StoreCall::kGet, [&] { return table_->get_into(get, rows_); });
  if (!status_.ok()) return false;
  const RowView row = rows_.row();
  bench::Tally got;
  for (const CellView& cell : row) got.add(cell.row(), cell.qualifier(), cell.value_bytes());
  got.rows = row.empty() ? 0 : 1;
  calls_.bytes_returned += bench::bytes_of_cells(got);
  tally += got;
  return !row.empty();
}

void StoreSession::scan(const bench::ScanIn& in, bench::Tally& tally) {
  Scan scan;
  for (const std::string& family : in.families) scan.family(family);
  if (!in.prefix.empty()) scan.prefix(in.prefix);
  if (!in.start.empty()) scan.start(in.start);
  scan.limit(in.limit).reversed(in.reversed).stats(&calls_.reads);
  if (in.from != 0 || in.until != INT64_MAX) scan.time_range(in.from, in.until);
  bench::Tally got;
  time(StoreCall::kScan, [&] { return read_all(scan, in, got); });
  calls_.bytes_returned += bench::bytes_of_cells(got);
  tally += got;
}

Status StoreSession::read_all(const Scan& scan, const bench::ScanIn& in, bench::Tally& tally) {
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Scanner> scanner, table_->scan(scan));
  uint64_t rows = 0;
  while (scanner->next()) {
    if ((++rows & 4095) == 0 && interrupted()) return interrupted_status("the run was left");
    uint64_t counted = 0;
    const RowView row = scanner->row();
    for (const CellView& cell : row) {
      if (in.filter != nullptr && !in.filter(cell.row(), cell.value_bytes())) continue;
      tally.add(cell.row(), cell.qualifier(), cell.value_bytes());
      ++counted;
    }
    tally.rows += counted != 0 ? 1 : 0;
  }
  return scanner->status();
}

int64_t StoreSession::increment(std::string_view row, std::string_view family, std::string_view qualifier,
                                int64_t amount, bench::Keep keep) {
  int64_t value = 0;
  time(StoreCall::kIncrement, [&]() -> Status {
    CELLAR_TRY_ASSIGN(const std::vector<int64_t> values,
                      table_->increment(Increment(row).add(family, qualifier, amount), durable(keep)));
    value = values.front();
    return {};
  });
  return value;
}

}  // namespace cellar
