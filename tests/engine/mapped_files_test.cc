// Goal: files that are mapped give the same answers as files that are read, and no byte that was not checked.
// Results stay valid when the file is gone.
// Method: one store, opened in both ways, with families of all encodings. The files of a test are in memory,
// and a layer above them fails and alters bits as it is told. One test uses real files.
#include <fmt/ranges.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/random.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/scratch_directory.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

class MappedFiles : public EngineFixture {
 protected:
  static EngineOptions mapped(uint64_t cache_bytes = 1 << 20) {
    EngineOptions options;
    options.cache_bytes = cache_bytes;
    options.map_files = true;
    return options;
  }

  static std::vector<FamilyOptions> families() {
    std::vector<FamilyOptions> all;
    for (const char* encoding : {"none", "prefix", "diff", "fast_diff", "row_index_v1"}) {
      FamilyOptions each = family(encoding, 2);
      each.encoding = encoding;
      each.compression = "none";
      each.block_bytes = 8192;
      all.push_back(each);
    }
    FamilyOptions coded = family("coded");
    coded.block_bytes = 8192;
    all.push_back(coded);
    return all;
  }

  static std::string row_name(uint64_t i) { return "row" + std::to_string(100'000 + i); }

  // Rows with a cell in each family, in two files.
  std::shared_ptr<Table> load(uint64_t rows) {
    const std::shared_ptr<Table> table = make_table("t", families());
    for (const uint64_t part : {0, 1}) {
      for (uint64_t i = part; i < rows; i += 2) {
        Put put(row_name(i));
        for (const FamilyOptions& each : families())
          put.add(each.name, "q", each.name + std::to_string(i) + std::string(i % 300, 'v'));
        EXPECT_OK(table->put(put));
      }
      EXPECT_OK(table->flush());
    }
    return table;
  }
};

TEST_F(MappedFiles, AnswersAreThoseOfFilesThatAreRead) {
  open();
  load(1000);
  const auto all_of = [&](bool reversed) {
    return scan(*engine_->open_table("t").value(), Scan().reversed(reversed));
  };
  open();
  const Texts forward = all_of(false);
  const Texts backward = all_of(true);
  EXPECT_EQ(forward.size(), 6000u);
  for (const uint64_t cache_bytes : {0u, 20'000u, 1u << 20}) {
    open(mapped(cache_bytes));
    const std::shared_ptr<Table> table = engine_->open_table("t").value();
    for (int round = 0; round < 2; ++round) {
      EXPECT_EQ(all_of(false), forward) << cache_bytes;
      EXPECT_EQ(all_of(true), backward) << cache_bytes;
      for (uint64_t i = 0; i < 1000; i += 7) {
        const Texts row(forward.begin() + static_cast<int64_t>(i * 6),
                        forward.begin() + static_cast<int64_t>(i * 6 + 6));
        ASSERT_EQ(get(*table, Get(row_name(i))), row);
      }
      ASSERT_TRUE(get(*table, Get("row")).empty());
    }
  }
}

TEST_F(MappedFiles, TakeLittleOfTheCache) {
  for (const bool map_files : {false, true}) {
    EngineOptions options = mapped(64 << 20);
    options.map_files = map_files;
    open(options);
    FamilyOptions plain = family("f");
    plain.compression = "none";
    plain.block_bytes = 16 << 10;
    const std::shared_ptr<Table> table = make_table(map_files ? "mapped" : "read", {plain});
    for (int i = 0; i < 3000; ++i)
      ASSERT_TRUE(table->put(Put(row_name(i)).add("f", "q", std::string(1000, 'v'))).ok());
    ASSERT_TRUE(table->flush().ok());
    const uint64_t before = engine_->status().cache_used_bytes;
    for (int round = 0; round < 2; ++round)
      for (int i = 0; i < 3000; ++i) ASSERT_EQ(get(*table, Get(row_name(i))).size(), 1u);
    const uint64_t used = engine_->status().cache_used_bytes - before;
    if (map_files) {
      EXPECT_LT(used, 300'000u);
    } else {
      EXPECT_GT(used, 3'000'000u);
    }
  }
}

// The files are real, so that a result whose mapping is gone would end the process.
TEST_F(MappedFiles, ResultsOutliveTheFile) {
  const ScratchDirectory scratch;
  EngineOptions options = mapped();
  options.create_if_missing = true;
  engine_ = Engine::open(scratch / "store", options).value();
  std::shared_ptr<Table> table = load(500);
  std::vector<RowBatch> rows;
  for (uint64_t i = 0; i < 500; i += 5) {
    Result<RowBatch> row = table->get(Get(row_name(i)));
    ASSERT_TRUE(row.status().ok());
    rows.push_back(std::move(row).value());
  }
  const std::unique_ptr<Scanner> scanner = table->scan(Scan()).value();
  ASSERT_TRUE(scanner->next());
  for (uint64_t i = 0; i < 500; ++i) ASSERT_TRUE(table->erase(Delete(row_name(i))).ok());
  ASSERT_TRUE(table->flush().ok());
  ASSERT_TRUE(table->compact().ok());
  EXPECT_TRUE(get(*table, Get(row_name(0))).empty());
  uint64_t scanned = 1;
  while (scanner->next()) ++scanned;
  EXPECT_EQ(scanned, 500u);
  for (uint64_t i = 0; i < 500; i += 5)
    EXPECT_EQ(rows[i / 5].value("none", "q"), "none" + std::to_string(i) + std::string(i % 300, 'v'));
}

// Each row's get returns its cells, or the error.
TEST_F(MappedFiles, DamageIsFoundAsInFilesThatAreRead) {
  const ScratchDirectory scratch;
  EngineOptions options;
  options.create_if_missing = true;
  engine_ = Engine::open(scratch / "store", options).value();
  load(1000);
  ASSERT_TRUE(engine_->close().ok());
  size_t damaged = 0;
  for (const auto& each : std::filesystem::recursive_directory_iterator(scratch / "store/tables")) {
    if (!each.is_regular_file() || each.file_size() < 30'000) continue;
    std::fstream file(each.path(), std::ios::in | std::ios::out | std::ios::binary);
    for (const std::streamoff at : {9'000, 20'000}) {
      file.seekg(at);
      const int byte = file.get();
      file.seekp(at);
      file.put(static_cast<char>(byte ^ 0x10));
    }
    ++damaged;
  }
  ASSERT_GT(damaged, 4u);
  std::vector<Texts> outcomes;
  size_t refused = 0;
  for (const bool map_files : {false, true}) {
    EngineOptions reading = mapped(20'000);
    reading.map_files = map_files;
    engine_ = Engine::open(scratch / "store", reading).value();
    const std::shared_ptr<Table> table = engine_->open_table("t").value();
    Texts& all = outcomes.emplace_back();
    for (int round = 0; round < 2; ++round) {
      for (uint64_t i = 0; i < 1000; ++i) {
        const Result<RowBatch> row = table->get(Get(row_name(i)));
        if (!row.ok()) {
          EXPECT_EQ(row.status().code(), Code::kCorruption);
          ++refused;
        }
        all.push_back(row.ok() ? fmt::format("{}", fmt::join(cell_texts(row->row()), " "))
                               : row.status().to_text());
      }
    }
    ASSERT_TRUE(engine_->close().ok());
  }
  EXPECT_EQ(outcomes[0], outcomes[1]);
  EXPECT_GT(refused, 0u);
  EXPECT_LT(refused, 4000u);
}

TEST_F(MappedFiles, AReadThatFailsIsAnErrorAndTheNextSucceeds) {
  FaultFileSystem& faults = watch_files();
  open();
  load(100);
  open(mapped(0));
  const std::shared_ptr<Table> table = engine_->open_table("t").value();
  faults.inject({.on = FileOperation::kRead, .sticky = true});
  const Result<RowBatch> failed = table->get(Get(row_name(3)));
  EXPECT_EQ(failed.status().code(), Code::kIoError) << failed.status().to_text();
  faults.clear();
  EXPECT_EQ(get(*table, Get(row_name(3))).size(), 6u);
}

TEST_F(MappedFiles, ThreadsReadWhileFilesAreReplaced) {
  open(mapped(20'000));
  const std::shared_ptr<Table> table = load(600);
  std::atomic<bool> over = false;
  std::vector<std::thread> readers;
  for (uint64_t seed = 1; seed <= 3; ++seed)
    readers.emplace_back([&, seed] {
      Random random(seed);
      do {
        const uint64_t i = random.below(600);
        const Result<RowBatch> row = table->get(Get(row_name(i)));
        ASSERT_TRUE(row.status().ok());
        EXPECT_TRUE(row->value("none", "q")->starts_with("none" + std::to_string(i)));
      } while (!over);
    });
  for (uint64_t round = 0; round < std::max<uint64_t>(3, scaled(10)); ++round) {
    for (uint64_t i = 0; i < 600; i += 3)
      EXPECT_OK(table->put(Put(row_name(i)).add("none", "q", "none" + std::to_string(i) + "new")));
    EXPECT_OK(table->flush());
    EXPECT_OK(table->compact());
  }
  over = true;
  for (std::thread& each : readers) each.join();
}

}  // namespace
}  // namespace cellar::testing
