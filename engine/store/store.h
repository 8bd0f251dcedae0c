// Store: one family of one table: the current StoreView and how it is replaced.
#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/hazards.h"
#include "base/mutex.h"
#include "engine/store/store_view.h"
#include "engine/store/write_pace.h"

namespace cellar {

struct StoreIds {
  uint32_t table = 0;
  uint32_t family = 0;
};

// Any thread may take the view. Inserting and freezing is the write leader's; installing files the background
// work's. One flush of a store runs at a time, and compactions of different files.
class Store : public std::enable_shared_from_this<Store> {
 public:
  Store(StoreIds ids, std::string table_name, std::shared_ptr<const FamilyConfig> config,
        std::shared_ptr<Directory> directory, std::vector<std::shared_ptr<StoreFile>> files,
        uint64_t rewritten_at, uint64_t flushed_sequence, const FamilyTotals& totals = {});

  const StoreIds& ids() const { return ids_; }
  const std::string& table_name() const { return table_name_; }
  const std::string& family() const { return family_; }
  // Returns the directory of its files, or kNotFound once it was dropped: it keeps no descriptor then. A job
  // that began before keeps the directory that it has taken.
  Result<std::shared_ptr<Directory>> directory() const;

  // Keeps what it shows for as long as it is held. A short lock.
  std::shared_ptr<const StoreView> view() const {
    MutexLock lock(mutex_);
    return view_;
  }
  // Returns the view that a snapshot of this read point reads: the current view, or the view kept for it.
  std::shared_ptr<const StoreView> view_at(uint64_t snapshot) const;
  // The last snapshot of this read point was closed.
  void let_go(uint64_t snapshot);

  // The leader's: where writes go. Null until set_active().
  Memtable* active() const { return active_; }
  // The leader's: `fresh` takes the writes from now on, the memtable before it waits for its flush.
  void freeze(MemtableRef fresh);
  // The leader's, or recovery's, for the very first memtable.
  void set_active(MemtableRef first);
  // The leader's: bytes the active memtable has grown by since the last call.
  int64_t take_growth();

  // The result of a flush or compaction.
  struct Rewritten {
    std::vector<std::shared_ptr<StoreFile>> outputs;  // of one run, ascending rows; empty: nothing was left
    uint64_t rewritten_at = 0;                        // the newest read point it was made for
    int64_t newest_dropped_marker = kOldestTimestamp;
    bool dropped_versions = false;  // puts over the version limit
    bool knew_snapshots = false;    // one was open when it began
    bool dropped_live = false;      // cells that open snapshots may see
    bool dropped_any = true;        // a cell of the inputs is not in the outputs
    FamilyTotals work = {};         // what the manifest has added to the family's totals
  };
  // For both installations, `snapshots` holds all open snapshots, none of which may close meanwhile. A
  // snapshot that was opened after the rewrite began may miss dropped cells. Examples are a put that a marker
  // hid, and a version below a newer one that was deleted meanwhile. Such a snapshot keeps the old view.
  struct FlushInstalled {
    uint64_t freed = 0;     // bytes of memory
    size_t views_kept = 0;  // for snapshots
  };
  // These, the oldest frozen memtables, are now in the output.
  FlushInstalled install_flush(std::span<const MemtableRef> memtables, const Rewritten& made,
                               uint64_t flushed_sequence, std::span<const uint64_t> snapshots);
  // The outputs take the place of `inputs`, as their records' runs and file_order.h say; the inputs become
  // obsolete. Views kept.
  size_t install_compaction(std::span<const std::shared_ptr<StoreFile>> inputs, const Rewritten& made,
                            std::span<const uint64_t> snapshots);
  // These files come into another run, as they are.
  void install_move(std::span<const std::shared_ptr<StoreFile>> files, uint64_t run, uint32_t level);
  // Adopted files, the youngest of all, in this order.
  void install_adopted(std::span<const std::shared_ptr<StoreFile>> files);
  void install_config(std::shared_ptr<const FamilyConfig> config);
  // The state of a family that another process writes, as a reader has found it. Null: no change.
  struct Found {
    std::shared_ptr<const FamilyConfig> config = {};
    std::optional<std::vector<PlacedFile>> files = {};  // all of them, in the order of file_order.h
    std::shared_ptr<Directory> directory = {};          // of the files, if the store had none
    MemtableRef active = {};                            // holds what is not in the files
    FamilyTotals totals = {};
    uint64_t flushed_sequence = 0;
  };
  struct FoundInstalled {
    uint64_t freed = 0;     // bytes of memory
    size_t views_kept = 0;  // for snapshots
  };
  // Shows what was found, as of `read_point`: reads that begin at an earlier one start over until that is
  // published. `snapshots` are all open snapshots; they keep the old view.
  FoundInstalled install_found(Found found, uint64_t read_point, const std::vector<uint64_t>& snapshots);
  // Takes the options of the table that are also needed where only the store is known.
  void take_table_options(const TableOptions& table);
  // Called before any other thread knows of the store: scans count the deleted cells that they examine.
  void count_hidden_reads(std::shared_ptr<HiddenReads> reads);
  // Returns true if second tables are derived from the store's table. A write that began before they were
  // must not join the log.
  bool watched() const { return watched_.load(std::memory_order_relaxed); }
  void set_watched(bool watched) { watched_.store(watched, std::memory_order_relaxed); }
  bool read_only() const { return read_only_.load(std::memory_order_acquire); }
  bool compaction_enabled() const { return compaction_enabled_.load(std::memory_order_relaxed); }
  // Timestamps of cells that are written without one.
  Stamps stamps() const { return stamps_.load(std::memory_order_relaxed); }
  // At which size its memtable is flushed.
  uint64_t flush_bytes(const EngineOptions& engine) const {
    const uint64_t own = memtable_bytes_.load(std::memory_order_relaxed);
    return own != 0 ? own : engine.memtable_bytes;
  }
  // From how many sorted runs on writers wait for a compaction, and from how many they are slowed down.
  uint32_t files_stop(const EngineOptions& engine) const {
    const uint32_t own = files_stop_.load(std::memory_order_relaxed);
    return own != 0 ? own : engine.files_stop;
  }
  uint32_t files_slow(const EngineOptions& engine) const;
  // Drops the store: memory and the directory are let go, files become obsolete; later writes are refused by
  // the leader. Bytes of memory freed.
  uint64_t drop();
  // Returns the newest sequence in a memtable that waits for its flush; 0 if none waits.
  uint64_t newest_frozen() const {
    const std::shared_ptr<const StoreView> now = view();
    return now->frozen.empty() ? 0 : now->frozen.front()->summary().sequence_max;
  }
  bool dropped() const { return dropped_.load(std::memory_order_acquire); }

  // Called before any other thread knows of the store. At this sequence, its content replaces the content of
  // `before`. `snapshots` are all open snapshots, which are older. They still read the content of `before`,
  // or nothing if it is null. Returns how many views the store keeps for them.
  size_t replace(const Store* before, uint64_t sequence, std::span<const uint64_t> snapshots);
  // When all of it changed at once, or 0: since it was opened it was not.
  uint64_t replaced_at() const { return replaced_at_; }

  // Everything of this family up to this sequence is in its files.
  uint64_t flushed_sequence() const { return flushed_sequence_.load(std::memory_order_acquire); }
  // The smallest sequence that is only in memory, or UINT64_MAX.
  uint64_t oldest_unflushed() const;

  size_t frozen_count() const { return frozen_count_.load(std::memory_order_relaxed); }
  // Returns the number of sorted runs that compactions may take. The runs that running compactions replace do
  // not count, except one for each compaction.
  size_t run_count() const {
    const int64_t count =
        run_count_.load(std::memory_order_relaxed) - being_replaced_.load(std::memory_order_relaxed);
    return static_cast<size_t>(std::max<int64_t>(0, count));
  }
  // How much was written since the oldest running compaction began.
  struct Backlog {
    uint64_t inputs = 0;  // bytes of the inputs of that compaction; 0: no compaction runs
    uint64_t newer = 0;   // bytes by which the store's files have grown since
  };
  Backlog backlog() const {
    const int64_t newer =
        bytes_.load(std::memory_order_relaxed) - bytes_begun_.load(std::memory_order_relaxed);
    return {inputs_bytes_.load(std::memory_order_relaxed),
            static_cast<uint64_t>(std::max<int64_t>(0, newer))};
  }
  // Returns the size of all files.
  uint64_t bytes() const { return static_cast<uint64_t>(bytes_.load(std::memory_order_relaxed)); }
  // Notes what CompactionPolicy::debt_bytes() says of the files.
  void note_debt_bytes(uint64_t bytes) {
    const uint64_t before = debt_bytes_.exchange(bytes, std::memory_order_relaxed);
    pace_.debt_grew(static_cast<int64_t>(bytes) - static_cast<int64_t>(before));
  }
  uint64_t debt_bytes() const { return debt_bytes_.load(std::memory_order_relaxed); }
  // Begins a compaction of these files, which are busy until it ends. There are `runs_replaced` fewer runs
  // afterwards. The output joins `run`, if that is not 0. Returns a number for compaction_ends(). Returns 0
  // if the compaction has to wait for one that runs. That one has an input, or it adds files to `run` among
  // the same rows.
  uint64_t compaction_begins(std::span<const std::shared_ptr<StoreFile>> inputs, int64_t runs_replaced,
                             uint64_t run);
  void compaction_ends(std::span<const std::shared_ptr<StoreFile>> inputs, uint64_t compaction);
  // A job that plans a compaction holds it until compaction_begins(). So no other one begins meanwhile.
  Mutex& plan_mutex() CELLAR_RETURN_CAPABILITY(plan_mutex_) { return plan_mutex_; }
  // Returns the time since the last call in which compactions ran, in microseconds. Compactions that run at
  // the same time count once.
  int64_t take_compaction_us(int64_t now_us);
  // Compactions leave the file out from now on, because it cannot be read. False if they did already.
  bool set_aside(StoreFile& file);
  // Compactions may take the file again. False if they might already.
  bool take_back(StoreFile& file);
  // Tells if a compaction may make room. Writers wait at files_stop only if one may.
  enum class Compactions : uint8_t {
    kMayHelp,
    kFail,       // the last automatic one failed
    kNotWanted,  // no compaction runs, and the policy has no plan for the files
  };
  void note_compactions(Compactions result) { compactions_.store(result, std::memory_order_relaxed); }
  Compactions compactions() const { return compactions_.load(std::memory_order_relaxed); }
  // A compaction on request begins.
  void note_compaction_comes() {
    Compactions not_wanted = Compactions::kNotWanted;
    compactions_.compare_exchange_strong(not_wanted, Compactions::kMayHelp, std::memory_order_relaxed);
  }
  // The rate at which the store takes writes when compactions do not keep up.
  WritePace& pace() { return pace_; }
  // Cells written with kSkipWal are in memory only: a close must flush them.
  void note_unlogged() { unlogged_.store(true, std::memory_order_relaxed); }
  bool has_unlogged() const { return unlogged_.load(std::memory_order_relaxed); }

  // For the background work: at most one flush and one prefetch run.
  struct Work {
    bool flush_queued = false;
    bool flush_runs = false;
    bool compaction_queued = false;
    int compactions = 0;            // jobs that compact. One on request has the store for itself
    int compaction_requests = 0;    // that wait or run: no automatic compaction begins
    bool compaction_again = false;  // an automatic one was wanted meanwhile
    bool prefetch_runs = false;     // or is queued
    bool prefetch_again = false;    // asked for since it last looked for files
    uint64_t flushes_ended = 0;
    int flush_failures = 0;       // in a row
    int compaction_failures = 0;  // in a row
    Status flush_status;          // of the last flush
  };
  Mutex& work_mutex() CELLAR_RETURN_CAPABILITY(work_mutex_) { return work_mutex_; }
  Work& work() CELLAR_REQUIRES(work_mutex_) { return work_; }

 private:
  // The views that open snapshots keep get these options.
  void alter_kept(const std::shared_ptr<const FamilyConfig>& config);
  static std::vector<uint64_t> keepers(const Outside& outside, const Rewritten& made,
                                       std::span<const uint64_t> snapshots);
  // Replaces the view; the old one is let go after the lock, since that may delete files.
  // Open snapshots of the read points in `keep_for`, which the change may fill, go on reading the old one.
  bool mark_aside(StoreFile& file, bool aside);
  void count_files(const StoreView& view) CELLAR_REQUIRES(mutex_);
  template <class Change>
  void change_view(const Change& change, const std::vector<uint64_t>* keep_for = nullptr);
  friend class ViewLease;
  void let_go_unused() const;
  std::vector<std::shared_ptr<const StoreView>> take_unused() const CELLAR_REQUIRES(mutex_);

  const StoreIds ids_;
  const std::string table_name_;
  const std::string family_;
  mutable Mutex mutex_;
  std::shared_ptr<Directory> directory_ CELLAR_GUARDED_BY(mutex_);  // null once it was dropped
  std::shared_ptr<const StoreView> view_ CELLAR_GUARDED_BY(mutex_);
  std::atomic<const StoreView*> current_{nullptr};  // view_, for leases
  // Replaced views that leases may still use.
  mutable std::vector<std::shared_ptr<const StoreView>> replaced_ CELLAR_GUARDED_BY(mutex_);
  // Views that single snapshots keep, by their read points. Almost always empty.
  std::map<uint64_t, std::shared_ptr<const StoreView>> kept_ CELLAR_GUARDED_BY(mutex_);
  uint64_t replaced_at_ = 0;    // fixed once the store is known to others
  Memtable* active_ = nullptr;  // the leader's; pinned by the view
  std::atomic<bool> dropped_{false};
  std::atomic<bool> unlogged_{false};
  std::atomic<bool> read_only_{false};
  std::atomic<bool> watched_{false};
  std::atomic<bool> compaction_enabled_{true};
  std::atomic<Compactions> compactions_{Compactions::kMayHelp};
  std::atomic<uint64_t> memtable_bytes_{0};  // 0: the engine's
  std::atomic<uint32_t> files_stop_;         // 0: the engine's
  std::atomic<Stamps> stamps_;
  std::atomic<uint64_t> flushed_sequence_;
  std::atomic<size_t> frozen_count_{0};
  std::atomic<int64_t> run_count_{0};
  std::atomic<int64_t> being_replaced_{0};  // runs that there are fewer of when running compactions end
  std::atomic<int64_t> bytes_{0};           // the size of all files
  std::atomic<uint64_t> debt_bytes_{0};
  std::atomic<int64_t> bytes_begun_{0};    // the size of all files when the oldest compaction began
  std::atomic<uint64_t> inputs_bytes_{0};  // the size of the oldest compaction's inputs; 0: none runs
  struct RunningCompaction {
    uint64_t number = 0;
    int64_t runs_replaced = 0;
    uint64_t run = 0;                 // that the output joins, or 0
    std::string first_row, last_row;  // of the inputs
    int64_t bytes_begun = 0;
    uint64_t inputs_bytes = 0;
  };
  void note_oldest_compaction() CELLAR_REQUIRES(mutex_);
  std::vector<RunningCompaction> running_ CELLAR_GUARDED_BY(mutex_);  // the oldest first
  uint64_t compactions_begun_ CELLAR_GUARDED_BY(mutex_) = 0;
  int64_t compaction_seen_us_ CELLAR_GUARDED_BY(mutex_) = -1;  // by take_compaction_us(); -1: none ran then
  Mutex plan_mutex_;
  WritePace pace_;
  Mutex work_mutex_;
  Work work_ CELLAR_GUARDED_BY(work_mutex_);
  // The leader's. It changes with each write, and other threads read what lies near the rest meanwhile.
  alignas(64) uint64_t active_bytes_seen_ = 0;
};

// ViewLease: the view of a store during one read of one thread. It costs no lock and no reference count, as
// view() does. The store must outlive it.
class ViewLease {
 public:
  ViewLease() = default;
  ViewLease(const ViewLease&) = delete;
  ViewLease& operator=(const ViewLease&) = delete;
  ~ViewLease() { end(); }

  // Takes the current view of the store, in the place of the view that the lease has.
  void begin(const Store& store) {
    end();
    store_ = &store;
    if (slot_.take()) [[likely]] {
      view_ = slot_.protect(store.current_);
    } else {
      held_ = store.view();
      view_ = held_.get();
    }
  }
  // Takes a view that is not the current one of a store.
  void begin(std::shared_ptr<const StoreView> view);
  // Gives the view back. Deletes it, with files that nobody else uses, if it was replaced meanwhile.
  void end() {
    if (slot_.is_taken()) [[likely]] {
      slot_.give_back();
      // The lease of a view that was replaced before is seen here. One that is replaced later finds no lease.
      if (store_->current_.load(std::memory_order_seq_cst) != view_) [[unlikely]]
        store_->let_go_unused();
    } else if (held_ != nullptr) {
      held_.reset();
    }
    view_ = nullptr;
  }

  const StoreView& operator*() const { return *view_; }
  const StoreView* operator->() const { return view_; }

 private:
  const Store* store_ = nullptr;
  const StoreView* view_ = nullptr;
  HazardSlot slot_;
  std::shared_ptr<const StoreView> held_;  // if the thread had no slot
};

}  // namespace cellar
