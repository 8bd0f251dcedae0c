// The operations of ClientBench.java, through the library's client. All but the increments work on the rows
// "user…". The counter is this client's own.
#include "tests/cluster/client_bench.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cellar/cellar.h"
#include "tests/interop/bench_rows.h"

namespace cellar::interop {
namespace {

constexpr uint64_t kList = 100;  // operations in a list
constexpr uint64_t kThreads = 4;

class ClientBench {
 public:
  ClientBench(std::shared_ptr<Table> table, uint64_t rows) : table_(std::move(table)), rows_(rows) {
    for (uint64_t i = 0; i < kPool; ++i) values_[i] = value_at(i);
  }

  Status round() {
    CELLAR_TRY(measure("put_lists", rows_, [this](uint64_t&) { return put_lists(); }));
    CELLAR_TRY(measure("put", rows_ / 8, [this](uint64_t&) { return put(rows_ / 8); }));
    CELLAR_TRY(measure("get", rows_ / 4, [this](uint64_t& sum) { return get(0, rows_ / 4, sum); }));
    CELLAR_TRY(measure("get_4_threads", rows_, [this](uint64_t& sum) { return get_in_threads(sum); }));
    CELLAR_TRY(measure("get_lists", rows_, [this](uint64_t& sum) { return get_lists(sum); }));
    CELLAR_TRY(
        measure("full_scan", rows_, [this](uint64_t& sum) { return scan(Scan().prefix("user"), sum); }));
    CELLAR_TRY(measure("scan10", rows_ / 10, [this](uint64_t& sum) { return scans(rows_ / 10, 10, sum); }));
    CELLAR_TRY(measure("scan100", rows_ / 20, [this](uint64_t& sum) { return scans(rows_ / 20, 100, sum); }));
    return measure("increment", rows_ / 8, [this](uint64_t& sum) { return increment(rows_ / 8, sum); });
  }

 private:
  Put put_of(uint64_t k) const { return Put(far_row(k, rows_)).add("f", "q", values_[k % kPool]); }

  Status put(uint64_t operations) {
    for (uint64_t k = 0; k < operations; ++k) CELLAR_TRY(table_->put(put_of(k)));
    return {};
  }

  Status put_lists() {
    for (uint64_t k = 0; k < rows_;) {
      std::vector<Action> list;
      for (const uint64_t end = std::min(k + kList, rows_); k < end; ++k) list.emplace_back(put_of(k));
      for (const Result<ActionResult>& each : table_->batch(list)) CELLAR_TRY(each.status());
    }
    return {};
  }

  Status get(uint64_t from, uint64_t until, uint64_t& sum) const {
    RowBatch found;
    for (uint64_t k = from; k < until; ++k) {
      CELLAR_TRY(table_->get_into(Get(far_row(k, rows_)).column("f", "q"), found));
      for (const CellView& cell : found.row()) sum += looked_at(cell);
    }
    return {};
  }

  Status get_in_threads(uint64_t& sum) const {
    std::array<uint64_t, kThreads> sums{};
    std::array<Status, kThreads> all;
    std::vector<std::thread> threads;
    for (uint64_t i = 0; i < kThreads; ++i)
      threads.emplace_back(
          [&, i] { all[i] = get(rows_ * i / kThreads, rows_ * (i + 1) / kThreads, sums[i]); });
    for (std::thread& each : threads) each.join();
    for (const uint64_t each : sums) sum += each;
    for (const Status& each : all) CELLAR_TRY(each);
    return {};
  }

  Status get_lists(uint64_t& sum) const {
    for (uint64_t k = 0; k < rows_;) {
      std::vector<Get> list;
      for (const uint64_t end = std::min(k + kList, rows_); k < end; ++k)
        list.push_back(std::move(Get(far_row(k, rows_)).column("f", "q")));
      CELLAR_TRY_ASSIGN(const std::vector<RowBatch> found, table_->get_many(list));
      for (const RowBatch& each : found)
        for (const CellView& cell : each.row()) sum += looked_at(cell);
    }
    return {};
  }

  Status scan(const Scan& scan, uint64_t& sum) const {
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Scanner> scanner, table_->scan(scan));
    while (scanner->next())
      for (const CellView& cell : scanner->row()) sum += looked_at(cell);
    return scanner->status();
  }

  Status scans(uint64_t operations, uint64_t limit, uint64_t& sum) const {
    for (uint64_t k = 0; k < operations; ++k)
      CELLAR_TRY(scan(Scan().start(far_row(k, rows_ - limit)).limit(limit), sum));
    return {};
  }

  Status increment(uint64_t operations, uint64_t& sum) {
    for (uint64_t k = 0; k < operations; ++k) {
      CELLAR_TRY_ASSIGN(const int64_t value, table_->increment_one("counter of Cellar", "f", "n", 1));
      sum += static_cast<uint64_t>(value - counted_ - static_cast<int64_t>(k));  // 1, in every round
    }
    counted_ += static_cast<int64_t>(operations);
    return {};
  }

  const std::shared_ptr<Table> table_;
  const uint64_t rows_;
  std::array<std::string, kPool> values_;
  int64_t counted_ = 0;  // by earlier rounds
};

}  // namespace

Status measure_client(const std::string& cluster, const std::string& table, uint64_t rows) {
  CELLAR_TRY_ASSIGN(const auto engine, Engine::open(cluster));
  CELLAR_TRY_ASSIGN(const auto opened, engine->open_table(table));
  ClientBench bench(opened, rows);
  for (std::string line; std::getline(std::cin, line);) {
    CELLAR_TRY(bench.round());
    std::puts("done");
    std::fflush(stdout);
  }
  return engine->close();
}

Status read_first(const std::string& cluster, const std::string& table) {
  CELLAR_TRY_ASSIGN(const auto engine, Engine::open(cluster));
  CELLAR_TRY_ASSIGN(const auto opened, engine->open_table(table));
  CELLAR_TRY_ASSIGN(const bool found, opened->exists(Get(row_at(0))));
  return found ? Status() : Status::not_found("the first row is missing");
}

}  // namespace cellar::interop
