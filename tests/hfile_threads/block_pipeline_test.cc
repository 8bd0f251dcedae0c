// BlockPipeline: the same file whichever thread writes the blocks, and an end in every case.
#include "hfile/write/block_pipeline.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "tests/cell_support/cursor_contract.h"
#include "tests/hfile_support/writer_support.h"
#include "tests/support/manual_clock.h"
#include "tests/support/step_executor.h"

namespace cellar::testing {
namespace {

CutBlock numbered(BlockPipeline& pipeline, size_t number, size_t bytes) {
  CutBlock block = pipeline.blank();
  EXPECT_TRUE(block.bloom_keys.count() == 0 && block.delete_bloom_keys.count() == 0);
  block.index_key = std::to_string(number);
  block.payload.assign(bytes, 'p');
  return block;
}

// Pushes blocks and looks at the order in which they come out, with stops in between.
void push_all(Executor* executor, size_t count, size_t bytes, Random& random) {
  std::vector<std::string> written;
  BlockPipeline pipeline(executor, [&](const CutBlock& block) -> Status {
    written.push_back(block.index_key);
    return {};
  });
  for (size_t i = 0; i < count; ++i) {
    ASSERT_TRUE(pipeline.push(numbered(pipeline, i, bytes)).ok());
    if (executor != nullptr && random.one_in(5)) executor->checkpoint();
    if (!random.one_in(20)) continue;
    ASSERT_TRUE(pipeline.drain().ok());
    ASSERT_EQ(written.size(), i + 1);
  }
  ASSERT_TRUE(pipeline.drain().ok());
  ASSERT_EQ(written.size(), count);
  for (size_t i = 0; i < count; ++i) ASSERT_EQ(written[i], std::to_string(i));
}

TEST(BlockPipeline, KeepsTheOrder) {
  Random random(test_seed(1));
  push_all(nullptr, 100, 10, random);
  for (uint64_t seed = 1; seed <= scaled(200); ++seed) {
    ManualClock clock;
    StepExecutor executor(seed, clock);
    push_all(&executor, random.below(100), random.one_in(4) ? 3 << 20 : 40'000, random);
  }
  const std::unique_ptr<Executor> threads = make_thread_executor(2, 1);
  for (uint64_t round = 0; round < scaled(100); ++round) push_all(threads.get(), 500, 10'000, random);
}

// The executor's only thread is busy until the end.
TEST(BlockPipeline, WaitsForNoFreeThread) {
  std::unique_ptr<Executor> threads = make_thread_executor(1, 1);
  const std::unique_ptr<Event> over = threads->make_event();
  threads->submit(JobPriority::kHigh, [&over] { over->wait(0, -1); });
  Random random(test_seed(2));
  push_all(threads.get(), 500, 10'000, random);
  over->signal();
  threads.reset();
}

TEST(BlockPipeline, StopsAtTheFirstFailure) {
  for (uint64_t seed = 1; seed <= scaled(100); ++seed) {
    ManualClock clock;
    StepExecutor executor(seed, clock);
    size_t written = 0;
    BlockPipeline pipeline(seed == 1 ? nullptr : &executor, [&](const CutBlock&) -> Status {
      return ++written == 30 ? Status::io_error("the medium is full") : Status();
    });
    size_t pushed = 0;
    Status status;
    while (pushed < 1000 && (status = pipeline.push(numbered(pipeline, pushed, 64 << 10))).ok()) ++pushed;
    EXPECT_EQ(status.code(), Code::kIoError);
    EXPECT_GE(pushed, 29u);
    EXPECT_LE(pushed, 29u + 20);
    EXPECT_EQ(pipeline.drain().message(), "the medium is full");
    EXPECT_EQ(pipeline.push(numbered(pipeline, 0, 1)).code(), Code::kIoError);
    EXPECT_EQ(written, 30u);
  }
}

TEST(BlockPipeline, MayEndAtAnyTime) {
  const std::unique_ptr<Executor> threads = make_thread_executor(1, 1);
  for (size_t count = 0; count < 40; ++count) {
    std::vector<char> touched(count);  // gone with the pipeline: a late write is found by ASan
    BlockPipeline pipeline(threads.get(), [&](const CutBlock& block) -> Status {
      touched.at(std::stoul(block.index_key)) = 1;
      return {};
    });
    for (size_t i = 0; i < count; ++i) ASSERT_TRUE(pipeline.push(numbered(pipeline, i, 50'000)).ok());
  }
}

Result<HFileSummary> write_file(const HFileWriterOptions& options, const std::vector<Cell>& cells,
                                Executor* executor, StringFile& file) {
  const std::unique_ptr<HFileWriter> writer = HFileWriter::create(file, options, executor).value();
  for (const Cell& cell : cells) CELLAR_TRY(add_cell(*writer, cell));
  return writer->finish();
}

HFileWriterOptions draw_options(Random& random) {
  HFileWriterOptions options;
  options.tags = options.mvcc = true;
  options.compression = random.one_in(2) ? "snappy" : "none";
  options.encoding = random.one_in(2) ? "row_index" : "none";
  options.bloom = random.one_in(3) ? "none" : "row";
  options.block_bytes = random.one_in(2) ? 64 + random.below(1000) : 60'000;
  options.bloom_chunk_bytes = 16 + random.below(100);
  options.index_chunk_bytes = 64 + random.below(400);
  return options;
}

TEST(WriterWithExecutor, MakesTheSameBytes) {
  Random random(test_seed(3));
  const std::unique_ptr<Executor> threads = make_thread_executor(1, 1);
  for (uint64_t round = 0; round < scaled(150); ++round) {
    const HFileWriterOptions options = draw_options(random);
    const std::vector<Cell> cells = draw_cells(
        random, {.rows = 200, .cells = 1 + random.below(4000), .tags = true, .value_bytes_max = 300});
    const std::string alone = write_cells(options, cells).bytes;
    StringFile by_threads;
    ASSERT_TRUE(write_file(options, cells, threads.get(), by_threads).ok());
    ASSERT_EQ(by_threads.bytes(), alone);
    ManualClock clock;
    StepExecutor steps(round, clock);
    StringFile by_steps;
    ASSERT_TRUE(write_file(options, cells, &steps, by_steps).ok());
    ASSERT_EQ(by_steps.bytes(), alone);
  }
}

TEST(WriterWithExecutor, TellsWhenTheFileFails) {
  Random random(test_seed(4));
  HFileWriterOptions options = draw_options(random);
  const std::vector<Cell> cells =
      draw_cells(random, {.rows = 200, .cells = 4000, .tags = true, .value_bytes_max = 1000});
  const uint64_t bytes = write_cells(options, cells).bytes.size();
  const std::unique_ptr<Executor> threads = make_thread_executor(1, 1);
  for (uint64_t until = 0; until < bytes; until += bytes / 20) {
    StringFile file(until);
    EXPECT_EQ(write_file(options, cells, threads.get(), file).status().code(), Code::kIoError);
  }
}

}  // namespace
}  // namespace cellar::testing
