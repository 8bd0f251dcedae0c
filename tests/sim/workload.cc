// Workload.
#include "tests/sim/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <set>

#include "base/memory_file_system.h"
#include "cellar/hfile_builder.h"
#include "tests/sim/workload_parts.h"
#include "tests/support/status_text.h"

namespace cellar::testing {
namespace {

using Kind = CourseStep::Kind;

class Course {
 public:
  Course(FileSystem& files, Outcome before, const NamedCourse& course, const WorkloadOptions& options)
      : options_(options),
        executor_(options.seed, clock_),
        engine_options_(engine_options(files, clock_, executor_)),
        outcome_(std::move(before)) {
    engine_options_.memtable_bytes = course.memtable_bytes;
    engine_options_.verify_new_files = course.verify_new_files;
    engine_options_.compaction_parts_max = course.parts;
    engine_options_.compaction_part_bytes = 1;
    engine_options_.environment.events = &parts_;
    compaction_ = course.compaction;
    if (!course.automatic) return;
    engine_options_.automatic_compaction = true;
    engine_options_.memtable_bytes_total = 4 * course.memtable_bytes;
    engine_options_.files_slow = 3;
    engine_options_.files_stop = 6;
  }
  ~Course() {
    tables_.clear();
    engine_.reset();
    executor_.finish();
  }

  // `between` is called with the store as it is at the end, before it is closed.
  Outcome run(const std::vector<CourseStep>& steps, const std::function<void()>& between) {
    for (const CourseStep& step : steps) {
      const bool done = perform(step);
      if (engine_ != nullptr) static_cast<void>(hear(engine_->status().health));
      if (!done && (!options_.go_on_after_failure || engine_ == nullptr)) break;
      if (outcome_.wrong) break;
      if (engine_ == nullptr) continue;  // closed
      if (tables_.size() < 2) break;
      compare();
    }
    if (between) {
      executor_.settle();
      between();
    }
    if (options_.heal && engine_ != nullptr && tables_.size() == 2) resume();
    tables_.clear();
    outcome_.parts = parts_.most;
    if (engine_ != nullptr) {
      outcome_.flushes = engine_->status().flushes;
      static_cast<void>(engine_->close());
    }
    return std::move(outcome_);
  }

 private:
  bool perform(const CourseStep& step);
  bool open();
  bool close();
  bool put(const CourseStep& step);
  bool erase(uint64_t id);
  bool ingest(const CourseStep& step);
  bool commit(TriedWrite write, Durability durability, const std::function<Status(const WriteOptions&)>& act);
  bool flush();
  bool alter();
  bool add_family();
  bool make_extra();
  bool alter_extra();
  bool flush_extra();
  bool ask_what_is_refused();
  void resume();
  bool perform_on_tables(CourseStep::Kind kind);
  bool perform_on_feed(CourseStep::Kind kind);
  bool read_feed(const std::string& name);
  bool take_snapshot();
  bool clone();
  // Returns whether the status is ok. An error must name each part once, however many layers it passed.
  bool hear(const Status& status) {
    if (names_a_part_twice(status)) outcome_.wrong = "an error names a part twice: " + status.to_text();
    return status.ok();
  }
  // Records the effect of `status` on a thing that existed or not before.
  bool note(std::optional<bool>& of, const Status& status, bool there) {
    of = status.ok() ? std::optional<bool>(there) : std::nullopt;
    return hear(status);
  }
  bool lose_empty_directories();
  void compare();
  Table& table(const std::string& name) { return *tables_[name == "t" ? 0 : 1]; }

  // Notes the most parts of a compaction.
  class Parts final : public EventListener {
   public:
    std::atomic<uint64_t> most{1};

   private:
    void on_compaction_end(const CompactionInfo& info) override {
      most = std::max<uint64_t>(most, info.parts);
    }
  };

  const WorkloadOptions options_;
  Parts parts_;
  ManualClock clock_;
  StepExecutor executor_;
  EngineOptions engine_options_;
  std::string compaction_;  // of the families of t and u; empty: that of family_of()
  std::unique_ptr<Engine> engine_;
  std::vector<std::shared_ptr<Table>> tables_;
  Outcome outcome_;
};

bool Course::perform(const CourseStep& step) {
  if (step.kind == Kind::kLoseEmptyDirectories) return lose_empty_directories();
  if (engine_ == nullptr && step.kind != Kind::kOpen) return false;
  switch (step.kind) {
    case Kind::kOpen:
      return open();
    case Kind::kClose:
      return close();
    case Kind::kStepClock:
      clock_.set_wall_ms(std::max<int64_t>(0, clock_.wall_ms() + step.clock_ms));
      return true;
    case Kind::kPut:
      return put(step);
    case Kind::kErase:
      return erase(step.id);
    case Kind::kIngest:
      return ingest(step);
    case Kind::kFlush:
      return flush();
    case Kind::kFlushTable:
      return hear(table("t").flush());
    case Kind::kCompact:
    case Kind::kCompactMajor:
      return hear(step.kind == Kind::kCompactMajor ? table("t").major_compact() : table("t").compact());
    case Kind::kAlter:
      return alter();
    case Kind::kAddFamily:
      return add_family();
    case Kind::kWait:
      return hear(engine_->wait_for_background());
    case Kind::kAskWhatIsRefused:
      return ask_what_is_refused();
    default:
      return step.kind >= Kind::kMakeFeed ? perform_on_feed(step.kind) : perform_on_tables(step.kind);
  }
}

bool Course::perform_on_tables(CourseStep::Kind kind) {
  switch (kind) {
    case Kind::kMakeTable:
      return make_extra();
    case Kind::kAlterTable:
      return alter_extra();
    case Kind::kFlushTableX:
      return flush_extra();
    case Kind::kDropTable:
      outcome_.rows = outcome_.altered = std::nullopt;
      return note(outcome_.extra, engine_->drop_table("x"), false);
    case Kind::kTruncateTable:
      return note(outcome_.rows, engine_->truncate_table("x"), false);
    case Kind::kSnapshot:
      return take_snapshot();
    case Kind::kRestoreTable: {
      const Status restored = engine_->named_snapshots().restore("s", {"x"});
      note(outcome_.extra, restored, true);
      outcome_.rows = restored.ok() ? outcome_.kept : std::nullopt;
      outcome_.altered = restored.ok() ? outcome_.kept_altered : std::nullopt;
      return restored.ok();
    }
    case Kind::kCloneTable:
      return clone();
    case Kind::kDropSnapshot:
      return note(outcome_.snapshot, engine_->named_snapshots().drop("s"), false);
    case Kind::kCheckpoint:
      return note(outcome_.copied, engine_->checkpoint("copy").status(), true);
    default:
      return false;
  }
}

// A name that is taken changes nothing; what else failed may have happened.
bool Course::take_snapshot() {
  const Status made = engine_->named_snapshots().create("s").status();
  if (made.is(Code::kInvalidArgument)) return false;
  outcome_.kept = made.ok() ? outcome_.rows : std::nullopt;
  outcome_.kept_altered = made.ok() ? outcome_.altered : std::nullopt;
  return note(outcome_.snapshot, made, true);
}

bool Course::clone() {
  const Status made = engine_->named_snapshots().clone("s", "x", "y").status();
  if (made.is(Code::kInvalidArgument)) return false;
  outcome_.cloned = made.ok() ? outcome_.kept : std::nullopt;
  outcome_.cloned_altered = made.ok() ? outcome_.kept_altered : std::nullopt;
  return note(outcome_.clone, made, true);
}

bool Course::perform_on_feed(CourseStep::Kind kind) {
  switch (kind) {
    case Kind::kMakeFeed:
      return note(outcome_.feed, engine_->feeds().create("all"), true);
    case Kind::kReadFeed:
      return read_feed("all");
    case Kind::kDropFeed:
      return note(outcome_.feed, engine_->feeds().drop("all"), false);
    case Kind::kMakeSmallFeed:
      return note(outcome_.small_feed, engine_->feeds().create(kSmallFeed, small_feed()), true);
    case Kind::kReadSmallFeed:
      return read_feed(kSmallFeed);
    case Kind::kDropSmallFeed:
      return note(outcome_.small_feed, engine_->feeds().drop(kSmallFeed), false);
    default:
      return false;
  }
}

bool Course::read_feed(const std::string& name) {
  const auto reader = engine_->feeds().read(name);
  if (reader.status().is(Code::kLimit)) {
    outcome_.small_feed_refused = name == kSmallFeed;
    return is_lost(*engine_, name);
  }
  if (!reader.ok()) return false;
  while (true) {
    const auto entry = (*reader)->next();
    if (!entry.ok()) return false;
    if (*entry == nullptr) return (*reader)->acknowledge((*reader)->position()).ok();
  }
}

// The fault is over: the engine takes writes again, by itself or once it is told so.
void Course::resume() {
  options_.heal();
  // It needs a new segment of the log, whatever was left in the current one.
  const CourseStep again{.kind = CourseStep::Kind::kPut,
                         .durability = Durability::kFsyncWal,
                         .places = {"t/a"},
                         .bytes = kLogSegmentBytes};
  if (put(again)) {
    outcome_.resumed = Resumed::kByItself;
  } else {
    const Status resumed = engine_->resume();
    if (!resumed.ok()) outcome_.wrong = "does not resume: " + resumed.to_text();
    outcome_.resumed = resumed.ok() && put(again) ? Resumed::kByResume : Resumed::kNot;
  }
  if (outcome_.resumed == Resumed::kNot && !outcome_.wrong)
    outcome_.wrong = "takes no writes after resume(): " + engine_->status().health.to_text();
  compare();
  const Status flushed = outcome_.wrong ? Status() : engine_->flush();
  if (!flushed.ok()) outcome_.wrong = "does not flush after it resumed: " + flushed.to_text();
  // Failed background work is tried again within a minute.
  for (int i = 0; i < 20 && !engine_->status().health.ok(); ++i) executor_.pause_us(10'000'000);
  const Status health = engine_->status().health;
  if (!outcome_.wrong && !health.ok()) outcome_.wrong = "health is not ok: " + health.to_text();
}

bool Course::open() {
  auto opened = Engine::open("store", engine_options_);
  if (!hear(opened.status())) return false;
  engine_ = std::move(opened).value();
  const auto family = [&](const char* name) {
    FamilyOptions options = family_of(name);
    if (!compaction_.empty()) options.compaction = compaction_;
    return options;
  };
  auto t = engine_->open_or_create_table("t", {.families = {family("a"), family("b"), family("c")}});
  if (!t.ok()) return false;
  auto u = engine_->open_or_create_table("u", {.families = {family("d")}});
  if (!u.ok()) return false;
  tables_ = {std::move(t).value(), std::move(u).value()};
  outcome_.made = true;
  return true;
}

bool Course::close() {
  tables_.clear();
  const bool closed = hear(engine_->close());
  engine_.reset();
  if (!closed) return false;
  for (TriedWrite& write : outcome_.writes)
    if (write.fate >= Fate::kVisible) write.fate = Fate::kDurable;
  return true;
}

// An acknowledged kFsyncWal makes everything logged before it durable.
bool Course::commit(TriedWrite write, Durability durability,
                    const std::function<Status(const WriteOptions&)>& act) {
  const Status status = act({.durability = durability});
  write.fate = Fate::kFailed;
  if (status.ok()) {
    write.fate = durability == Durability::kSkipWal    ? Fate::kVisible
                 : durability == Durability::kFsyncWal ? Fate::kDurable
                                                       : Fate::kKilled;
  }
  outcome_.writes.push_back(std::move(write));
  return hear(status);
}

// One cell at each of these places ("table/family"), and in the shared row of the first.
bool Course::put(const CourseStep& step) {
  TriedWrite write{.id = outcome_.writes.size() + 1, .unlogged = step.durability == Durability::kSkipWal};
  const std::string row = fmt::format("r{:03}", write.id);
  const auto timestamp = static_cast<int64_t>(write.id);
  const std::string value(step.bytes, static_cast<char>('a' + write.id % 26));
  Batch batch;
  for (const std::string& place : step.places) {
    const std::string table = place.substr(0, 1);
    const std::string family = place.substr(2);
    Put own(row);
    own.add_at(family, "q", timestamp, value);
    batch.put(tables_[table == "t" ? 0 : 1], own);
    write.cells.push_back(place + "/" + row);
    if (place != step.places.front()) continue;
    Put shared(kShared);
    shared.add_at(family, "q", timestamp, value);
    batch.put(tables_[table == "t" ? 0 : 1], shared);
    write.cells.push_back(fmt::format("{}/{}@{}", place, kShared, timestamp));
  }
  return commit(std::move(write), step.durability,
                [&](const WriteOptions& options) { return engine_->write(batch, options); });
}

// Deletes the row of an earlier write to table t; its cell in the shared row stays.
bool Course::erase(uint64_t id) {
  TriedWrite write{.id = outcome_.writes.size() + 1, .deletes = id};
  Delete row(fmt::format("r{:03}", id));
  return commit(std::move(write), Durability::kSyncWal,
                [&](const WriteOptions& options) { return tables_[0]->erase(row, options); });
}

// A finished HFile in the directory "in" whose writer has synced nothing.
Status leave_foreign_file(FileSystem& files, const std::string& name, const std::vector<Cell>& cells) {
  const std::unique_ptr<FileSystem> elsewhere = make_memory_file_system();
  CELLAR_TRY(elsewhere->open_directory("in", true).status());
  CELLAR_TRY_ASSIGN(HFileBuilder builder, HFileBuilder::create(*elsewhere, "in/" + name, {}));
  for (const Cell& cell : cells) CELLAR_TRY(builder.add(cell));
  CELLAR_TRY(builder.finish().status());
  CELLAR_TRY_ASSIGN(const std::unique_ptr<ReadableFile> made, elsewhere->open_file("in/" + name));
  std::string bytes(made->size(), '\0');
  CELLAR_TRY(made->read(0, bytes.size(), bytes.data()));
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> in, files.open_directory("in", true));
  CELLAR_TRY_ASSIGN(const std::unique_ptr<WritableFile> file, in->create(name, {}));
  CELLAR_TRY(file->append(bytes));
  return file->close();
}

// The cells of a put, in one file for each place; all of one table.
bool Course::ingest(const CourseStep& step) {
  TriedWrite write{.id = outcome_.writes.size() + 1};
  const std::string row = fmt::format("r{:03}", write.id);
  const auto timestamp = static_cast<int64_t>(write.id);
  IngestRequest request;
  request.copy = step.copy;
  request.move = step.move;
  for (const std::string& place : step.places) {
    const std::string family = place.substr(2);
    std::vector<Cell> cells = {{row, family, "q", timestamp, CellType::kPut, "v"}};
    write.cells.push_back(place + "/" + row);
    if (place == step.places.front()) {
      cells.push_back({std::string(kShared), family, "q", timestamp, CellType::kPut, "v"});
      write.cells.push_back(fmt::format("{}/{}@{}", place, kShared, timestamp));
    }
    const std::string name = fmt::format("{}-{}", write.id, family);
    if (!leave_foreign_file(*engine_options_.environment.files, name, cells).ok()) return false;
    request.files.push_back({family, "in/" + name});
  }
  return commit(std::move(write), Durability::kFsyncWal, [&](const WriteOptions&) {
    return table(step.places.front().substr(0, 1)).ingest(request).status();
  });
}

bool Course::flush() {
  if (!engine_->flush().ok()) return false;
  for (TriedWrite& write : outcome_.writes)
    if (write.fate >= Fate::kVisible) write.fate = Fate::kDurable;
  return true;
}

bool Course::alter() {
  FamilyOptions altered = family_of("b");
  altered.max_versions = 900;
  outcome_.versions = 0;
  if (!engine_->alter_family("t", altered).ok()) return false;
  outcome_.versions = altered.max_versions;
  return true;
}

// A name that is taken may be that of a table of any schema.
bool Course::make_extra() {
  const Status made = engine_->create_table("x", {.families = {family_of("e"), family_of("f")}}).status();
  outcome_.altered = made.ok() ? std::optional(false) : std::nullopt;
  return note(outcome_.extra, made, true);
}

// A table or a family that is not there changes nothing.
bool Course::alter_extra() {
  FamilyOptions e = family_of("e");
  e.max_versions = kAlteredVersions;
  e.prefetch_on_open = true;
  const Status altered = engine_->alter_table("x", {.set_families = {e, family_of("g")},
                                                    .remove_families = {"f"},
                                                    .durability = Durability::kFsyncWal,
                                                    .memtable_bytes = kAlteredBytes});
  return !altered.is(Code::kNotFound) && note(outcome_.altered, altered, true);
}

// Makes requests that no state of the store allows. A later check would find any effect of them.
bool Course::ask_what_is_refused() {
  const auto alter = [&](const TableChange& change) { return engine_->alter_table("t", change); };
  const auto feed = [&](const FeedOptions& options) { return engine_->feeds().create("refused", options); };
  const Status answers[] = {
      alter({.set_families = {family_of("b"), family_of("b")}}),
      alter({.set_families = {family_of("b")}, .remove_families = {"b"}}),
      alter({.remove_families = {"a", "b", "c", "z"}}),
      alter({.remove_families = {"bb"}}),
      feed({.tables = {{"t", {"bb"}}}}),
      feed({.retained_bytes_max = 1}),
  };
  for (const Status& each : answers)
    if (each.ok()) outcome_.wrong = "what must be refused is not";
  return true;
}

bool Course::add_family() { return outcome_.added = engine_->alter_family("t", family_of("z")).ok(); }

bool Course::lose_empty_directories() {
  auto root = engine_options_.environment.files->open_directory("store", false);
  if (!root.ok()) return false;
  const std::function<void(Directory&)> prune = [&prune](Directory& directory) {
    for (const DirectoryEntry& entry : directory.list().value()) {
      if (!entry.is_directory) continue;
      prune(*directory.directory(entry.name, false).value());
      static_cast<void>(directory.remove_directory(entry.name));  // refused unless it is empty
    }
  };
  prune(**root);
  return (*root)->sync().ok();
}

// A cell in each family of the table x, and their files: what the drop of the table has to remove.
bool Course::flush_extra() {
  auto x = engine_->open_table("x");
  if (!x.ok()) return false;
  Put row("r");
  for (const FamilyInfo& family : (*x)->info().families) row.add(family.options.name, "q", "v");
  return note(outcome_.rows, (*x)->put(row, {.durability = Durability::kFsyncWal}), true) &&
         (*x)->flush().ok();
}

// While it runs: everything acknowledged is seen, and nothing in part.
void Course::compare() {
  const auto found = cells_found(*engine_);
  if (!found.ok()) return;
  for (const TriedWrite& write : outcome_.writes) {
    const auto deleted = std::ranges::find(outcome_.writes, write.id, &TriedWrite::deletes);
    if (deleted != outcome_.writes.end() || write.deletes != 0) continue;
    if (write.fate >= Fate::kVisible && !has_all(*found, write))
      outcome_.wrong = fmt::format("write {} was acknowledged and is not seen", write.id);
    // A crash may leave the flushed part of a write that was not logged.
    if (write.unlogged && write.fate < Fate::kVisible) continue;
    if (has_any(*found, write) && !has_all(*found, write))
      outcome_.wrong =
          fmt::format("write {} is seen in part, fate {}", write.id, static_cast<int>(write.fate));
  }
}

}  // namespace

Outcome run_course(FileSystem& files, const NamedCourse& course, const Outcome& before,
                   const WorkloadOptions& options) {
  return Course(files, before, course, options).run(course.course, {});
}

Prepared prepare(const NamedCourse& course) {
  Prepared prepared{std::make_unique<CrashFileSystem>(), {}};
  if (course.before.empty()) return prepared;
  CrashFileSystem files;
  const auto take = [&] { prepared.medium = files.crash_image({.mode = CrashMode::kProcessKilled}); };
  NamedCourse beginning{course.name, {}, {}};
  beginning.compaction = course.compaction;  // a table keeps the policy with which it was made
  beginning.parts = course.parts;
  prepared.outcome = Course(files, {}, beginning, {}).run(course.before, take);
  // The medium is durable, and the process did not live to flush what no log holds.
  for (TriedWrite& write : prepared.outcome.writes) {
    if (write.fate == Fate::kKilled) write.fate = Fate::kDurable;
    if (write.fate == Fate::kVisible) write.fate = Fate::kFailed;
  }
  return prepared;
}

}  // namespace cellar::testing
