// The two forms of writes: stored cells, and puts with deletes.
#include "tools/transfer/copy_sink.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/coding.h"

namespace cellar {
namespace {

// The last write of a range is on the medium when it returns, and with it the log before it.
WriteOptions write_options(bool last) {
  return {.durability = last ? Durability::kFsyncWal : Durability::kSyncWal};
}

class StoreSink final : public CopySink {
 public:
  StoreSink(Engine& engine, std::shared_ptr<Table> table, uint64_t batch_bytes)
      : engine_(engine), table_(std::move(table)), batch_bytes_(batch_bytes) {}

  Status add(const CellView& cell) override {
    CELLAR_ASSERT(cell.timestamp != kLatestTimestamp);
    const uint64_t with_cell = batch_.bytes() + cell.key_size + cell.value_size;
    if (batch_.mutations() > 0 && with_cell > batch_bytes_) CELLAR_TRY(write(false));
    batch_.cell(table_, cell);
    return {};
  }
  Status finish() override { return write(true); }
  uint64_t tags_left_out() const override { return 0; }

 private:
  Status write(bool last) {
    if (batch_.mutations() == 0) return {};
    CELLAR_TRY(engine_.write(batch_, write_options(last)));
    batch_.clear();
    return {};
  }

  Engine& engine_;
  const std::shared_ptr<Table> table_;
  const uint64_t batch_bytes_;
  Batch batch_;
};

// A list of actions with many rows goes to the servers at once, but only one action of each row does. So the
// first action of each row is in the first list, the second one in the second list, and so on.
class ClusterSink final : public CopySink {
 public:
  ClusterSink(std::shared_ptr<Table> table, uint64_t batch_bytes)
      : table_(std::move(table)), batch_bytes_(batch_bytes) {}

  Status add(const CellView& cell) override {
    CELLAR_ASSERT(cell.timestamp != kLatestTimestamp);
    constexpr size_t kActionsMax = 10'000;  // a server takes 100,000
    const bool new_row = lists_.empty() || cell.row() != row_;
    const uint64_t bytes = cell.key_size + cell.value_size;
    if (bytes_ + bytes > batch_bytes_ || actions_ >= kActionsMax) CELLAR_TRY(write(false));
    if (lists_.empty() || new_row) begin_row(cell.row());
    bytes_ += bytes;
    return cell.type() == CellType::kPut ? add_put(cell) : add_marker(cell);
  }
  Status finish() override { return write(true); }
  uint64_t tags_left_out() const override { return tags_left_out_; }

 private:
  using Ttl = std::optional<int64_t>;

  void begin_row(std::string_view row) {
    row_ = row;
    used_ = 0;
    puts_.clear();
    deletes_.reset();
  }

  // Adds an action of the current row. Returns its list, at whose end it stands until the next row begins.
  template <class Change>
  size_t add_action(Change change) {
    if (used_ == lists_.size()) lists_.emplace_back();
    lists_[used_].emplace_back(std::move(change));
    ++actions_;
    return used_++;
  }

  Ttl ttl_of(const CellView& cell) {
    std::string_view value;
    const bool found = find_tag(cell.tags_bytes(), kTtlTag, value) && value.size() == sizeof(uint64_t);
    constexpr size_t kTtlTagBytes = 3 + sizeof(uint64_t);
    tags_left_out_ += cell.tags_size > (found ? kTtlTagBytes : 0) ? 1 : 0;
    return found ? Ttl(static_cast<int64_t>(load_be64(value.data()))) : Ttl();
  }

  // A time to live is of a whole put: each one that the row has takes a put of its own.
  Status add_put(const CellView& cell) {
    const Ttl ttl = ttl_of(cell);
    auto at = puts_.find(ttl);
    if (at == puts_.end()) {
      Put put(cell.row());
      if (ttl) put.ttl_ms(*ttl);
      at = puts_.emplace(ttl, add_action(std::move(put))).first;
    }
    auto& put = std::get<Put>(lists_[at->second].back());
    put.add_at(cell.family(), cell.qualifier(), cell.timestamp, cell.value_bytes());
    return {};
  }

  // A delete keeps only one marker of a whole family: each of them takes a delete of its own.
  Status add_marker(const CellView& cell) {
    tags_left_out_ += cell.tags_size > 0 ? 1 : 0;
    if (cell.type() == CellType::kDeleteFamily) {
      add_action(std::move(Delete(cell.row()).family(cell.family(), cell.timestamp)));
      return {};
    }
    if (!deletes_) deletes_ = add_action(Delete(cell.row()));
    auto& erase = std::get<Delete>(lists_[*deletes_].back());
    if (cell.type() == CellType::kDelete) {
      erase.version(cell.family(), cell.qualifier(), cell.timestamp);
    } else if (cell.type() == CellType::kDeleteColumn) {
      erase.column(cell.family(), cell.qualifier(), cell.timestamp);
    } else {
      erase.family_version(cell.family(), cell.timestamp);
    }
    return {};
  }

  Status write(bool last) {
    for (const std::vector<Action>& list : lists_) {
      for (const Result<ActionResult>& each : table_->batch(list, write_options(last)))
        CELLAR_TRY(each.status());
    }
    lists_.clear();
    actions_ = 0;
    bytes_ = 0;
    return {};
  }

  const std::shared_ptr<Table> table_;
  const uint64_t batch_bytes_;
  std::vector<std::vector<Action>> lists_;
  std::string row_;                // the current one
  size_t used_ = 0;                // lists that have an action of it
  std::map<Ttl, size_t> puts_;     // and in which list the put of a time to live is
  std::optional<size_t> deletes_;  // and the delete, markers of whole families apart
  size_t actions_ = 0;
  uint64_t bytes_ = 0;
  uint64_t tags_left_out_ = 0;
};

}  // namespace

std::unique_ptr<CopySink> make_store_sink(Engine& engine, std::shared_ptr<Table> table,
                                          uint64_t batch_bytes) {
  return std::make_unique<StoreSink>(engine, std::move(table), batch_bytes);
}

std::unique_ptr<CopySink> make_cluster_sink(std::shared_ptr<Table> table, uint64_t batch_bytes) {
  return std::make_unique<ClusterSink>(std::move(table), batch_bytes);
}

}  // namespace cellar
