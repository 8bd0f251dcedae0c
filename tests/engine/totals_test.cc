// Goal: a family's totals are the bytes that were put and written, over all processes that had the store
// open. Method: writes of known sizes, flushes and compactions, compared with the appends that the file
// system saw. The store is closed, reopened, and opened as a killed process leaves it.
#include <sstream>

#include "tests/engine/engine_fixture.h"
#include "tests/support/crash_file_system.h"

namespace cellar::testing {
namespace {

class Totals : public EngineFixture {
 protected:
  static constexpr uint64_t kKeyBytes = 2 + 6 + 1 + 1 + 1 + 8 + 1;  // row001, f, q

  static FamilyOptions options() {
    FamilyOptions f = family("f");
    f.compaction = "none";
    return f;
  }
  static std::string row(int number) { return "row" + std::to_string(100 + number); }
  static FamilyInfo info(Engine& engine) {
    const auto table = engine.open_table("t");
    EXPECT_OK(table.status());
    return table.ok() ? (*table)->info().families.at(0) : FamilyInfo();
  }
  static void put_rows(Table& table, int rows, uint64_t value_bytes) {
    for (int i = 0; i < rows; ++i)
      EXPECT_OK(table.put(Put(row(i)).add("f", "q", std::string(value_bytes, 'v'))));
  }
  // The sum of lines such as "append tables/1/f/name 96 bytes".
  static uint64_t appended_to_store_files(const FaultFileSystem& files) {
    uint64_t sum = 0;
    std::istringstream lines(files.log(FileOperation::kAppend, "tables/*"));
    std::string append, name, unit;
    for (uint64_t bytes = 0; lines >> append >> name >> bytes >> unit; sum += bytes) EXPECT_EQ(unit, "bytes");
    EXPECT_TRUE(lines.eof());
    return sum;
  }
};

TEST_F(Totals, CountOverwrittenCellsAndThoseInMemory) {
  open();
  const auto table = make_table("t", {options()});
  EXPECT_EQ(info(*engine_).write_amplification(), 0);
  for (int i = 0; i < 3; ++i) put_rows(*table, 10, 50);
  EXPECT_EQ(info(*engine_).bytes_put, 30 * (kKeyBytes + 50));
  EXPECT_EQ(info(*engine_).write_amplification(), 1);  // the log
  EXPECT_OK(engine_->flush());
  EXPECT_OK(table->erase(Delete(row(1))));
  const FamilyInfo flushed = info(*engine_);
  EXPECT_EQ(flushed.bytes_put,
            30 * (kKeyBytes + 50) + kKeyBytes - 1);  // a marker of the row has no qualifier
  EXPECT_EQ(flushed.flushes, 1u);
  EXPECT_EQ(flushed.bytes_flushed, flushed.files.at(0).bytes);
  EXPECT_EQ(flushed.compactions, 0u);
}

TEST_F(Totals, AreTheBytesThatTheFileSystemSaw) {
  const FaultFileSystem& files = watch_files();
  open();
  const auto table = make_table("t", {options()});
  for (int i = 0; i < 4; ++i) {
    put_rows(*table, 200, 300);
    EXPECT_OK(engine_->flush());
  }
  uint64_t inputs = 0;
  for (const StoreFileInfo& file : info(*engine_).files) inputs += file.bytes;
  EXPECT_OK(table->major_compact());
  const FamilyInfo after = info(*engine_);
  EXPECT_EQ(after.flushes, 4u);
  EXPECT_EQ(after.compactions, 1u);
  EXPECT_EQ(after.bytes_flushed, inputs);
  EXPECT_EQ(after.bytes_compacted_from, inputs);
  EXPECT_EQ(after.bytes_compacted, after.files.at(0).bytes);
  EXPECT_EQ(after.bytes_flushed + after.bytes_compacted, appended_to_store_files(files));
  const double expected = 1 + static_cast<double>(after.bytes_flushed + after.bytes_compacted) /
                                  static_cast<double>(after.bytes_put);
  EXPECT_NEAR(after.write_amplification(), expected, 1e-9);
}

TEST_F(Totals, GoOnWhenTheStoreIsReopened) {
  open();
  auto table = make_table("t", {options()});
  put_rows(*table, 10, 50);
  EXPECT_OK(engine_->flush());
  put_rows(*table, 5, 50);
  EXPECT_OK(table->major_compact());
  const FamilyInfo before = info(*engine_);
  table.reset();
  EXPECT_OK(engine_->close());
  open();
  const FamilyInfo after = info(*engine_);
  EXPECT_EQ(after.bytes_put, before.bytes_put);
  EXPECT_EQ(after.bytes_flushed, before.bytes_flushed);
  EXPECT_EQ(after.bytes_compacted, before.bytes_compacted);
  EXPECT_EQ(after.bytes_compacted_from, before.bytes_compacted_from);
  EXPECT_EQ(after.compactions, before.compactions);
}

// Cells that are replayed from the log were not counted yet.
TEST_F(Totals, CountWhatAKilledProcessHadInMemoryOnce) {
  auto crashing = std::make_unique<CrashFileSystem>();
  CrashFileSystem& files = *crashing;
  files_ = std::move(crashing);
  open();
  const auto table = make_table("t", {options()});
  put_rows(*table, 10, 50);
  EXPECT_OK(engine_->flush());
  put_rows(*table, 7, 50);
  const FamilyInfo before = info(*engine_);
  const std::unique_ptr<FileSystem> image = files.image(CrashMode::kProcessKilled);
  EngineOptions options;
  options.environment.files = image.get();
  options.environment.clock = &clock_;
  auto recovered = Engine::open("store", options);
  ASSERT_TRUE(recovered.ok()) << recovered.status().to_text();
  const FamilyInfo after = info(**recovered);
  EXPECT_EQ(after.bytes_put, before.bytes_put);
  EXPECT_EQ(after.bytes_put, 17 * (kKeyBytes + 50));
  EXPECT_EQ(after.flushes, 2u);  // that of the recovery
  uint64_t bytes = 0;
  for (const StoreFileInfo& file : after.files) bytes += file.bytes;
  EXPECT_EQ(after.bytes_flushed, bytes);
}

TEST_F(Totals, OfATableThatWasTruncatedBeginAtZero) {
  open();
  const auto table = make_table("t", {options()});
  put_rows(*table, 10, 50);
  EXPECT_OK(engine_->flush());
  EXPECT_OK(engine_->truncate_table("t"));
  EXPECT_EQ(info(*engine_).bytes_put, 0u);
  EXPECT_EQ(info(*engine_).flushes, 0u);
}

}  // namespace
}  // namespace cellar::testing
