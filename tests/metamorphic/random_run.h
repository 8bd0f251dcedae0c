// RandomRun: does a plan's operations on an engine and on its mirror, and compares every answer cell for
// cell.
//
// The engine's flushes and compactions are mirrored through its events. At the beginning, the facts that they
// must respect are noted (read points, options, time). At the end, the mirror does the same to the same
// inputs. All threads run in turns, so that event and mirror see the same instant.
//
// A crash leaves the engine as it stands, perhaps in the middle of a flush or compaction. The run goes on
// with the content of its files at that instant. After a power cut, it goes on with a content that a medium
// may hold. The mirror loses the writes that were neither logged nor flushed, and no others.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cellar/cellar.h"
#include "tests/metamorphic/mirror.h"
#include "tests/support/crash_file_system.h"
#include "tests/support/manual_clock.h"
#include "tests/support/step_executor.h"

namespace cellar::testing {

struct RunFailure {
  size_t operation = 0;  // the one that found it
  std::string text;
};

class RandomRun final : private EventListener {
 public:
  explicit RandomRun(const Plan& plan);
  ~RandomRun() override;

  // Runs the plan, once. Returns the failure, or nothing.
  std::optional<RunFailure> run();
  // Crashes so far.
  uint64_t crashes() const { return crashes_; }
  // Returns the answer to each operation, if the plan keeps them.
  const std::vector<std::string>& history() const { return history_; }

 private:
  struct OpenScanner {
    std::unique_ptr<Scanner> scanner;
    Scan request;
    std::shared_ptr<Table> table;
    bool in_batches = false;
    bool resumes = false;  // with a new scan at each cursor
    std::vector<Part> expected;
  };
  // Part of a list of actions: those that the engine does in a single write, or one get.
  struct ListStep {
    std::vector<RowChange> rows;
    Cells expected;
    bool refused = false;
  };
  // The content of a named snapshot.
  struct NamedContent {
    std::string name;
    std::vector<Mirror> mirrors;
    std::vector<TableOptions> options;
    bool restorable = true;  // nothing of it was in memory
  };
  using Kind = Operation::Kind;

  void open(const EngineOptions& given);
  void close();
  void reopen(bool read_only);
  void crash(const Operation& operation);
  void recover();
  void perform(const Operation& operation);
  void perform_service(const Operation& operation);
  void write(const Operation& operation);
  bool try_write(const Operation& operation);
  Status write_to_engine(const Operation& operation, const std::vector<RowChange>& rows,
                         const WriteOptions& options);
  Status increment(const RowChange& change, const WriteOptions& options);
  Status write_row(const Operation& operation, const std::vector<RowChange>& rows,
                   const WriteOptions& options);
  bool check_holds(const Operation& operation, std::vector<RowChange>& rows);
  void add_observer();
  bool is_observed(const std::vector<RowChange>& rows) const;
  // Returns the rows that the observer adds to the write of these rows, and nothing if it refuses the write.
  // `cells` are the cells of the rows by family.
  std::optional<std::vector<RowChange>> added_to(
      const std::vector<RowChange>& rows, const std::vector<std::map<std::string, Cells>>& cells) const;
  // Returns the cells of the rows of one write, by row. All rows see the state before the write.
  using Written = std::vector<std::map<std::string, Cells>>;
  Result<Written> cells_of_write(const std::vector<RowChange>& rows, Mirror::Written& so_far);
  bool rises(const std::vector<RowChange>& rows) const;
  bool is_refused_by_model(const std::vector<RowChange>& rows);
  // Returns true if a put among them has a time that is further ahead of the clock than the store takes.
  bool is_dated_ahead(const std::vector<RowChange>& rows);
  void apply_pending(uint64_t sequence);
  void catch_up();
  void get(const Operation& operation);
  void get_many(const Operation& operation);
  void scan(const Operation& operation);
  void drain(OpenScanner open);
  void resume(OpenScanner& open, const std::string& cursor, const std::vector<Part>& found);
  void ingest(const Operation& operation);
  void ingest_files(const Operation& operation, const std::map<std::pair<std::string, size_t>, Cells>& files);
  Status build_foreign_file(const IngestFile& file, const FamilyOptions& family, const Cells& cells);
  void alter(const Operation& operation);
  void recode(const Operation& operation);
  void compare_files();

  bool writers_wait_for_compactions() const;
  void action_list(const Operation& operation);
  void transaction(const Operation& operation);
  void run_transaction(const Operation& operation);
  Status fill_transaction(const Operation& operation, Transaction& transaction, std::vector<RowChange>& rows);
  Status write_to_transaction(const RowChange& row, Transaction& transaction,
                              const std::map<std::string, Cells>& cells);
  bool write_beside(const RowChange& of);

  void other_read(const Operation& operation);
  void get_otherwise(const Operation& operation);
  void scan_otherwise(const Operation& operation);
  void nearest_row(const Operation& operation);
  void scan_onward(const Operation& operation);
  void count_rows(const Operation& operation);
  void estimate(const Operation& operation);
  void split_points(const Operation& operation);
  KeyRange range_of(const Operation& operation) const;
  static std::vector<std::string> families_of(const Operation& operation);
  std::vector<Part> parts_of_scan(Table& table, const Scan& scan);
  void expect_parts(const char* what, const std::vector<Part>& found, const std::vector<Part>& expected);

  void table_work(const Operation& operation);
  void expect_content(Table& table, const Mirror& expected);
  void replace_content(const std::function<Status()>& change, const char* what);
  void empty_table(const Operation& operation);
  void family_anew(const Operation& operation);
  void name_snapshot(const Operation& operation);
  void read_named(const NamedContent& named);
  void restore_named(const NamedContent& named, const Operation& operation);
  void mirror_restored(uint32_t table);
  void look_for_restored(const CompactionInfo& info);
  void clone_named(const NamedContent& named, const Operation& operation);
  void checkpoint();
  void ingest_exported(const Operation& operation);

  void fail(std::string text);
  void note(const std::string& answer) {
    if (plan_.keeps_history && !history_.empty()) history_.back() += answer;
  }
  void expect_ok(const Status& status, const char* what) {
    if (!status.ok()) fail(std::string(what) + ": " + status.to_text());
  }
  int64_t now_ms();
  void begin_snapshot();
  // Does to the mirror what a flush or compaction has done to the family.
  void replay_rewrite(const std::string& table, const std::string& family, const Rewrite& rewrite,
                      const std::function<std::optional<std::string>(Mirror&)>& replay);
  ModelScan as_read(const Operation& operation, std::shared_ptr<const Snapshot>& snapshot) const;
  // Returns the facts that a flush or compaction that begins now must respect.
  Rewrite rewrite_now(const std::string& table, const std::string& family);
  Mirror& mirror_of(const std::string& table) { return mirrors_.at(table.back() - '0'); }

  // A clone has no mirror.
  static bool is_mirrored(const std::string& table) { return table.front() == 't'; }
  void on_flush_begin(const FlushInfo& info) override;
  void on_flush_end(const FlushInfo& info) override;
  void on_compaction_begin(const CompactionInfo& info) override;
  void on_compaction_end(const CompactionInfo& info) override;
  void on_ingested(const IngestInfo& info) override;
  void on_background_error(const Status& status) override {
    if (!dead_) expect_ok(status, "in the background");
  }

  const Plan& plan_;
  std::vector<TableOptions> options_;  // as altered
  std::unique_ptr<CrashFileSystem> files_ = std::make_unique<CrashFileSystem>();
  ManualClock clock_;
  int64_t latest_ms_;  // the latest time that the clock showed
  StepExecutor executor_;
  std::vector<Mirror> mirrors_;
  std::unique_ptr<Engine> engine_;
  std::vector<std::shared_ptr<Table>> tables_;
  std::vector<std::shared_ptr<const Snapshot>> snapshots_;
  std::vector<std::weak_ptr<const Snapshot>> given_;  // also those that only a scanner holds
  std::vector<OpenScanner> scanners_;
  std::map<std::string, Rewrite> flushes_;           // under way, by table and family
  std::map<std::string, Rewrite> compactions_;       // under way, by their first input
  const std::vector<RowChange>* pending_ = nullptr;  // handed to the engine, not yet in the mirror
  std::optional<int64_t> computed_at_;               // when the write was, if not now
  std::vector<ListStep> steps_;                      // of a list of actions that was handed to the engine
  size_t next_step_ = 0;                             // the first that is not in the mirror
  std::optional<uint64_t> transaction_point_;  // what an open transaction sees is kept as for a snapshot
  uint64_t observed_point_ =
      0;  // what the counting for the newest observed write sees is kept until it is done
  std::vector<NamedContent> named_;
  const NamedContent* restoring_ = nullptr;  // the engine does
  std::set<uint32_t> to_restore_;            // tables that the mirror has as they were before
  uint64_t names_given_ = 0;
  bool clone_compacts_ = false;           // or has
  std::map<std::string, Cells> foreign_;  // what the files of an ingest hold, by path
  uint64_t foreign_files_ = 0;            // so far
  bool unlogged_ = false;                 // that
  std::vector<int64_t> counters_;         // an increment's new values, by the mirror
  Cells new_cells_;                       // of increments and appends, by the mirror
  bool holds_ = false;                    // a check's condition, by the mirror
  std::string expected_;                  // by that check
  uint64_t sequence_ = 0;                 // of the mirror's newest write
  uint64_t kept_ = 0;                     // of the newest that a crash may not take
  uint64_t crashes_ = 0;
  bool dead_ = false;  // the engine has crashed: what it does until it is gone does not count
  std::vector<std::string> history_;
  std::optional<std::string> failure_;
};

}  // namespace cellar::testing
