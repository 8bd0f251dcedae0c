// Goal: whatever a writer does, a reader that refreshes shows what a new reader shows.
// Method: a random history of writes, flushes, compactions, changes of schemas, ingests, restored snapshots,
// closes and kills of the writer. A reader refreshes in between. In some refreshes the writer works between
// two file calls, and in others a file call fails. Snapshots of the reader are compared with what they showed
// at first.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <optional>

#include "base/random.h"
#include "cellar/hfile_builder.h"
#include "engine/log/wal_format.h"
#include "tests/engine/reader_fixture.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

class RefreshRandom : public ReaderFixture {
 protected:
  void SetUp() override {}  // run() does it, once for each seed
  void TearDown() override {
    kept_.reset();
    reader_.reset();
    engine_.reset();
  }

  void run(uint64_t seed, int steps);

 private:
  uint64_t below(uint64_t end) { return random_->below(end); }
  void open_random_writer() {
    EngineOptions options;
    options.create_if_missing = true;
    options.memtable_bytes = 64 << 10;
    options.log_segment_bytes = 64 << 10;
    options.environment.files = &of_writer_;
    options.environment.clock = &clock_;
    auto opened = Engine::open("store", options);
    ASSERT_TRUE(opened.ok()) << opened.status().to_text();
    engine_ = std::move(opened).value();
  }
  std::shared_ptr<Table> any_table() {
    const std::vector<std::string> names = engine_->list_tables();
    return names.empty() ? nullptr : engine_->open_table(names[below(names.size())]).value();
  }
  static std::string any_family(Table& table, uint64_t pick) {
    const TableInfo info = table.info();
    return info.families[pick % info.families.size()].options.name;
  }
  std::string any_row() { return "row" + std::to_string(below(12)); }

  void step();
  void put();
  void write_rows();
  void change_schema();
  void ingest();
  void use_snapshots();
  void close_or_kill();
  void refresh();
  void compare();
  void compare_kept();

  FaultFileSystem of_writer_{*files_};
  std::optional<Random> random_;
  std::unique_ptr<Engine> reader_;
  // A snapshot of the reader, a table, and its rows then.
  struct Kept {
    std::shared_ptr<const Snapshot> snapshot;
    std::shared_ptr<Table> table;
    std::string family;
    Texts rows;
  };
  std::optional<Kept> kept_;
  uint64_t failed_ = 0;
  bool refreshing_ = false;  // the writer works between two file calls of a refresh
};

void RefreshRandom::put() {
  const auto table = any_table();
  if (table == nullptr) return;
  const std::string family = any_family(*table, below(9));
  const std::string value(below(20) == 0 ? 30'000 : 1 + below(50), static_cast<char>('a' + below(26)));
  const Durability durability = below(4) == 0 ? Durability::kAsyncWal : Durability::kSyncWal;
  switch (below(5)) {
    case 0:
      must(table->erase(below(2) == 0 ? Delete(any_row()) : Delete(any_row()).column(family, "q")));
      break;
    case 1:
      EXPECT_OK(table->increment_one(any_row(), family, "count", 3).status());
      break;
    case 2:
      must(table->put(Put(any_row()).add_at(family, "q", static_cast<int64_t>(below(5)), value)));
      break;
    default:
      must(table->put(Put(any_row()).add(family, "q", value), {.durability = durability}));
  }
}

void RefreshRandom::write_rows() {
  Batch batch;
  for (uint64_t i = 1 + below(5); i > 0; --i) {
    const auto table = any_table();
    if (table == nullptr) return;
    const TableInfo info = table->info();
    Put put(any_row());
    for (const FamilyInfo& family : info.families)
      put.add_at(family.options.name, "b", static_cast<int64_t>(below(3)), std::to_string(below(1000)));
    batch.put(table, put);
  }
  must(engine_->write(batch));
}

void RefreshRandom::change_schema() {
  const auto table = any_table();
  const std::string name = "t" + std::to_string(below(3));
  const FamilyOptions extra = family("x" + std::to_string(below(3)), static_cast<uint32_t>(1 + below(4)));
  if (table == nullptr || below(4) == 0) {
    make_table(name, {family("f", 3), extra});
  } else if (below(3) == 0) {
    must(engine_->truncate_table(table->name()));
  } else if (below(3) == 0) {
    must(engine_->drop_table(table->name()));
  } else if (table->info().families.size() > 1 && below(2) == 0) {
    must(engine_->alter_table(table->name(), {.remove_families = {any_family(*table, below(9))}}));
  } else {
    must(engine_->alter_table(table->name(), {.set_families = {extra}}));
  }
}

void RefreshRandom::ingest() {
  const auto table = any_table();
  if (table == nullptr) return;
  ASSERT_TRUE(files_->open_directory("in", true).ok());
  const std::string family = any_family(*table, below(9));
  HFileBuilderOptions options;
  options.replace = true;
  auto builder = HFileBuilder::create(*files_, "in/file", options);
  ASSERT_TRUE(builder.ok()) << builder.status().to_text();
  for (int i = 0; i < 3; ++i)
    must(
        builder->add({"row" + std::to_string(i), family, "q", 5, CellType::kPut, std::to_string(below(99))}));
  EXPECT_OK(builder->finish().status());
  EXPECT_OK(table->ingest({.files = {{family, "in/file"}}, .copy = true}).status());
}

void RefreshRandom::use_snapshots() {
  NamedSnapshots& snapshots = engine_->named_snapshots();
  const auto known = snapshots.list().value();
  if (known.empty()) {
    EXPECT_OK(snapshots.create("s").status());
  } else if (below(3) == 0) {
    must(snapshots.drop("s"));
  } else if (below(2) == 0 && !known.front().tables.empty()) {
    const std::string clone = "clone" + std::to_string(below(2));
    if (std::ranges::count(engine_->list_tables(), clone) == 0)
      EXPECT_OK(snapshots.clone("s", known.front().tables.front(), clone).status());
  } else {
    must(snapshots.restore("s"));
  }
}

// A killed process writes nothing more. Its destruction here finds files that all fail.
void RefreshRandom::close_or_kill() {
  if (below(2) == 0) {
    must(engine_->close());
    engine_.reset();
  } else {
    if (below(2) == 0)
      of_writer_.inject({.on = FileOperation::kAppend,
                         .nth = 1 + below(3),
                         .sticky = true,
                         .short_append = static_cast<size_t>(8 * below(12))});
    for (uint64_t i = below(4); i > 0; --i)
      if (const auto table = any_table(); table != nullptr)
        static_cast<void>(table->put(Put(any_row()).add(any_family(*table, 0), "q", "killed")).ok());
    of_writer_.inject({.on = kAllOperations, .sticky = true});
    engine_.reset();
    of_writer_.clear();
  }
  if (below(3) == 0 && !refreshing_) {  // nobody writes
    EXPECT_OK(reader_->refresh());
    EXPECT_EQ(content_of(*reader_), reader_shows());
  }
  open_random_writer();
}

void RefreshRandom::step() {
  switch (below(24)) {
    case 0:
    case 1:
      flush();
      break;
    case 2: {
      const auto table = any_table();
      if (table != nullptr) EXPECT_OK(table->flush(any_family(*table, below(9))));
      break;
    }
    case 3: {
      const auto table = any_table();
      if (table != nullptr) EXPECT_OK(below(2) == 0 ? table->compact() : table->major_compact());
      break;
    }
    case 4:
    case 5:
      change_schema();
      break;
    case 6:
      ingest();
      break;
    case 7:
      use_snapshots();
      break;
    case 8:
      close_or_kill();
      break;
    case 9:
    case 10:
    case 11:
    case 12:
      write_rows();
      break;
    default:
      put();
  }
  clock_.advance_ms(1);
}

void RefreshRandom::refresh() {
  const uint64_t way = below(4);
  uint64_t calls = 0;
  const uint64_t at = 1 + below(20);
  if (way == 1)
    watched_.before_each([&](const FileCall&) {
      if (++calls != at) return;
      refreshing_ = true;
      in_another_thread([&] {
        for (uint64_t i = 1 + below(3); i > 0; --i) step();
      });
      refreshing_ = false;
    });
  if (way == 2) watched_.inject({.on = kAllReads, .nth = at, .sticky = below(2) == 0});
  const Status status = reader_->refresh();
  watched_.before_each({});
  watched_.clear();
  if (way != 2) EXPECT_OK(status);
  if (status.ok()) return;
  ++failed_;
  EXPECT_OK(reader_->refresh());
}

void RefreshRandom::compare() {
  EXPECT_OK(engine_->wait_for_background());  // a compaction in between would be a difference
  EXPECT_OK(reader_->refresh());
  EXPECT_EQ(content_of(*reader_), content_of(*engine_));
  const auto fresh = open_reader();
  ASSERT_TRUE(fresh.ok()) << fresh.status().to_text();
  const auto without_sequence = [](std::string text) { return text.substr(0, text.rfind("sequence ")); };
  EXPECT_EQ(without_sequence(detail_of(*reader_)), without_sequence(detail_of(**fresh)));
  EXPECT_EQ(reader_->status().memtable_bytes, (*fresh)->status().memtable_bytes);
  EXPECT_EQ(reader_->status().store_files, (*fresh)->status().store_files);
  // The writer may have prepared another segment in between, which has only a header.
  const uint64_t log_bytes = reader_->status().log_bytes;
  EXPECT_LE(log_bytes, (*fresh)->status().log_bytes);
  EXPECT_GE(log_bytes + kFileHeaderBytes, (*fresh)->status().log_bytes);
}

// The snapshot ends with its table or its family.
void RefreshRandom::compare_kept() {
  if (!kept_) return;
  const Scan query = Scan().family(kept_->family).snapshot(kept_->snapshot);
  const Status status = kept_->table->scan(query).status();
  if (status.ok()) {
    EXPECT_EQ(scan(*kept_->table, query), kept_->rows);
    return;
  }
  // Only a table or family that is gone by now refuses reads.
  EXPECT_TRUE(status.is(Code::kNotFound) || status.message().find("has no family") != std::string::npos)
      << status.to_text();
  kept_.reset();
}

void RefreshRandom::run(uint64_t seed, int steps) {
  random_.emplace(seed);
  open_random_writer();
  make_table("t0", {family("f", 3), family("g")});
  auto opened = open_reader();
  ASSERT_TRUE(opened.ok()) << opened.status().to_text();
  reader_ = std::move(opened).value();
  for (int i = 0; i < steps && !HasFailure(); ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", step " + std::to_string(i));
    for (uint64_t left = below(5); left > 0; --left) step();
    refresh();
    if (below(3) == 0) compare();
    compare_kept();
    if (below(6) == 0) kept_.reset();
    const std::vector<std::string> names = reader_->list_tables();
    if (!kept_ && !names.empty()) {
      Kept& kept = kept_.emplace();
      kept.table = reader_->open_table(names.front()).value();
      kept.family = any_family(*kept.table, below(9));
      kept.snapshot = reader_->snapshot().value();
      kept.rows = scan(*kept.table, Scan().family(kept.family));
    }
  }
  compare();
  kept_.reset();
  EXPECT_EQ(reader_->status().memtable_held_bytes, 0u);
  count(reader_->status().refreshes, "refreshes that read what was new");
  count(reader_->status().refreshes_whole, "refreshes that read the whole log");
  count(failed_, "refreshes that failed");
  EXPECT_GT(reader_->status().refreshes, reader_->status().refreshes_whole);
}

class RefreshRandomSeeds : public RefreshRandom, public ::testing::WithParamInterface<uint64_t> {};

TEST_P(RefreshRandomSeeds, ShowsWhatANewReaderShows) {
  const uint64_t seed = from_environment("CELLAR_REFRESH_SEED", GetParam());
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  run(seed, static_cast<int>(scaled(400)));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RefreshRandomSeeds, ::testing::Range<uint64_t>(1, 9));

}  // namespace
}  // namespace cellar::testing
