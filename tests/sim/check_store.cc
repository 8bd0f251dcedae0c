// Compares the content of a store after a course with the answers that the course got.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/log/directory.h"
#include "tests/sim/workload.h"
#include "tests/sim/workload_parts.h"

namespace cellar::testing {
namespace {

// Returns how the found cells differ from those that the first `count` writes leave, or nothing.
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
    if (write.fate == Fate::kNotTried && has_any(found, write))
      return fmt::format("write {} is there again", write.id);
    const auto deleted = std::ranges::find(outcome.writes, write.id, &TriedWrite::deletes);
    if (deleted != outcome.writes.end()) {
      for (const std::string& cell : write.cells)
        if (deleted->fate >= least && cell.front() == 't' && cell.find('@') == std::string::npos &&
            found.contains(cell))
          return fmt::format("{} is there, although write {} deleted it", cell, deleted->id);
      continue;
    }
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

// Returns the part of the acknowledged schema that is missing, or nothing.
std::optional<std::string> schema_lost(Engine& engine, const Outcome& outcome) {
  const std::vector<std::string> names = engine.list_tables();
  const auto has = [&](const char* name) { return std::ranges::find(names, name) != names.end(); };
  if (outcome.made && !(has("t") && has("u"))) return "a table is lost";
  if (outcome.extra && *outcome.extra != has("x"))
    return has("x") ? "a dropped table is there" : "table x is lost";
  if (outcome.clone && *outcome.clone != has("y")) return "table y is lost";
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

// The schema of table x or y: after an alteration of x, before it, or a mixture.
enum class Schema : uint8_t { kMade, kAltered, kMixed };
Schema schema_of(const TableInfo& table) {
  std::string families;
  for (const FamilyInfo& each : table.families)
    families +=
        fmt::format("{} {} {} ", each.options.name, each.options.max_versions, each.options.prefetch_on_open);
  const TableOptions& options = table.options;
  if (families == "e 1000 false f 1000 false " && options.memtable_bytes == 0 && !options.durability)
    return Schema::kMade;
  const bool altered = families == fmt::format("e {} true g 1000 false ", kAlteredVersions) &&
                       options.memtable_bytes == kAlteredBytes && options.durability == Durability::kFsyncWal;
  return altered ? Schema::kAltered : Schema::kMixed;
}

// Says what is wrong with the table `name`, which is x or its clone y. Nothing is returned if all is well.
std::optional<std::string> extra_lost(Engine& engine, const std::string& name,
                                      const std::set<std::string>& found, const Outcome& outcome) {
  const auto table = engine.open_table(name);
  if (!table.ok()) return std::nullopt;  // schema_lost() knows whether it must be there
  const Schema schema = schema_of((*table)->info());
  if (schema == Schema::kMixed) return fmt::format("table {} is altered in part", name);
  const bool altered = schema == Schema::kAltered;
  const bool of_clone = name == "y";
  const bool known = (of_clone ? outcome.clone : outcome.extra).value_or(false);
  const std::optional<bool> expected = of_clone ? outcome.cloned_altered : outcome.altered;
  if (known && expected && *expected != altered)
    return fmt::format("table {}: {}", name,
                       altered ? "an alteration that nobody made" : "an alteration is lost");
  const bool e = found.contains(name + "/e/r"), f = found.contains(name + "/f/r"),
             g = found.contains(name + "/g/r");
  if (altered ? g && !e : e != f) return fmt::format("the row of table {} is there in part", name);
  const std::optional<bool> row = of_clone ? outcome.cloned : outcome.rows;
  if (known && row && *row != e)
    return fmt::format("the row of table {} is {}", name, e ? "there again" : "lost");
  return std::nullopt;
}

// Says what is wrong with the feeds, or nothing.
std::optional<std::string> feeds_lost(Engine& engine, const Outcome& outcome) {
  const std::vector<FeedInfo> feeds = engine.feeds().list();
  const auto has = [&](const std::string& name) {
    return std::ranges::find(feeds, name, &FeedInfo::name) != feeds.end();
  };
  if (outcome.feed && *outcome.feed != has("all")) return "the feed is lost, or there again";
  if (outcome.small_feed && *outcome.small_feed != has(kSmallFeed))
    return "the feed with a limit is lost, or there again";
  if (has("refused")) return "a feed that was refused is there";
  for (const FeedInfo& each : feeds) {
    if (each.lost && each.name == kSmallFeed) continue;  // it was told so
    const auto reader = engine.feeds().read(each.name);
    if (!reader.ok()) return "feed: " + reader.status().to_text();
    for (bool more = true; more;) {
      const auto entry = (*reader)->next();
      if (!entry.ok()) return "feed: " + entry.status().to_text();
      more = *entry != nullptr;
    }
  }
  return std::nullopt;
}

// Says which of tables x and y, the snapshot and the feed is lost, incomplete, or there although it was
// dropped.
std::optional<std::string> others_lost(Engine& engine, const std::set<std::string>& found,
                                       const Outcome& outcome) {
  for (const char* name : {"x", "y"})
    if (auto wrong = extra_lost(engine, name, found, outcome)) return wrong;
  const auto snapshots = engine.named_snapshots().list();
  if (!snapshots.ok()) return "snapshots: " + snapshots.status().to_text();
  for (const CheckpointInfo& each : *snapshots) {
    if (!each.status.ok()) return "snapshot " + each.name + ": " + each.status.to_text();
    const auto opened = engine.named_snapshots().open(each.name);
    const Status read = opened.ok() ? cells_found(**opened).status() : opened.status();
    if (!read.ok()) return "snapshot " + each.name + " cannot be read: " + read.to_text();
  }
  if (outcome.snapshot && *outcome.snapshot == snapshots->empty())
    return "the snapshot is lost, or there again";
  return feeds_lost(engine, outcome);
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

// The checkpoint opens, and all of it can be read.
std::optional<std::string> copy_lost(FileSystem& files) {
  ManualClock clock;
  StepExecutor executor(1, clock);
  EngineOptions options = engine_options(files, clock, executor);
  options.create_if_missing = false;
  options.read_only = true;
  const auto opened = Engine::open("copy", options);
  const Status read = opened.ok() ? cells_found(**opened).status() : opened.status();
  if (read.ok()) return std::nullopt;
  return "the checkpoint cannot be read: " + read.to_text();
}

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

std::optional<std::string> check_store(FileSystem& files, const Outcome& outcome,
                                       const CheckOptions& options) {
  if (outcome.wrong) return outcome.wrong;
  if (outcome.copied.value_or(false))
    if (auto wrong = copy_lost(files)) return wrong;
  std::set<std::string> found;
  {
    Visit visit(files);
    if (auto wrong = visit.open()) return wrong;
    if (auto wrong = schema_lost(visit.engine(), outcome)) return wrong;
    auto cells = visit.found();
    if (!cells.ok()) return "does not read: " + cells.status().to_text();
    found = *cells;
    if (auto wrong = others_lost(visit.engine(), found, outcome)) return wrong;
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

std::optional<std::string> settle_store(FileSystem& files, Outcome& outcome, Fate least) {
  if (outcome.wrong) return outcome.wrong;
  Visit visit(files);
  if (auto wrong = visit.open()) return wrong;
  if (auto wrong = schema_lost(visit.engine(), outcome)) return wrong;
  const auto found = visit.found();
  if (!found.ok()) return "does not read: " + found.status().to_text();
  if (auto wrong = others_lost(visit.engine(), *found, outcome)) return wrong;
  if (auto wrong = lost_or_split(*found, outcome, least)) return wrong;
  for (TriedWrite& write : outcome.writes) {
    if (write.deletes != 0) {
      // The row that a failed delete was to delete shows if the delete is there.
      const TriedWrite& of = outcome.writes[write.deletes - 1];
      if (write.fate < least) write.fate = has_all(*found, of) ? Fate::kNotTried : Fate::kFailed;
    } else {
      write.fate = has_all(*found, write)   ? Fate::kDurable
                   : has_any(*found, write) ? Fate::kFailed
                                            : Fate::kNotTried;
    }
    if (write.fate >= least) write.fate = Fate::kDurable;
  }
  const std::vector<std::string> names = visit.engine().list_tables();
  const auto has = [&](const char* name) { return std::ranges::find(names, name) != names.end(); };
  outcome.made = has("t") && has("u");
  outcome.extra = has("x");
  outcome.rows = found->contains("x/e/r");
  outcome.clone = has("y");
  outcome.cloned = found->contains("y/e/r");
  outcome.kept = outcome.kept_altered = std::nullopt;
  const auto is_altered = [&](const char* name) {
    return schema_of(visit.engine().open_table(name).value()->info()) == Schema::kAltered;
  };
  if (has("x")) outcome.altered = is_altered("x");
  if (has("y")) outcome.cloned_altered = is_altered("y");
  outcome.snapshot = !visit.engine().named_snapshots().list().value().empty();
  const std::vector<FeedInfo> feeds = visit.engine().feeds().list();
  outcome.feed = std::ranges::find(feeds, "all", &FeedInfo::name) != feeds.end();
  outcome.small_feed = std::ranges::find(feeds, kSmallFeed, &FeedInfo::name) != feeds.end();
  outcome.versions = 0;
  const Status closed = visit.close();
  return closed.ok() ? std::nullopt : std::optional<std::string>("does not close: " + closed.to_text());
}

void open_and_close(FileSystem& files) {
  Visit visit(files);
  if (!visit.open()) static_cast<void>(visit.close());
}

}  // namespace cellar::testing
