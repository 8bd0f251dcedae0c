// StoreSession: a workload's way to the store of a run, which times the calls and counts the cost of reads.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "bench/workload/histogram.h"
#include "bench/workload/session.h"
#include "cellar/engine.h"

namespace cellar {

enum class StoreCall : uint8_t { kGet, kScan, kPut, kDelete, kIncrement, kLoadBatch };
constexpr size_t kStoreCalls = 6;
std::string_view call_name(StoreCall call);

// The calls of one or more sessions.
struct StoreCalls {
  std::array<bench::Histogram, kStoreCalls> times;  // nanoseconds
  ReadStats reads;
  uint64_t bytes_returned = 0;  // of the cells that were read
  uint64_t bytes_put = 0;       // of the cells that were written, delete markers included

  StoreCalls& operator+=(const StoreCalls& other);
};

// StoreSession: one thread. After a call that fails, or an interrupt, all later calls do nothing and return
// nothing. Ask status() after each step of a workload. Cells are written with the durability of the engine's
// options. Cells that need not survive the process, such as loaded ones, are not logged.
class StoreSession final : public bench::Session {
 public:
  // The engine outlives the session.
  StoreSession(Engine& engine, std::shared_ptr<Table> table) : engine_(engine), table_(std::move(table)) {}

  const Status& status() const { return status_; }
  const StoreCalls& calls() const { return calls_; }
  // Called after each batch of put_rows(), with its number of rows.
  void on_batch(std::function<void(uint64_t)> call) { on_batch_ = std::move(call); }

  void put(const bench::RowIn& row, bench::Keep keep, int64_t timestamp) override;
  void put_rows(std::span<const bench::RowIn> rows, bench::Keep keep, int64_t timestamp) override;
  void erase_row(const bench::RowIn& row, bench::Keep keep) override;
  bool get(std::string_view row, std::string_view family, std::string_view qualifier,
           bench::Tally& tally) override;
  bool get_row(std::string_view row, std::string_view family, bench::Tally& tally) override;
  void scan(const bench::ScanIn& in, bench::Tally& tally) override;
  int64_t increment(std::string_view row, std::string_view family, std::string_view qualifier, int64_t amount,
                    bench::Keep keep) override;

 private:
  template <class Call>
  void time(StoreCall kind, Call&& call);
  bool stopped();
  void fill(const bench::RowIn& row, int64_t timestamp);
  bool read(Get get, bench::Tally& tally);
  Status read_all(const Scan& scan, const bench::ScanIn& in, bench::Tally& tally);

  Engine& engine_;
  std::shared_ptr<Table> table_;
  std::function<void(uint64_t)> on_batch_;
  Status status_;
  StoreCalls calls_;
  Put put_{""};
  Batch batch_;
  RowBatch rows_;
};

}  // namespace cellar
