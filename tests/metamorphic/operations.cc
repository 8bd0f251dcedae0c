// Drawing plans: few rows, columns and timestamps, so that collisions are the rule.
#include "tests/metamorphic/operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/bytes.h"
#include "base/coding.h"
#include "base/plugins.h"
#include "base/random.h"
#include "cellar/bloom_type.h"
#include "cellar/cache_policy.h"
#include "cellar/compaction_policy.h"
#include "cellar/compressor.h"
#include "hfile/encoding/encoding.h"
#include "memtable/memtable.h"

namespace cellar::testing {
namespace {

using Kind = Operation::Kind;

const std::array<std::string, 11> kRows = {
    "a", "ab",     "abc", std::string("a\0", 2), std::string("\0", 1), "\xff", "\xff\xff", "b",
    "m", "ab\xff", "zz"};
const std::array<std::string, 6> kQualifiers = {"", "q", "q1", std::string("q\0", 2), "\xff", "n"};
const std::array<std::string, 5> kPrefixes = {"a", "ab", "\xff", "z", std::string("\0", 1)};
constexpr std::string_view kCounter = "n";
constexpr int64_t kStart = 20'000;

// The plug-ins of this build, so that future ones are drawn as well.
struct Choices {
  std::vector<std::string> encodings, codecs, blooms, policies, memtables, cache_policies;
  std::vector<std::string> default_policy;  // with parameters; it keeps up with any number of files
};

// Returns the `names` with which a family can be made.
std::vector<std::string> fit(const std::vector<std::string>& names, std::string FamilyOptions::*field) {
  std::vector<std::string> result;
  for (const std::string& name : names) {
    FamilyOptions family;
    family.name = "f";
    family.*field = name;
    if (validate(family).ok()) result.push_back(name);
  }
  return result;
}

const Choices& choices() {
  static const Choices kChoices = [] {
    register_memtable_plugins();
    register_cache_plugins();
    register_bloom_plugins();
    register_hfile_plugins();
    register_compaction_plugins();
    const auto with_parameters = [](const std::string& name) {
      return std::vector<std::string>{
          name,
          name + "(files_min=2, files_max=2)",
          name + "(ratio=1.2, files_min=2, files_max=3)",
          name + "(fanout=2, base_bytes=3k, file_bytes=100, runs_min=1)",
          name + "(fanout=3, base_bytes=5k, file_bytes=500, runs_min=2, pick=oldest)",
          name + "(fanout=2, base_bytes=1k, file_bytes=1, pick=tombstones)",
          name + "(base_bytes=4k, file_bytes=1k, runs_min=3, pick=whole)",
          name + "(fanout=2, base_bytes=1k, file_bytes=100, pick=coldest, tombstones=0.2)",
          name + "(fanout=2, base_bytes=2k, file_bytes=500, pick=tombstone_age, tombstone_age=100ms)",
          name + "(fanout=2, base_bytes=2k, file_bytes=100, pick=round_robin)",
          name + "(runs=2, file_bytes=100)",
          name + "(runs=3, file_bytes=1k, space_max=100)",
          name + "(scaling=T3,N,L4, base_bytes=500, file_bytes=100)",
          name + "(scaling=L3, base_bytes=2k, file_bytes=500)",
          name + "(tombstones=0.3, expired=0.2)",
          name + "(window=1s, windows_per_tier=2, incoming_files_min=2, files_min=2)",
          name + "(split_bytes=2k, level0_files_min=2, files_min=2)",
          name + "(stripes=3, split_bytes=500, split_count=3, level0_files_min=3)"};
    };
    Choices made;
    made.encodings = fit(encoding_names(), &FamilyOptions::encoding);
    std::vector<std::string> codecs = Registry<Compressor>::instance().names();
    codecs.emplace_back("zstd(level=1, framing=hbase)");
    made.codecs = fit(codecs, &FamilyOptions::compression);
    std::vector<std::string> blooms = {"none"};
    for (const std::string& name : Registry<BloomType>::instance().names())
      for (const char* parameter : {"", "(prefix_length=1)", "(prefix_length=2)"})
        blooms.push_back(name + parameter);
    made.blooms = fit(blooms, &FamilyOptions::bloom);
    for (const std::string& name : Registry<CompactionPolicy>::instance().names())
      for (const std::string& text : fit(with_parameters(name), &FamilyOptions::compaction))
        made.policies.push_back(text);
    made.default_policy = fit(with_parameters(FamilyOptions().compaction), &FamilyOptions::compaction);
    made.memtables = Registry<Memtable>::instance().names();
    made.cache_policies = Registry<CachePolicy>::instance().names();
    return made;
  }();
  return kChoices;
}

class Planner {
 public:
  Planner(uint64_t seed, Work work) : random_(seed) {
    plan_.seed = seed;
    plan_.work = work;
    plan_.clock_ms = clock_ms_ = kStart;
    draw_options();
  }

  Plan plan(size_t operations) {
    plan_.operations.reserve(operations);
    for (size_t i = 0; i < operations; ++i) plan_.operations.push_back(draw());
    return std::move(plan_);
  }

 private:
  template <class T, size_t kSize>
  const T& one_of(const std::array<T, kSize>& choices) {
    return choices[random_.below(kSize)];
  }
  template <class T>
  T one_of(std::initializer_list<T> choices) {
    return *std::next(choices.begin(), static_cast<std::ptrdiff_t>(random_.below(choices.size())));
  }

  void draw_options();
  FamilyOptions draw_family(const std::string& name);
  Operation draw();
  void draw_write(Operation& operation);
  void draw_read(Operation& operation);
  void draw_other_read(Operation& operation);
  void draw_filter(Operation& operation);
  void draw_actions(Operation& operation);
  void draw_transaction(Operation& operation);
  void draw_ingest(Operation& operation);
  void draw_table_work(Operation& operation);
  void draw_bounds(Operation& operation);
  void draw_service(Operation& operation);
  RowChange draw_put();
  RowChange draw_delete();
  RowChange draw_increment();
  RowChange draw_append();
  void draw_row_changes(Operation& operation);
  void draw_check(Operation& operation);
  ModelChange draw_marker(const RowChange& of);

  uint32_t draw_table() { return static_cast<uint32_t>(random_.below(plan_.tables.size())); }
  const std::string& draw_family_of(uint32_t table) {
    const auto& families = plan_.tables[table].families;
    return families[random_.below(families.size())].name;
  }
  std::string draw_value() {
    std::string number;
    if (random_.one_in(12)) return {};
    if (random_.one_in(5)) return append_be64(number, random_.below(100)), number;
    number = fmt::format("v{}", ++values_);
    if (random_.one_in(15)) number.append(random_.below(3000), 'x');
    return number;
  }
  // Around now, in steps of a second.
  int64_t draw_timestamp() {
    return std::max<int64_t>(0, (clock_ms_ / 1000 - 8 + static_cast<int64_t>(random_.below(10))) * 1000);
  }
  std::optional<int64_t> draw_optional_timestamp() {
    return random_.one_in(4) ? std::nullopt : std::optional<int64_t>(draw_timestamp());
  }

  const std::string& one_of(const std::vector<std::string>& choices) {
    return choices[random_.below(choices.size())];
  }

  Random random_;
  Plan plan_;
  bool files_stop_ = random_.one_in(2);  // writers wait for compactions
  int64_t clock_ms_ = 0;
  uint64_t values_ = 0;
};

FamilyOptions Planner::draw_family(const std::string& name) {
  FamilyOptions family;
  family.name = name;
  family.max_versions = one_of<uint32_t>({1, 1, 2, 3, 5});
  family.min_versions = random_.one_in(3) ? static_cast<uint32_t>(random_.below(family.max_versions + 1)) : 0;
  family.ttl_s = random_.one_in(3) ? one_of<int64_t>({3, 6}) : kForever;
  family.keep_deleted_cells =
      one_of({KeepDeleted::kFalse, KeepDeleted::kFalse, KeepDeleted::kTrue, KeepDeleted::kTtl});
  family.delete_order = random_.one_in(4) ? MarkerOrder::kSequence : MarkerOrder::kTimestamp;
  family.block_bytes = one_of<uint32_t>({1024, 1024, 4096, FamilyOptions().block_bytes});
  family.encoding = one_of(choices().encodings);
  family.compression = one_of(choices().codecs);
  family.bloom = one_of(choices().blooms);
  family.bloom_hash = one_of({"murmur", "murmur3", "jenkins"});
  family.bloom_bits_percent_error = one_of<uint32_t>({1, 1, 50});
  family.bloom_allocation = one_of({"uniform", "monkey"});
  family.compaction = one_of(files_stop_ ? choices().default_policy : choices().policies);
  family.cache_blocks = !random_.one_in(4);
  family.cache_data_on_write = random_.one_in(4);
  family.cache_index_on_write = random_.one_in(4);
  family.cache_blooms_on_write = random_.one_in(4);
  family.prefetch_on_open = random_.one_in(4);
  family.in_memory = random_.one_in(4);
  family.compress_tags = !random_.one_in(4);
  for (std::string* each :
       {&family.compression_compact, &family.compression_compact_major, &family.compression_compact_minor})
    if (random_.one_in(3)) *each = one_of(choices().codecs);
  family.time_to_purge_deletes_ms = random_.one_in(4) ? one_of<int64_t>({1000, 5000}) : 0;
  if (random_.one_in(4)) family.major_compaction_interval_ms = one_of<int64_t>({0, 1000, 5000});
  if (random_.one_in(3)) family.stamps = Stamps::kRising;
  return family;
}

void Planner::draw_options() {
  EngineOptions& engine = plan_.engine;
  engine.memtable_bytes = one_of<uint64_t>({4096, 8192, 32768});
  engine.log_segment_bytes = 64 << 10;
  if (plan_.work == Work::kAutomatic) engine.memtables_frozen_max = one_of<uint32_t>({1, 3});
  engine.memtable = one_of(choices().memtables);
  engine.cache_bytes = one_of<uint64_t>({0, 1200, 3000, 8000, 20000, 1 << 20});  // 1200: one block
  engine.cache_rows = !random_.one_in(4);
  engine.cache_policy = one_of(choices().cache_policies);
  engine.map_files = random_.one_in(2);
  engine.open_files_max = one_of<uint32_t>({1, 3, 512});
  engine.automatic_flush = engine.automatic_compaction = plan_.work == Work::kAutomatic;
  engine.ttl_clock_guard_s = 0;
  engine.verify_new_files = random_.one_in(2);
  if (random_.one_in(2)) {
    engine.compaction_parts_max = one_of<uint32_t>({2, 3, 8});
    engine.compaction_part_bytes = 1;
  }
  if (files_stop_) {
    engine.files_slow = 6;
    engine.files_stop = 8;
  } else {
    engine.files_slow = engine.files_stop = 1'000'000;
  }
  plan_.tables.resize(2);
  plan_.tables[0].families = {draw_family("a"), draw_family("b")};
  plan_.tables[1].families = {draw_family("f"), draw_family("g"), draw_family("h")};
  plan_.power_cuts = random_.one_in(3);
  if (plan_.power_cuts) engine.durability = Durability::kFsyncWal;
  plan_.observed = random_.one_in(3);
  if (random_.one_in(3)) plan_.tables[1].durability = Durability::kFsyncWal;
}

RowChange Planner::draw_put() {
  RowChange put{.table = draw_table(), .row = one_of(kRows)};
  if (random_.one_in(10)) put.put_ttl_ms = one_of<int64_t>({1000, 2500, 4000});
  for (uint64_t cells = 1 + random_.below(4); cells > 0; --cells) {
    ModelChange change;
    change.row = put.row;
    change.family = draw_family_of(put.table);
    change.qualifier = one_of(kQualifiers);
    change.timestamp = draw_optional_timestamp();
    change.value = draw_value();
    if (change.qualifier == kCounter && !random_.one_in(8)) {
      change.value.clear();
      append_be64(change.value, random_.below(1000));
    }
    change.ttl_ms = put.put_ttl_ms;
    put.changes.push_back(std::move(change));
  }
  return put;
}

ModelChange Planner::draw_marker(const RowChange& of) {
  using Change = ModelChange::Kind;
  ModelChange change;
  change.kind = one_of({Change::kDeleteVersion, Change::kDeleteLatest, Change::kDeleteColumn,
                        Change::kDeleteFamily, Change::kDeleteFamilyVersion});
  change.row = of.row;
  change.family = draw_family_of(of.table);
  const bool whole = change.kind == Change::kDeleteFamily || change.kind == Change::kDeleteFamilyVersion;
  if (!whole) change.qualifier = one_of(kQualifiers);
  const bool exact = change.kind == Change::kDeleteVersion || change.kind == Change::kDeleteFamilyVersion;
  if (exact) change.timestamp = draw_timestamp();
  if (change.kind == Change::kDeleteColumn || change.kind == Change::kDeleteFamily)
    change.timestamp = draw_optional_timestamp();
  return change;
}

RowChange Planner::draw_delete() {
  RowChange erase{.table = draw_table(), .row = one_of(kRows), .is_delete = true};
  if (random_.one_in(8)) {
    erase.timestamp = draw_optional_timestamp();
    return erase;
  }
  for (uint64_t markers = 1 + random_.below(3); markers > 0; --markers) {
    ModelChange marker = draw_marker(erase);
    if (marker.kind == ModelChange::Kind::kDeleteFamily)  // Delete::family takes back what was there before
      std::erase_if(erase.changes, [&](const ModelChange& each) { return each.family == marker.family; });
    erase.changes.push_back(std::move(marker));
  }
  return erase;
}

RowChange Planner::draw_increment() {
  RowChange row{.table = draw_table(), .row = one_of(kRows)};
  if (random_.one_in(10)) row.put_ttl_ms = 3000;
  for (uint64_t counters = 1 + random_.below(2); counters > 0; --counters) {
    ModelChange change;
    change.kind = ModelChange::Kind::kIncrement;
    change.row = row.row;
    change.family = draw_family_of(row.table);
    change.qualifier = random_.one_in(12) ? one_of(kQualifiers) : std::string(kCounter);
    change.amount = static_cast<int64_t>(random_.below(10)) - 3;
    if (random_.one_in(40)) change.amount = INT64_MAX;
    change.ttl_ms = row.put_ttl_ms;
    row.changes.push_back(std::move(change));
  }
  return row;
}

RowChange Planner::draw_append() {
  RowChange row{.table = draw_table(), .row = one_of(kRows)};
  if (random_.one_in(10)) row.put_ttl_ms = 3000;
  for (uint64_t columns = 1 + random_.below(3); columns > 0; --columns) {
    ModelChange change;
    change.kind = ModelChange::Kind::kAppend;
    change.row = row.row;
    change.family = draw_family_of(row.table);
    change.qualifier = one_of(kQualifiers);
    change.value = fmt::format("+{}", random_.below(10));
    change.ttl_ms = row.put_ttl_ms;
    row.changes.push_back(std::move(change));
  }
  return row;
}

// Several of one row.
void Planner::draw_row_changes(Operation& operation) {
  const uint64_t wanted = 1 + random_.below(4);
  while (operation.rows.size() < wanted) {
    RowChange row = random_.one_in(3)   ? draw_delete()
                    : random_.one_in(3) ? draw_increment()
                    : random_.one_in(2) ? draw_append()
                                        : draw_put();
    if (!operation.rows.empty() && row.table != operation.rows.front().table) continue;
    if (!operation.rows.empty()) row.row = operation.rows.front().row;
    for (ModelChange& each : row.changes) each.row = row.row;
    operation.rows.push_back(std::move(row));
  }
}

void Planner::draw_check(Operation& operation) {
  ModelCheck& check = operation.check;
  check.family = draw_family_of(operation.rows.front().table);
  check.qualifier = one_of(kQualifiers);
  check.compare = one_of({CompareOp::kLess, CompareOp::kLessOrEqual, CompareOp::kEqual, CompareOp::kEqual,
                          CompareOp::kNotEqual, CompareOp::kGreaterOrEqual, CompareOp::kGreater});
  check.expects_stored = random_.one_in(3);
  if (!random_.one_in(3)) check.expected = draw_value();
  if (!random_.one_in(4)) return;
  operation.scan.time_from = draw_timestamp();
  operation.scan.time_until = operation.scan.time_from + 1000 * (1 + random_.below(8));
}

// Changes of several rows, no row twice, each put and marker with its time: whatever order they are done in
// comes to the same.
void Planner::draw_transaction(Operation& operation) {
  operation.kind = one_of(
      {Kind::kTransaction, Kind::kTransaction, Kind::kTransactionRolledBack, Kind::kTransactionInConflict});
  std::set<std::pair<uint32_t, std::string>> taken;
  for (uint64_t rows = 1 + random_.below(4); rows > 0; --rows) {
    RowChange row = random_.one_in(4)   ? draw_delete()
                    : random_.one_in(4) ? draw_increment()
                    : random_.one_in(4) ? draw_append()
                                        : draw_put();
    if (!taken.emplace(row.table, row.row).second) continue;
    std::erase_if(row.changes,
                  [](const ModelChange& each) { return each.kind == ModelChange::Kind::kDeleteLatest; });
    if (row.changes.empty() && !row.timestamp) row.timestamp = draw_timestamp();
    const bool computes = !row.is_delete && row.changes.front().kind != ModelChange::Kind::kPut;
    for (ModelChange& each : row.changes)
      if (!each.timestamp && !computes) each.timestamp = draw_timestamp();
    operation.rows.push_back(std::move(row));
  }
  operation.which = static_cast<uint32_t>(random_.below(operation.rows.size()));
}

// Draws actions of one table, with gets between them. A get is a row without changes that is no delete.
void Planner::draw_actions(Operation& operation) {
  operation.kind = Kind::kActionList;
  const uint32_t table = draw_table();
  for (uint64_t actions = 1 + random_.below(7); actions > 0;) {
    RowChange row{.table = table, .row = one_of(kRows)};
    if (!random_.one_in(4)) {
      row = random_.one_in(4)   ? draw_delete()
            : random_.one_in(4) ? draw_increment()
            : random_.one_in(4) ? draw_append()
                                : draw_put();
    }
    if (row.table != table) continue;
    for (ModelChange& each : row.changes) {
      if (each.kind == ModelChange::Kind::kDeleteLatest) each.kind = ModelChange::Kind::kDeleteColumn;
      if (each.value.size() > 40) each.value.resize(40);  // the list fits into memory that is empty
    }
    --actions;
    operation.rows.push_back(std::move(row));
  }
}

void Planner::draw_write(Operation& operation) {
  switch (random_.below(15)) {
    default:
      operation.kind = Kind::kPut;
      operation.rows.push_back(draw_put());
      break;
    case 0:
    case 1:
    case 2:
      operation.kind = Kind::kDelete;
      operation.rows.push_back(draw_delete());
      break;
    case 3:
      operation.kind = Kind::kIncrement;
      operation.rows.push_back(draw_increment());
      break;
    case 4:
      operation.kind = Kind::kBatch;
      for (uint64_t rows = 1 + random_.below(5); rows > 0; --rows)
        operation.rows.push_back(random_.one_in(3) ? draw_delete() : draw_put());
      break;
    case 5:
      operation.kind = Kind::kAppend;
      operation.rows.push_back(draw_append());
      break;
    case 6:
      operation.kind = Kind::kRowMutations;
      draw_row_changes(operation);
      break;
    case 7:
      operation.kind = Kind::kCheckAndMutate;
      draw_row_changes(operation);
      draw_check(operation);
      break;
    case 8:
      draw_actions(operation);
      break;
    case 9:
      draw_transaction(operation);
      break;
  }
  operation.table = operation.rows.front().table;
  operation.unlogged = random_.one_in(30);
}

// Rows of one table whose changes need no reading.
void Planner::draw_ingest(Operation& operation) {
  operation.kind = Kind::kIngest;
  operation.which = static_cast<uint32_t>(random_.below(3));
  for (uint64_t rows = 1 + random_.below(6); rows > 0; --rows) {
    RowChange row = random_.one_in(3) ? draw_delete() : draw_put();
    if (row.table != operation.table) continue;
    std::erase_if(row.changes,
                  [](const ModelChange& each) { return each.kind == ModelChange::Kind::kDeleteLatest; });
    if (!row.changes.empty()) operation.rows.push_back(std::move(row));
  }
}

void Planner::draw_bounds(Operation& operation) {
  ModelScan& scan = operation.scan;
  scan.reversed = random_.one_in(3);
  if (random_.one_in(5)) {
    operation.prefix = one_of(kPrefixes);
  } else if (!random_.one_in(3)) {
    if (!random_.one_in(3)) scan.start = one_of(kRows);
    if (!random_.one_in(3)) scan.stop = one_of(kRows);
    scan.start_inclusive = !random_.one_in(3);
    scan.stop_inclusive = random_.one_in(3);
  }
  if (random_.one_in(4)) scan.rows_max = 1 + random_.below(4);
  if (random_.one_in(4)) scan.cells_per_part = 1 + random_.below(4);
  if (random_.one_in(6)) scan.bytes_per_part = 1 + random_.below(200);
  if (random_.one_in(4)) operation.cursor_cells = 1 + random_.below(12);
  operation.resumes = random_.one_in(2);
  scan.raw = random_.one_in(5);
  operation.in_batches = random_.one_in(3);
}

void Planner::draw_read(Operation& operation) {
  operation.table = draw_table();
  operation.kind = one_of({Kind::kGet, Kind::kGet, Kind::kGet, Kind::kExists, Kind::kScan, Kind::kScan});
  operation.row = one_of(kRows);
  if (operation.kind == Kind::kGet && random_.one_in(4)) {
    operation.kind = Kind::kGetMany;
    for (uint64_t rows = random_.below(8); rows > 0; --rows) operation.many.push_back(one_of(kRows));
  }
  operation.which = static_cast<uint32_t>(random_.below(4));
  operation.at_snapshot = random_.one_in(3);
  if (operation.kind == Kind::kScan) {
    draw_bounds(operation);
    if (random_.one_in(12)) operation.kind = Kind::kOpenScanner;
  }
  ModelScan& scan = operation.scan;
  scan.versions = one_of<uint32_t>({1, 1, 2, 3, UINT32_MAX});
  if (random_.one_in(3)) {
    scan.time_from = random_.one_in(2) ? 0 : draw_timestamp();
    scan.time_until = random_.one_in(4) ? kLatestTimestamp : scan.time_from + 1000 * (1 + random_.below(8));
  }
  if (random_.one_in(4)) scan.family_max = 1 + random_.below(4);
  if (random_.one_in(6)) scan.family_offset = 1 + random_.below(3);
  scan.family_counts_cells = random_.one_in(2);
  scan.strict_versions = random_.one_in(4);
  if (random_.one_in(6)) {
    const int64_t from = draw_timestamp();
    scan.family_times[draw_family_of(operation.table)] = {from, from + 1000 * (1 + random_.below(8))};
  }
  if (!random_.one_in(2)) return;
  for (uint64_t families = 1 + random_.below(2); families > 0; --families) {
    std::set<std::string>& columns = scan.columns[draw_family_of(operation.table)];
    columns.clear();
    if (scan.raw || random_.one_in(3)) continue;
    for (uint64_t wanted = 1 + random_.below(3); wanted > 0; --wanted) columns.insert(one_of(kQualifiers));
  }
}

void Planner::draw_filter(Operation& operation) {
  using Filter = ModelFilter::Kind;
  ModelFilter& filter = operation.filter;
  filter.kind = one_of({Filter::kRowPrefix, Filter::kRow, Filter::kFamily, Filter::kColumnPrefix,
                        Filter::kColumn, Filter::kValue, Filter::kRowByColumn, Filter::kRowByColumn});
  if (operation.kind == Kind::kFilteredScan && random_.one_in(6)) filter.kind = Filter::kPage;
  filter.compare = one_of({CompareOp::kLess, CompareOp::kLessOrEqual, CompareOp::kEqual, CompareOp::kNotEqual,
                           CompareOp::kGreaterOrEqual, CompareOp::kGreater});
  filter.rows = 1 + random_.below(4);
  switch (filter.kind) {
    case Filter::kRowPrefix:
      filter.bytes = one_of(kPrefixes);
      break;
    case Filter::kRow:
      filter.bytes = one_of(kRows);
      break;
    case Filter::kFamily:
      filter.bytes = draw_family_of(operation.table);
      break;
    case Filter::kColumnPrefix:
    case Filter::kColumn:
      filter.bytes = one_of(kQualifiers);
      break;
    default:
      filter.bytes = draw_value();
      filter.family = draw_family_of(operation.table);
      filter.qualifier = one_of(kQualifiers);
      filter.required = random_.one_in(2);
  }
  operation.on_demand = random_.one_in(2);
  operation.cursor_cells = 0;
  if (filter.kind != Filter::kPage && filter.kind != Filter::kRowByColumn) return;
  operation.scan.cells_per_part = operation.scan.bytes_per_part = 0;  // they judge whole rows
  operation.scan.family_offset = 0;  // a row of which nothing is left counts, what is left out is looked at
}

void Planner::draw_other_read(Operation& operation) {
  draw_read(operation);
  const bool bounded = operation.kind == Kind::kScan || operation.kind == Kind::kOpenScanner;
  if (!bounded) draw_bounds(operation);
  if (!operation.scan.columns.empty()) operation.scan.raw = false;
  operation.kind = one_of({Kind::kGetInto, Kind::kRowAtOrAfter, Kind::kRowAtOrBefore, Kind::kScanOnward,
                           Kind::kFilteredGet, Kind::kFilteredScan, Kind::kFilteredScan, Kind::kCountRows,
                           Kind::kEstimate, Kind::kSplitPoints, Kind::kExplainedGet, Kind::kExplainedScan});
  if (operation.kind == Kind::kFilteredGet || operation.kind == Kind::kFilteredScan) draw_filter(operation);
}

// Draws operations on whole tables.
void Planner::draw_table_work(Operation& operation) {
  operation.kind =
      one_of({Kind::kTruncate, Kind::kDropAndCreate, Kind::kFamilyAnew, Kind::kFamilyAnew,
              Kind::kNameSnapshot, Kind::kNameSnapshot, Kind::kDropNamed, Kind::kReadNamed, Kind::kReadNamed,
              Kind::kRestoreNamed, Kind::kCloneNamed, Kind::kCheckpoint, Kind::kIngestExported});
  operation.major = random_.one_in(2);
  if (operation.kind == Kind::kFamilyAnew) operation.family = draw_family_of(operation.table);
  if (operation.kind == Kind::kIngestExported && random_.one_in(2)) operation.prefix = one_of(kPrefixes);
}

void Planner::draw_service(Operation& operation) {
  operation.table = draw_table();
  operation.which = static_cast<uint32_t>(random_.below(4));
  switch (random_.below(22)) {
    default:
      operation.kind = random_.one_in(4) ? Kind::kFlushAll : Kind::kFlush;
      return;
    case 0:
    case 1:
    case 2:
      operation.kind = random_.one_in(2) ? Kind::kCompact : Kind::kCompactMajor;
      if (random_.one_in(2)) operation.family = draw_family_of(operation.table);
      return;
    case 3:
    case 4:
    case 5:
      operation.kind = Kind::kClock;
      clock_ms_ += one_of<int64_t>({500, 1000, 1000, 1000, 3000, 10'000, -1000, -5000});
      clock_ms_ = std::max<int64_t>(clock_ms_, 1000);
      operation.clock_ms = clock_ms_;
      return;
    case 6:
    case 7:
      operation.kind = Kind::kOpenSnapshot;
      return;
    case 8:
    case 9:
      operation.kind = Kind::kCloseSnapshot;
      return;
    case 10:
      operation.kind = random_.one_in(3) ? Kind::kRecode : Kind::kAlter;
      operation.family = draw_family_of(operation.table);
      operation.coded = draw_family(operation.family);
      operation.max_versions = 1 + static_cast<uint32_t>(random_.below(4));
      operation.ttl_s = random_.one_in(2) ? kForever : one_of<int64_t>({2, 5, 8});
      return;
    case 11:
      operation.kind = random_.one_in(3) ? Kind::kReopenReadOnly : Kind::kReopen;
      if (!random_.one_in(3)) operation.kind = Kind::kSettle;
      return;
    case 12:
    case 13:
      operation.kind = Kind::kDrainScanner;
      return;
    case 14:
      operation.kind = Kind::kCrash;
      operation.which = static_cast<uint32_t>(random_.below(1000));
      return;
    case 15:
    case 16:
      return draw_ingest(operation);
    case 17:
    case 18:
      return draw_table_work(operation);
  }
}

Operation Planner::draw() {
  Operation operation;
  const uint64_t kind = random_.below(100);
  if (kind < 45) {
    draw_write(operation);
  } else if (kind < 72) {
    draw_read(operation);
  } else if (kind < 87) {
    draw_other_read(operation);
  } else {
    draw_service(operation);
  }
  return operation;
}

}  // namespace

std::string table_name(uint32_t table) { return fmt::format("t{}", table); }

Plan make_plan(uint64_t seed, Work work, size_t operations) { return Planner(seed, work).plan(operations); }

FamilyRules rules_of(const FamilyOptions& family) {
  FamilyRules rules;
  rules.max_versions = family.max_versions;
  rules.min_versions = family.min_versions;
  rules.ttl_ms = family.ttl_s == kForever ? kTtlForeverMs : family.ttl_s * 1000;
  rules.keep_deleted_cells = static_cast<KeepDeleted>(family.keep_deleted_cells);
  rules.delete_order = static_cast<MarkerOrder>(family.delete_order);
  return rules;
}

std::string options_text(const Plan& plan) {
  std::string text = fmt::format("memtable {} of {} bytes, cache {} {}{}, {}, crashes are {}{}\n",
                                 plan.engine.memtable, plan.engine.memtable_bytes, plan.engine.cache_bytes,
                                 plan.engine.cache_policy, plan.engine.map_files ? ", files are mapped" : "",
                                 plan.work == Work::kAutomatic ? "automatic work" : "work on request",
                                 plan.power_cuts ? "power cuts" : "ends of the process",
                                 plan.observed ? ", t0 is observed" : "");
  for (size_t i = 0; i < plan.tables.size(); ++i)
    for (const FamilyOptions& family : plan.tables[i].families)
      text += fmt::format("{}:{} {}\n", table_name(static_cast<uint32_t>(i)), family.name,
                          cellar::to_text(family));
  return text;
}

}  // namespace cellar::testing
