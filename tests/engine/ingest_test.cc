// Goal: foreign HFiles come in whole or not at all, in a single write younger than all before it and older
// than all after it. No file comes in that reads could not rely on. Method: files are built outside the
// store. The same history is done to the reference model. Each kind of unfit file is refused, and leaves the
// store as before.
#include <algorithm>
#include <atomic>
#include <thread>

#include "base/checksum.h"
#include "base/coding.h"
#include "tests/cell_support/model_table.h"
#include "tests/engine/ingest_fixture.h"
#include "tests/support/fault_file_system.h"

namespace cellar::testing {
namespace {

class Ingest : public IngestFixture {};

TEST_F(Ingest, ItsCellsWinOverEarlierWritesAndLoseToLaterOnes) {
  EXPECT_OK(table_->put(Put("r").add_at("f", "q", 5, "flushed")));
  EXPECT_OK(table_->flush());
  EXPECT_OK(table_->put(Put("r").add_at("f", "q", 5, "in memory")));
  const IngestInfo info = ingest({file("a", {put_cell("r", "ingested")})});
  EXPECT_EQ(info.sequence, engine_->status().last_sequence);
  EXPECT_EQ(info.cells, 1u);
  EXPECT_EQ(value_of("r"), "ingested");
  reopen();
  EXPECT_EQ(value_of("r"), "ingested");
  EXPECT_OK(table_->put(Put("r").add_at("f", "q", 5, "later")));
  EXPECT_EQ(value_of("r"), "later");
  EXPECT_OK(table_->flush());
  EXPECT_EQ(value_of("r"), "later");
  EXPECT_OK(table_->major_compact());
  EXPECT_EQ(value_of("r"), "later");
}

TEST_F(Ingest, CompactionKeepsTheSequenceOfTheLoad) {
  auto nobody_zeroes = engine_->snapshot();
  EXPECT_OK(table_->put(Put("r").add_at("f", "q", 5, "before")));
  auto before = engine_->snapshot();
  // The sequences in the file are those of another region: they count for nothing.
  HFileBuilderOptions options;
  options.mvcc = true;
  options.bulk_load = false;
  std::vector<Cell> cells = {put_cell("r", "ingested"), put_cell("r2", "ingested")};
  for (Cell& cell : cells) cell.sequence = 1'000'000;
  const uint64_t sequence = ingest({file("a", cells, options)}).sequence;
  auto after = engine_->snapshot();
  EXPECT_OK(table_->put(Put("r").add_at("f", "q", 5, "after")));
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(get(*table_, Get("r").snapshot(*before)), Texts{"r/f:q/5/Put=before"}) << round;
    EXPECT_EQ(get(*table_, Get("r").snapshot(*after)), Texts{"r/f:q/5/Put=ingested"}) << round;
    EXPECT_EQ(get(*table_, Get("r2").snapshot(*before)), Texts{}) << round;
    EXPECT_EQ(value_of("r"), "after") << round;
    if (round == 0) EXPECT_OK(table_->flush());
    if (round == 1) EXPECT_OK(table_->major_compact());
  }
  EXPECT_LT(sequence, engine_->status().last_sequence);
  EXPECT_EQ(table_->info().families[0].files.size(), 1u);
}

TEST_F(Ingest, OpenScannersAndSnapshotsDoNotSeeIt) {
  for (const char* row : {"a", "c"}) EXPECT_OK(table_->put(Put(row).add_at("f", "q", 5, "old")));
  auto scanner = table_->scan(Scan());
  ASSERT_TRUE(scanner.ok() && (*scanner)->next());
  auto snapshot = engine_->snapshot();
  ingest({file("x", {put_cell("b", "new"), put_cell("c", "new", 6)}),
          file("y", {put_cell("b", "new", 5, "g")})});
  EXPECT_EQ(scan(*table_, Scan().snapshot(*snapshot)), (Texts{"a/f:q/5/Put=old", "c/f:q/5/Put=old"}));
  ASSERT_TRUE((*scanner)->next());
  EXPECT_EQ((*scanner)->row().row(), "c");
  EXPECT_EQ((*scanner)->row().cells()[0].value_bytes(), "old");
  EXPECT_FALSE((*scanner)->next());
  EXPECT_EQ(scan(*table_, Scan()),
            (Texts{"a/f:q/5/Put=old", "b/f:q/5/Put=new", "b/g:q/5/Put=new", "c/f:q/6/Put=new"}));
}

// The same history runs in a family of each order of markers and in the model. For the model, a load is a
// flush, a write and a flush. Every prefix of the history is compared, with and without a later compaction.
TEST_F(Ingest, MarkersAndEqualCoordinatesAsInTheModel) {
  struct Step {
    bool load = false;
    std::vector<Cell> cells;
  };
  const auto marker = [](const std::string& row, CellType type, int64_t timestamp) {
    const bool whole = type == CellType::kDeleteFamily || type == CellType::kDeleteFamilyVersion;
    return Cell{row, "", whole ? "" : "q", timestamp, type, ""};
  };
  const auto put = [](const std::string& row, int64_t timestamp, const std::string& value) {
    return put_cell(row, value, timestamp, "");
  };
  const std::vector<Step> history = {
      {false, {put("a", 5, "1"), put("b", 5, "1"), put("c", 5, "1"), put("d", 5, "1"), put("e", 5, "1")}},
      {true, {marker("a", CellType::kDeleteColumn, 5), put("b", 5, "2"), marker("c", CellType::kDelete, 5)}},
      {false, {put("a", 5, "3"), put("a", 4, "3"), put("c", 5, "3"), put("d", 6, "3")}},
      {true,
       {marker("d", CellType::kDeleteFamily, 7), put("d", 7, "4"), put("d", 8, "4"),
        marker("e", CellType::kDeleteFamilyVersion, 5), put("e", 4, "4")}},
      {true, {put("d", 7, "5"), put("e", 5, "5"), put("a", 9, "5")}},
      {false, {marker("b", CellType::kDeleteColumn, 5)}},
      {true, {put("b", 5, "6"), put("b", 3, "6")}},
  };
  int tables = 0;
  for (const char* family_name : {"f", "s"}) {
    const bool by_sequence = std::string_view(family_name) == "s";
    for (size_t length = 1; length <= history.size(); ++length) {
      for (const bool compacts : {false, true}) {
        FamilyOptions options = family(family_name, 3);
        if (by_sequence) options.delete_order = MarkerOrder::kSequence;
        table_ = make_table("h" + std::to_string(tables++), {options});
        FamilyRules rules;
        rules.max_versions = 3;
        rules.delete_order = by_sequence ? MarkerOrder::kSequence : MarkerOrder::kTimestamp;
        ModelTable model({{family_name, rules}});
        ModelStore& store = model.family(family_name);
        for (size_t i = 0; i < length; ++i) {
          std::vector<Cell> cells = history[i].cells;
          for (Cell& cell : cells) cell.family = family_name;
          if (history[i].load) {
            store.flush({});
            store.write(cells, ingest({file("x", cells)}).sequence);
            store.flush({});
          } else {
            Batch batch;
            for (const Cell& cell : cells) {
              OwnedCell owned;
              owned.assign(cell.row, cell.family, cell.qualifier, cell.timestamp, cell.type, 0, cell.value);
              batch.cell(table_, owned.view());
            }
            EXPECT_OK(engine_->write(batch));
            store.write(cells, engine_->status().last_sequence);
          }
        }
        const std::string place = std::string(family_name) + ", " + std::to_string(length) + " steps";
        if (compacts) {
          EXPECT_OK(table_->flush());
          EXPECT_OK(table_->major_compact());
        }
        Texts expected;
        for (const Cells& row : model.scan({.versions = 3}, 1'000'000))
          for (const Cell& cell : row)
            expected.push_back(cell.row + "/" + cell.family + ":" + cell.qualifier + "/" +
                               std::to_string(cell.timestamp) + "/Put=" + cell.value);
        EXPECT_EQ(scan(*table_, Scan().versions(3)), expected) << place << (compacts ? ", compacted" : "");
      }
    }
  }
}

// HBase's order of the files of one load: the larger is the older.
TEST_F(Ingest, OfOneLoadTheSmallerFileWinsAndStaysTheWinner) {
  const IngestFile large = file("large", {put_cell("r", std::string(3000, 'l')), put_cell("x", "x")});
  const IngestFile middle = file("middle", {put_cell("r", std::string(2000, 'm'))});
  const IngestFile small = file("small", {put_cell("r", "small")});
  const IngestInfo info = ingest({small, large, middle});
  ASSERT_EQ(info.files.size(), 3u);
  EXPECT_EQ(info.files[0].path, "in/large");
  EXPECT_EQ(info.files[2].path, "in/small");
  EXPECT_EQ(value_of("r"), "small");
  reopen();
  EXPECT_EQ(value_of("r"), "small");
  EXPECT_OK(table_->compact("f"));
  EXPECT_EQ(value_of("r"), "small");
  reopen();
  EXPECT_EQ(value_of("r"), "small");
}

TEST_F(Ingest, OnlyTheFamiliesThatGetFilesAreFlushed) {
  EXPECT_OK(table_->put(Put("r").add_at("f", "q", 1, "v").add_at("g", "q", 1, "v")));
  EXPECT_OK(other_->put(Put("r").add_at("f", "q", 1, "v")));
  ingest({file("a", {put_cell("b", "v")})});
  const TableInfo info = table_->info();
  EXPECT_EQ(info.families[0].memtable_cells, 0u);
  EXPECT_EQ(info.families[0].files.size(), 2u);
  EXPECT_EQ(info.families[1].memtable_cells, 1u);
  EXPECT_EQ(other_->info().families[0].memtable_cells, 1u);
}

TEST_F(Ingest, EverybodyMayWriteWhileFilesAreCopiedAndVerified) {
  const IngestFile first = file("a", {put_cell("r", "ingested")});
  const IngestFile second = file("b", {put_cell("r", "ingested", 5, "g")});
  std::vector<uint64_t> told;
  IngestRequest request{.files = {first, second}};
  request.progress = [&](uint64_t files, uint64_t) {
    told.push_back(files);
    EXPECT_EQ(value_of("r"), files == 1 ? "nothing" : "1");
    EXPECT_OK(table_->put(Put("r").add_at("f", "q", 5, std::to_string(files))));
    EXPECT_OK(other_->put(Put("r").add_at("f", "q", 5, "other")));
    return true;
  };
  EXPECT_OK(table_->ingest(request).status());
  EXPECT_EQ(told, (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(value_of("r"), "ingested");  // acknowledged before it
  request.progress = [](uint64_t, uint64_t) { return false; };
  EXPECT_EQ(table_->ingest(request).status().code(), Code::kAborted);
}

TEST_F(Ingest, LinkCopyAndMove) {
  const IngestFile linked = file("linked", {put_cell("a", "v")});
  const IngestFile copied = file("copied", {put_cell("b", "v")});
  const IngestFile moved = file("moved", {put_cell("c", "v")});
  EXPECT_TRUE(ingest({linked}).files.at(0).linked);
  EXPECT_FALSE(ingest({copied}, true).files.at(0).linked);
  EXPECT_TRUE(ingest({moved}, false, true).files.at(0).linked);
  EXPECT_FALSE(ingest({file("both", {put_cell("d", "v")})}, true, true).files.at(0).linked);
  EXPECT_EQ(names_in("in"), (std::vector<std::string>{"copied", "linked"}));
  EXPECT_EQ(scan(*table_, Scan()).size(), 4u);
  // Its own file under its own name must not be moved away from itself.
  const std::string own = table_->info().families[0].files[0].name;
  const std::string path = "store/tables/" + std::to_string(table_->info().id) + "/f/" + own;
  const auto again = table_->ingest({.files = {{"f", path}}, .move = true});
  EXPECT_EQ(again.status().code(), Code::kInvalidArgument) << again.status().to_text();
}

// HBase: hbase.mapreduce.hfileoutputformat.compaction.exclude.
TEST_F(Ingest, AFileMayAskForMajorCompactionsOnly) {
  const auto excluded = [](HFileBuilder& builder) {
    EXPECT_OK(builder.set_info("EXCLUDE_FROM_MINOR_COMPACTION", "\xff"));
  };
  ingest({file("stays", {put_cell("a", "1")}, {}, excluded)});
  for (const char* row : {"b", "c", "d", "e"}) {
    EXPECT_OK(table_->put(Put(row).add("f", "q", "v")));
    EXPECT_OK(table_->flush());
  }
  const uint64_t number = table_->info().families[0].files.front().id;
  EXPECT_TRUE(table_->info().families[0].files.front().exclude_from_minor);
  EXPECT_OK(table_->compact());
  const TableInfo after = table_->info();
  EXPECT_LT(after.families[0].files.size(), 5u) << "the others are merged";
  EXPECT_EQ(after.families[0].files.front().id, number);
  EXPECT_OK(table_->major_compact());
  ASSERT_EQ(table_->info().families[0].files.size(), 1u);
  EXPECT_FALSE(table_->info().families[0].files.front().exclude_from_minor);
  EXPECT_EQ(scan(*table_, Scan()).size(), 5u);
}

TEST_F(Ingest, WithoutLinksItCopies) {
  table_.reset();
  other_.reset();
  engine_.reset();
  FaultFileSystem faults(*files_);
  faults.inject({.on = FileOperation::kLink, .nth = 0, .code = Code::kNotSupported});
  EngineOptions options;
  options.create_if_missing = true;
  options.environment.files = &faults;
  options.environment.clock = &clock_;
  auto engine = Engine::open("store", options);
  ASSERT_TRUE(engine.ok());
  auto table = (*engine)->open_table("t");
  const auto done = (*table)->ingest({.files = {file("a", {put_cell("a", "v")})}, .move = true});
  EXPECT_OK(done.status());
  EXPECT_FALSE(done->files.at(0).linked);
  EXPECT_TRUE(done->remained.empty());
  EXPECT_TRUE(names_in("in").empty());
  table->reset();
  EXPECT_OK((*engine)->close());
}

TEST_F(Ingest, FilesWithoutCellsArePassedOver) {
  const IngestInfo info = ingest({file("none", {}), file("one", {put_cell("a", "v")})});
  EXPECT_EQ(info.empty, std::vector<std::string>{"in/none"});
  EXPECT_EQ(info.files.size(), 1u);
  EXPECT_EQ(store_files(), 1u);
  EXPECT_EQ(ingest({file("none", {})}).sequence, 0u);
}

TEST_F(Ingest, OneUnfitFileOfSeveralStopsAll) {
  const IngestFile good = file("good", {put_cell("a", "v")});
  const IngestFile good_too = file("good2", {put_cell("a", "v", 5, "g")});
  const IngestFile bad = file("bad", {put_cell("a", "v")});
  std::string bytes = bytes_of("in/bad");
  bytes[40] ^= 1;
  write_file("bad", bytes);
  expect_refused({good, good_too, bad}, Code::kCorruption, "in/bad");
  expect_refused({good, {"h", "in/good2"}}, Code::kInvalidArgument, "no family \"h\"");
  expect_refused({good, {"f", "in/good2"}}, Code::kInvalidArgument, "is of family \"g\", not \"f\"");
  expect_refused({good, {"f", "in/nowhere"}}, Code::kNotFound, "in/nowhere");
}

TEST_F(Ingest, EverySwapOfNeighboursIsRefused) {
  constexpr size_t kCells = 50;
  std::vector<Cell> cells;
  for (size_t i = 0; i < kCells; ++i) cells.push_back(put_cell("row" + std::to_string(100 + i), "value"));
  HFileBuilderOptions options;
  options.bloom = "none";
  options.trailer_sums = false;  // sums of blocks would tell before the order does
  const IngestFile target = file("swapped", cells, options);
  const std::string sound = bytes_of(target.path);
  const size_t header = 33;
  const size_t disk_bytes = load_be32(sound.data() + 29);
  const size_t cell_bytes = load_be32(sound.data() + 12) / kCells;
  ASSERT_EQ(cell_bytes * kCells + header, disk_bytes);
  ASSERT_EQ(crc32c(std::string_view(sound).substr(0, disk_bytes)), load_be32(sound.data() + disk_bytes));
  for (size_t i = 0; i + 1 < kCells; ++i) {
    std::string bytes = sound;
    std::swap_ranges(bytes.begin() + static_cast<ptrdiff_t>(header + i * cell_bytes),
                     bytes.begin() + static_cast<ptrdiff_t>(header + (i + 1) * cell_bytes),
                     bytes.begin() + static_cast<ptrdiff_t>(header + (i + 1) * cell_bytes));
    store_be32(bytes.data() + disk_bytes, crc32c(std::string_view(bytes).substr(0, disk_bytes)));
    write_file("swapped", bytes);
    expect_refused({target}, Code::kCorruption, "V-ORDER");
  }
  write_file("swapped", sound);
  EXPECT_EQ(ingest({target}).cells, kCells);
}

TEST_F(Ingest, RefusesWhatReadsCouldNotRelyOn) {
  Cell hidden = put_cell("r", "v");
  append_tag(hidden.tags, 2, "secret");
  HFileBuilderOptions tags;
  tags.tags = true;
  expect_refused({file("visibility", {hidden}, tags)}, Code::kNotSupported, "visibility labels");
  Cell elsewhere = put_cell("r", "v");
  append_tag(elsewhere.tags, 5, "");
  expect_refused({file("mob", {elsewhere}, tags)}, Code::kNotSupported, "MOB");
  expect_refused({file("latest", {put_cell("r", "v", kLatestTimestamp)})}, Code::kInvalidArgument, "LATEST");
  expect_refused(
      {file("skip", {put_cell("r", "v")}, {},
            [](HFileBuilder& builder) { EXPECT_OK(builder.set_info("SKIP_RESET_SEQ_ID", "\xff")); })},
      Code::kNotSupported, "SKIP_RESET_SEQ_ID");
  write_file("reference", "PBUF\x0a\x01r\x10\x01");
  expect_refused({{"f", "in/reference"}}, Code::kCorruption, "not an HFile");
  const std::string whole = bytes_of(file("whole", {put_cell("r", "v")}).path);
  write_file("cut", whole.substr(0, whole.size() - 7));
  expect_refused({{"f", "in/cut"}}, Code::kCorruption, "in/cut");
  EXPECT_EQ(table_->ingest({.files = {}, .verify = HFileCheckLevel::kQuick}).status().code(),
            Code::kInvalidArgument);
  // A time to live, which is acted on, may stay.
  Cell expiring = put_cell("r", "v");
  append_tag(expiring.tags, kTtlTag, std::string(8, '\x01'));
  EXPECT_EQ(ingest({file("ttl", {expiring}, tags)}).cells, 1u);
}

// Two families in one load: a reader sees both at the same version, or neither, while others write and
// compact.
TEST_F(Ingest, ReadersSeeAllFamiliesOfALoadOrNone) {
  constexpr int kLoads = 20;
  std::atomic<bool> done = false;
  std::atomic<uint64_t> reads = 0;
  std::thread reader([&] {
    while (!done || reads < 100) {
      auto row = table_->get(Get("r"));
      if (!row.ok()) return ADD_FAILURE() << row.status().to_text();
      const auto cells = row->row().cells();
      if (cells.size() == 1 || (cells.size() == 2 && cells[0].value_bytes() != cells[1].value_bytes()))
        return ADD_FAILURE() << "half of a load is seen";
      ++reads;
    }
  });
  std::thread writer([&] {
    for (int i = 0; !done; ++i)
      if (!table_->put(Put("w" + std::to_string(i % 50)).add("f", "q", "v")).ok() ||
          !other_->put(Put("w").add("f", "q", "v")).ok())
        return ADD_FAILURE() << "a write failed";
  });
  for (int i = 0; i < kLoads; ++i) {
    const std::string version = std::to_string(i);
    ingest({file("f", {put_cell("r", version)}), file("g", {put_cell("r", version, 5, "g")})}, true);
    EXPECT_EQ(value_of("r"), version);
    if (i % 5 == 4) EXPECT_OK(table_->major_compact());
  }
  done = true;
  reader.join();
  writer.join();
  EXPECT_EQ(value_of("r", "g"), std::to_string(kLoads - 1));
}

TEST_F(Ingest, ReadOnlyStoresTakeNothing) {
  const IngestFile one = file("a", {put_cell("a", "v")});
  EXPECT_OK(engine_->close());
  table_.reset();
  other_.reset();
  EngineOptions options;
  options.read_only = true;
  open(options);
  table_ = engine_->open_table("t").value();
  EXPECT_EQ(table_->ingest({.files = {one}}).status().code(), Code::kReadOnly);
}

}  // namespace
}  // namespace cellar::testing
