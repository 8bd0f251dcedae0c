// LMDB as a peer: a B+ tree in a mapped file, copy on write. Keys have no timestamps; a family is a named
// database.
//
// It does less than HBase's data model requires: one version, no time to live. It neither compresses nor
// checks what it reads, and it has no log: a commit writes the changed pages. One writer works at a time.
// The settings are those of its documentation for many readers: read transactions are renewed instead of
// begun, and are bound to no thread.
#include <lmdb.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/driver/meter.h"
#include "bench/driver/one_version_session.h"
#include "bench/driver/peer_options.h"
#include "bench/driver/peers.h"

namespace cellar::bench {
namespace {

constexpr size_t kMapBytes = size_t{1}
                             << 38;  // addresses, not memory: LMDB asks for more than a store will have

void check(int code, const char* what) {
  if (code != MDB_SUCCESS) give_up("lmdb: " + std::string(what) + ": " + mdb_strerror(code));
}

MDB_val value_from(std::string_view bytes) { return {bytes.size(), const_cast<char*>(bytes.data())}; }
std::string_view view(const MDB_val& value) {
  return {static_cast<const char*>(value.mv_data), value.mv_size};
}

struct LmdbStore {
  std::vector<std::string> families;
  std::vector<MDB_dbi> databases;
  MDB_env* environment = nullptr;

  ~LmdbStore() {
    if (environment != nullptr) mdb_env_close(environment);
  }
};

class LmdbCursor {
 public:
  LmdbCursor(MDB_txn* transaction, MDB_dbi database) {
    MDB_cursor* opened = nullptr;
    check_code(mdb_cursor_open(transaction, database, &opened));
    at_.reset(opened);
  }
  bool valid() const { return valid_; }
  std::string_view key() const { return view(key_); }
  std::string_view value() const { return view(value_); }
  void next() { move(MDB_NEXT); }
  void prev() { move(MDB_PREV); }
  void seek(std::string_view key) {
    key_ = value_from(key);
    move(MDB_SET_RANGE);
  }
  void seek_first() { move(MDB_FIRST); }
  void seek_last() { move(MDB_LAST); }
  void check() const {}  // move() checks

 private:
  struct Close {
    void operator()(MDB_cursor* at) const { mdb_cursor_close(at); }
  };

  static void check_code(int code) { bench::check(code, "scan"); }

  void move(MDB_cursor_op how) {
    const int code = mdb_cursor_get(at_.get(), &key_, &value_, how);
    valid_ = code != MDB_NOTFOUND;
    if (valid_) check_code(code);
  }

  std::unique_ptr<MDB_cursor, Close> at_;
  MDB_val key_{};
  MDB_val value_{};
  bool valid_ = false;
};

// LMDB for one thread, as one_version_session.h describes it.
class LmdbAccess {
 public:
  explicit LmdbAccess(LmdbStore& store) : store_(&store) {}
  LmdbAccess(LmdbAccess&& other) noexcept
      : store_(other.store_),
        reading_(std::exchange(other.reading_, nullptr)),
        writing_(std::exchange(other.writing_, nullptr)) {}
  LmdbAccess& operator=(LmdbAccess&&) = delete;
  ~LmdbAccess() {
    if (writing_ != nullptr) mdb_txn_abort(writing_);
    if (reading_ != nullptr) mdb_txn_abort(reading_);
  }

  const std::vector<std::string>& families() const { return store_->families; }

  void begin_read() {
    if (reading_ == nullptr) {
      check(mdb_txn_begin(store_->environment, nullptr, MDB_RDONLY, &reading_), "begin a read");
    } else {
      check(mdb_txn_renew(reading_), "renew a read");
    }
  }
  void end_read() { mdb_txn_reset(reading_); }

  LmdbCursor cursor(size_t family) { return {reading_, store_->databases[family]}; }

  // Inside locked(), reads what the transaction that writes sees.
  bool find(size_t family, std::string_view key, std::string_view& value) {
    MDB_val wanted = value_from(key);
    MDB_val found{};
    const int code =
        mdb_get(writing_ != nullptr ? writing_ : reading_, store_->databases[family], &wanted, &found);
    if (code == MDB_NOTFOUND) return false;
    check(code, "get");
    value = view(found);
    return true;
  }

  void put(size_t family, std::string_view key, std::string_view value) {
    MDB_val where = value_from(key);
    MDB_val what = value_from(value);
    check(mdb_put(writer(), store_->databases[family], &where, &what, 0), "put");
  }

  void erase(size_t family, std::string_view key) {
    MDB_val where = value_from(key);
    const int code = mdb_del(writer(), store_->databases[family], &where, nullptr);
    if (code != MDB_NOTFOUND) check(code, "delete");
  }

  void write(Keep keep) {
    if (writing_ == nullptr) return;
    check(mdb_txn_commit(std::exchange(writing_, nullptr)), "commit");
    if (keep == Keep::kPower) check(mdb_env_sync(store_->environment, 1), "sync");
  }

  template <class Function>
  void locked(std::string_view, Function function) {
    writer();  // there is one at a time
    function();
  }

 private:
  MDB_txn* writer() {
    if (writing_ == nullptr)
      check(mdb_txn_begin(store_->environment, nullptr, 0, &writing_), "begin a write");
    return writing_;
  }

  LmdbStore* store_;
  MDB_txn* reading_ = nullptr;
  MDB_txn* writing_ = nullptr;
};

class LmdbPeer : public Peer {
 public:
  ~LmdbPeer() override { close(); }

  std::string name() const override { return "lmdb"; }
  std::string version() const override {
    return std::to_string(MDB_VERSION_MAJOR) + "." + std::to_string(MDB_VERSION_MINOR) + "." +
           std::to_string(MDB_VERSION_PATCH) +
           " static, one version without timestamps in keys, no compression";
  }
  bool has(Feature) const override { return false; }

  Status set(const std::string& given, const std::string& value) override {
    const std::string name = PeerOptions::spelling(given);
    PeerOptions changed = options_;
    CELLAR_TRY(changed.set(name, value));
    const bool same = (name == "compression" || name == "bloom") && value == "none";
    if (!same) return Status::not_supported("lmdb has no " + name + "=" + value);
    options_ = changed;
    return {};
  }
  std::string options() const override { return options_.to_text(); }

  void open(const StoreOptions& options) override {
    store_ = std::make_unique<LmdbStore>();
    store_->families = options.families;
    check(mdb_env_create(&store_->environment), "create");
    check(mdb_env_set_mapsize(store_->environment, kMapBytes), "set the size of the map");
    check(mdb_env_set_maxdbs(store_->environment, static_cast<MDB_dbi>(options.families.size())),
          "set databases");
    check(mdb_env_open(store_->environment, options.path.c_str(), MDB_NOTLS | MDB_NOSYNC, 0644), "open");
    MDB_txn* transaction = nullptr;
    check(mdb_txn_begin(store_->environment, nullptr, 0, &transaction), "open databases");
    for (const std::string& family : options.families) {
      MDB_dbi database = 0;
      check(mdb_dbi_open(transaction, family.c_str(), MDB_CREATE, &database), "open a database");
      store_->databases.push_back(database);
    }
    check(mdb_txn_commit(transaction), "open databases");
  }

  void close() override { store_.reset(); }
  std::unique_ptr<Session> session() override {
    return std::make_unique<OneVersionSession<LmdbAccess>>(LmdbAccess(*store_));
  }

  // A tree that is changed in place has neither memtables nor runs.
  void flush() override { check(mdb_env_sync(store_->environment, 1), "sync"); }
  void compact() override {}
  void settle() override {}
  void set_time_to_live(const std::string&, int64_t) override { give_up("lmdb has no time to live"); }

  uint64_t run_bytes() override {
    MDB_envinfo info{};
    MDB_stat stat{};
    check(mdb_env_info(store_->environment, &info), "sizes");
    check(mdb_env_stat(store_->environment, &stat), "sizes");
    return (info.me_last_pgno + 1) * stat.ms_psize;
  }
  FileBytes file_bytes() override { return {.written = bytes_of_calls().written, .read = std::nullopt}; }
  std::string counted_by() const override { return "proc_self_io"; }

 private:
  PeerOptions options_;
  std::unique_ptr<LmdbStore> store_;
};

}  // namespace

std::unique_ptr<Peer> make_lmdb_peer() { return std::make_unique<LmdbPeer>(); }

}  // namespace cellar::bench
