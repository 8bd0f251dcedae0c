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

// EngineOptions::totals_series.
class TotalsSeries : public Totals {
 protected:
  void open_series(const std::string& path) {
    EngineOptions options;
    options.totals_series = path;
    options.automatic_compaction = false;
    open(options);
  }
  std::vector<std::string> lines_of(const std::string& path) {
    const auto file = files_->open_file(path);
    EXPECT_OK(file.status());
    if (!file.ok()) return {};
    std::string text((*file)->size(), '\0');
    EXPECT_OK((*file)->read(0, text.size(), text.data()));
    std::vector<std::string> lines;
    std::istringstream all(text);
    for (std::string line; std::getline(all, line);) lines.push_back(line);
    return lines;
  }
  static std::string member(const std::string& line, const std::string& name) {
    const size_t at = line.find("\"" + name + "\":");
    if (at == line.npos) return "none";
    const size_t begin = at + name.size() + 3;
    return line.substr(begin, line.find_first_of(",}", begin) - begin);
  }
};

TEST_F(TotalsSeries, HasALineForEachFlushAndCompaction) {
  open_series("series");
  const auto table = make_table("t", {options()});
  put_rows(*table, 10, 50);
  clock_.advance_ms(1500);
  EXPECT_OK(engine_->flush());
  put_rows(*table, 10, 50);
  clock_.advance_ms(500);
  EXPECT_OK(engine_->flush());
  EXPECT_OK(table->major_compact());
  EXPECT_OK(engine_->flush());  // there is nothing to flush
  const std::vector<std::string> lines = lines_of("series");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(member(lines[0], "peer"), "\"t/f\"");
  EXPECT_EQ(member(lines[0], "seconds"), "1.500");
  EXPECT_EQ(member(lines[0], "bytes_put"), std::to_string(10 * (kKeyBytes + 50)));
  EXPECT_EQ(member(lines[1], "seconds"), "2.000");
  EXPECT_EQ(member(lines[1], "files"), "2");
  EXPECT_EQ(member(lines[1], "flushes"), "2");
  EXPECT_EQ(member(lines[1], "compactions"), "0");
  const FamilyInfo now = info(*engine_);
  EXPECT_EQ(member(lines[2], "bytes_put"), std::to_string(now.bytes_put));
  EXPECT_EQ(member(lines[2], "bytes_flushed"), std::to_string(now.bytes_flushed));
  EXPECT_EQ(member(lines[2], "bytes_compacted"), std::to_string(now.bytes_compacted));
  EXPECT_EQ(member(lines[2], "bytes_on_disk"), std::to_string(now.files.at(0).bytes));
  EXPECT_EQ(member(lines[2], "sorted_runs"), "1");
}

TEST_F(TotalsSeries, AFileThatCannotBeMadeIsAnErrorOfOpen) {
  open();
  const auto status_of = [&](const std::string& path) {
    engine_.reset();
    EngineOptions options;
    options.totals_series = path;
    options.environment.files = files_.get();
    options.environment.clock = &clock_;
    return Engine::open("store", options).status();
  };
  EXPECT_NE(status_of("store/series").to_text().find("lies in the store's directory"), std::string::npos);
  EXPECT_NE(status_of("no/such/series").to_text().find("totals series no/such/series"), std::string::npos);
  EXPECT_OK(status_of("series"));
  EXPECT_FALSE(status_of("series").ok()) << "the file exists";
  open();  // the store is as it was
}

// A series that cannot be written harms nothing.
TEST_F(TotalsSeries, EndsWhenItsFileFails) {
  FaultFileSystem& files = watch_files();
  open_series("series");
  const auto table = make_table("t", {options()});
  put_rows(*table, 10, 50);
  files.fail(FileOperation::kAppend, "series", 0);
  EXPECT_OK(engine_->flush());
  put_rows(*table, 10, 50);
  EXPECT_OK(engine_->flush());
  EXPECT_EQ(info(*engine_).flushes, 2u);
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
