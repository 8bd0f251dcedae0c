// BlocksAhead: a walk that another thread reads ahead for gives the same cells and errors, and may end at
// any time.
#include "hfile/block/blocks_ahead.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "cell/cell_key.h"
#include "hfile/read/hfile_reader.h"
#include "tests/cell_support/cursor_contract.h"
#include "tests/cell_support/vector_cursor.h"
#include "tests/hfile_support/writer_support.h"
#include "tests/support/address_space.h"
#include "tests/support/byte_files.h"
#include "tests/support/manual_clock.h"
#include "tests/support/step_executor.h"

namespace cellar::testing {
namespace {

struct Walked {
  std::string cells;
  std::string status;
  bool operator==(const Walked&) const = default;
};

std::shared_ptr<HFileReader> open(const std::string& bytes, std::shared_ptr<BlockCache> cache = nullptr) {
  return HFileReader::open(std::make_unique<ViewFile>(bytes), {.cache = std::move(cache), .name = "file"})
      .value();
}

FileCursorOptions options_with(Executor* executor) {
  return {.fill_cache = false, .sequential = true, .stats = nullptr, .executor = executor};
}

// The first `most` cells.
Walked walk(const HFileReader& file, Executor* executor, size_t most = SIZE_MAX) {
  const std::unique_ptr<RunCursor> cursor = file.cursor(options_with(executor));
  OwnedCell first;
  first_of_row(first, {});
  Walked walked;
  size_t cells = 0;
  for (const CellView* cell = cursor->seek(first.view()); cell != nullptr && cells < most; ++cells) {
    walked.cells.append(cell->key_bytes()).append(cell->value_bytes()).push_back('\n');
    cell = cursor->next();
  }
  walked.status = cursor->status().to_text();
  return walked;
}

std::string draw_file(Random& random) {
  HFileWriterOptions options;
  options.compression = random.one_in(3) ? "none" : "snappy";
  options.encoding = random.one_in(2) ? "fast_diff" : "none";
  options.block_bytes = 64 + random.below(3000);
  options.index_chunk_bytes = 64 + random.below(400);
  return write_cells(
             options,
             draw_cells(random, {.rows = 300, .cells = 1 + random.below(6000), .value_bytes_max = 200}))
      .bytes;
}

TEST(BlocksAhead, GivesTheSameCells) {
  Random random(test_seed(1));
  const std::unique_ptr<Executor> threads = make_thread_executor(2, 1);
  for (uint64_t round = 0; round < scaled(150); ++round) {
    const std::string bytes = draw_file(random);
    const Walked alone = walk(*open(bytes), nullptr);
    EXPECT_EQ(alone.status, "ok");
    ASSERT_EQ(walk(*open(bytes), threads.get()), alone);
    ManualClock clock;
    StepExecutor steps(round, clock);
    ASSERT_EQ(walk(*open(bytes), &steps), alone);
  }
}

// Blocks of which some are in the cache: the walk takes those from there.
TEST(BlocksAhead, GivesTheSameCellsBesideACache) {
  Random random(test_seed(2));
  const std::unique_ptr<Executor> threads = make_thread_executor(1, 1);
  for (uint64_t round = 0; round < scaled(100); ++round) {
    const std::string bytes = draw_file(random);
    const Walked alone = walk(*open(bytes), nullptr);
    const auto file =
        open(bytes, BlockCache::create(uint64_t{16 << 10} << random.below(8), "clock", 1).value());
    for (size_t i = random.below(20); i > 0; --i) {
      const std::unique_ptr<RunCursor> cursor = file->cursor({});
      OwnedCell row;
      first_of_row(row, "row" + std::to_string(random.below(300)));
      static_cast<void>(cursor->seek(row.view()));
    }
    ASSERT_EQ(walk(*file, threads.get()), alone);
  }
}

// The blocks of a batch are small on disk, and large in memory.
TEST(BlocksAhead, HoldsFewLargeBlocks) {
  if (!kSanitized) {
    ASSERT_EQ(mallopt(M_MMAP_THRESHOLD, 1 << 20), 1);  // large memory is given back, and counts anew
  }
  constexpr size_t kValueBytes = 4 << 20;
  constexpr size_t kCells = 3 * BlocksAhead::kBatchBlocks;
  HFileWriterOptions options;
  options.compression = "gz";
  options.block_bytes = kValueBytes;
  std::vector<Cell> cells;
  for (size_t i = 0; i < kCells; ++i)
    cells.emplace_back("row" + std::to_string(100 + i), "f", "q", 5, CellType::kPut,
                       std::string(kValueBytes, 'v'));
  const std::string bytes = write_cells(options, cells).bytes;
  ASSERT_LT(bytes.size() / kCells * BlocksAhead::kBatchBlocks, BlocksAhead::kBatchBytes);
  cells.clear();
  cells.shrink_to_fit();
  const std::unique_ptr<Executor> threads = make_thread_executor(2, 1);
  Random random(1);
  walk(*open(draw_file(random)), threads.get());  // the threads take what they need for themselves
  const std::shared_ptr<HFileReader> file = open(bytes);
  // Two batches, and some blocks of the walk. A whole batch would be larger.
  const AddressSpace space(2 * BlocksAhead::kBatchMemoryBytes + 5 * kValueBytes);
  const std::unique_ptr<RunCursor> cursor = file->cursor(options_with(threads.get()));
  OwnedCell first;
  first_of_row(first, {});
  size_t found = 0;
  for (const CellView* cell = cursor->seek(first.view()); cell != nullptr; cell = cursor->next()) {
    ASSERT_EQ(cell->value_bytes().size(), kValueBytes);
    ASSERT_EQ(cell->row(), "row" + std::to_string(100 + found));
    ++found;
  }
  EXPECT_TRUE(cursor->status().ok()) << cursor->status().to_text();
  EXPECT_EQ(found, kCells);
}

// The executor's only thread is busy until the end.
TEST(BlocksAhead, WaitsForNoFreeThread) {
  Random random(test_seed(3));
  std::unique_ptr<Executor> threads = make_thread_executor(1, 1);
  const std::unique_ptr<Event> over = threads->make_event();
  threads->submit(JobPriority::kHigh, [&over] { over->wait(0, -1); });
  const std::string bytes = draw_file(random);
  EXPECT_EQ(walk(*open(bytes), threads.get()), walk(*open(bytes), nullptr));
  over->signal();
  threads.reset();
}

TEST(BlocksAhead, GivesTheSameErrors) {
  Random random(test_seed(4));
  const std::unique_ptr<Executor> threads = make_thread_executor(2, 1);
  const uint64_t rounds = std::max<uint64_t>(20, scaled(200));
  uint64_t failed = 0;
  for (uint64_t round = 0; round < rounds; ++round) {
    std::string bytes = draw_file(random);
    bytes[random.below(bytes.size() / 2)] ^= static_cast<char>(1 + random.below(255));
    const auto file = HFileReader::open(std::make_unique<ViewFile>(bytes), {.name = "file"});
    if (!file.ok()) continue;
    const Walked alone = walk(**file, nullptr);
    ASSERT_EQ(walk(**file, threads.get()), alone);
    failed += alone.status == "ok" ? 0 : 1;
  }
  EXPECT_GT(failed, rounds / 4);
}

TEST(BlocksAhead, MayEndAtAnyTime) {
  Random random(test_seed(5));
  const std::unique_ptr<Executor> threads = make_thread_executor(1, 1);
  for (uint64_t round = 0; round < scaled(100); ++round) {
    const std::string bytes = draw_file(random);
    auto file = open(bytes);
    static_cast<void>(walk(*file, threads.get(), random.below(3000)));
    file.reset();
  }
}

// A file that says when it is gone.
class MortalFile final : public ReadableFile {
 public:
  MortalFile(std::string_view bytes, bool& gone) : file_(bytes), gone_(gone) {}
  ~MortalFile() override { gone_ = true; }
  uint64_t size() const override { return file_.size(); }
  Status read(uint64_t offset, size_t bytes, char* into) const override {
    return file_.read(offset, bytes, into);
  }

 private:
  ViewFile file_;
  bool& gone_;
};

// An engine that closes destroys its files before the jobs of its executor are over.
TEST(BlocksAhead, LetsGoOfTheFileWhenTheWalkIsOver) {
  Random random(test_seed(7));
  for (size_t most = 0; most < 3000; most += 100) {
    const std::string bytes = draw_file(random);
    std::unique_ptr<Executor> threads = make_thread_executor(1, 1);
    const std::unique_ptr<Event> over = threads->make_event();
    threads->submit(JobPriority::kHigh, [&over] { over->wait(0, -1); });
    bool gone = false;
    {
      const auto file =
          HFileReader::open(std::make_unique<MortalFile>(bytes, gone), {.name = "file"}).value();
      static_cast<void>(walk(*file, threads.get(), most));
    }
    EXPECT_TRUE(gone);
    over->signal();
    threads.reset();
  }
}

TEST(BlocksAhead, AWalkThatGoesBackReadsAlone) {
  Random random(test_seed(6));
  HFileWriterOptions options;
  options.block_bytes = 200;
  const std::vector<Cell> cells = draw_cells(random, {.rows = 300, .cells = 5000, .value_bytes_max = 50});
  const std::string bytes = write_cells(options, cells).bytes;
  const auto file = open(bytes);
  const std::unique_ptr<Executor> threads = make_thread_executor(1, 1);
  const std::unique_ptr<RunCursor> ahead = file->cursor(options_with(threads.get()));
  const std::unique_ptr<RunCursor> alone = file->cursor(options_with(nullptr));
  for (int turn = 0; turn < 50; ++turn) {
    OwnedCell target;
    first_of_row(target, cells[random.below(cells.size())].row);
    const CellView* a = ahead->seek(target.view());
    const CellView* b = alone->seek(target.view());
    for (size_t i = random.below(400); i > 0 && a != nullptr && b != nullptr; --i) {
      ASSERT_EQ(a->key_bytes(), b->key_bytes());
      a = ahead->next();
      b = alone->next();
    }
    ASSERT_EQ(a == nullptr, b == nullptr);
    ASSERT_TRUE(ahead->status().ok()) << ahead->status();
  }
}

}  // namespace
}  // namespace cellar::testing
