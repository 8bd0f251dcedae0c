// Goal: whatever threads do at once, rows are seen whole and counters are exact. Tables and the store may be
// opened, altered, dropped and closed concurrently as far as the headers allow it. Method: real threads over
// an engine with little memory, so that it flushes and compacts all the time. Meant for TSan; the short form
// does enough work to count there.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <set>
#include <thread>

#include "base/random.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

// Threads that repeat what they do until they are told to stop.
class Crew {
 public:
  ~Crew() { stop(); }
  // Calls `work` with a generator of its own, again and again.
  void add(std::function<void(Random&)> work) {
    const uint64_t seed = threads_.size() + 1;
    threads_.emplace_back([this, seed, work = std::move(work)] {
      Random random(seed);
      while (!stopped_.load(std::memory_order_relaxed)) work(random);
    });
  }
  void stop() {
    stopped_.store(true);
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    stopped_.store(false);
  }

 private:
  std::atomic<bool> stopped_{false};
  std::vector<std::thread> threads_;
};

class Storm : public EngineFixture {
 protected:
  // The clock of the machine: a row's versions must differ.
  void open_small(uint64_t memtable_bytes) {
    engine_.reset();
    EngineOptions options;
    options.create_if_missing = true;
    options.memtable_bytes = memtable_bytes;
    options.log_segment_bytes = 256 << 10;
    options.cache_bytes = 256 << 10;
    options.environment.files = files_.get();
    auto opened = Engine::open("store", options);
    ASSERT_TRUE(opened.ok()) << opened.status().to_text();
    engine_ = std::move(opened).value();
  }
};

// Some writes wait for a sync, and most do not. A log is synced during flushes and changes of tables.
WriteOptions some_durability(Random& random) {
  const Durability all[] = {Durability::kSyncWal, Durability::kSyncWal, Durability::kAsyncWal,
                            Durability::kFsyncWal};
  return {.durability = all[random.below(std::size(all))]};
}

// ---- rows are whole: HBase's TestAcidGuarantees ----

const char* const kWholeFamilies[] = {"a", "b", "c"};
constexpr int kWholeColumns = 50;
constexpr uint64_t kWholeRows = 3;

std::string whole_row(uint64_t number) { return "row" + std::to_string(number); }

Put whole_put(Random& random) {
  std::string value;
  for (int i = 0; i < 10; ++i) value += static_cast<char>('a' + random.below(26));
  Put put(whole_row(random.below(kWholeRows)));
  for (const char* family : kWholeFamilies)
    for (int i = 0; i < kWholeColumns; ++i) put.add(family, "q" + std::to_string(100 + i), value);
  return put;
}

// The one value of all its cells; empty, with a complaint, when it has not.
std::string whole_value(const RowView& row) {
  std::string value(row.empty() ? "" : row.cells().front().value_bytes());
  const bool same =
      std::ranges::all_of(row.cells(), [&](const CellView& cell) { return cell.value_bytes() == value; });
  if (same && row.cells().size() == std::size(kWholeFamilies) * kWholeColumns) return value;
  ADD_FAILURE() << row.row() << " is torn: " << row.cells().size() << " cells, the first is " << value;
  return {};
}

class WholeStorm : public Storm {
 protected:
  void get_one(Random& random) {
    RowBatch batch;
    EXPECT_OK(table_->get_into(Get(whole_row(random.below(kWholeRows))), batch));
    whole_value(batch.row());
    gets_.fetch_add(1, std::memory_order_relaxed);
  }

  std::vector<std::string> scan_all(const Scan& scan) {
    std::vector<std::string> values;
    auto scanner = table_->scan(scan).value();
    while (scanner->next()) values.push_back(whole_value(scanner->row()));
    EXPECT_OK(scanner->status());
    EXPECT_EQ(values.size(), kWholeRows);
    scanned_.fetch_add(values.size(), std::memory_order_relaxed);
    return values;
  }

  std::shared_ptr<Table> table_;
  std::atomic<uint64_t> gets_{0}, scanned_{0}, writes_{0};
};

TEST_F(WholeStorm, ReadersSeeRowsAsTheyWereWritten) {
  open_small(128 << 10);
  table_ = make_table("t", {family("a"), family("b"), family("c")});
  Random first(99);
  for (uint64_t row = 0; row < kWholeRows;) {
    const Put put = whole_put(first);
    if (put.row() != whole_row(row)) continue;
    EXPECT_OK(table_->put(put));
    ++row;
  }
  Crew crew;
  for (int i = 0; i < 3; ++i)
    crew.add([&](Random& random) {
      EXPECT_OK(table_->put(whole_put(random), some_durability(random)));
      writes_.fetch_add(1, std::memory_order_relaxed);
    });
  for (int i = 0; i < 2; ++i) crew.add([&](Random& random) { get_one(random); });
  crew.add([&](Random& random) { scan_all(Scan().reversed(random.one_in(2))); });
  crew.add([&](Random&) {  // a snapshot gives the same answer twice
    const auto snapshot = engine_->snapshot().value();
    const auto once = scan_all(Scan().snapshot(snapshot));
    EXPECT_EQ(scan_all(Scan().snapshot(snapshot)), once);
  });
  crew.add([&](Random& random) {
    EXPECT_OK(engine_->flush());
    EXPECT_OK(random.one_in(2) ? table_->major_compact() : table_->compact());
  });
  const uint64_t wanted = std::max<uint64_t>(5'000, scaled(110'000));
  while (gets_.load() + scanned_.load() < wanted && !HasFailure())
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  crew.stop();
  const EngineStatus status = engine_->status();
  EXPECT_GT(status.flushes, 3u);
  EXPECT_GT(status.compactions, 1u);
  EXPECT_GT(writes_.load(), 100u);
  count(gets_.load() + scanned_.load(), "rows of 150 cells read whole beside writers");
  count(writes_.load(), "rows of 150 cells written beside readers");
}

// ---- snapshots over tables ----

class TablesStorm : public Storm {
 protected:
  // All tables get the same value in one batch.
  void write_all(Random& random) {
    const std::string value = std::to_string(random.below(1'000'000));
    Batch batch;
    for (const auto& table : tables_)
      for (int row = 0; row < 3; ++row)
        batch.put(table, Put(std::to_string(row)).add("f", "q", value).add("g", "q", value));
    EXPECT_OK(engine_->write(batch, some_durability(random)));
  }

  // Each table is read in another way; one value stands in all cells of all tables, again and again.
  void read_all(Random& random) {
    const auto snapshot = engine_->snapshot().value();
    std::set<std::string> values;
    for (int round = 0; round < 2; ++round) {
      for (const auto& table : tables_) {
        if (random.one_in(2)) {
          const auto found = table->get(Get(std::to_string(random.below(3))).snapshot(snapshot));
          ASSERT_TRUE(found.ok()) << found.status().to_text();
          for (const CellView& cell : found->row().cells()) values.emplace(cell.value_bytes());
          continue;
        }
        auto scanner = table->scan(Scan().snapshot(snapshot).reversed(random.one_in(2))).value();
        while (scanner->next())
          for (const CellView& cell : scanner->row().cells()) values.emplace(cell.value_bytes());
        EXPECT_OK(scanner->status());
      }
    }
    EXPECT_EQ(values.size(), 1u) << "a snapshot shows several instants";
    read_.fetch_add(1, std::memory_order_relaxed);
  }

  std::vector<std::shared_ptr<Table>> tables_;
  std::atomic<uint64_t> read_{0};
};

TEST_F(TablesStorm, SnapshotsShowAllTablesAtOneInstant) {
  open_small(32 << 10);
  for (const char* name : {"t", "u", "v"}) tables_.push_back(make_table(name, {family("f"), family("g")}));
  Random first(7);
  write_all(first);
  Crew crew;
  for (int i = 0; i < 2; ++i) crew.add([&](Random& random) { write_all(random); });
  for (int i = 0; i < 3; ++i) crew.add([&](Random& random) { read_all(random); });
  crew.add([&](Random& random) {
    EXPECT_OK(engine_->flush());
    Table& table = *tables_[random.below(tables_.size())];
    EXPECT_OK(random.one_in(2) ? table.major_compact() : table.compact());
  });
  const uint64_t wanted = std::max<uint64_t>(500, scaled(5'000));
  while (read_.load() < wanted && !HasFailure()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  crew.stop();
  EXPECT_GT(engine_->status().flushes, 3u);
  count(read_.load(), "snapshots that show three tables at one instant, beside writers");
}

// ---- counters ----

class CounterStorm : public Storm {
 protected:
  static constexpr uint64_t kThreads = 8;

  // The results of one thread's increments of these rows: of the shared row "n" and "m", of its own row "n".
  struct Returned {
    std::vector<int64_t> shared, own;
  };

  void work(uint64_t thread, uint64_t times, Returned& returned) {
    const std::string own = "own" + std::to_string(thread);
    for (uint64_t i = 0; i < times; ++i) {
      const auto both = table_->increment(Increment("shared").add("f", "n", 1).add("g", "m", 3));
      ASSERT_TRUE(both.ok()) << both.status().to_text();
      ASSERT_EQ((*both)[1], 3 * (*both)[0]) << "two columns of one row are counted as one";
      returned.shared.push_back((*both)[0]);
      const auto mine = table_->increment(Increment(own).add("f", "n", 1));
      ASSERT_TRUE(mine.ok()) << mine.status().to_text();
      returned.own.push_back((*mine)[0]);
    }
  }

  std::shared_ptr<Table> table_;
};

TEST_F(CounterStorm, IncrementsOfManyThreadsAreExact) {
  open_small(64 << 10);
  table_ = make_table("t", {family("f"), family("g")});
  const uint64_t times = std::max<uint64_t>(1'000, scaled(10'000));
  std::vector<Returned> returned(kThreads);
  Crew crew;
  crew.add([&](Random& random) {
    EXPECT_OK(engine_->flush());
    if (random.one_in(3)) EXPECT_OK(random.one_in(2) ? table_->major_compact() : table_->compact());
  });
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < kThreads; ++i)
    threads.emplace_back([this, i, times, &returned] { work(i, times, returned[i]); });
  for (std::thread& thread : threads) thread.join();
  crew.stop();
  std::set<int64_t> shared;
  for (uint64_t i = 0; i < kThreads; ++i) {
    EXPECT_TRUE(std::ranges::is_sorted(returned[i].shared));
    shared.insert(returned[i].shared.begin(), returned[i].shared.end());
    for (uint64_t k = 0; k < times; ++k) ASSERT_EQ(returned[i].own[k], static_cast<int64_t>(k + 1));
    const std::string own = "own" + std::to_string(i);
    EXPECT_EQ(table_->get(Get(own)).value().counter("f", "n"), static_cast<int64_t>(times));
  }
  const auto total = static_cast<int64_t>(kThreads * times);
  EXPECT_EQ(shared.size(), kThreads * times) << "a value was returned twice";
  EXPECT_EQ(*shared.begin(), 1);
  EXPECT_EQ(*shared.rbegin(), total);
  const auto last = table_->get(Get("shared")).value();
  EXPECT_EQ(last.row().counter("f", "n"), total);
  EXPECT_EQ(last.row().counter("g", "m"), 3 * total);
  count(2 * kThreads * times, "increments of 8 threads, each exact");
}

// ---- opening, altering, dropping, closing ----

constexpr uint64_t kStormRows = 120;

std::string storm_row(uint64_t number) { return "row" + std::to_string(1000 + number); }
std::string storm_value(std::string_view row) { return std::string(60, row.back()) + std::string(row); }

class LifeStorm : public Storm {
 protected:
  // Rows are written again and again, always the same. Every reader therefore sees all of them.
  void write_some(Random& random) {
    Batch batch;
    for (int i = 0; i < 10; ++i) {
      const std::string row = storm_row(random.below(kStormRows));
      batch.put(table_, Put(row).add("f", "q", storm_value(row)).add("g", "q", "more"));
    }
    EXPECT_OK(engine_->write(batch, some_durability(random)));
  }

  void check_rows(Scanner& scanner, uint64_t rows_max) {
    uint64_t rows = 0;
    while (rows < rows_max && scanner.next()) {
      const RowView row = scanner.row();
      ++rows;
      EXPECT_EQ(row.value("f", "q"), storm_value(row.row()));
    }
    EXPECT_OK(scanner.status());
    EXPECT_EQ(rows, rows_max);
    scanned_.fetch_add(rows, std::memory_order_relaxed);
  }

  // Scanners, of now and of a snapshot that is let go before them; some are left halfway.
  void scan_some(Random& random) {
    std::shared_ptr<const Snapshot> snapshot;
    Scan scan;
    scan.reversed(random.one_in(2));
    if (random.one_in(2)) scan.snapshot(snapshot = engine_->snapshot().value());
    std::vector<std::unique_ptr<Scanner>> open;
    for (int i = 0; i < 3; ++i) open.push_back(table_->scan(scan).value());
    snapshot.reset();
    for (const auto& scanner : open) check_rows(*scanner, random.one_in(3) ? kStormRows : random.below(20));
    opened_.fetch_add(open.size(), std::memory_order_relaxed);
  }

  void snapshot_some(Random& random) {
    std::vector<std::shared_ptr<const Snapshot>> held;
    for (int i = 0; i < 5; ++i) {
      held.push_back(engine_->snapshot().value());
      const std::string row = storm_row(random.below(kStormRows));
      const auto found = table_->get(Get(row).snapshot(held[random.below(held.size())]));
      ASSERT_TRUE(found.ok()) << found.status().to_text();
      EXPECT_EQ(found->value("f", "q"), storm_value(row));
    }
    opened_.fetch_add(held.size(), std::memory_order_relaxed);
  }

  void alter_some(Random& random) {
    FamilyOptions altered = family(random.one_in(2) ? "f" : "g", 1 + static_cast<uint32_t>(random.below(3)));
    altered.compression = random.one_in(2) ? "snappy" : "none";
    altered.bloom = random.one_in(2) ? "row" : "none";
    altered.cache_blocks = random.one_in(2);
    altered.cache_data_on_write = random.one_in(2);
    altered.prefetch_on_open = random.one_in(2);
    EXPECT_OK(engine_->alter_family("kept", altered));
    EXPECT_EQ(table_->info().families.size(), 2u);
    static_cast<void>(engine_->status());
    altered_.fetch_add(1, std::memory_order_relaxed);
  }

  // Whole rows, by a thread that has ended its reads when it ends.
  void get_on_a_thread_that_ends(Random& random) {
    std::thread([&] {
      for (int i = 0; i < 20; ++i) {
        const std::string row = storm_row(random.below(kStormRows));
        const auto found = table_->get(Get(row));
        ASSERT_TRUE(found.ok()) << found.status().to_text();
        EXPECT_EQ(found->value("f", "q"), storm_value(row));
      }
    }).join();
  }

  // Several threads make, use and drop the same tables; only being too late is no fault.
  void make_and_drop(Random& random) {
    const std::string name = "passing" + std::to_string(random.below(3));
    const auto late = [](const Status& status) { return status.ok() || status.is(Code::kNotFound); };
    const auto made = engine_->open_or_create_table(name, {.families = {family("f")}});
    EXPECT_TRUE(late(made.status())) << made.status().to_text();
    if (!made.ok()) return;
    const Status put = (*made)->put(Put("r").add("f", "q", "v"));
    EXPECT_TRUE(late(put)) << put.to_text();
    const Status flushed = (*made)->flush();
    EXPECT_TRUE(late(flushed)) << flushed.to_text();
    const auto found = (*made)->get(Get("r"));
    EXPECT_TRUE(late(found.status())) << found.status().to_text();
    if (put.ok() && found.ok()) {  // the table was not dropped yet
      EXPECT_EQ(found->value("f", "q"), "v");
    }
    const auto scanner = (*made)->scan(Scan());
    const Status dropped = engine_->drop_table(name);
    EXPECT_TRUE(late(dropped)) << dropped.to_text();
    if (scanner.ok()) {  // what it reads is kept for it
      uint64_t rows = 0;
      while ((*scanner)->next()) ++rows;
      EXPECT_OK((*scanner)->status());
      EXPECT_LE(rows, 1u);
    }
    made_.fetch_add(1, std::memory_order_relaxed);
  }

  std::shared_ptr<Table> table_;
  std::atomic<uint64_t> scanned_{0}, opened_{0}, altered_{0}, made_{0};
};

TEST_F(LifeStorm, EverythingOpensAltersAndDropsBesideEverything) {
  open_small(32 << 10);
  table_ = make_table("kept", {family("f"), family("g")});
  for (uint64_t i = 0; i < kStormRows; ++i)
    EXPECT_OK(table_->put(Put(storm_row(i)).add("f", "q", storm_value(storm_row(i)))));
  Crew crew;
  crew.add([&](Random& random) { write_some(random); });
  for (int i = 0; i < 2; ++i) crew.add([&](Random& random) { scan_some(random); });
  crew.add([&](Random& random) { snapshot_some(random); });
  crew.add([&](Random& random) { alter_some(random); });
  for (int i = 0; i < 2; ++i) crew.add([&](Random& random) { make_and_drop(random); });
  crew.add([&](Random& random) {
    EXPECT_OK(engine_->flush());
    const Status compacted = random.one_in(2) ? table_->major_compact() : table_->compact();
    EXPECT_OK(compacted);
  });
  const uint64_t wanted = scaled(2'000);
  while ((opened_.load() < wanted * 2 || altered_.load() < wanted / 5 || made_.load() < wanted / 5) &&
         !HasFailure())
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  crew.stop();
  EXPECT_EQ(engine_->status().snapshots, 0u);
  count(opened_.load(), "scanners and snapshots opened and closed in a storm");
  count(made_.load(), "tables made and dropped in a storm");
  count(altered_.load(), "families altered in a storm");
  EXPECT_OK(engine_->close());
}

// A family is added, written to, flushed and removed concurrently with writers of it and of others, and with
// readers of all.
TEST_F(LifeStorm, FamiliesComeAndGoBesideReadersAndWriters) {
  open_small(32 << 10);
  table_ = make_table("kept", {family("f"), family("g")});
  for (uint64_t i = 0; i < kStormRows; ++i)
    EXPECT_OK(table_->put(Put(storm_row(i)).add("f", "q", storm_value(storm_row(i)))));
  // Returns true for the status of a call that names a family that may be missing.
  const auto late = [](const Status& status) {
    return status.ok() || status.is(Code::kInvalidArgument) || status.is(Code::kConflict);
  };
  std::atomic<uint64_t> changes{0}, written{0}, read{0};
  Crew crew;
  crew.add([&](Random& random) {
    const std::string name = random.one_in(2) ? "h" : "i";
    const bool there = table_->info().families.size() > 2 &&
                       std::ranges::any_of(table_->info().options.families,
                                           [&](const FamilyOptions& each) { return each.name == name; });
    TableChange change{.set_families = {family("g", 1 + static_cast<uint32_t>(random.below(3)))}};
    if (there)
      change.remove_families = {name};
    else
      change.set_families.push_back(family(name));
    EXPECT_OK(engine_->alter_table("kept", change));
    changes.fetch_add(1, std::memory_order_relaxed);
  });
  for (int i = 0; i < 2; ++i)
    crew.add([&](Random& random) {
      const std::string row = storm_row(random.below(kStormRows));
      EXPECT_OK(table_->put(Put(row).add("f", "q", storm_value(row))));
      const Status both =
          table_->put(Put(row).add("f", "q", storm_value(row)).add("h", "q", row).add("i", "q", row));
      EXPECT_TRUE(late(both)) << both.to_text();
      const Status one = table_->put(Put(row).add(random.one_in(2) ? "h" : "i", "q", row));
      EXPECT_TRUE(late(one)) << one.to_text();
      if (one.ok()) written.fetch_add(1, std::memory_order_relaxed);
      const Status gone = table_->erase(Delete(storm_row(kStormRows + random.below(5))));
      EXPECT_TRUE(late(gone)) << gone.to_text();
    });
  for (int i = 0; i < 2; ++i)
    crew.add([&](Random& random) {
      auto scanner = table_->scan(Scan());
      ASSERT_TRUE(scanner.ok()) << scanner.status().to_text();
      uint64_t rows = 0;
      while ((*scanner)->next()) {
        const RowView row = (*scanner)->row();
        for (const CellView& cell : row.cells())
          ASSERT_EQ(cell.value_bytes(),
                    cell.family() == "f" ? storm_value(std::string(row.row())) : row.row());
        ++rows;
      }
      EXPECT_OK((*scanner)->status());
      EXPECT_EQ(rows, kStormRows);
      const auto found = table_->get(Get(storm_row(random.below(kStormRows))).family("h"));
      EXPECT_TRUE(late(found.status())) << found.status().to_text();
      read.fetch_add(1, std::memory_order_relaxed);
    });
  crew.add([&](Random& random) { get_on_a_thread_that_ends(random); });
  crew.add([&](Random& random) {
    EXPECT_OK(engine_->flush());
    EXPECT_OK(random.one_in(2) ? table_->major_compact() : table_->compact());
  });
  while ((changes.load() < scaled(300) || written.load() < scaled(300) || read.load() < scaled(50)) &&
         !HasFailure())
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  crew.stop();
  count(changes.load(), "changes of families in a storm");
  EXPECT_OK(engine_->close());
}

TEST_F(LifeStorm, BatchesOutliveTheEngineThatIsClosedBesideThem) {
  const uint64_t rounds = std::max<uint64_t>(10, scaled(60));
  for (uint64_t round = 0; round < rounds && !HasFailure(); ++round) {
    open_small(32 << 10);
    table_ = make_table("kept", {family("f"), family("g")});
    for (uint64_t i = 0; i < kStormRows; ++i)
      EXPECT_OK(table_->put(Put(storm_row(i)).add("f", "q", storm_value(storm_row(i)))));
    if (round % 2 == 0) EXPECT_OK(engine_->flush());
    std::atomic<uint64_t> ready{0};
    std::atomic<bool> closed{false};
    std::vector<std::thread> readers;
    for (uint64_t reader = 0; reader < 3; ++reader) {
      readers.emplace_back([&, reader] {
        Random random(round * 10 + reader + 1);
        std::vector<RowBatch> held(8);
        for (RowBatch& batch : held)
          EXPECT_OK(table_->get_into(Get(storm_row(random.below(kStormRows))), batch));
        ready.fetch_add(1);
        for (bool last = false; !last;) {
          last = closed.load();
          for (const RowBatch& batch : held) EXPECT_EQ(batch.value("f", "q"), storm_value(batch.row().row()));
        }
      });
    }
    while (ready.load() < readers.size()) std::this_thread::yield();
    if (round % 3 == 0) EXPECT_OK(engine_->flush());
    EXPECT_OK(engine_->close());
    EXPECT_TRUE(table_->get(Get(storm_row(0))).status().is(Code::kAborted));
    engine_.reset();
    table_.reset();
    closed.store(true);
    for (std::thread& reader : readers) reader.join();
  }
  count(rounds, "engines closed beside threads that hold what they read");
}

}  // namespace
}  // namespace cellar::testing
