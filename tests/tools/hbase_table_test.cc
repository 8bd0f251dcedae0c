// Goal: a table in HBase's directories answers as the data model says, in whatever form HBase keeps it. The
// forms are one region, several, halves after a split, links of a clone, a snapshot, and bulk loads among
// flushes. Method: random writes go into the model and into files; the same questions go to both.
#include "tools/hbase/hbase_table.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/plugins.h"
#include "base/random.h"
#include "cellar/environment.h"
#include "tests/cell_support/cursor_contract.h"
#include "tests/cell_support/model_table.h"
#include "tests/support/test_scale.h"
#include "tests/tools/hbase_files.h"

namespace cellar::testing {
namespace {

namespace fs = std::filesystem;
using Kind = ModelChange::Kind;

// The result of one flush or bulk load.
struct Flushed {
  std::map<std::string, Cells> cells;  // by family
  uint64_t sequence = 0;
  bool bulk = false;
};

enum class Shape { kRegion, kRegions, kSplit, kMerged, kClone, kSnapshot, kSplitSnapshot };
constexpr Shape kShapes[] = {Shape::kRegion, Shape::kRegions,  Shape::kSplit,        Shape::kMerged,
                             Shape::kClone,  Shape::kSnapshot, Shape::kSplitSnapshot};

const HBaseTableName kTableName{"shop", "orders"};

HBaseRegion region_of(uint64_t id, const std::string& start, const std::string& end) {
  HBaseRegion region;
  region.id = id;
  region.table = kTableName;
  region.start = start;
  region.end = end;
  return region;
}

// Writes a table's runs below a root, in one of the shapes.
class TableWriter {
 public:
  TableWriter(fs::path root, const HBaseTableSchema& schema) : root_(std::move(root)), schema_(schema) {}

  // The directory to read.
  fs::path write(Shape shape, const std::vector<Flushed>& runs) {
    archived_ = shape == Shape::kSnapshot || shape == Shape::kSplitSnapshot;
    data_ = root_ / (archived_ ? "archive/data" : "data");
    const fs::path table = data_ / kTableName.space / kTableName.name;
    snapshot_.schema = schema_;
    if (shape == Shape::kRegion) write_plain({region_of(1, "", "")}, runs);
    if (shape == Shape::kRegions || shape == Shape::kSnapshot)
      write_plain({region_of(1, "", "r05"), region_of(1, "r05", "r11"), region_of(1, "r11", "")}, runs);
    if (shape == Shape::kSplit || shape == Shape::kSplitSnapshot) write_split(runs);
    if (shape == Shape::kMerged) write_merged(runs);
    if (shape == Shape::kClone) write_clone(runs);
    if (!archived_) {
      write_table_schema(table, schema_, 7);
      write_bytes(table / ".tabledesc" / ".tableinfo.0000000008.99", "half written");
      return table;
    }
    write_snapshot(root_ / ".hbase-snapshot" / "s1", "s1", snapshot_);
    return root_ / ".hbase-snapshot" / "s1";
  }

 private:
  static std::string file_name(size_t run, const Flushed& of) {
    const std::string name = "0a" + std::to_string(run) + "f";
    return of.bulk ? name + "_SeqId_" + std::to_string(of.sequence) + "_" : name;
  }

  // The region's part of the runs, as files.
  void write_runs(const fs::path& data, const HBaseTableName& table, const HBaseRegion& region,
                  const std::vector<Flushed>& runs, size_t from, size_t until) {
    const fs::path directory = data / table.space / table.name / region.encoded_name();
    write_region(directory, region);
    for (size_t i = from; i < until; ++i) {
      for (const auto& [family, all] : runs[i].cells) {
        Cells cells;
        for (const Cell& cell : all)
          if (cell.row >= region.start && (region.end.empty() || cell.row < region.end))
            cells.push_back(cell);
        if (cells.empty()) continue;
        HBaseFileFacts facts;
        if (runs[i].bulk) {
          for (Cell& cell : cells) cell.sequence = 0;
          facts.info["BULKLOAD_TIMESTAMP"] = std::string(8, '\1');
        } else {
          facts.sequence_max = static_cast<int64_t>(runs[i].sequence);
        }
        write_hfile(directory / family / file_name(i, runs[i]), cells, facts);
      }
    }
  }

  void note(const HBaseRegion& region) {
    const fs::path directory = data_ / kTableName.space / kTableName.name / region.encoded_name();
    HBaseSnapshotRegion entry{region, {}};
    for (const HBaseFamilySchema& family : schema_.families) {
      HBaseSnapshotFamily files{family.name, {}};
      std::error_code error;
      for (const auto& each : fs::directory_iterator(directory / family.name, error)) {
        HBaseSnapshotFile file{each.path().filename().string(), {}, fs::file_size(each.path())};
        const auto half = halves_.find(each.path().string());
        if (half != halves_.end()) {
          file.half = half->second;
          file.bytes.reset();
          if (archived_) fs::remove(each.path());  // a snapshot's manifest says it all
        }
        files.files.push_back(file);
      }
      entry.families.push_back(files);
    }
    snapshot_.regions.push_back(entry);
  }

  void write_plain(const std::vector<HBaseRegion>& regions, const std::vector<Flushed>& runs) {
    for (const HBaseRegion& region : regions) {
      write_runs(data_, kTableName, region, runs, 0, runs.size());
      note(region);
    }
  }

  // References of a region to all files of another one.
  void refer(const HBaseRegion& from, const HBaseRegion& to, const HBaseHalf& half) {
    const fs::path table = data_ / kTableName.space / kTableName.name;
    for (const HBaseFamilySchema& family : schema_.families) {
      std::error_code error;
      for (const auto& each : fs::directory_iterator(table / to.encoded_name() / family.name, error)) {
        const fs::path path = table / from.encoded_name() / family.name /
                              (each.path().filename().string() + "." + to.encoded_name());
        write_half(path, half);
        halves_[path.string()] = half;
      }
    }
  }

  void write_split(const std::vector<Flushed>& runs) {
    const HBaseRegion parent = region_of(1, "", "");
    const HBaseRegion low = region_of(2, "", "r07");
    const HBaseRegion high = region_of(2, "r07", "");
    const size_t before = runs.size() / 2;
    write_runs(data_, kTableName, parent, runs, 0, before);
    for (const HBaseRegion& daughter : {low, high})
      write_runs(data_, kTableName, daughter, runs, before, runs.size());
    refer(low, parent, {"r07", false});
    refer(high, parent, {"r07", true});
    HBaseRegion split = parent;
    split.split = true;
    note(split);
    for (const HBaseRegion& daughter : {low, high}) note(daughter);
  }

  // HBase merges by references to the top halves of whole files.
  void write_merged(const std::vector<Flushed>& runs) {
    const HBaseRegion low = region_of(1, "", "r07");
    const HBaseRegion high = region_of(1, "r07", "");
    const HBaseRegion both = region_of(2, "", "");
    const size_t before = runs.size() / 2;
    for (const HBaseRegion& old : {low, high}) write_runs(data_, kTableName, old, runs, 0, before);
    write_runs(data_, kTableName, both, runs, before, runs.size());
    refer(both, low, {"", true});
    refer(both, high, {"r07", true});
  }

  void write_clone(const std::vector<Flushed>& runs) {
    const HBaseTableName source{"default", "source.1-a"};
    const HBaseRegion region = region_of(1, "", "");
    const size_t archived = runs.size() / 2;
    write_runs(root_ / "archive/data", source, region, runs, 0, archived);
    write_runs(data_, source, region, runs, archived, runs.size());
    const fs::path clone = data_ / kTableName.space / kTableName.name / region.encoded_name();
    write_region(clone, region);
    for (const fs::path& data : {root_ / "archive/data", data_})
      for (const HBaseFamilySchema& family : schema_.families) {
        std::error_code error;
        for (const auto& each : fs::directory_iterator(
                 data / source.space / source.name / region.encoded_name() / family.name, error))
          write_bytes(clone / family.name /
                          (source.space + "=" + source.name + "=" + region.encoded_name() + "-" +
                           each.path().filename().string()),
                      "");
      }
  }

  fs::path root_;
  fs::path data_;
  bool archived_ = false;
  HBaseTableSchema schema_;
  HBaseSnapshotManifest snapshot_;
  std::map<std::string, HBaseHalf> halves_;
};

std::string text(uint64_t number) { return std::to_string(number); }
std::string random_row(Random& random) {
  const uint64_t number = random.below(16);
  return (number < 10 ? "r0" : "r") + text(number);
}

ModelChange random_change(Random& random, uint64_t sequence) {
  constexpr Kind kKinds[] = {Kind::kDeleteVersion, Kind::kDeleteColumn, Kind::kDeleteFamily,
                             Kind::kDeleteFamilyVersion};
  ModelChange change;
  change.kind = random.one_in(4) ? kKinds[random.below(4)] : Kind::kPut;
  change.row = random_row(random);
  change.family = random.one_in(2) ? "a" : "b";
  change.qualifier = random.one_in(4) ? "" : std::string(1, static_cast<char>('p' + random.below(3)));
  change.timestamp = static_cast<int64_t>(1 + random.below(12));
  if (change.kind == Kind::kPut) change.value = "v" + text(sequence) + std::string(random.below(40), '.');
  return change;
}

// Writes to the model, and what a flush or a bulk load makes of it.
Flushed random_run(Random& random, ModelTable& model, uint64_t& sequence) {
  Flushed run;
  run.bulk = random.one_in(3);
  const uint64_t writes = 5 + random.below(25);
  // HBase counts the top half of a bulk-loaded file with the next sequence. No other write gets that
  // sequence.
  if (run.bulk) sequence += 2;
  std::vector<ModelChange> together;
  for (uint64_t i = 0; i < writes; ++i) {
    const ModelChange change = random_change(random, run.bulk ? sequence : ++sequence);
    const bool repeated = std::any_of(together.begin(), together.end(), [&](const ModelChange& each) {
      return each.row == change.row && each.family == change.family && each.timestamp == change.timestamp;
    });
    if (run.bulk && repeated)
      continue;  // of equal cells of one write the last one stays, and a file has no last one
    if (run.bulk) together.push_back(change);
    const auto cells = model.cells_of({change}, 0).value();
    for (const auto& [family, list] : cells)
      for (Cell cell : list) {
        cell.sequence = sequence;
        run.cells[family].push_back(std::move(cell));
      }
    if (run.bulk) continue;
    EXPECT_TRUE(model.apply({change}, sequence, 0).ok());
  }
  EXPECT_TRUE(model.apply(together, sequence, 0).ok());
  run.sequence = sequence;
  if (run.bulk) ++sequence;
  return run;
}

ModelScan random_scan(Random& random) {
  ModelScan scan;
  scan.reversed = random.one_in(2);
  if (random.one_in(2)) scan.start = random_row(random);
  if (random.one_in(2)) scan.stop = random_row(random);
  scan.start_inclusive = !random.one_in(4);
  scan.stop_inclusive = random.one_in(4);
  if (random.one_in(3)) scan.rows_max = 1 + random.below(5);
  if (random.one_in(4)) scan.cells_per_part = 1 + random.below(3);
  if (random.one_in(6)) scan.bytes_per_part = 1 + random.below(100);
  if (random.one_in(4)) scan.family_max = 1 + random.below(3);
  if (random.one_in(6)) scan.family_offset = 1 + random.below(2);
  scan.family_counts_cells = random.one_in(2);
  scan.raw = random.one_in(5);
  if (random.one_in(3)) scan.columns["a"] = {};
  if (random.one_in(3))
    scan.columns["b"] = scan.raw ? std::set<std::string>() : std::set<std::string>{"", "q"};
  scan.versions = random.one_in(3) ? UINT32_MAX : static_cast<uint32_t>(1 + random.below(3));
  if (random.one_in(3)) scan.time_from = static_cast<int64_t>(random.below(8));
  if (random.one_in(3)) scan.time_until = scan.time_from + static_cast<int64_t>(1 + random.below(8));
  return scan;
}

template <class Q>
void choose(const ModelScan& asked, Q& query) {
  query.versions(asked.versions).time_range(asked.time_from, asked.time_until);
  query.max_per_family(static_cast<uint32_t>(asked.family_max));
  query.family_offset(static_cast<uint32_t>(asked.family_offset));
  query.count_cells_per_family(asked.family_counts_cells);
  for (const auto& [family, columns] : asked.columns) {
    if (columns.empty()) query.family(family);
    for (const std::string& column : columns) query.column(family, column);
  }
}

Scan scan_of(const ModelScan& asked) {
  Scan scan;
  scan.start(asked.start, asked.start_inclusive)
      .stop(asked.stop, asked.stop_inclusive)
      .reversed(asked.reversed)
      .raw(asked.raw)
      .limit(asked.rows_max)
      .batch(static_cast<uint32_t>(asked.cells_per_part))
      .max_result_bytes(asked.bytes_per_part);
  choose(asked, scan);
  return scan;
}

std::string print(const std::vector<Cells>& rows) {
  std::string all;
  for (const Cells& row : rows) {
    for (Cell cell : row) {
      cell.sequence = 0;  // a bulk-loaded cell's is the file's
      all += print_cell(cell) + "\n";
    }
    all += "--\n";
  }
  return all;
}

std::vector<Cells> answer(Table& table, const Scan& scan) {
  std::vector<Cells> rows;
  const std::unique_ptr<Scanner> scanner = table.scan(scan).value();
  while (scanner->next()) {
    Cells& row = rows.emplace_back();
    for (const CellView& cell : scanner->row()) row.emplace_back(cell);
  }
  EXPECT_TRUE(scanner->status().ok()) << scanner->status().to_text();
  return rows;
}

void compare_answers(Random& random, Table& table, const ModelTable& model) {
  for (int i = 0; i < 40; ++i) {
    const ModelScan asked = random_scan(random);
    EXPECT_EQ(print(answer(table, scan_of(asked))), print(model.scan(asked, 0)));
    ModelScan of_row = asked;
    of_row.raw = false;
    of_row.rows_max = of_row.cells_per_part = of_row.bytes_per_part = 0;
    of_row.reversed = false;
    const std::string row = random_row(random);
    Get get(row);
    choose(of_row, get);
    Result<RowBatch> got = table.get(get);
    ASSERT_TRUE(got.ok()) << got.status().to_text();
    Cells cells;
    for (const CellView& cell : got->row()) cells.emplace_back(cell);
    EXPECT_EQ(print({cells}), print({model.get(row, of_row, 0)}));
    if (::testing::Test::HasFailure()) return;
  }
}

HBaseTableSchema random_schema(Random& random, std::map<std::string, FamilyRules>& rules) {
  constexpr std::string_view kKept[] = {"FALSE", "TRUE"};
  HBaseTableSchema schema;
  schema.table = kTableName;
  for (const std::string family : {"a", "b"}) {
    FamilyRules& rule = rules[family];
    rule.max_versions = static_cast<uint32_t>(1 + random.below(3));
    rule.keep_deleted_cells = random.one_in(3) ? KeepDeleted::kTrue : KeepDeleted::kFalse;
    rule.delete_order = random.one_in(4) ? MarkerOrder::kSequence : MarkerOrder::kTimestamp;
    HBaseAttributes attributes = {
        {"VERSIONS", text(rule.max_versions)},
        {"BLOOMFILTER", "ROW"},
        {"TTL", "2147483647"},
        {"KEEP_DELETED_CELLS", std::string(kKept[rule.keep_deleted_cells == KeepDeleted::kTrue ? 1 : 0])}};
    if (rule.delete_order == MarkerOrder::kSequence) attributes.emplace_back("NEW_VERSION_BEHAVIOR", "true");
    schema.families.push_back({family, attributes});
  }
  return schema;
}

class HBaseTables : public ::testing::TestWithParam<Shape> {};

TEST_P(HBaseTables, AnswerAsTheModel) {
  register_hfile_plugins();
  register_bloom_plugins();
  register_compaction_plugins();
  Output out(STDOUT_FILENO);
  Session session(out);
  session.set_quiet(true);
  const uint64_t first = test_seed(2611);
  for (uint64_t seed = first; seed < first + scaled(12); ++seed) {
    SCOPED_TRACE("seed " + text(seed));
    Random random(seed);
    std::map<std::string, FamilyRules> rules;
    const HBaseTableSchema schema = random_schema(random, rules);
    ModelTable model(rules);
    uint64_t sequence = 10;
    std::vector<Flushed> runs(2 + random.below(5));
    for (Flushed& run : runs) run = random_run(random, model, sequence);
    const fs::path root = fs::path(::testing::TempDir()) / ("cellar_hbase_" + text(getpid()));
    fs::remove_all(root);
    const fs::path directory = TableWriter(root, schema).write(GetParam(), runs);
    const HBaseKind kind = hbase_kind(directory.string());
    ASSERT_TRUE(is_one_table(kind)) << hbase_kind_name(kind);
    const Result<std::shared_ptr<Table>> table = open_hbase_table(session, directory.string(), kind, {});
    ASSERT_TRUE(table.ok()) << table.status().to_text();
    EXPECT_EQ((*table)->name(), "shop:orders");
    compare_answers(random, **table, model);
    fs::remove_all(root);
    if (HasFailure()) return;
  }
}

std::string shape_name(const ::testing::TestParamInfo<Shape>& shape) {
  constexpr std::string_view kNames[] = {"Region", "Regions",  "Split",        "Merged",
                                         "Clone",  "Snapshot", "SplitSnapshot"};
  return std::string(kNames[static_cast<size_t>(shape.param)]);
}

INSTANTIATE_TEST_SUITE_P(Shapes, HBaseTables, ::testing::ValuesIn(kShapes), shape_name);

}  // namespace
}  // namespace cellar::testing
