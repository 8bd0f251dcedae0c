// RandomRun.
#include "tests/metamorphic/random_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/coding.h"
#include "cellar/hfile_builder.h"
#include "tests/metamorphic/requests.h"

namespace cellar::testing {
RandomRun::RandomRun(const Plan& plan)
    : plan_(plan),
      options_(plan.tables),
      clock_(plan.clock_ms),
      latest_ms_(plan.clock_ms),
      executor_(plan.seed, clock_) {
  for (const TableOptions& table : plan.tables) mirrors_.emplace_back(table);
}

RandomRun::~RandomRun() {
  scanners_.clear();
  snapshots_.clear();
  tables_.clear();
  engine_.reset();
  executor_.finish();
}

std::optional<RunFailure> RandomRun::run() {
  size_t i = 0;
  open(plan_.engine);
  for (; i < plan_.operations.size() && !failure_; ++i) {
    if (plan_.keeps_history) history_.push_back(to_text(plan_.operations[i]) + "\n");
    perform(plan_.operations[i]);
    if (i % 16 == 0 && !failure_) compare_files();
  }
  if (!failure_) reopen(false);
  if (!failure_) close();
  if (!failure_) return std::nullopt;
  return RunFailure{i - 1, *failure_};
}

void RandomRun::fail(std::string text) {
  if (!failure_) failure_ = std::move(text);
}

int64_t RandomRun::now_ms() { return clock_.wall_ms(); }

void RandomRun::open(const EngineOptions& given) {
  EngineOptions options = given;
  options.create_if_missing = !options.read_only;
  options.environment = {
      .files = files_.get(), .clock = &clock_, .executor = &executor_, .events = this, .seed = plan_.seed};
  auto opened = Engine::open("store", options);
  if (!opened.ok()) return fail("open: " + opened.status().to_text());
  engine_ = std::move(opened).value();
  for (size_t i = 0; i < plan_.tables.size(); ++i) {
    auto table = engine_->open_or_create_table(table_name(static_cast<uint32_t>(i)), plan_.tables[i]);
    if (!table.ok()) return fail("table: " + table.status().to_text());
    tables_.push_back(std::move(table).value());
  }
  add_observer();
  const uint64_t last = engine_->status().last_sequence;
  if (last < kept_ || last > sequence_)
    fail(fmt::format("opened at sequence {}, the last write was {}, the last that must be there {}", last,
                     sequence_, kept_));
  kept_ = sequence_ = last;
}

void RandomRun::close() {
  while (!scanners_.empty()) {
    drain(std::move(scanners_.back()));
    scanners_.pop_back();
  }
  snapshots_.clear();
  tables_.clear();
  expect_ok(engine_->close(), "close");
  kept_ = sequence_;
  engine_.reset();
}

void RandomRun::reopen(bool read_only) {
  close();
  EngineOptions options = plan_.engine;
  options.read_only = read_only;
  if (!failure_) open(options);
  if (!failure_) compare_files();
}

void RandomRun::crash(const Operation& operation) {
  ++crashes_;
  const auto modes = power_loss_modes();
  const CrashMode mode = plan_.power_cuts ? modes[operation.which % modes.size()] : CrashMode::kProcessKilled;
  auto left = files_->crash_image({.mode = mode, .seed = plan_.seed + operation.which});
  files_->crash();
  dead_ = true;
  scanners_.clear();
  snapshots_.clear();
  tables_.clear();
  engine_.reset();
  executor_.settle();
  dead_ = false;
  files_ = std::move(left);
  recover();
}

// Opens the files that a crash left. The recovered cells are then in new files, which no event reports. The
// files are looked at before any compaction.
void RandomRun::recover() {
  flushes_.clear();
  compactions_.clear();
  for (Mirror& mirror : mirrors_) mirror.lose_unlogged();
  EngineOptions options = plan_.engine;
  options.automatic_flush = options.automatic_compaction = false;
  open(options);
  if (failure_) return;
  for (const auto& table : tables_) {
    for (const FamilyInfo& family : table->info().families) {
      const Rewrite rewrite = rewrite_now(table->name(), family.options.name);
      if (auto wrong = mirror_of(table->name()).recover(family, rewrite)) return fail(*wrong);
    }
  }
  compare_files();
  if (!failure_ && plan_.work == Work::kAutomatic) reopen(false);
}

void RandomRun::perform(const Operation& operation) {
  switch (operation.kind) {
    case Kind::kPut:
    case Kind::kDelete:
    case Kind::kIncrement:
    case Kind::kAppend:
    case Kind::kRowMutations:
    case Kind::kCheckAndMutate:
    case Kind::kBatch:
      return write(operation);
    case Kind::kGetMany:
      return get_many(operation);
    case Kind::kGet:
    case Kind::kExists:
      return get(operation);
    case Kind::kScan:
    case Kind::kOpenScanner:
      return scan(operation);
    case Kind::kActionList:
      return action_list(operation);
    case Kind::kTransaction:
    case Kind::kTransactionRolledBack:
    case Kind::kTransactionInConflict:
      return transaction(operation);
    default:
      break;
  }
  if (operation.kind >= Kind::kTruncate) return table_work(operation);
  if (operation.kind >= Kind::kGetInto && operation.kind <= Kind::kExplainedScan)
    return other_read(operation);
  perform_service(operation);
}

void RandomRun::perform_service(const Operation& operation) {
  Table& table = *tables_[operation.table];
  switch (operation.kind) {
    case Kind::kDrainScanner:
      if (scanners_.empty()) return;
      std::swap(scanners_[operation.which % scanners_.size()], scanners_.back());
      drain(std::move(scanners_.back()));
      scanners_.pop_back();
      return;
    case Kind::kOpenSnapshot:
      if (snapshots_.size() == 4) return;
      snapshots_.push_back(engine_->snapshot().value());
      begin_snapshot();
      given_.push_back(snapshots_.back());
      return;
    case Kind::kCloseSnapshot:
      if (!snapshots_.empty()) snapshots_.erase(snapshots_.begin() + operation.which % snapshots_.size());
      return;
    case Kind::kFlush:
      expect_ok(table.flush(), "flush");
      return compare_files();
    case Kind::kFlushAll:
      expect_ok(engine_->flush(), "flush");
      return compare_files();
    case Kind::kCompact:
    case Kind::kCompactMajor:
      expect_ok(operation.kind == Kind::kCompactMajor ? table.major_compact(operation.family)
                                                      : table.compact(operation.family),
                "compact");
      return compare_files();
    case Kind::kClock:
      latest_ms_ = std::max(latest_ms_, operation.clock_ms);
      return clock_.set_wall_ms(operation.clock_ms);
    case Kind::kAlter:
      return alter(operation);
    case Kind::kRecode:
      return recode(operation);
    case Kind::kIngest:
      return ingest(operation);
    case Kind::kReopen:
      return reopen(false);
    case Kind::kCrash:
      return crash(operation);
    case Kind::kReopenReadOnly:
      reopen(true);
      if (failure_) return;
      for (const Mirror& mirror : mirrors_) {
        Operation all;
        all.kind = Kind::kScan;
        all.table = static_cast<uint32_t>(&mirror - mirrors_.data());
        all.scan.versions = UINT32_MAX;
        scan(all);
      }
      return reopen(false);
    default:
      executor_.settle();
  }
}

// ---- writing ----

Status RandomRun::increment(const RowChange& change, const WriteOptions& options) {
  const auto result = tables_[change.table]->increment(increment_of(change), options);
  if (!result.ok()) return result.status();
  if (pending_ != nullptr) apply_pending(engine_->status().last_sequence);
  for (const int64_t value : *result) note(fmt::format("{} ", value));
  if (*result != counters_) fail("an increment returned other values than the model");
  return {};
}

// Returns true if the check's condition holds, by the mirror. The check's puts get the time that follows.
bool RandomRun::check_holds(const Operation& operation, std::vector<RowChange>& rows) {
  ModelScan scan;
  scan.columns[operation.check.family] = {operation.check.qualifier};
  scan.time_from = operation.scan.time_from;
  scan.time_until = operation.scan.time_until;
  scan.read_point = sequence_;
  const RowChange& first = rows.front();
  const std::vector<Part> found = mirrors_[first.table].get(first.row, scan, now_ms());
  const Cell* stored = found.empty() ? nullptr : &found.front().cells.front();
  expected_ = operation.check.expects_stored && stored != nullptr ? stored->value : operation.check.expected;
  if (!model_holds(operation.check, expected_, stored)) return false;
  for (RowChange& row : rows)
    for (ModelChange& each : row.changes)
      if (each.kind == ModelChange::Kind::kPut && !each.timestamp && stored != nullptr &&
          stored->timestamp > now_ms() && !mirrors_[row.table].family(each.family).rises)
        each.timestamp = stored->timestamp;
  return true;
}

// An append, row mutations or a check; what it returns is compared.
Status RandomRun::write_row(const Operation& operation, const std::vector<RowChange>& rows,
                            const WriteOptions& options) {
  Table& table = *tables_[rows.front().table];
  Row returned;
  if (operation.kind == Kind::kAppend) {
    CELLAR_TRY_ASSIGN(returned, table.append(append_of(rows.front()), options));
  } else if (operation.kind == Kind::kRowMutations) {
    CELLAR_TRY_ASSIGN(returned, table.mutate(mutations_of(rows), options));
  } else {
    CheckAndMutate check(rows.front().row);
    check.if_matches(operation.check.family, operation.check.qualifier, operation.check.compare, expected_);
    check.time_range(operation.scan.time_from, operation.scan.time_until);
    // As it was asked for: the mirror's times of puts are the engine's to find.
    if (operation.rows.size() == 1) {
      std::visit([&](const auto& mutation) { check.then(mutation); }, mutation_of(operation.rows.front()));
    } else {
      check.then(mutations_of(operation.rows));
    }
    CELLAR_TRY_ASSIGN(const ActionResult result, table.check_and_mutate(check, options));
    if (result.matched != holds_) fail(holds_ ? "a check held only in the model" : "a check held");
    note(result.matched ? "held" : "did not hold");
    if (!result.matched) return {};
    returned = result.row;
  }
  if (pending_ != nullptr && !failure_) apply_pending(engine_->status().last_sequence);
  note(plan_.keeps_history ? print_cells(returned.cells) : "");
  if (returned.cells != new_cells_)
    fail(fmt::format("returned:\n{}expected:\n{}", print_cells(returned.cells), print_cells(new_cells_)));
  return {};
}

Status RandomRun::write_to_engine(const Operation& operation, const std::vector<RowChange>& rows,
                                  const WriteOptions& options) {
  const RowChange& first = rows.front();
  if (operation.kind == Kind::kPut) return tables_[first.table]->put(put_of(first), options);
  if (operation.kind == Kind::kDelete) return tables_[first.table]->erase(delete_of(first), options);
  if (operation.kind == Kind::kIncrement) return increment(first, options);
  if (operation.kind != Kind::kBatch) return write_row(operation, rows, options);
  Batch batch;
  for (const RowChange& row : rows) {
    if (row.is_delete) {
      batch.erase(tables_[row.table], delete_of(row));
    } else {
      batch.put(tables_[row.table], put_of(row));
    }
  }
  return engine_->write(batch, options);
}

void RandomRun::write(const Operation& operation) {
  if (try_write(operation)) return;
  // Memory is full, and nobody flushes but us.
  expect_ok(engine_->flush(), "flush");
  if (!failure_ && !try_write(operation)) fail("the engine is busy although all is flushed");
}

// False when the write has to wait for a flush that nobody but this run begins.
bool RandomRun::try_write(const Operation& operation) {
  bool refused = false;
  std::vector<RowChange> rows = operation.rows;
  holds_ = true;
  if (reads(operation) || is_observed(rows) ||
      rises(rows)) {  // what is read must not depend on work under way
    executor_.settle();
    if (operation.kind == Kind::kCheckAndMutate) holds_ = check_holds(operation, rows);
    refused = holds_ && is_refused_by_model(rows);
  }
  refused = refused || (holds_ && is_dated_ahead(operation.rows));
  pending_ = holds_ ? &rows : nullptr;
  unlogged_ = operation.unlogged;
  WriteOptions options;
  if (operation.unlogged) options.durability = Durability::kSkipWal;
  const Status status = write_to_engine(operation, rows, options);
  if (status.is(Code::kBusy) && plan_.work == Work::kManual) {
    pending_ = nullptr;
    return false;
  }
  if (refused) {
    pending_ = nullptr;
    note("refused");
    if (!status.is(Code::kInvalidArgument))
      fail("the model refuses this write, the engine says " + status.to_text());
    return true;
  }
  expect_ok(status, "write");
  if (pending_ != nullptr && !failure_) apply_pending(engine_->status().last_sequence);
  pending_ = nullptr;
  return true;
}

// Returns true if a time in these rows depends on stored cells.
bool RandomRun::rises(const std::vector<RowChange>& rows) const {
  const auto any_of = [](const Mirror& mirror) {
    return std::ranges::any_of(mirror.families(), [](const auto& each) { return each.second.rises; });
  };
  return std::ranges::any_of(rows, [&](const RowChange& row) { return any_of(mirrors_[row.table]); });
}

Result<RandomRun::Written> RandomRun::cells_of_write(const std::vector<RowChange>& rows,
                                                     Mirror::Written& so_far) {
  Written cells;
  for (const RowChange& row : rows) {
    CELLAR_TRY_ASSIGN(auto of_row,
                      mirrors_[row.table].cells_of(row, computed_at_.value_or(now_ms()), so_far));
    cells.push_back(std::move(of_row));
  }
  return cells;
}

// The engine has made the write visible.
void RandomRun::apply_pending(uint64_t sequence) {
  const std::vector<RowChange>& rows = *std::exchange(pending_, nullptr);
  if (sequence != sequence_ + 1) fail(fmt::format("write {} follows write {}", sequence, sequence_));
  sequence_ = sequence;
  if (!unlogged_) kept_ = sequence;
  Mirror::Written so_far;
  const auto of_rows = cells_of_write(rows, so_far);
  if (!of_rows.ok()) return fail("the model refuses this write: " + of_rows.status().to_text());
  const Written& cells = *of_rows;
  const auto added = added_to(rows, cells);
  if (!added) return fail("the observer refuses this write");
  const auto of_added = cells_of_write(*added, so_far);
  if (!of_added.ok()) return fail("the model refuses what is added: " + of_added.status().to_text());
  for (size_t i = 0; i < rows.size(); ++i) mirrors_[rows[i].table].write(cells[i], sequence, unlogged_);
  for (size_t i = 0; i < added->size(); ++i)
    mirrors_[(*added)[i].table].write((*of_added)[i], sequence, unlogged_);
  new_cells_.clear();
  for (size_t i = 0; i < rows.size(); ++i)
    if (computes(rows[i]))
      for (const auto& [family, written] : cells[i]) add_written(written, new_cells_);
  new_cells_ = sorted(std::move(new_cells_));
  counters_ = counters_of(rows.front(), cells.front());
}

Status RandomRun::build_foreign_file(const IngestFile& file, const FamilyOptions& family,
                                     const Cells& cells) {
  HFileBuilderOptions options;
  options.compression = family.compression;
  options.encoding = family.encoding;
  options.bloom = family.bloom;
  options.bloom_hash = family.bloom_hash;
  options.block_bytes = 1024;
  options.tags = true;
  options.compress_tags = family.compress_tags;
  CELLAR_TRY_ASSIGN(HFileBuilder builder, HFileBuilder::create(*files_, file.path, options));
  for (const Cell& cell : sorted(cells)) CELLAR_TRY(builder.add(cell));
  return builder.finish().status();
}

// The rows' cells, in files by turns: of several files of a family, some hold the same coordinates.
void RandomRun::ingest(const Operation& operation) {
  std::map<std::pair<std::string, size_t>, Cells> files;  // by family and number
  for (size_t i = 0; i < operation.rows.size(); ++i) {
    Mirror::Written so_far;
    const auto cells = mirrors_[operation.table].cells_of(operation.rows[i], now_ms(), so_far);
    if (!cells.ok()) return fail("the model refuses to load: " + cells.status().to_text());
    for (const auto& [family, written] : *cells)
      add_written(written, files[{family, i % (operation.which + 1)}]);
  }
  ingest_files(operation, files);
}

void RandomRun::ingest_files(const Operation& operation,
                             const std::map<std::pair<std::string, size_t>, Cells>& files) {
  expect_ok(files_->open_directory("in", true).status(), "directory");
  IngestRequest request;
  request.copy = operation.which == 0;
  request.move = !request.copy;
  foreign_.clear();
  for (const auto& [place, cells] : files) {
    const auto& families = options_[operation.table].families;
    const auto family = std::ranges::find(families, place.first, &FamilyOptions::name);
    const IngestFile file{place.first, fmt::format("in/{}", ++foreign_files_)};
    expect_ok(build_foreign_file(file, *family, cells), "foreign file");
    foreign_[file.path] = cells;
    request.files.push_back(file);
  }
  if (failure_) return;
  const auto done = tables_[operation.table]->ingest(request);
  expect_ok(done.status(), "ingest");
  if (done.ok() && !foreign_.empty()) fail("the ingest told of fewer files than it was given");
  if (!failure_) compare_files();
}

void RandomRun::on_ingested(const IngestInfo& info) {
  if (info.sequence != sequence_ + 1)
    fail(fmt::format("ingest {} follows write {}", info.sequence, sequence_));
  kept_ = sequence_ = info.sequence;
  for (const IngestFile& file : info.files) {
    Cells cells = std::move(foreign_[file.path]);
    foreign_.erase(file.path);
    for (Cell& cell : cells) cell.sequence = info.sequence;
    mirror_of(info.table).ingest(file.family, file.name, std::move(cells));
  }
}

void RandomRun::alter(const Operation& operation) {
  for (FamilyOptions& family : options_[operation.table].families) {
    if (family.name != operation.family) continue;
    family.max_versions = operation.max_versions;
    family.min_versions = std::min(family.min_versions, family.max_versions);
    family.ttl_s = operation.ttl_s;
    expect_ok(engine_->alter_family(table_name(operation.table), family), "alter");
    mirrors_[operation.table].family(family.name).rules = rules_of(family);
  }
}

// ---- reading ----

ModelScan RandomRun::as_read(const Operation& operation, std::shared_ptr<const Snapshot>& snapshot) const {
  ModelScan scan = operation.scan;
  scan.read_point = sequence_;
  if (operation.at_snapshot && !snapshots_.empty()) {
    snapshot = snapshots_[operation.which % snapshots_.size()];
    scan.read_point = snapshot->sequence();
    scan.at_snapshot = true;
  }
  return scan;
}

void RandomRun::get(const Operation& operation) {
  Get get(operation.row);
  choose(operation.scan, get);
  std::shared_ptr<const Snapshot> snapshot;
  const ModelScan scan = as_read(operation, snapshot);
  if (snapshot != nullptr) get.snapshot(snapshot);
  const std::vector<Part> expected = mirrors_[operation.table].get(operation.row, scan, now_ms());
  if (operation.kind == Kind::kExists) {
    const auto exists = tables_[operation.table]->exists(get);
    expect_ok(exists.status(), "exists");
    if (exists.ok()) note(*exists ? "there" : "not there");
    if (exists.ok() && *exists != !expected.empty())
      fail(fmt::format("exists: {}, expected:\n{}", *exists, to_text(expected)));
    return;
  }
  const auto batch = tables_[operation.table]->get(get);
  if (!batch.ok()) return fail("get: " + batch.status().to_text());
  std::vector<Part> found;
  for (const RowView row : *batch) found.push_back(part_of(row));
  note(plan_.keeps_history ? to_text(found) : "");
  if (found != expected)
    fail(fmt::format("get at {}:\n{}expected:\n{}", scan.read_point, to_text(found), to_text(expected)));
}

void RandomRun::get_many(const Operation& operation) {
  std::shared_ptr<const Snapshot> snapshot;
  const ModelScan scan = as_read(operation, snapshot);
  std::vector<Get> gets;
  std::vector<std::vector<Part>> expected;
  for (const std::string& row : operation.many) {
    choose(operation.scan, gets.emplace_back(row));
    if (snapshot != nullptr) gets.back().snapshot(snapshot);
    expected.push_back(mirrors_[operation.table].get(row, scan, now_ms()));
  }
  const auto batches = tables_[operation.table]->get_many(gets);
  if (!batches.ok()) return fail("get many: " + batches.status().to_text());
  if (batches->size() != gets.size()) return fail("get many: so many answers as questions");
  for (size_t i = 0; i < gets.size(); ++i) {
    std::vector<Part> found;
    for (const RowView row : (*batches)[i]) found.push_back(part_of(row));
    note(plan_.keeps_history ? to_text(found) : "");
    if (found != expected[i])
      fail(fmt::format("get {} of many:\n{}expected:\n{}", i, to_text(found), to_text(expected[i])));
  }
}

void RandomRun::scan(const Operation& operation) {
  OpenScanner open;
  Scan& scan = open.request = scan_of(operation);
  std::shared_ptr<const Snapshot> snapshot;
  const ModelScan model = as_read(operation, snapshot);
  if (snapshot != nullptr) scan.snapshot(snapshot);
  open.in_batches = operation.in_batches;
  open.expected = mirrors_[operation.table].scan(model, operation.prefix, now_ms());
  open.table = tables_[operation.table];
  auto scanner = open.table->scan(scan);
  if (!scanner.ok()) return fail("scan: " + scanner.status().to_text());
  open.scanner = std::move(scanner).value();
  // Later a new scan might not see the same: cells expire, and raw ones are dropped.
  open.resumes = operation.resumes && operation.kind == Kind::kScan;
  if (operation.kind == Kind::kScan) return drain(std::move(open));
  if (scanners_.size() < 4) scanners_.push_back(std::move(open));
}

void RandomRun::drain(OpenScanner open) {
  std::vector<Part> found;
  std::string cursor;
  const auto take = [&](const RowView& row) {
    if (!row.is_cursor()) return found.push_back(part_of(row));
    if (row.row() == cursor) fail("two cursors of one row");
    cursor = row.row();
  };
  RowBatch batch;
  while (open.in_batches ? open.scanner->next_batch(batch, 3) : open.scanner->next()) {
    const std::string before = cursor;
    if (!open.in_batches) take(open.scanner->row());
    for (const RowView row : batch) take(row);
    if (open.resumes && cursor != before) resume(open, cursor, found);
    if (failure_) return;
  }
  expect_ok(open.scanner->status(), "scan");
  note(plan_.keeps_history ? to_text(found) : "");
  if (found != open.expected)
    fail(fmt::format("scan:\n{}expected:\n{}", to_text(found), to_text(open.expected)));
}

// Goes on with a new scan.
void RandomRun::resume(OpenScanner& open, const std::string& cursor, const std::vector<Part>& found) {
  Scan scan = open.request;
  scan.start(cursor);
  if (scan.limit() != 0)
    scan.limit(scan.limit() - static_cast<uint64_t>(std::ranges::count(found, false, &Part::more)));
  auto scanner = open.table->scan(scan);
  if (!scanner.ok()) return fail("scan from a cursor: " + scanner.status().to_text());
  open.scanner = std::move(scanner).value();
}

void RandomRun::compare_files() {
  for (size_t i = 0; i < tables_.size(); ++i) {
    for (const FamilyInfo& family : tables_[i]->info().families) {
      const MirrorFamily& mirror = mirrors_[i].family(family.options.name);
      std::string found = fmt::format("{} in memory", family.memtable_cells);
      std::string expected = fmt::format("{} in memory", mirror.memory.size());
      for (const StoreFileInfo& file : family.files)
        found += fmt::format(", {} in {}", file.cells, file.name);
      for (const MirrorFamily::Run& run : mirror.runs)
        expected += fmt::format(", {} in {}", run.cells.size(), run.name);
      if (found != expected)
        fail(fmt::format("t{}:{} holds {}\nexpected {}", i, family.options.name, found, expected));
    }
  }
}

// ---- what the engine tells ----

Rewrite RandomRun::rewrite_now(const std::string& table, const std::string& family) {
  Rewrite rewrite;
  rewrite.rules = mirror_of(table).family(family).rules;
  for (const FamilyOptions& each : options_.at(table.back() - '0').families)
    if (each.name == family) rewrite.how.purge_deletes_ms = each.time_to_purge_deletes_ms;
  rewrite.how.read_point = sequence_;
  if (engine_ != nullptr) {
    rewrite.how.read_point = engine_->status().last_sequence;
    if (const auto open = engine_->open_table(table); open.ok())
      for (const FamilyInfo& each : (*open)->info().families)
        if (each.options.name == family) rewrite.rules = rules_of(each.options);
  }
  std::erase_if(given_, [](const auto& each) { return each.expired(); });
  const uint64_t known = given_.size() + (transaction_point_ ? 1 : 0);
  rewrite.any_snapshot = known > 0;
  if (engine_ != nullptr && plan_.observed && engine_->status().snapshots > known) {
    rewrite.any_snapshot = true;
    if (observed_point_ < rewrite.how.read_point) rewrite.how.snapshots.push_back(observed_point_);
  }
  if (transaction_point_ && *transaction_point_ < rewrite.how.read_point)
    rewrite.how.snapshots.push_back(*transaction_point_);
  for (const auto& each : given_)
    if (const auto snapshot = each.lock(); snapshot->sequence() < rewrite.how.read_point)
      rewrite.how.snapshots.push_back(snapshot->sequence());
  std::ranges::sort(rewrite.how.snapshots);
  std::vector<uint64_t>& points = rewrite.how.snapshots;
  points.erase(std::unique(points.begin(), points.end()), points.end());
  rewrite.how.now_ms = now_ms();
  return rewrite;
}

void RandomRun::on_flush_begin(const FlushInfo& info) {
  if (dead_ || !is_mirrored(info.table)) return;
  flushes_[info.table + info.family] = rewrite_now(info.table, info.family);
}

void RandomRun::on_flush_end(const FlushInfo& info) {
  if (dead_ || !is_mirrored(info.table)) return;
  expect_ok(info.status, "flush");
  catch_up();
  if (failure_) return;
  const Cells& memory = mirror_of(info.table).family(info.family).memory;
  if (info.cells_in > 0 && info.cells_in <= memory.size())
    kept_ = std::max(kept_, memory[info.cells_in - 1].sequence);
  const Rewrite& rewrite = flushes_[info.table + info.family];
  replay_rewrite(info.table, info.family, rewrite, [&](Mirror& mirror) {
    return mirror.flush(info.family, info.file, info.cells_in, info.cells_out, rewrite);
  });
}

void RandomRun::on_compaction_begin(const CompactionInfo& info) {
  if (!is_mirrored(info.table)) clone_compacts_ = true;
  if (dead_ || !is_mirrored(info.table)) return;
  // The content of memory decides which markers stay.
  catch_up();
  look_for_restored(info);
  Rewrite rewrite = rewrite_now(info.table, info.family);
  rewrite.how.oldest_put_known = true;
  rewrite.how.zero_sequences = true;
  // The plan to drop files was made before, and the clock may have been set back since.
  if (info.dropped) rewrite.how.now_ms = latest_ms_;
  // From here on others may write while the compaction works.
  compactions_[info.inputs.front()] = mirror_of(info.table).compaction_begins(info, rewrite);
}

void RandomRun::on_compaction_end(const CompactionInfo& info) {
  if (info.status.is(Code::kAborted) || failure_ || dead_ || !is_mirrored(info.table))
    return;  // the engine is being closed
  expect_ok(info.status, "compaction");
  if (failure_) return;
  const Rewrite& rewrite = compactions_[info.inputs.front()];
  replay_rewrite(info.table, info.family, rewrite,
                 [&](Mirror& mirror) { return mirror.compact(info, rewrite); });
}

}  // namespace cellar::testing
