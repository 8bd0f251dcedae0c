// Goal: a trace tells what was done, to whom, how long and from which thread, and costs an application
// nothing but time. Method: operations with a list of what they must leave; faults of the trace's disk;
// damaged bytes at each place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "base/random.h"
#include "tests/engine/engine_fixture.h"
#include "tests/engine/trace_support.h"

namespace cellar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Strings = std::vector<std::string>;

// A clock that counts how often it is asked, and moves by 10 µs each time.
class CountingClock final : public Clock {
 public:
  int64_t wall_ms() override { return 1'700'000'000'000; }
  int64_t steady_us() override { return 10 * static_cast<int64_t>(++asked); }
  std::atomic<uint64_t> asked{0};
};

class OperationTrace : public EngineFixture {
 protected:
  void SetUp() override { make_directory(); }
  void make_directory() { ASSERT_TRUE(files_->open_directory("traces", true).ok()); }
  void begin(const std::string& options = {}) {
    open();
    table_ = make_table("t", {family("d", 3), family("e")});
    EXPECT_OK(engine_->start_trace(kPath, options));
  }
  WholeTrace end() {
    EXPECT_OK(engine_->stop_trace());
    WholeTrace trace = read_trace(*files_, kPath);
    EXPECT_OK(trace.status);
    return trace;
  }
  std::string bytes() {
    const auto file = files_->open_file(kPath);
    EXPECT_OK(file.status());
    std::string bytes((*file)->size(), '\0');
    EXPECT_OK((*file)->read(0, bytes.size(), bytes.data()));
    return bytes;
  }
  WholeTrace read_bytes(std::string_view bytes) {
    const std::unique_ptr<FileSystem> other = make_memory_file_system();
    const auto directory = other->open_directory("d", true);
    EXPECT_OK(directory.status());
    const auto file = (*directory)->create("trace");
    EXPECT_OK(file.status());
    if (!bytes.empty()) EXPECT_OK((*file)->append(bytes));
    EXPECT_OK((*file)->close());
    return read_trace(*other, "d/trace");
  }
  void put(const std::string& row, const std::string& value = "value") {
    EXPECT_OK(table_->put(Put(row).add("d", "q", value)));
  }
  void TearDown() override {
    table_.reset();
    engine_.reset();
  }

  static constexpr const char* kPath = "traces/t.trace";
  std::shared_ptr<Table> table_;
};

TEST_F(OperationTrace, HoldsEachWriteAsItWasMade) {
  begin();
  put("a");
  EXPECT_OK(table_->put(Put("a").add_at("d", "q", 7, "1").add("e", "", "23"),
                        {.durability = Durability::kFsyncWal}));
  EXPECT_OK(table_->erase(Delete("a").column("d", "q").latest_version("e", "x")));
  EXPECT_OK(table_->erase(Delete("b")));
  EXPECT_OK(table_->increment(Increment("a").add("d", "n", 5)).status());
  EXPECT_OK(table_->append(Append("a").add("d", "log", "abc")).status());
  EXPECT_OK(table_->mutate(RowMutations("a").add(Put("a").add("d", "m", "1")).add(Delete("a").family("e")))
                .status());
  const auto check = [](const char* expected) {
    return CheckAndMutate("a").if_equals("d", "m", expected).then(Put("a").add("d", "m", "22"));
  };
  EXPECT_TRUE(table_->check_and_mutate(check("1"))->matched);
  EXPECT_FALSE(table_->check_and_mutate(check("1"))->matched);
  Batch batch;
  batch.put(table_, Put("c").add("d", "q", "1")).erase(table_, Delete("a"));
  EXPECT_OK(engine_->write(batch));
  EXPECT_FALSE(table_->put(Put("a").add("missing", "q", "1")).ok());
  EXPECT_THAT(texts_of(end()),
              ElementsAre("put t/a d:q=5", "put t/a d:q=1@7 e:=2 fsync_wal",
                          "erase t/a d:q-DeleteColumn e:x!-Delete", "erase t/b", "increment t/a d:n=8",
                          "append t/a d:log=3", "mutate | put t/a d:m=1 | erase t/a e:-DeleteFamily",
                          "check_and_mutate | check t/a d:m matched | put t/a d:m=2",
                          "check_and_mutate t/a d:m failed", "write | put t/c d:q=1 | erase t/a",
                          "put t/a missing:q=1 invalid_argument"));
}

TEST_F(OperationTrace, HoldsEachReadAndWhatItReturned) {
  begin();
  for (const char* row : {"a", "b", "c"}) put(row);
  EXPECT_EQ(value_of(*table_, Get("a").column("d", "q"), "d", "q"), "value");
  EXPECT_TRUE(get(*table_, Get("missing").family("e")).empty());
  EXPECT_TRUE(*table_->exists(Get("b")));
  EXPECT_EQ(table_->get_many(std::vector<Get>{Get("a"), Get("x")})->size(), 2u);
  EXPECT_EQ(table_->exists_many(std::vector<Get>{Get("a"), Get("c")})->size(), 2u);
  EXPECT_EQ(scan(*table_, Scan().start("a").stop("c")).size(), 2u);
  EXPECT_EQ(scan(*table_, Scan().prefix("b").family("d")).size(), 1u);
  EXPECT_EQ(scan(*table_, Scan().reversed(true).limit(1)).size(), 1u);
  EXPECT_OK(table_->row_at_or_after("b").status());
  EXPECT_EQ(table_->count()->rows, 3u);
  EXPECT_EQ(scan(*table_, Scan(std::vector<KeyRange>{{"c", ""}, {"a", "b"}})).size(), 2u);
  EXPECT_TRUE(scan(*table_, Scan(std::vector<KeyRange>{})).empty());
  Strings texts = texts_of(end());
  texts.erase(texts.begin(), texts.begin() + 3);
  EXPECT_THAT(
      texts,
      ElementsAre("get t/a d:q -> 1 rows 1 cells", "get t/missing e:*", "exists t/b -> 1 rows 0 cells",
                  "get_many | get t/a | get t/x -> 1 rows 1 cells",
                  "exists_many | get t/a | get t/c -> 2 rows 0 cells", "scan t/a..c -> 2 rows 2 cells",
                  "scan t/..b prefix d:* -> 1 rows 1 cells", "scan t/.. reversed limit 1 -> 1 rows 1 cells",
                  "scan t/b.. limit 1 -> 1 rows 1 cells", "scan t/.. -> 3 rows 3 cells",
                  "scan t/a.. [a..b) [c..) -> 2 rows 2 cells", "scan t/.."));
}

TEST_F(OperationTrace, HoldsScansThatWereNotReadToTheirEndAndBatchesOfRows) {
  begin();
  for (const char* row : {"a", "b", "c"}) put(row);
  {
    const auto scanner = table_->scan(Scan());
    ASSERT_TRUE((*scanner)->next());
  }
  {
    const auto scanner = table_->scan(Scan());
    RowBatch rows;
    EXPECT_TRUE((*scanner)->next_batch(rows, 2));
    EXPECT_TRUE((*scanner)->next_batch(rows, 2));
    EXPECT_FALSE((*scanner)->next_batch(rows, 2));
  }
  EXPECT_EQ(table_->scan_many(std::vector<Scan>{Scan(), Scan().start("b")})->size(), 2u);
  Strings texts = texts_of(end());
  texts.erase(texts.begin(), texts.begin() + 3);
  EXPECT_THAT(texts, ElementsAre("scan t/.. -> 1 rows 1 cells", "scan t/.. -> 3 rows 3 cells", "scan t/..",
                                 "scan t/b.."));
}

TEST_F(OperationTrace, HoldsManyActionsAsOneOperation) {
  begin();
  put("a");
  const std::vector<Action> actions = {Put("x").add("d", "q", "1"), Put("y").add("d", "q", "22"), Get("a"),
                                       Increment("n").add("d", "n", 1),
                                       CheckAndMutate("a").if_equals("d", "q", "value").then(Delete("a"))};
  EXPECT_EQ(table_->batch(actions).size(), actions.size());
  EXPECT_EQ(texts_of(end()).back(),
            "batch | put t/x d:q=1 | put t/y d:q=2 | get t/a | increment t/n d:n=8 | check t/a d:q matched | "
            "erase t/a -> 2 rows 2 cells");
}

TEST_F(OperationTrace, HoldsTransactionsAndWorkThatWasAskedFor) {
  begin();
  put("a");
  {
    const auto transaction = engine_->begin();
    EXPECT_OK((*transaction)->get(table_, Get("a")).status());
    EXPECT_OK((*transaction)->put(table_, Put("b").add("d", "q", "12")));
    EXPECT_OK((*transaction)->increment(table_, Increment("n").add("d", "n", 1)).status());
    EXPECT_OK((*transaction)->append(table_, Append("n").add("d", "l", "1")).status());
    EXPECT_OK((*transaction)->erase(table_, Delete("a")));
    auto scanner = (*transaction)->scan(table_, Scan().start("b"));
    EXPECT_TRUE((*scanner)->next());
    scanner->reset();
    EXPECT_OK((*transaction)->commit());
  }
  {
    const auto given_up = engine_->begin();
    EXPECT_OK((*given_up)->put(table_, Put("b").add("d", "q", "12")));
  }
  EXPECT_OK(table_->flush("d"));
  EXPECT_OK(engine_->flush());
  EXPECT_OK(table_->compact());
  EXPECT_OK(table_->major_compact("e"));
  EXPECT_THAT(texts_of(end()),
              ElementsAre("put t/a d:q=5", "transaction get t/a -> 1 rows 1 cells",
                          "transaction scan t/b.. -> 1 rows 1 cells",
                          "commit | put t/b d:q=2 | increment t/n d:n=8 | append t/n d:l=1 | erase t/a",
                          "flush t/d", "flush", "compact t/", "major_compact t/e"));
}

// Two threads work on rows of their own. Each notes what it does, and the trace must have the same notes.
TEST_F(OperationTrace, EachThreadIsRecordedInItsOrder) {
  begin();
  constexpr int kOperations = 3000;  // several buffers for each thread
  std::map<std::string, Strings> done;
  Strings& first = done["a"];
  Strings& second = done["b"];
  const auto work = [&](const std::string& name, Strings& notes) {
    Random random(name.front());
    for (int i = 0; i < kOperations; ++i) {
      const std::string row = name + std::to_string(random.below(100)) + std::string(random.below(40), '.');
      if (random.one_in(2)) {
        const size_t size = 1 + random.below(300);
        EXPECT_OK(table_->put(Put(row).add("d", "q", std::string(size, 'v'))));
        notes.push_back("put t/" + row + " d:q=" + std::to_string(size));
      } else {
        const Result<bool> found = table_->exists(Get(row));
        EXPECT_OK(found.status());
        notes.push_back("exists t/" + row + (*found ? " -> 1 rows 0 cells" : ""));
      }
    }
  };
  std::thread one([&] { work("a", first); });
  std::thread two([&] { work("b", second); });
  one.join();
  two.join();
  const WholeTrace trace = end();
  std::map<uint32_t, Strings> threads;
  for (const TraceOperation& each : trace.operations) threads[each.thread].push_back(text_of(each));
  ASSERT_EQ(threads.size(), 2u);
  for (const auto& [thread, texts] : threads)
    EXPECT_EQ(texts, done[texts.front().find("t/a") != std::string::npos ? "a" : "b"]) << thread;
  EXPECT_EQ(trace.ending.lost, 0u);
  EXPECT_EQ(trace.ending.end, TraceEnd::kStopped);
}

TEST_F(OperationTrace, TimesAreThoseOfTheClock) {
  open();
  table_ = make_table("t", {family("d")});
  clock_.advance_ms(5000);
  EXPECT_OK(engine_->start_trace(kPath));
  clock_.advance_us(1500);
  put("a");
  clock_.advance_us(3'000'000);
  put("b");
  const WholeTrace trace = end();
  ASSERT_EQ(trace.operations.size(), 2u);
  EXPECT_EQ(trace.operations[0].start_ns, 1'500'000);
  EXPECT_EQ(trace.operations[1].start_ns, 3'001'500'000);
  EXPECT_EQ(trace.header.wall_ms, clock_.wall_ms() - 3001);
}

// Without a recording, no clock is asked and no file is touched.
TEST_F(OperationTrace, WithoutARecordingNoClockIsAsked) {
  CountingClock counting;
  EngineOptions options;
  options.metrics = false;  // they look at the clock for some operations
  options.create_if_missing = true;
  options.environment.files = files_.get();
  options.environment.clock = &counting;
  auto engine = Engine::open("store", options);
  ASSERT_TRUE(engine.ok());
  auto table = (*engine)->create_table("t", {.families = {family("d")}});
  ASSERT_TRUE(table.ok());
  EXPECT_OK((*table)->put(Put("a").add("d", "q", "1")));
  RowBatch rows;
  const Get get("a");
  EXPECT_OK((*table)->get_into(get, rows));
  const uint64_t before = counting.asked;
  for (int i = 0; i < 100; ++i) EXPECT_OK((*table)->get_into(get, rows));
  EXPECT_EQ(counting.asked, before);
  EXPECT_OK((*engine)->start_trace(kPath));
  const uint64_t begun = counting.asked;
  for (int i = 0; i < 100; ++i) EXPECT_OK((*table)->get_into(get, rows));
  EXPECT_EQ(counting.asked, begun + 200) << "two times for each operation";
  rows = RowBatch();
  table->reset();
}

TEST_F(OperationTrace, HashedKeysHideNamesAndKeepEquality) {
  begin("keys=hashed");
  const std::string secret = "customer-4711-with-a-long-name";
  EXPECT_OK(table_->put(Put(secret).add("d", "secret-column", "secret-value")));
  EXPECT_OK(table_->get(Get(secret).column("d", "secret-column")).status());
  EXPECT_OK(table_->get(Get("other")).status());
  EXPECT_EQ(scan(*table_, Scan().start(secret)).size(), 1u);
  const WholeTrace trace = end();
  ASSERT_EQ(trace.operations.size(), 4u);
  const TraceKey row = trace.operations[0].entries[0].row;
  EXPECT_EQ(row.size, secret.size());
  EXPECT_EQ(row.bytes.size(), secret.size());
  EXPECT_EQ(trace.operations[1].entries[0].row.bytes, row.bytes);
  EXPECT_EQ(trace.operations[1].entries[0].columns[0].qualifier.bytes,
            trace.operations[0].entries[0].columns[0].qualifier.bytes);
  EXPECT_EQ(trace.operations[3].scan.start.bytes, row.bytes);
  EXPECT_NE(trace.operations[2].entries[0].row.bytes, row.bytes);
  EXPECT_TRUE(trace.header.hashed);
  for (const TraceOperation& each : trace.operations) {
    EXPECT_EQ(text_of(each).find("secret"), std::string::npos) << text_of(each);
    EXPECT_EQ(text_of(each).find("customer"), std::string::npos) << text_of(each);
  }
  // Another recording has another key.
  EXPECT_OK(engine_->start_trace("traces/second", "keys=hashed"));
  EXPECT_OK(table_->get(Get(secret)).status());
  EXPECT_OK(engine_->stop_trace());
  EXPECT_NE(read_trace(*files_, "traces/second").operations.at(0).entries[0].row.bytes, row.bytes);
}

TEST(TraceHashTest, IsSipHash) {
  // The first vectors of the reference implementation: the key is the bytes 0 to 15.
  const TraceHash hash({0x0706050403020100, 0x0f0e0d0c0b0a0908});
  EXPECT_EQ(hash(""), 0x726fdb47dd0e0e31u);
  EXPECT_EQ(hash(std::string_view("\0", 1)), 0x74f839c593dc67fdu);
  EXPECT_EQ(hash(std::string_view("\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16", 15)), 0xa129ca6149be45e5u);
}

TEST_F(OperationTrace, SamplingTakesAllOperationsOfSomeRows) {
  begin("sample=10");
  for (int i = 0; i < 1000; ++i) {
    put("row" + std::to_string(i));
    EXPECT_OK(table_->get(Get("row" + std::to_string(i))).status());
  }
  Batch batch;
  for (int i = 0; i < 1000; ++i) batch.put(table_, Put("row" + std::to_string(i)).add("d", "q", "1"));
  EXPECT_OK(engine_->write(batch));
  const WholeTrace trace = end();
  EXPECT_EQ(trace.header.sample, 10u);
  std::map<std::string, int> rows;
  for (const TraceOperation& each : trace.operations)
    for (const TraceEntry& entry : each.entries) ++rows[entry.row.bytes];
  EXPECT_GT(rows.size(), 50u);
  EXPECT_LT(rows.size(), 200u);
  for (const auto& [row, times] : rows) EXPECT_EQ(times, 3) << row;
}

TEST_F(OperationTrace, EndsAtItsLimitAndIsWhole) {
  begin("bytes_max=64k");
  Random random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string row;
    for (int byte = 0; byte < 16; ++byte) row.push_back(static_cast<char>(random.below(256)));
    ASSERT_TRUE(table_->exists(Get(row)).ok());
  }
  const Status status = engine_->stop_trace();
  EXPECT_TRUE(status.is(Code::kLimit)) << status.to_text();
  EXPECT_THAT(status.to_text(), HasSubstr("65536 bytes"));
  EXPECT_OK(engine_->status().health);
  const WholeTrace trace = read_trace(*files_, kPath);
  EXPECT_OK(trace.status);
  EXPECT_EQ(trace.ending.end, TraceEnd::kLimit);
  EXPECT_GT(trace.operations.size(), 100u);
  EXPECT_LE(bytes().size(), 65536u);
  EXPECT_GT(trace.ending.lost, 0u);
  EXPECT_OK(engine_->start_trace("traces/next"));
  EXPECT_OK(engine_->stop_trace());
}

TEST_F(OperationTrace, AFullDiskEndsTheRecordingAndNothingElse) {
  FaultFileSystem& files = watch_files();
  struct Listener : EventListener {
    void on_background_error(const Status& status) override { errors.push_back(status.to_text()); }
    Strings errors;
  } listener;
  EngineOptions options;
  options.environment.events = &listener;
  open(options);
  table_ = make_table("t", {family("d")});
  EXPECT_OK(engine_->start_trace(kPath));
  files.inject(
      {.on = FileOperation::kAppend, .name = "t.trace", .nth = 2, .sticky = true, .code = Code::kNoSpace});
  for (int i = 0; i < 5000; ++i) put("row" + std::to_string(i));
  for (int i = 0; i < 1000 && engine_->status().troubles.empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const EngineStatus status = engine_->status();
  ASSERT_EQ(status.troubles.size(), 1u);
  EXPECT_EQ(status.troubles[0].what, "operation trace");
  EXPECT_FALSE(status.troubles[0].writes_wait);
  EXPECT_TRUE(status.troubles[0].status.is(Code::kNoSpace));
  EXPECT_TRUE(status.health.is(Code::kNoSpace));
  ASSERT_EQ(listener.errors.size(), 1u);
  EXPECT_THAT(listener.errors[0], HasSubstr("trace traces/t.trace"));
  put("after");
  EXPECT_EQ(value_of(*table_, Get("after"), "d", "q"), "value");
  EXPECT_TRUE(engine_->stop_trace().is(Code::kNoSpace));
  EXPECT_OK(engine_->status().health);
  files.clear();
  EXPECT_OK(engine_->start_trace("traces/next"));
  put("again");
  EXPECT_OK(engine_->stop_trace());
  EXPECT_EQ(read_trace(*files_, "traces/next").operations.size(), 1u);
  // The file that failed is torn, and what reached it can be read.
  const WholeTrace torn = read_trace(*files_, kPath);
  EXPECT_OK(torn.status);
  EXPECT_FALSE(torn.ending.end.has_value());
}

TEST_F(OperationTrace, EveryFailureOfItsFileLeavesTheStoreSound) {
  FaultFileSystem& files = watch_files();
  for (const FileOperation on :
       {FileOperation::kCreate, FileOperation::kAppend, FileOperation::kSync, FileOperation::kClose}) {
    open();
    table_ = make_table("t", {family("d")});
    files.fail(on, "f.trace", 1, Code::kIoError);
    const Status started = engine_->start_trace("traces/f.trace");
    put("a");
    const Status stopped = engine_->stop_trace();
    EXPECT_FALSE(started.ok() && stopped.ok()) << operation_name(on);
    EXPECT_OK(engine_->status().health);
    EXPECT_EQ(value_of(*table_, Get("a"), "d", "q"), "value");
    files.clear();
    table_.reset();
    EXPECT_OK(engine_->close());
    static_cast<void>((*files_->open_directory("traces", false))->unlink("f.trace"));
  }
}

TEST_F(OperationTrace, RefusesWhatMakesNoSense) {
  begin();
  EXPECT_TRUE(engine_->start_trace("traces/second").is(Code::kBusy));
  EXPECT_OK(engine_->stop_trace());
  EXPECT_TRUE(engine_->stop_trace().is(Code::kNotFound));
  EXPECT_TRUE(engine_->start_trace(kPath).is(Code::kInvalidArgument)) << "the file exists";
  EXPECT_TRUE(engine_->start_trace("store/t.trace").is(Code::kInvalidArgument));
  EXPECT_TRUE(engine_->start_trace("traces/").is(Code::kInvalidArgument));
  EXPECT_TRUE(engine_->start_trace("nowhere/t.trace").is(Code::kNotFound));
  for (const char* options : {"keys=secret", "sample=0", "bytes_max=1", "colour=red", "keys"})
    EXPECT_TRUE(engine_->start_trace("traces/bad", options).is(Code::kInvalidArgument)) << options;
  EXPECT_OK(engine_->start_trace("traces/good", "keys=hashed, sample=3, bytes_max=1m"));
  EXPECT_OK(engine_->stop_trace());
}

TEST_F(OperationTrace, AnOptionRecordsFromTheOpeningToTheClose) {
  EngineOptions options;
  options.operation_trace = kPath;
  for (const char* path : {"traces/t.trace", "traces/t.trace.2", "traces/t.trace.3"}) {
    open(options);
    table_ = make_table("t", {family("d")});
    put("a");
    table_.reset();
    EXPECT_OK(engine_->close());
    const WholeTrace trace = read_trace(*files_, path);
    EXPECT_OK(trace.status);
    EXPECT_THAT(texts_of(trace), ElementsAre("put t/a d:q=5"));
    EXPECT_EQ(trace.ending.end, TraceEnd::kStopped);
  }
  options.operation_trace = "nowhere/t.trace";
  open(options);
  EXPECT_EQ(engine_->status().troubles.at(0).what, "operation trace");
  EXPECT_OK(engine_->stop_trace());
  EXPECT_OK(engine_->status().health);
  options.operation_trace_options = "sample=none";
  options.create_if_missing = true;
  options.environment.files = files_.get();
  engine_.reset();
  EXPECT_TRUE(Engine::open("store", options).status().is(Code::kInvalidArgument));
}

TEST_F(OperationTrace, TwoEnginesInOneThreadKeepTheirOperationsApart) {
  begin();
  EngineOptions options;
  options.create_if_missing = true;
  options.environment.files = files_.get();
  options.environment.clock = &clock_;
  auto other = Engine::open("other", options);
  ASSERT_TRUE(other.ok());
  auto table = (*other)->create_table("o", {.families = {family("d")}});
  EXPECT_OK((*other)->start_trace("traces/other"));
  for (int i = 0; i < 10; ++i) {
    put("a" + std::to_string(i));
    EXPECT_OK((*table)->put(Put("b" + std::to_string(i)).add("d", "q", "1")));
  }
  EXPECT_OK((*other)->stop_trace());
  const WholeTrace mine = end();
  const WholeTrace others = read_trace(*files_, "traces/other");
  ASSERT_EQ(mine.operations.size(), 10u);
  ASSERT_EQ(others.operations.size(), 10u);
  for (const TraceOperation& each : mine.operations) EXPECT_EQ(each.entries[0].table, "t");
  for (const TraceOperation& each : others.operations) EXPECT_EQ(each.entries[0].table, "o");
  table->reset();
}

TEST_F(OperationTrace, MayBeStoppedWhileOthersWorkAndStartedAgain) {
  begin();
  std::atomic<bool> stop{false};
  std::vector<std::thread> workers;
  for (int worker = 0; worker < 3; ++worker)
    workers.emplace_back([&, worker] {
      for (int i = 0; !stop; ++i) put(std::to_string(worker) + "/" + std::to_string(i % 50));
    });
  uint64_t recorded = 0;
  for (int round = 0; round < 20; ++round) {
    const std::string path = "traces/round" + std::to_string(round);
    EXPECT_OK(engine_->stop_trace());
    EXPECT_OK(engine_->start_trace(path));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  stop = true;
  for (std::thread& each : workers) each.join();
  EXPECT_OK(engine_->stop_trace());
  for (int round = 0; round < 20; ++round) {
    const WholeTrace trace = read_trace(*files_, "traces/round" + std::to_string(round));
    EXPECT_OK(trace.status);
    EXPECT_EQ(trace.ending.end, TraceEnd::kStopped);
    recorded += trace.operations.size();
  }
  EXPECT_GT(recorded, 0u);
}

// Threads that come and go leave their operations, and hold no buffers.
TEST_F(OperationTrace, ThreadsThatEndedAreRecorded) {
  begin();
  for (int i = 0; i < 50; ++i) std::thread([&] { put("row" + std::to_string(i)); }).join();
  const WholeTrace trace = end();
  EXPECT_EQ(trace.operations.size(), 50u);
  std::map<uint32_t, int> threads;
  for (const TraceOperation& each : trace.operations) ++threads[each.thread];
  EXPECT_EQ(threads.size(), 50u);
}

TEST_F(OperationTrace, ATornEndIsAcceptedAndTold) {
  begin();
  for (int i = 0; i < 3000; ++i) put("row" + std::to_string(i));
  const WholeTrace whole = end();
  const std::string all = bytes();
  size_t before = 0;
  for (size_t size = kTraceHeaderBytes; size < all.size(); size += 97) {
    const WholeTrace torn = read_bytes(std::string_view(all).substr(0, size));
    ASSERT_TRUE(torn.status.ok()) << size << ": " << torn.status.to_text();
    EXPECT_FALSE(torn.ending.end.has_value());
    EXPECT_GE(torn.operations.size(), before);
    before = torn.operations.size();
    EXPECT_LT(torn.ending.torn_bytes, size);
  }
  EXPECT_EQ(read_bytes(all + std::string(5000, '\0')).ending.end, std::nullopt);
  EXPECT_GT(whole.operations.size(), 2000u);
  EXPECT_EQ(before, whole.operations.size());
}

TEST_F(OperationTrace, DamageForeignAndEmptyFilesAreRefused) {
  begin();
  for (int i = 0; i < 3000; ++i) put("row" + std::to_string(i));
  const WholeTrace whole = end();
  const std::string all = bytes();
  EXPECT_THAT(read_bytes("").status.to_text(), HasSubstr("is empty"));
  EXPECT_THAT(read_bytes("CELTR").status.to_text(), HasSubstr("too few"));
  EXPECT_THAT(read_bytes(std::string(100, 'x')).status.to_text(), HasSubstr("not a trace"));
  std::string newer = all;
  newer[8] = 2;
  EXPECT_TRUE(read_bytes(newer).status.is(Code::kNotSupported));
  size_t refused = 0;
  for (size_t at = 0; at < all.size(); at += at < 600 ? 1 : 211) {
    std::string damaged = all;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    const WholeTrace trace = read_bytes(damaged);
    refused += trace.status.ok() ? 0 : 1;
    // Whatever is read is what was written.
    EXPECT_LE(trace.operations.size(), whole.operations.size()) << at;
    EXPECT_FALSE(trace.status.ok() && trace.ending.end.has_value()) << at;
  }
  EXPECT_GT(refused, 0u);
}

}  // namespace
}  // namespace cellar::testing
