// RandomRun: what concerns whole tables: truncating, dropping, named snapshots, checkpoints, exports.
#include <fmt/format.h>

#include <algorithm>

#include "tests/metamorphic/random_run.h"
#include "tests/metamorphic/requests.h"

namespace cellar::testing {
namespace {

constexpr const char* kClone = "clone";
constexpr size_t kNamedMax = 3;

ModelScan everything() {
  ModelScan scan;
  scan.versions = UINT32_MAX;
  return scan;
}

Status remove_tree(Directory& parent, const std::string& name) {
  {
    CELLAR_TRY_ASSIGN(const auto directory, parent.directory(name, false));
    CELLAR_TRY_ASSIGN(const auto entries, directory->list());
    for (const DirectoryEntry& each : entries)
      CELLAR_TRY(each.is_directory ? remove_tree(*directory, each.name) : directory->unlink(each.name));
  }
  return parent.remove_directory(name);
}

}  // namespace

void RandomRun::table_work(const Operation& operation) {
  executor_.settle();
  switch (operation.kind) {
    case Kind::kTruncate:
    case Kind::kDropAndCreate:
      return empty_table(operation);
    case Kind::kFamilyAnew:
      return family_anew(operation);
    case Kind::kNameSnapshot:
      return name_snapshot(operation);
    case Kind::kCheckpoint:
      return checkpoint();
    case Kind::kIngestExported:
      return ingest_exported(operation);
    default:
      break;
  }
  if (named_.empty()) return;
  const auto at = named_.begin() + static_cast<ptrdiff_t>(operation.which % named_.size());
  if (operation.kind == Kind::kReadNamed) return read_named(*at);
  if (operation.kind == Kind::kRestoreNamed) return restore_named(*at, operation);
  if (operation.kind == Kind::kCloneNamed) return clone_named(*at, operation);
  expect_ok(engine_->named_snapshots().drop(at->name), "drop snapshot");
  named_.erase(at);
}

void RandomRun::expect_content(Table& table, const Mirror& expected) {
  expect_parts(table.name().c_str(), parts_of_scan(table, Scan().all_versions()),
               expected.scan(everything(), "", now_ms()));
}

// A new snapshot shares what is kept with the open ones of its sequence.
void RandomRun::begin_snapshot() {
  const uint64_t sequence = snapshots_.back()->sequence();
  const auto shares = [&](const auto& each) {
    const auto open = each.lock();
    return open != nullptr && open->sequence() == sequence;
  };
  if (std::ranges::any_of(given_, shares)) return;
  for (Mirror& mirror : mirrors_) mirror.forget_kept(sequence);
}

// A rewrite drops what no snapshot sees that was open when it began. A snapshot that was opened later goes on
// seeing what it saw.
void RandomRun::replay_rewrite(const std::string& table, const std::string& family, const Rewrite& rewrite,
                               const std::function<std::optional<std::string>(Mirror&)>& replay) {
  const uint64_t known = rewrite.how.read_point + (rewrite.any_snapshot ? 1 : 0);
  std::set<uint64_t> late;
  for (const auto& each : given_)
    if (const auto snapshot = each.lock(); snapshot != nullptr && snapshot->sequence() >= known)
      late.insert(snapshot->sequence());
  Mirror& mirror = mirror_of(table);
  const std::optional<Mirror> before = late.empty() ? std::optional<Mirror>() : mirror;
  if (const auto wrong = replay(mirror)) return fail(*wrong);
  for (const uint64_t snapshot : late) {
    ModelScan scan = everything();
    scan.read_point = snapshot;
    scan.at_snapshot = true;
    if (before->scan(scan, "", now_ms()) != mirror.scan(scan, "", now_ms()))
      mirror.keep(family, snapshot, before->families().at(family));
  }
}

// Snapshots go on seeing what was there before `change`, which the mirror does not keep: it is compared once,
// after that they are let go.
void RandomRun::replace_content(const std::function<Status()>& change, const char* what) {
  std::vector<std::vector<std::vector<Part>>> expected;
  for (const auto& snapshot : snapshots_) {
    auto& of_snapshot = expected.emplace_back();
    ModelScan scan = everything();
    scan.read_point = snapshot->sequence();
    scan.at_snapshot = true;
    for (const Mirror& mirror : mirrors_) of_snapshot.push_back(mirror.scan(scan, "", now_ms()));
  }
  expect_ok(change(), what);
  for (size_t i = 0; i < snapshots_.size() && !failure_; ++i)
    for (size_t t = 0; t < tables_.size(); ++t)
      expect_parts(what, parts_of_scan(*tables_[t], Scan().all_versions().snapshot(snapshots_[i])),
                   expected[i][t]);
  snapshots_.clear();
  const uint64_t last = engine_->status().last_sequence;
  if (last < sequence_) fail(fmt::format("{}: write {} follows write {}", what, last, sequence_));
  kept_ = sequence_ = last;
}

void RandomRun::empty_table(const Operation& operation) {
  const std::string name = table_name(operation.table);
  const TableOptions& options = options_[operation.table];
  if (operation.kind == Kind::kTruncate) {
    replace_content([&] { return engine_->truncate_table(name); }, "truncate");
  } else {
    snapshots_.clear();
    expect_ok(engine_->drop_table(name), "drop");
    auto made = engine_->create_table(name, options);
    if (!made.ok()) return fail("create anew: " + made.status().to_text());
    tables_[operation.table] = std::move(made).value();
    if (operation.table == 0) add_observer();
  }
  mirrors_[operation.table] = Mirror(options);
  compare_files();
}

void RandomRun::family_anew(const Operation& operation) {
  const std::string name = table_name(operation.table);
  TableChange anew;
  for (const FamilyOptions& family : options_[operation.table].families)
    if (family.name == operation.family) anew.set_families.push_back(family);
  if (anew.set_families.empty() || options_[operation.table].families.size() < 2) return;
  snapshots_.clear();
  expect_ok(engine_->alter_table(name, {.remove_families = {operation.family}}), "removal of a family");
  expect_ok(engine_->alter_table(name, anew), "family anew");
  MirrorFamily& mirror = mirrors_[operation.table].family(operation.family);
  mirror.memory.clear();
  mirror.runs.clear();
  compare_files();
}

// Half of them with nothing in memory: what is restored then consists of files that the mirror knows.
void RandomRun::name_snapshot(const Operation& operation) {
  if (named_.size() == kNamedMax) return;
  if (operation.major) expect_ok(engine_->flush(), "flush");
  executor_.settle();
  if (failure_) return;
  NamedContent named;
  named.name = fmt::format("s{}", ++names_given_);
  const auto made = engine_->named_snapshots().create(named.name);
  if (!made.ok()) return fail("create snapshot: " + made.status().to_text());
  if (made->sequence != sequence_) fail("a named snapshot is not of the newest write");
  named.mirrors = mirrors_;
  named.options = options_;
  for (const Mirror& mirror : mirrors_)
    for (const auto& [name, family] : mirror.families())
      named.restorable = named.restorable && family.memory.empty();
  named_.push_back(std::move(named));
}

void RandomRun::read_named(const NamedContent& named) {
  auto opened = engine_->named_snapshots().open(named.name);
  if (!opened.ok()) return fail("open snapshot: " + opened.status().to_text());
  for (size_t t = 0; t < named.mirrors.size() && !failure_; ++t) {
    const auto table = (*opened)->open_table(table_name(static_cast<uint32_t>(t)));
    if (!table.ok()) return fail("snapshot: " + table.status().to_text());
    expect_content(**table, named.mirrors[t]);
  }
  expect_ok((*opened)->close(), "close of a snapshot");
}

// `major`: all tables.
void RandomRun::restore_named(const NamedContent& named, const Operation& operation) {
  if (!named.restorable) return;
  std::vector<uint32_t> restored = {operation.table};
  std::vector<std::string> names = {table_name(operation.table)};
  if (operation.major) {
    restored.clear();
    names.clear();
    for (uint32_t t = 0; t < tables_.size(); ++t) restored.push_back(t);
  }
  restoring_ = &named;
  to_restore_ = {restored.begin(), restored.end()};
  replace_content([&] { return engine_->named_snapshots().restore(named.name, names); }, "restore");
  for (const uint32_t t : restored) {
    if (to_restore_.contains(t)) mirror_restored(t);
    if (failure_) return;
    expect_content(*tables_[t], mirrors_[t]);
  }
  restoring_ = nullptr;
  compare_files();
}

void RandomRun::mirror_restored(uint32_t table) {
  to_restore_.erase(table);
  mirrors_[table] = restoring_->mirrors[table];
  options_[table] = restoring_->options[table];
  for (const FamilyInfo& found : tables_[table]->info().families) {
    MirrorFamily& family = mirrors_[table].family(found.options.name);
    if (found.files.size() != family.runs.size())
      return fail("a restored family has another number of files");
    for (size_t i = 0; i < found.files.size(); ++i) {
      family.runs[i].name = found.files[i].name;
      family.runs[i].run = found.files[i].run;
    }
  }
}

// The engine may compact what it has restored before anybody else sees it.
void RandomRun::look_for_restored(const CompactionInfo& info) {
  const auto table = static_cast<uint32_t>(info.table.back() - '0');
  if (restoring_ == nullptr || !to_restore_.contains(table)) return;
  const auto& runs = mirrors_[table].family(info.family).runs;
  if (std::ranges::find(runs, info.inputs.front(), &MirrorFamily::Run::name) == runs.end())
    mirror_restored(table);
}

void RandomRun::clone_named(const NamedContent& named, const Operation& operation) {
  {
    clone_compacts_ = false;
    const auto cloned = engine_->named_snapshots().clone(named.name, table_name(operation.table), kClone);
    if (!cloned.ok()) return fail("clone: " + cloned.status().to_text());
    const std::vector<Part> found = parts_of_scan(**cloned, Scan().all_versions());
    // A compaction of its own may drop versions that show only because newer ones were deleted; not where
    // histories are compared, see fix_answers().
    if (!clone_compacts_ || plan_.keeps_history)
      expect_parts("clone", found, named.mirrors[operation.table].scan(everything(), "", now_ms()));
  }
  expect_ok(engine_->drop_table(kClone), "drop of a clone");
  kept_ = sequence_ = std::max(sequence_, engine_->status().last_sequence);
}

void RandomRun::checkpoint() {
  expect_ok(engine_->checkpoint("copy").status(), "checkpoint");
  if (failure_) return;
  EngineOptions options = plan_.engine;
  options.automatic_flush = options.automatic_compaction = false;
  options.environment = {.files = files_.get(), .clock = &clock_, .executor = &executor_, .seed = plan_.seed};
  {
    auto opened = Engine::open("copy", options);
    if (!opened.ok()) return fail("open of a checkpoint: " + opened.status().to_text());
    for (uint32_t t = 0; t < tables_.size() && !failure_; ++t) {
      const auto table = (*opened)->open_table(table_name(t));
      if (!table.ok()) return fail("checkpoint: " + table.status().to_text());
      expect_content(**table, mirrors_[t]);
    }
    expect_ok((*opened)->close(), "close of a checkpoint");
  }
  auto root = files_->open_directory(".", false);
  expect_ok(root.status(), "directory");
  if (!root.ok()) return;
  expect_ok(remove_tree(**root, "copy"), "removal of a checkpoint");
  expect_ok((*root)->sync(), "sync");  // a power cut would bring it back
}

// Writes the cells of a scan to files, which are then taken in.
void RandomRun::ingest_exported(const Operation& operation) {
  std::map<std::pair<std::string, size_t>, Cells> files;
  for (const Part& part :
       parts_of_scan(*tables_[operation.table], Scan().all_versions().prefix(operation.prefix)))
    for (const Cell& cell : part.cells) files[{cell.family, 0}].push_back(cell);
  if (!files.empty()) ingest_files(operation, files);
}

void RandomRun::recode(const Operation& operation) {
  for (FamilyOptions& family : options_[operation.table].families) {
    if (family.name != operation.family) continue;
    family.encoding = operation.coded.encoding;
    family.compression = operation.coded.compression;
    family.bloom = operation.coded.bloom;
    family.block_bytes = operation.coded.block_bytes;
    expect_ok(engine_->alter_family(table_name(operation.table), family), "recode");
  }
}

}  // namespace cellar::testing
