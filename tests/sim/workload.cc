// Workload.
#include "tests/sim/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "base/memory_file_system.h"
#include "cellar/hfile_builder.h"
#include "engine/directory.h"
#include "tests/support/manual_clock.h"
#include "tests/support/step_executor.h"

namespace cellar::testing {
namespace {

constexpr std::string_view kShared = "shared";  // a row that many writes put a version into

FamilyOptions family_of(const std::string& name) {
  FamilyOptions family;
  family.name = name;
  family.max_versions = 1000;
  family.block_bytes = 1024;
  family.compression = "none";
  family.compaction = "exploring(ratio=1.2, files_min=2, files_max=3)";
  return family;
}

EngineOptions engine_options(FileSystem& files, ManualClock& clock, StepExecutor& executor) {
  EngineOptions options;
  options.create_if_missing = true;
  options.log_segment_bytes = 64 << 10;
  options.automatic_compaction = false;
  options.environment = {.files = &files, .clock = &clock, .executor = &executor, .seed = 7};
  return options;
}

// Which writes' cells are there: "table/family/row", of the shared row with its timestamp behind.
Result<std::set<std::string>> cells_found(Engine& engine) {
  std::set<std::string> found;
  for (const std::string& name : engine.list_tables()) {
    CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, engine.open_table(name));
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Scanner> scanner, table->scan(Scan().all_versions()));
    while (scanner->next())
      for (const CellView& cell : scanner->row())
        found.insert(fmt::format("{}/{}/{}{}", name, cell.family(), cell.row(),
                                 cell.row() == kShared ? fmt::format("@{}", cell.timestamp) : ""));
    CELLAR_TRY(scanner->status());
  }
  return found;
}

bool has_all(const std::set<std::string>& found, const TriedWrite& write) {
  return std::ranges::all_of(write.cells, [&](const std::string& cell) { return found.contains(cell); });
}
bool has_any(const std::set<std::string>& found, const TriedWrite& write) {
  return std::ranges::any_of(write.cells, [&](const std::string& cell) { return found.contains(cell); });
}

class Course {
 public:
  Course(FileSystem& files, Outcome before, uint64_t memtable_bytes, const WorkloadOptions& options)
      : options_(options),
        executor_(options.seed, clock_),
        engine_options_(engine_options(files, clock_, executor_)),
        outcome_(std::move(before)) {
    engine_options_.memtable_bytes = memtable_bytes;
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
    tables_.clear();
    if (engine_ != nullptr) static_cast<void>(engine_->close());
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
  bool flush_extra();
  bool lose_empty_directories();
  bool note_extra(const Status& status, bool there) {
    outcome_.extra = status.ok() ? std::optional<bool>(there) : std::nullopt;
    return status.ok();
  }
  void compare();
  Table& table(const std::string& name) { return *tables_[name == "t" ? 0 : 1]; }

  const WorkloadOptions options_;
  ManualClock clock_;
  StepExecutor executor_;
  EngineOptions engine_options_;
  std::unique_ptr<Engine> engine_;
  std::vector<std::shared_ptr<Table>> tables_;
  Outcome outcome_;
};

bool Course::perform(const CourseStep& step) {
  using Kind = CourseStep::Kind;
  if (step.kind == Kind::kLoseEmptyDirectories) return lose_empty_directories();
  if (engine_ == nullptr && step.kind != Kind::kOpen) return false;
  switch (step.kind) {
    case Kind::kOpen:
      return open();
    case Kind::kClose:
      return close();
    case Kind::kPut:
      return put(step);
    case Kind::kErase:
      return erase(step.id);
    case Kind::kIngest:
      return ingest(step);
    case Kind::kFlush:
      return flush();
    case Kind::kFlushTable:
      return table("t").flush().ok();
    case Kind::kCompact:
    case Kind::kCompactMajor:
      return table("t").compact({.major = step.kind == Kind::kCompactMajor}).ok();
    case Kind::kAlter:
      return alter();
    case Kind::kAddFamily:
      return add_family();
    case Kind::kMakeTable:
      return note_extra(engine_->create_table("x", {.families = {family_of("e"), family_of("f")}}).status(),
                        true);
    case Kind::kFlushTableX:
      return flush_extra();
    case Kind::kDropTable:
      return note_extra(engine_->drop_table("x"), false);
    case Kind::kLoseEmptyDirectories:
      break;
  }
  return false;
}

bool Course::open() {
  auto opened = Engine::open("store", engine_options_);
  if (!opened.ok()) return false;
  engine_ = std::move(opened).value();
  auto t = engine_->open_or_create_table("t", {.families = {family_of("a"), family_of("b"), family_of("c")}});
  if (!t.ok()) return false;
  auto u = engine_->open_or_create_table("u", {.families = {family_of("d")}});
  if (!u.ok()) return false;
  tables_ = {std::move(t).value(), std::move(u).value()};
  outcome_.made = true;
  return true;
}

bool Course::close() {
  tables_.clear();
  const bool closed = engine_->close().ok();
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
  return status.ok();
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
  request.by = step.by_copy ? IngestBy::kCopy : IngestBy::kLink;
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
  const Put both = Put("r").add("e", "q", "v").add("f", "q", "v");
  return (*x)->put(both, {.durability = Durability::kFsyncWal}).ok() && (*x)->flush().ok();
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
    if (has_any(*found, write) && !has_all(*found, write))
      outcome_.wrong = fmt::format("write {} is seen in part", write.id);
  }
}

// ---- afterwards ----

// Whether what is found is what the first `count` writes leave.
std::optional<std::string> differs_from_prefix(const std::set<std::string>& found,
                                               const std::vector<TriedWrite>& writes, size_t count) {
  for (size_t i = 0; i < writes.size(); ++i) {
    const TriedWrite& write = writes[i];
    if (write.deletes != 0) continue;
    if (write.unlogged) {
      if (write.fate >= Fate::kDurable && !has_all(found, write))
        return fmt::format("write {} is lost", write.id);
      continue;
    }
    bool deleted = false;
    for (size_t k = 0; k < count; ++k) deleted = deleted || writes[k].deletes == write.id;
    for (const std::string& cell : write.cells) {
      const bool shared = cell.find('@') != std::string::npos;
      const bool there = i < count && (!deleted || shared || cell.front() != 't');
      if (found.contains(cell) != there) return fmt::format("{} is {}there", cell, there ? "not " : "");
    }
  }
  return std::nullopt;
}

std::optional<std::string> not_a_prefix(const std::set<std::string>& found, const Outcome& outcome,
                                        Fate least) {
  size_t at_least = 0;
  for (size_t i = 0; i < outcome.writes.size(); ++i)
    if (!outcome.writes[i].unlogged && outcome.writes[i].fate >= least) at_least = i + 1;
  std::string text;
  for (size_t count = outcome.writes.size() + 1; count-- > at_least;) {
    const auto wrong = differs_from_prefix(found, outcome.writes, count);
    if (!wrong) return std::nullopt;
    text += fmt::format("\n  not the first {}: {}", count, *wrong);
  }
  return fmt::format("not a prefix of {} writes, {} at least:{}", outcome.writes.size(), at_least, text);
}

std::optional<std::string> lost_or_split(const std::set<std::string>& found, const Outcome& outcome,
                                         Fate least) {
  for (const TriedWrite& write : outcome.writes) {
    if (write.deletes != 0) continue;
    const auto deleted = std::ranges::find(outcome.writes, write.id, &TriedWrite::deletes);
    if (deleted != outcome.writes.end()) continue;
    if (write.fate >= least && !has_all(found, write)) return fmt::format("write {} is lost", write.id);
    if (!write.unlogged && has_any(found, write) && !has_all(found, write))
      return fmt::format("write {} is there in part", write.id);
  }
  return std::nullopt;
}

// Files below tables/ that no table knows.
std::optional<std::string> orphans_of(FileSystem& files, Engine& engine) {
  std::set<std::string> known;
  for (const std::string& name : engine.list_tables()) {
    const TableInfo info = engine.open_table(name).value()->info();
    for (const FamilyInfo& family : info.families)
      for (const StoreFileInfo& file : family.files)
        known.insert(to_text(StoredFile{info.id, family.options.name, file.name, 0}));
  }
  auto root = files.open_directory("store", false);
  if (!root.ok()) return root.status().to_text();
  std::vector<std::string> strangers;
  const auto stored = list_store_files(**root, &strangers);
  if (!stored.ok()) return stored.status().to_text();
  for (const StoredFile& file : *stored)
    if (!known.contains(to_text(file))) return "an orphan: " + to_text(file);
  if (!strangers.empty()) return "a stranger: " + strangers.front();
  // Segments of the log that count, and one that was made ahead.
  const auto wal = open_wal_directory(**root, false);
  if (!wal.ok()) return wal.status().to_text();
  if (const uint64_t segments = (*wal)->list().value().size(); segments > engine.status().log_segments + 1)
    return fmt::format("{} log segments, {} of them count", segments, engine.status().log_segments);
  uint64_t manifests = 0;
  for (const DirectoryEntry& entry : (*root)->list().value()) {
    uint64_t generation = 0;
    if (parse_manifest_name(entry.name, generation)) ++manifests;
    if (entry.name.ends_with(".tmp")) return "left behind: " + entry.name;
  }
  if (manifests <= 2) return std::nullopt;  // the one that counts and the one before it
  return fmt::format("{} manifests", manifests);
}

// What of the acknowledged schema is missing, or nothing.
std::optional<std::string> schema_lost(Engine& engine, const Outcome& outcome) {
  const std::vector<std::string> names = engine.list_tables();
  const auto has = [&](const char* name) { return std::ranges::find(names, name) != names.end(); };
  if (outcome.made && !(has("t") && has("u"))) return "a table is lost";
  if (outcome.extra && *outcome.extra != has("x"))
    return has("x") ? "a dropped table is there" : "table x is lost";
  if (!outcome.made) return std::nullopt;
  bool added = false;
  for (const FamilyInfo& family : engine.open_table("t").value()->info().families) {
    added = added || family.options.name == "z";
    if (family.options.name == "b" && outcome.versions != 0 &&
        family.options.max_versions != outcome.versions)
      return "an alteration is lost";
  }
  return outcome.added && !added ? std::optional<std::string>("an added family is lost") : std::nullopt;
}

// One opening of the store found.
class Visit {
 public:
  explicit Visit(FileSystem& files) : files_(files), executor_(1, clock_) {}
  ~Visit() {
    engine_.reset();
    executor_.finish();
  }

  std::optional<std::string> open() {
    auto opened = Engine::open("store", engine_options(files_, clock_, executor_));
    if (!opened.ok()) return "does not open: " + opened.status().to_text();
    engine_ = std::move(opened).value();
    executor_.settle();
    return orphans_of(files_, *engine_);
  }
  Result<std::set<std::string>> found() { return cells_found(*engine_); }
  Engine& engine() { return *engine_; }
  Status close() { return engine_->close(); }

 private:
  FileSystem& files_;
  ManualClock clock_;
  StepExecutor executor_;
  std::unique_ptr<Engine> engine_;
};

// Twenty writes on, flushed half way, and closed.
Status go_on(Visit& visit, std::set<std::string>& found) {
  {
    CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> t,
                      visit.engine().open_or_create_table("t", {.families = {family_of("a")}}));
    for (int i = 0; i < 20; ++i) {
      const std::string row = fmt::format("later{}", i);
      CELLAR_TRY(t->put(Put(row).add_at("a", "q", 1, "v"), {.durability = Durability::kFsyncWal}));
      found.insert("t/a/" + row);
      if (i == 10) CELLAR_TRY(t->flush());
    }
  }
  return visit.close();
}

}  // namespace

Outcome run_course(FileSystem& files, const NamedCourse& course, const Outcome& before,
                   const WorkloadOptions& options) {
  return Course(files, before, course.memtable_bytes, options).run(course.course, {});
}

Prepared prepare(const NamedCourse& course) {
  Prepared prepared{std::make_unique<CrashFileSystem>(), {}};
  if (course.before.empty()) return prepared;
  CrashFileSystem files;
  const auto take = [&] { prepared.medium = files.crash_image({.mode = CrashMode::kProcessKilled}); };
  prepared.outcome = Course(files, {}, EngineOptions{}.memtable_bytes, {}).run(course.before, take);
  // The medium is durable, and the process did not live to flush what no log holds.
  for (TriedWrite& write : prepared.outcome.writes) {
    if (write.fate == Fate::kKilled) write.fate = Fate::kDurable;
    if (write.fate == Fate::kVisible) write.fate = Fate::kFailed;
  }
  return prepared;
}

std::optional<std::string> check_store(FileSystem& files, const Outcome& outcome,
                                       const CheckOptions& options) {
  if (outcome.wrong) return outcome.wrong;
  std::set<std::string> found;
  {
    Visit visit(files);
    if (auto wrong = visit.open()) return wrong;
    if (auto wrong = schema_lost(visit.engine(), outcome)) return wrong;
    auto cells = visit.found();
    if (!cells.ok()) return "does not read: " + cells.status().to_text();
    found = *cells;
    const auto wrong = options.expected == Expected::kPrefix ? not_a_prefix(found, outcome, options.least)
                                                             : lost_or_split(found, outcome, options.least);
    if (wrong) return wrong;
    if (!options.goes_on) {
      const Status closed = visit.close();
      return closed.ok() ? std::nullopt : std::optional<std::string>("does not close: " + closed.to_text());
    }
    if (const Status status = go_on(visit, found); !status.ok()) return "does not go on: " + status.to_text();
  }
  Visit again(files);
  if (auto wrong = again.open()) return "opened again: " + *wrong;
  const auto cells = again.found();
  if (!cells.ok()) return "does not read again: " + cells.status().to_text();
  if (*cells != found)
    return fmt::format("opened again: {} cells, there were {}", cells->size(), found.size());
  const Status closed = again.close();
  return closed.ok() ? std::nullopt : std::optional<std::string>("does not close: " + closed.to_text());
}

void open_and_close(FileSystem& files) {
  Visit visit(files);
  if (!visit.open()) static_cast<void>(visit.close());
}

}  // namespace cellar::testing
