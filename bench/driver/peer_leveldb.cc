// LevelDB as a peer: keys without timestamps, one database for each family, its own overwrites and deletes.
//
// It does less than HBase's data model requires: one version, no markers, no time to live. It does not write
// a row's cells in several families atomically, and logs every write. Timestamps are stored before the
// values.
#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "bench/driver/flat_store.h"
#include "bench/driver/meter.h"
#include "bench/driver/peer_options.h"
#include "bench/driver/peers.h"

namespace cellar::bench {
namespace {

constexpr size_t kStamp = 8;  // bytes of the timestamp in front of a value

void check(const leveldb::Status& status, const char* what) {
  if (!status.ok()) give_up("leveldb: " + std::string(what) + ": " + status.ToString());
}

std::string_view view(const leveldb::Slice& slice) { return {slice.data(), slice.size()}; }

struct LevelStore {
  std::vector<std::string> families;
  std::vector<std::unique_ptr<leveldb::DB>> databases;
  RowLocks locks;

  size_t index(std::string_view family) const {
    for (size_t i = 0; i < families.size(); ++i) {
      if (families[i] == family) return i;
    }
    give_up("leveldb: no family " + std::string(family));
  }
};

// Returns the part of an iterator's value after its timestamp.
std::string_view value_of(std::string_view stored) { return stored.substr(kStamp); }

int64_t stamp_of(std::string_view stored) {
  int64_t timestamp;
  std::memcpy(&timestamp, stored.data(), sizeof timestamp);
  return timestamp;
}

// Merges the rows of some families in order.
class RowMerge {
 public:
  RowMerge(const ScanIn& in, LevelStore& store) : in_(in), ends_(in) {
    leveldb::ReadOptions options;
    options.fill_cache = true;
    for (size_t i = 0; i < store.families.size(); ++i) {
      const bool wanted =
          in.families.empty() || std::ranges::find(in.families, store.families[i]) != in.families.end();
      if (!wanted) continue;
      sources_.emplace_back(store.databases[i]->NewIterator(options));
      place(*sources_.back());
    }
  }

  void run(Tally& tally) {
    for (uint64_t rows = 0; in_.limit == 0 || rows < in_.limit;) {
      if (!choose_row()) break;
      uint64_t found = 0;
      for (const std::unique_ptr<leveldb::Iterator>& at : sources_) found += take_row(*at, tally);
      if (found == 0) continue;
      ++rows;
      ++tally.rows;
    }
    for (const std::unique_ptr<leveldb::Iterator>& at : sources_) check(at->status(), "scan");
  }

 private:
  void place(leveldb::Iterator& at) const {
    if (!in_.reversed) {
      ends_.lower.empty() ? at.SeekToFirst() : at.Seek(ends_.lower);
      return;
    }
    if (ends_.upper.empty()) return at.SeekToLast();
    at.Seek(ends_.upper);
    at.Valid() ? at.Prev() : at.SeekToLast();
  }

  bool inside(const leveldb::Iterator& at) const {
    if (!at.Valid()) return false;
    const std::string_view key = view(at.key());
    return in_.reversed ? key >= ends_.lower : ends_.upper.empty() || key < ends_.upper;
  }

  // The next row of all families; false at the end.
  bool choose_row() {
    bool any = false;
    for (const std::unique_ptr<leveldb::Iterator>& at : sources_) {
      if (!inside(*at)) continue;
      const std::string_view key = view(at->key());
      const std::string_view row = key.substr(0, part_end(key, 0));
      if (!any || (in_.reversed ? row > row_ : row < row_)) row_ = row;
      any = true;
    }
    return any;
  }

  // The cells of the chosen row in one family.
  uint64_t take_row(leveldb::Iterator& at, Tally& tally) {
    uint64_t found = 0;
    for (; at.Valid() && view(at.key()).starts_with(row_); in_.reversed ? at.Prev() : at.Next()) {
      const std::string_view stored = view(at.value());
      const int64_t timestamp = stamp_of(stored);
      if (timestamp < in_.from || timestamp >= in_.until) continue;
      const std::string_view key = view(at.key());
      const std::string_view row = plain_part(key.substr(0, row_.size()), plain_row_);
      if (in_.filter != nullptr && !in_.filter(row, value_of(stored))) continue;
      tally.add(row, plain_part(key.substr(row_.size()), plain_qualifier_), value_of(stored));
      ++found;
    }
    return found;
  }

  const ScanIn& in_;
  const ScanEnds ends_;
  std::string row_;
  std::string plain_row_;
  std::string plain_qualifier_;
  std::vector<std::unique_ptr<leveldb::Iterator>> sources_;
};

class LevelSession : public Session {
 public:
  explicit LevelSession(LevelStore& store) : store_(store), batches_(store.families.size()) {}

  void put(const RowIn& row, Keep keep, int64_t timestamp) override {
    add(row, timestamp == kClock ? clock_ms() : timestamp);
    write(keep);
  }

  void put_rows(std::span<const RowIn> rows, Keep keep, int64_t timestamp) override {
    if (timestamp == kClock) timestamp = clock_ms();
    for (const RowIn& row : rows) add(row, timestamp);
    write(keep);
  }

  void erase_row(const RowIn& row, Keep keep) override {
    for (const CellIn& cell : row.cells) {
      set_key(row.row, cell.qualifier);
      batch(cell.family).Delete(key_);
    }
    write(keep);
  }

  bool get(std::string_view row, std::string_view family, std::string_view qualifier, Tally& tally) override {
    if (!find(row, family, qualifier)) return false;
    tally.add(row, qualifier, value_of(value_));
    ++tally.rows;
    return true;
  }

  bool get_row(std::string_view row, std::string_view family, Tally& tally) override {
    key_.clear();
    append_part(key_, row);
    const std::unique_ptr<leveldb::Iterator> at(store_.databases[store_.index(family)]->NewIterator({}));
    uint64_t found = 0;
    for (at->Seek(key_); at->Valid() && view(at->key()).starts_with(key_); at->Next(), ++found) {
      const std::string_view qualifier = plain_part(view(at->key()).substr(key_.size()), plain_qualifier_);
      tally.add(row, qualifier, value_of(view(at->value())));
    }
    check(at->status(), "get_row");
    tally.rows += found != 0 ? 1 : 0;
    return found != 0;
  }

  void scan(const ScanIn& in, Tally& tally) override { RowMerge(in, store_).run(tally); }

  int64_t increment(std::string_view row, std::string_view family, std::string_view qualifier, int64_t amount,
                    Keep keep) override {
    MutexLock lock(store_.locks.of(row));
    CounterBytes counter;
    if (find(row, family, qualifier)) counter.load(value_of(value_));
    const int64_t sum = counter.add(amount);
    const CellIn cell{family, qualifier, counter.bytes()};
    put({row, {&cell, 1}}, keep, kClock);
    return sum;
  }

 private:
  struct Pending {
    leveldb::WriteBatch batch;
    bool used = false;
  };

  leveldb::WriteBatch& batch(std::string_view family) {
    Pending& pending = batches_[store_.index(family)];
    pending.used = true;
    return pending.batch;
  }

  void set_key(std::string_view row, std::string_view qualifier) {
    key_.clear();
    append_part(key_, row);
    append_part(key_, qualifier);
  }

  void add(const RowIn& row, int64_t timestamp) {
    for (const CellIn& cell : row.cells) {
      set_key(row.row, cell.qualifier);
      value_.assign(reinterpret_cast<const char*>(&timestamp), sizeof timestamp).append(cell.value);
      batch(cell.family).Put(key_, value_);
    }
  }

  void write(Keep keep) {
    leveldb::WriteOptions options;
    options.sync = keep == Keep::kPower;
    for (size_t i = 0; i < batches_.size(); ++i) {
      if (!batches_[i].used) continue;
      check(store_.databases[i]->Write(options, &batches_[i].batch), "write");
      batches_[i].batch.Clear();
      batches_[i].used = false;
    }
  }

  // Leaves timestamp and value in value_.
  bool find(std::string_view row, std::string_view family, std::string_view qualifier) {
    set_key(row, qualifier);
    const leveldb::Status status = store_.databases[store_.index(family)]->Get({}, key_, &value_);
    if (status.IsNotFound()) return false;
    check(status, "get");
    return true;
  }

  LevelStore& store_;
  std::vector<Pending> batches_;
  std::string key_;
  std::string value_;
  std::string plain_qualifier_;
};

double own_cpu() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

class LevelPeer : public Peer {
 public:
  ~LevelPeer() override { close(); }

  std::string name() const override { return "leveldb"; }
  std::string version() const override {
    return std::to_string(leveldb::kMajorVersion) + "." + std::to_string(leveldb::kMinorVersion) +
           " static, one version without timestamps in keys, always logs";
  }
  bool has(Feature) const override { return false; }

  Status set(const std::string& given, const std::string& value) override {
    const std::string name = PeerOptions::spelling(given);
    PeerOptions changed = options_;
    CELLAR_TRY(changed.set(name, value));
    const FamilyOptions& family = changed.family();
    const EngineOptions& engine = changed.engine();
    const bool none = value == "none";
    const bool same = name == "cache_bytes" || name == "memtable_bytes" || name == "block_bytes" ||
                      (name == "compression" && (none || family.compression == "snappy")) ||
                      (name == "bloom" && (none || family.bloom == "row")) ||
                      (name == "cache_policy" && engine.cache_policy == "lru") ||
                      (name == "memtable" && engine.memtable == "skip_list");
    if (!same) return Status::not_supported("leveldb has no " + name + "=" + value);
    compress_ = family.compression != "none";
    filtered_ = family.bloom != "none";
    options_ = changed;
    return {};
  }
  std::string options() const override { return options_.to_text(); }

  void open(const StoreOptions& options) override {
    cache_.reset(leveldb::NewLRUCache(options_.cache_bytes(options.cache_bytes)));
    if (filtered_) filter_.reset(leveldb::NewBloomFilterPolicy(10));
    leveldb::Options level;
    level.create_if_missing = options.create;
    level.write_buffer_size = options_.memtable_bytes(options.memtable_bytes);
    level.max_file_size = 64u << 20;
    level.block_size = options_.family().block_bytes;
    level.block_cache = cache_.get();
    level.filter_policy = filter_.get();
    level.compression = compress_ ? leveldb::kSnappyCompression : leveldb::kNoCompression;
    store_ = std::make_unique<LevelStore>();
    store_->families = options.families;
    for (const std::string& family : options.families) {
      leveldb::DB* opened = nullptr;
      check(leveldb::DB::Open(level, options.path + "/" + family, &opened), "open");
      store_->databases.emplace_back(opened);
    }
  }

  void close() override {
    store_.reset();
    filter_.reset();
    cache_.reset();
  }

  std::unique_ptr<Session> session() override { return std::make_unique<LevelSession>(*store_); }

  // A compaction of keys that nobody has: the memtable is written first, and nothing else.
  void flush() override {
    const leveldb::Slice behind("\xff\xff\xff\xff");
    for (const auto& database : store_->databases) database->CompactRange(&behind, &behind);
  }

  void compact() override {
    for (const auto& database : store_->databases) database->CompactRange(nullptr, nullptr);
  }

  // LevelDB does not say whether it is at work: wait until the process has been idle for a while.
  void settle() override {
    if (store_ == nullptr) return;
    double before = own_cpu();
    while (true) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      const double after = own_cpu();
      if (after - before < 0.002) return;
      before = after;
    }
  }

  void set_time_to_live(const std::string&, int64_t) override { give_up("leveldb has no time to live"); }

  uint64_t run_bytes() override {
    uint64_t sum = 0;
    for (const auto& database : store_->databases) {
      const leveldb::Range all("", "\xff\xff\xff\xff");
      uint64_t bytes = 0;
      database->GetApproximateSizes(&all, 1, &bytes);
      sum += bytes;
    }
    return sum;
  }
  // LevelDB maps the first thousand tables for reading.
  FileBytes file_bytes() override { return {.written = bytes_of_calls().written, .read = std::nullopt}; }
  std::string counted_by() const override { return "proc_self_io"; }

 private:
  PeerOptions options_;
  bool compress_ = true;
  bool filtered_ = true;
  std::unique_ptr<leveldb::Cache> cache_;
  std::unique_ptr<const leveldb::FilterPolicy> filter_;
  std::unique_ptr<LevelStore> store_;
};

}  // namespace

std::unique_ptr<Peer> make_leveldb_peer() { return std::make_unique<LevelPeer>(); }

}  // namespace cellar::bench
