// LevelDB as a peer: keys without timestamps, one database for each family, its own overwrites and deletes.
//
// It does less than HBase's data model requires: one version, no markers, no time to live. It does not write
// a row's cells in several families atomically, and logs every write.
#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>
#include <sys/resource.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/driver/flat_store.h"
#include "bench/driver/meter.h"
#include "bench/driver/one_version_session.h"
#include "bench/driver/peer_options.h"
#include "bench/driver/peers.h"

namespace cellar::bench {
namespace {

void check(const leveldb::Status& status, const char* what) {
  if (!status.ok()) give_up("leveldb: " + std::string(what) + ": " + status.ToString());
}

std::string_view view(const leveldb::Slice& slice) { return {slice.data(), slice.size()}; }

struct LevelStore {
  std::vector<std::string> families;
  std::vector<std::unique_ptr<leveldb::DB>> databases;
  RowLocks locks;
};

class LevelCursor {
 public:
  explicit LevelCursor(leveldb::Iterator* at) : at_(at) {}
  bool valid() const { return at_->Valid(); }
  std::string_view key() const { return view(at_->key()); }
  std::string_view value() const { return view(at_->value()); }
  void next() { at_->Next(); }
  void prev() { at_->Prev(); }
  void seek(std::string_view key) { at_->Seek({key.data(), key.size()}); }
  void seek_first() { at_->SeekToFirst(); }
  void seek_last() { at_->SeekToLast(); }
  void check() const { bench::check(at_->status(), "scan"); }

 private:
  std::unique_ptr<leveldb::Iterator> at_;
};

// LevelDB for one thread, as one_version_session.h describes it.
class LevelAccess {
 public:
  explicit LevelAccess(LevelStore& store) : store_(&store), pending_(store.families.size()) {}

  const std::vector<std::string>& families() const { return store_->families; }
  void begin_read() {}
  void end_read() {}
  LevelCursor cursor(size_t family) { return LevelCursor(store_->databases[family]->NewIterator({})); }

  bool find(size_t family, std::string_view key, std::string_view& value) {
    const leveldb::Status status = store_->databases[family]->Get({}, slice(key), &found_);
    if (status.IsNotFound()) return false;
    check(status, "get");
    value = found_;
    return true;
  }

  void put(size_t family, std::string_view key, std::string_view value) {
    batch(family).Put(slice(key), slice(value));
  }
  void erase(size_t family, std::string_view key) { batch(family).Delete(slice(key)); }

  void write(Keep keep) {
    leveldb::WriteOptions options;
    options.sync = keep == Keep::kPower;
    for (size_t i = 0; i < pending_.size(); ++i) {
      if (!pending_[i].used) continue;
      check(store_->databases[i]->Write(options, &pending_[i].batch), "write");
      pending_[i].batch.Clear();
      pending_[i].used = false;
    }
  }

  template <class Function>
  void locked(std::string_view row, Function function) {
    MutexLock lock(store_->locks.of(row));
    function();
  }

 private:
  struct Pending {
    leveldb::WriteBatch batch;
    bool used = false;
  };

  static leveldb::Slice slice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }

  leveldb::WriteBatch& batch(size_t family) {
    pending_[family].used = true;
    return pending_[family].batch;
  }

  LevelStore* store_;
  std::vector<Pending> pending_;
  std::string found_;
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
  bool has(Feature feature) const override {
    return feature == Feature::kCompactions || feature == Feature::kLog;
  }

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

  std::unique_ptr<Session> session() override {
    return std::make_unique<OneVersionSession<LevelAccess>>(LevelAccess(*store_));
  }

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
