// RocksDB as a peer, with HBase's data model on top. Each family is a column family. Flat keys contain the
// timestamp, markers stand for deletes, and compactions drop versions.
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "bench/driver/flat_store.h"
#include "bench/driver/meter.h"
#include "bench/driver/peers.h"
#include "bench/driver/rocksdb_options.h"
#include "bench/driver/rocksdb_rules.h"

namespace cellar::bench {
namespace {

constexpr int kStepsBeforeSeek = 8;  // old versions stepped over before the iterator is moved past them

void check(const rocksdb::Status& status, const char* what) {
  if (!status.ok()) give_up("rocksdb: " + std::string(what) + ": " + status.ToString());
}

std::string_view view(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

// The state that the sessions of a store share.
struct Store {
  std::unique_ptr<rocksdb::DB> db;
  std::vector<std::string> families;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  std::shared_ptr<std::atomic<int64_t>> oldest = std::make_shared<std::atomic<int64_t>>(INT64_MIN);
  std::atomic<bool> has_markers{true};  // whether a get must look for a family marker first
  RowLocks locks;

  rocksdb::ColumnFamilyHandle* handle(std::string_view family) const {
    for (size_t i = 0; i < families.size(); ++i) {
      if (families[i] == family) return handles[i];
    }
    give_up("rocksdb: no family " + std::string(family));
  }
};

struct Bounds {
  int64_t from = 0;
  int64_t until = INT64_MAX;
  int64_t oldest = INT64_MIN;
  CellFilter filter = nullptr;
};

// Reads the visible cells of one row of one family. Used again and again, it allocates nothing.
class RowWalk {
 public:
  // Reads the row at the iterator, which is valid, and leaves the iterator after it. Adds the row's cells and
  // returns their number.
  uint64_t forward(rocksdb::Iterator& at, const Bounds& bounds, Tally& tally) {
    begin_row(at);
    uint64_t found = 0;
    while (at.Valid()) {
      const FlatKey key = parse_versioned(view(at.key()));
      if (key.row != row_) break;
      if (key.column == column_ && key.type == kPutType && ++steps_ == kStepsBeforeSeek) {
        leave_column(at);
        continue;
      }
      if (judge(key, bounds)) found += add(key, view(at.value()), bounds, tally);
      at.Next();
    }
    return found;
  }

  // The row at the iterator, walked from its last cell to its first.
  uint64_t backward(rocksdb::Iterator& at, const Bounds& bounds, Tally& tally) {
    begin_row(at);
    newest_.clear();
    for (; at.Valid(); at.Prev()) {
      const FlatKey key = parse_versioned(view(at.key()));
      if (key.row != row_) break;
      if (key.type == kDeleteFamilyType) {
        family_marker_ = std::max(family_marker_, key.timestamp);
        continue;
      }
      if (key.timestamp < bounds.oldest || key.timestamp < bounds.from || key.timestamp >= bounds.until)
        continue;
      const std::string_view value = view(at.value());
      const std::string_view row = plain_part(key.row, plain_row_);
      if (key.column == column_) newest_.pop_back();  // older than this one
      column_ = key.column;
      const std::string_view qualifier = plain_part(key.qualifier(), plain_qualifier_);
      newest_.push_back({key.timestamp, Tally::weigh(row, qualifier, value),
                         row.size() + qualifier.size() + value.size(),
                         bounds.filter == nullptr || bounds.filter(row, value)});
    }
    uint64_t found = 0;
    for (const Candidate& candidate : newest_) {
      if (candidate.timestamp <= family_marker_ || !candidate.passes) continue;
      tally.add_weight(candidate.weight, candidate.bytes);
      ++found;
    }
    return found;
  }

 private:
  struct Candidate {
    int64_t timestamp;
    uint64_t weight;
    uint64_t bytes;
    bool passes;
  };

  void begin_row(const rocksdb::Iterator& at) {
    const std::string_view key = view(at.key());
    row_.assign(key.data(), part_end(key, 0));
    column_.clear();
    family_marker_ = -1;
    steps_ = 0;
  }

  // Returns true if the cell is visible.
  bool judge(const FlatKey& key, const Bounds& bounds) {
    if (key.type == kDeleteFamilyType) {
      family_marker_ = std::max(family_marker_, key.timestamp);
      return false;
    }
    if (key.column == column_) return false;  // a newer version was taken
    if (key.timestamp <= family_marker_ || key.timestamp < bounds.oldest || key.timestamp < bounds.from ||
        key.timestamp >= bounds.until)
      return false;
    column_.assign(key.column);
    steps_ = 0;
    return true;
  }

  uint64_t add(const FlatKey& key, std::string_view value, const Bounds& bounds, Tally& tally) {
    const std::string_view row = plain_part(key.row, plain_row_);
    if (bounds.filter != nullptr && !bounds.filter(row, value)) return 0;
    tally.add(row, plain_part(key.qualifier(), plain_qualifier_), value);
    return 1;
  }

  void leave_column(rocksdb::Iterator& at) {
    seek_.assign(column_).append(kVersionBytes, '\xff');
    at.Seek(seek_);
    steps_ = 0;
  }

  std::string row_;
  std::string column_;
  std::string seek_;
  std::string plain_row_;
  std::string plain_qualifier_;
  std::vector<Candidate> newest_;  // of the row walked backwards, column by column
  int64_t family_marker_ = -1;
  int steps_ = 0;
};

// Merges the rows of some families in order.
class RowMerge {
 public:
  RowMerge(const ScanIn& in, Store& store)
      : in_(in), store_(store), ends_(in), lower_slice_(ends_.lower), upper_slice_(ends_.upper) {
    bounds_ = {in.from, in.until, store.oldest->load(), in.filter};
    for (size_t i = 0; i < store.families.size(); ++i) {
      const bool wanted =
          in.families.empty() || std::ranges::find(in.families, store.families[i]) != in.families.end();
      if (wanted) add_family(store.handles[i]);
    }
  }

  void run(Tally& tally) {
    for (uint64_t rows = 0; in_.limit == 0 || rows < in_.limit;) {
      if (!choose_row()) break;
      uint64_t found = 0;
      for (size_t i = 0; i < sources_.size(); ++i) {
        rocksdb::Iterator& at = *sources_[i].at;
        if (!at.Valid() || (sources_.size() > 1 && !view(at.key()).starts_with(row_))) continue;
        found += in_.reversed ? sources_[i].walk.backward(at, bounds_, tally)
                              : sources_[i].walk.forward(at, bounds_, tally);
      }
      if (found == 0) continue;
      ++rows;
      ++tally.rows;
    }
    for (const Source& source : sources_) check(source.at->status(), "scan");
  }

 private:
  struct Source {
    std::unique_ptr<rocksdb::Iterator> at;
    RowWalk walk = {};
  };

  void add_family(rocksdb::ColumnFamilyHandle* handle) {
    rocksdb::ReadOptions options;
    options.total_order_seek = true;
    if (!ends_.upper.empty()) options.iterate_upper_bound = &upper_slice_;
    if (!ends_.lower.empty()) options.iterate_lower_bound = &lower_slice_;
    if (in_.from != 0 || in_.until != INT64_MAX) {
      options.table_filter = [from = in_.from, until = in_.until](const rocksdb::TableProperties& file) {
        return may_hold(file, from, until);
      };
    }
    Source source;
    source.at.reset(store_.db->NewIterator(options, handle));
    if (in_.reversed) {
      source.at->SeekToLast();
    } else if (ends_.lower.empty()) {
      source.at->SeekToFirst();
    } else {
      source.at->Seek(ends_.lower);
    }
    sources_.push_back(std::move(source));
  }

  // The next row of all families; false at the end.
  bool choose_row() {
    if (sources_.size() == 1) return sources_[0].at->Valid();
    bool any = false;
    for (const Source& source : sources_) {
      if (!source.at->Valid()) continue;
      const std::string_view key = view(source.at->key());
      const std::string_view row = key.substr(0, part_end(key, 0));
      if (!any || (in_.reversed ? row > row_ : row < row_)) row_ = row;
      any = true;
    }
    return any;
  }

  const ScanIn& in_;
  Store& store_;
  Bounds bounds_;
  const ScanEnds ends_;
  rocksdb::Slice lower_slice_;
  rocksdb::Slice upper_slice_;
  std::string row_;
  std::vector<Source> sources_;
};

class RocksSession : public Session {
 public:
  explicit RocksSession(Store& store) : store_(store) {
    one_row_.prefix_same_as_start = true;
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
  }

  void put(const RowIn& row, Keep keep, int64_t timestamp) override {
    batch_.Clear();
    add(row, timestamp == kClock ? clock_ms() : timestamp);
    write(keep);
  }

  void put_rows(std::span<const RowIn> rows, Keep keep, int64_t timestamp) override {
    batch_.Clear();
    if (timestamp == kClock) timestamp = clock_ms();
    for (const RowIn& row : rows) add(row, timestamp);
    write(keep);
  }

  void erase_row(const RowIn& row, Keep keep) override {
    store_.has_markers = true;
    batch_.Clear();
    key_.clear();
    append_part(key_, row.row);
    append_part(key_, {});
    append_version(key_, clock_ms(), kDeleteFamilyType);
    for (rocksdb::ColumnFamilyHandle* handle : store_.handles) check(batch_.Put(handle, key_, {}), "batch");
    write(keep);
  }

  bool get(std::string_view row, std::string_view family, std::string_view qualifier, Tally& tally) override {
    const std::unique_ptr<rocksdb::Iterator> at = find(row, family, qualifier);
    if (at == nullptr) return false;
    tally.add(row, qualifier, view(at->value()));
    ++tally.rows;
    return true;
  }

  bool get_row(std::string_view row, std::string_view family, Tally& tally) override {
    key_.clear();
    append_part(key_, row);
    const std::unique_ptr<rocksdb::Iterator> at(store_.db->NewIterator(one_row_, store_.handle(family)));
    at->Seek(key_);
    const Bounds bounds{.oldest = store_.oldest->load()};
    uint64_t found = 0;
    if (at->Valid()) found = walk_.forward(*at, bounds, tally);
    check(at->status(), "get_row");
    tally.rows += found != 0 ? 1 : 0;
    return found != 0;
  }

  void scan(const ScanIn& in, Tally& tally) override { RowMerge(in, store_).run(tally); }

  int64_t increment(std::string_view row, std::string_view family, std::string_view qualifier, int64_t amount,
                    Keep keep) override {
    MutexLock lock(store_.locks.of(row));
    CounterBytes counter;
    if (const auto at = find(row, family, qualifier); at != nullptr) counter.load(view(at->value()));
    const int64_t sum = counter.add(amount);
    const CellIn cell{family, qualifier, counter.bytes()};
    put({row, {&cell, 1}}, keep, kClock);
    return sum;
  }

 private:
  void add(const RowIn& row, int64_t timestamp) {
    for (const CellIn& cell : row.cells) {
      key_.clear();
      append_part(key_, row.row);
      append_part(key_, cell.qualifier);
      append_version(key_, timestamp, kPutType);
      check(
          batch_.Put(store_.handle(cell.family), key_, rocksdb::Slice(cell.value.data(), cell.value.size())),
          "batch");
    }
  }

  void write(Keep keep) {
    rocksdb::WriteOptions options;
    options.disableWAL = keep == Keep::kNothing;
    options.sync = keep == Keep::kPower;
    check(store_.db->Write(options, &batch_), "write");
  }

  // An iterator at the newest visible version of the column, or null. It begins at the column unless a marker
  // may stand at the row's head.
  std::unique_ptr<rocksdb::Iterator> find(std::string_view row, std::string_view family,
                                          std::string_view qualifier) {
    std::unique_ptr<rocksdb::Iterator> at(store_.db->NewIterator(one_row_, store_.handle(family)));
    key_.clear();
    append_part(key_, row);
    const int64_t marker = store_.has_markers ? marker_of_row(*at) : -1;
    append_part(key_, qualifier);
    at->Seek(key_);
    while (at->Valid() && view(at->key()).starts_with(key_)) {
      const FlatKey found = parse_versioned(view(at->key()));
      if (found.type == kPutType) {
        const bool visible = found.timestamp > marker && found.timestamp >= store_.oldest->load();
        return visible ? std::move(at) : nullptr;
      }
      at->Next();
    }
    check(at->status(), "get");
    return nullptr;
  }

  // Timestamp of the newest family marker of the row whose prefix is key_; -1 without one.
  int64_t marker_of_row(rocksdb::Iterator& at) {
    for (at.Seek(key_); at.Valid(); at.Next()) {
      const FlatKey found = parse_versioned(view(at.key()));
      if (found.row != key_ || found.qualifier().size() != 2) return -1;
      if (found.type == kDeleteFamilyType) return found.timestamp;
    }
    return -1;
  }

  Store& store_;
  rocksdb::WriteBatch batch_;
  rocksdb::ReadOptions one_row_;
  RowWalk walk_;
  std::string key_;
};

// Adds what carries the data model. The rest are the options of the run.
rocksdb::ColumnFamilyOptions family_options(const StoreOptions& options, const RocksOptions& chosen,
                                            const Store& store,
                                            const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::BlockBasedTableOptions table = chosen.table();
  table.block_cache = cache;
  rocksdb::ColumnFamilyOptions family = chosen.family();
  family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  family.prefix_extractor = row_of_key();
  family.compaction_filter_factory = version_rules(store.oldest);
  family.table_properties_collector_factories.push_back(time_collector());
  if (!chosen.has_own("write_buffer_size"))
    family.write_buffer_size = chosen.common().memtable_bytes(options.memtable_bytes);
  return family;
}

// The cache that RocksDB advises: HyperClockCache since it sizes itself, LRUCache in older versions.
std::shared_ptr<rocksdb::Cache> new_cache(size_t bytes) {
#if ROCKSDB_MAJOR >= 10
  return rocksdb::HyperClockCacheOptions(bytes, 0).MakeSharedCache();
#else
  return rocksdb::NewLRUCache(bytes, 4);
#endif
}

class RocksPeer : public Peer {
 public:
  RocksPeer(std::string name, uint32_t subcompactions) : name_(std::move(name)) {
    if (subcompactions > 1) options_.split_compactions(subcompactions);
  }
  ~RocksPeer() override { close(); }

  std::string name() const override { return name_; }
  std::string version() const override { return rocksdb::GetRocksVersionAsString(true) + " static"; }
  bool has(Feature) const override { return true; }
  Status set(const std::string& name, const std::string& value) override { return options_.set(name, value); }
  std::string options() const override { return options_.common().to_text(); }

  void open(const StoreOptions& options) override {
    rocksdb::DBOptions db = options_.db();
    db.create_if_missing = options.create;
    db.create_missing_column_families = true;
    const auto cache = new_cache(options_.common().cache_bytes(options.cache_bytes));
    store_ = std::make_unique<Store>();
    store_->families = options.families;
    store_->has_markers = !options.create;
    std::vector<rocksdb::ColumnFamilyDescriptor> families = {
        {rocksdb::kDefaultColumnFamilyName, rocksdb::ColumnFamilyOptions()}};
    for (const std::string& family : options.families)
      families.emplace_back(family, family_options(options, options_, *store_, cache));
#if ROCKSDB_MAJOR >= 11
    check(rocksdb::DB::Open(db, options.path, families, &all_handles_, &store_->db), "open");
#else
    rocksdb::DB* opened = nullptr;
    check(rocksdb::DB::Open(db, options.path, families, &all_handles_, &opened), "open");
    store_->db.reset(opened);
#endif
    store_->handles.assign(all_handles_.begin() + 1, all_handles_.end());
    if (!options.create) store_->has_markers = markers_possible_;
  }

  void close() override {
    if (store_ == nullptr) return;
    markers_possible_ = store_->has_markers;
    for (rocksdb::ColumnFamilyHandle* handle : all_handles_)
      check(store_->db->DestroyColumnFamilyHandle(handle), "close family");
    all_handles_.clear();
    check(store_->db->Close(), "close");
    store_.reset();
  }

  std::unique_ptr<Session> session() override { return std::make_unique<RocksSession>(*store_); }

  void flush() override { check(store_->db->Flush({}, store_->handles), "flush"); }

  void compact() override {
    rocksdb::CompactRangeOptions options;
    options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
    for (rocksdb::ColumnFamilyHandle* handle : store_->handles)
      check(store_->db->CompactRange(options, handle, nullptr, nullptr), "compact");
  }

  void settle() override {
    while (busy()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }

  void set_time_to_live(const std::string&, int64_t seconds) override {
    store_->oldest->store(clock_ms() - seconds * 1000);
  }

  uint64_t run_bytes() override { return sum_of("rocksdb.total-sst-files-size"); }
  FileBytes file_bytes() override { return bytes_of_calls(); }
  std::string counted_by() const override { return "proc_self_io"; }

 private:
  uint64_t sum_of(const char* property) {
    uint64_t sum = 0;
    for (rocksdb::ColumnFamilyHandle* handle : store_->handles) {
      uint64_t value = 0;
      if (!store_->db->GetIntProperty(handle, property, &value))
        give_up("rocksdb: no property " + std::string(property));
      sum += value;
    }
    return sum;
  }

  bool busy() {
    return sum_of("rocksdb.mem-table-flush-pending") + sum_of("rocksdb.num-running-flushes") +
               sum_of("rocksdb.compaction-pending") + sum_of("rocksdb.num-running-compactions") !=
           0;
  }

  const std::string name_;
  RocksOptions options_;
  std::unique_ptr<Store> store_;
  std::vector<rocksdb::ColumnFamilyHandle*> all_handles_;
  bool markers_possible_ = true;
};

}  // namespace

std::unique_ptr<Peer> make_rocksdb_peer() { return std::make_unique<RocksPeer>("rocksdb", 1); }
std::unique_ptr<Peer> make_splitting_rocksdb_peer() {
  return std::make_unique<RocksPeer>("rocksdb_split", 2);
}

}  // namespace cellar::bench
