// Goal: of files of one region, the one written later wins at equal coordinates, whatever their names and
// sizes. If no fact tells which one that is, the answer says so. A failed ingest removes no file that it did
// not create. Method: each such directory in all orders of names, sizes and requests. Files are put at the
// names of the next store files.
#include <algorithm>
#include <array>

#include "base/coding.h"
#include "tests/engine/ingest_fixture.h"
#include "tests/support/fault_file_system.h"

namespace cellar::testing {
namespace {

// A file as HBase's flush leaves it: its sequence in the file info, and the sequences of its cells.
struct Flush {
  uint64_t sequence = 0;
  std::string value;
  size_t padding = 0;  // cells of other rows that make the file larger
};

class IngestOrder : public IngestFixture {
 protected:
  IngestFile flushed(const std::string& name, const Flush& flush, const std::string& row = "r") {
    HFileBuilderOptions options;
    options.mvcc = true;
    options.bulk_load = false;
    std::vector<Cell> cells = {put_cell(row, flush.value)};
    for (size_t i = 0; i < flush.padding; ++i)
      cells.push_back(put_cell("pad" + name + std::to_string(i), "padding"));
    for (Cell& cell : cells) cell.sequence = flush.sequence;
    return file(name, cells, options, [&](HFileBuilder& builder) {
      std::string bytes;
      append_be64(bytes, flush.sequence);
      EXPECT_OK(builder.set_info("MAX_SEQ_ID_KEY", bytes));
    });
  }
  // As a bulk load names its files; such a file has no sequence inside.
  IngestFile loaded(const std::string& name, const std::string& value, size_t padding = 0,
                    int64_t loaded_ms = 1) {
    HFileBuilderOptions options;
    options.created_ms = loaded_ms;
    std::vector<Cell> cells = {put_cell("r", value)};
    for (size_t i = 0; i < padding; ++i) cells.push_back(put_cell("pad" + std::to_string(i), "padding"));
    return file(name, cells, options);
  }
  // A table of its own for each, so that only the files of one ingest compete.
  IngestInfo ingest_alone(std::vector<IngestFile> files) {
    table_ = make_table("alone" + std::to_string(tables_++), {family("f", 3), family("g", 3)});
    return ingest(std::move(files));
  }

  int tables_ = 0;
};

TEST_F(IngestOrder, TheLaterFlushWinsInAllOrdersOfNamesAndSizes) {
  std::array<size_t, 3> places = {0, 1, 2};
  const std::array<const char*, 3> names = {"0a", "5b", "9c"};
  int rounds = 0;
  do {  // of names
    std::array<size_t, 3> sizes = {0, 40, 80};
    do {
      std::vector<IngestFile> files;
      for (size_t i = 0; i < 3; ++i)
        files.push_back(flushed(names[places[i]], {10 * (i + 1), "version " + std::to_string(i), sizes[i]}));
      std::rotate(files.begin(), files.begin() + rounds % 3, files.end());  // of requests
      const IngestInfo info = ingest_alone(files);
      EXPECT_EQ(value_of("r"), "version 2") << rounds;
      EXPECT_TRUE(info.ties.empty()) << rounds;
      ++rounds;
    } while (std::ranges::next_permutation(sizes).found);
  } while (std::ranges::next_permutation(places).found);
  EXPECT_EQ(rounds, 36);
}

TEST_F(IngestOrder, TheOrderStaysThroughReopeningAndCompactions) {
  ingest({flushed("a", {30, "new", 80}), flushed("b", {20, "middle", 40}), flushed("c", {10, "old", 0})});
  EXPECT_EQ(value_of("r"), "new");
  reopen();
  EXPECT_EQ(value_of("r"), "new");
  EXPECT_OK(table_->major_compact());
  EXPECT_EQ(value_of("r"), "new");
}

TEST_F(IngestOrder, TheSequenceInANameIsThatOfABulkLoad) {
  for (const auto& [old_name, new_name] :
       {std::pair("0a_SeqId_5_", "9b_SeqId_25_"), std::pair("9a_SeqId_5_", "0b_SeqId_25_"),
        std::pair("0a_SeqId_9_", "9b_SeqId_10_")}) {
    for (const auto& [old_size, new_size] : {std::pair(0, 90), std::pair(90, 0), std::pair(9, 9)}) {
      const IngestInfo info = ingest_alone({loaded(new_name, "new", static_cast<size_t>(new_size)),
                                            loaded(old_name, "old", static_cast<size_t>(old_size))});
      EXPECT_EQ(value_of("r"), "new") << old_name << " " << old_size;
      EXPECT_TRUE(info.ties.empty());
    }
  }
  // Between flushes, too.
  for (const size_t size : {0, 90}) {
    EXPECT_TRUE(ingest_alone({flushed("a", {10, "flushed before", 50}), loaded("b_SeqId_11_", "loaded", size),
                              flushed("c", {12, "flushed after", 50})})
                    .ties.empty());
    EXPECT_EQ(value_of("r"), "flushed after");
    EXPECT_TRUE(ingest_alone({flushed("a", {10, "flushed", 50}), loaded("b_SeqId_11_", "loaded", size)})
                    .ties.empty());
    EXPECT_EQ(value_of("r"), "loaded");
  }
}

TEST_F(IngestOrder, WhatNothingOrdersIsSaid) {
  // Not the same cells, or not the same bytes: the smaller wins by HBase's rule, and both are named.
  const IngestInfo info = ingest_alone({loaded("large", "L", 50), loaded("small", "S")});
  EXPECT_EQ(value_of("r"), "S");
  ASSERT_EQ(info.ties.size(), 1u);
  EXPECT_EQ(info.ties[0].family, "f");
  EXPECT_EQ(info.ties[0].winner, "in/small");
  EXPECT_EQ(info.ties[0].loser, "in/large");
  EXPECT_EQ(info.ties[0].cell, "r/f:q/5/Put");
  EXPECT_NE(to_text(info).find("in/small"), std::string::npos) << to_text(info);
  // One file has a sequence, the other has none.
  EXPECT_EQ(ingest_alone({loaded("plain", "P"), flushed("flushed", {10, "F"})}).ties.size(), 1u);
  EXPECT_EQ(value_of("r"), "F") << "HBase takes a file without a sequence for the oldest";
  // Equal sequences.
  EXPECT_EQ(ingest_alone({flushed("a", {10, "A"}), flushed("b", {10, "B", 5})}).ties.size(), 1u);
  EXPECT_EQ(value_of("r"), "A");
  // Three that disagree: the winner with each of the others.
  EXPECT_EQ(ingest_alone({loaded("a", "A"), loaded("b", "B", 50), loaded("c", "C", 90)}).ties.size(), 2u);
  // Three files that agree, or hold other rows, need no order.
  EXPECT_TRUE(ingest_alone({loaded("a", "A"), loaded("b", "A", 50), loaded("c", "A", 90)}).ties.empty());
  EXPECT_TRUE(ingest_alone({file("a", {put_cell("a", "1"), put_cell("c", "1")}),
                            file("b", {put_cell("b", "2"), put_cell("d", "2")})})
                  .ties.empty());
  // Other families are not compared.
  EXPECT_TRUE(
      ingest_alone({file("a", {put_cell("a", "1")}), file("b", {put_cell("a", "2", 5, "g")})}).ties.empty());
}

TEST_F(IngestOrder, NoMoreThanAHundredTiesAreListed) {
  std::vector<IngestFile> files;
  for (int i = 0; i < 120; ++i) files.push_back(loaded("f" + std::to_string(i), "v" + std::to_string(i)));
  EXPECT_EQ(ingest_alone(files).ties.size(), 100u);
}

// ---- files that were there before ----

class IngestCollision : public IngestFixture {
 protected:
  // Puts files where the next store files would go.
  std::vector<std::string> occupy(const std::string& directory) {
    const std::string known = table_->info().families[0].files.at(0).name;
    const std::string stem = known.substr(0, 16);  // then the number, in 16 hex digits
    uint64_t number = std::stoull(known.substr(16), nullptr, 16);
    std::vector<std::string> names;
    auto opened = files_->open_directory(directory, true);
    EXPECT_OK(opened.status());
    for (int i = 0; i < 20; ++i) {
      std::string digits(16, '0');
      uint64_t rest = ++number;
      for (size_t at = digits.size(); at-- > 0; rest /= 16) digits[at] = "0123456789abcdef"[rest % 16];
      auto made = (*opened)->create(stem + digits, {});
      EXPECT_OK(made.status());
      EXPECT_OK((*made)->append("somebody else's"));
      EXPECT_OK((*made)->close());
      names.push_back(directory + "/" + stem + digits);
    }
    return names;
  }
  void expect_all_there(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) EXPECT_EQ(bytes_of(path), "somebody else's") << path;
  }
  std::string directory(const std::string& family) {
    return "store/tables/" + std::to_string(table_->info().id) + "/" + family;
  }
};

TEST_F(IngestCollision, AFileOfTheSameNameSurvivesAFailedIngest) {
  ingest({file("first", {put_cell("a", "v")})});
  const std::vector<std::string> theirs = occupy(directory("f"));
  for (const bool copy : {false, true})
    for (const bool move : {false, true}) {
      const auto done =
          table_->ingest({.files = {file("second", {put_cell("b", "v")})}, .copy = copy, .move = move});
      EXPECT_FALSE(done.ok());
      expect_all_there(theirs);
      EXPECT_EQ(names_in("in"), (std::vector<std::string>{"first", "second"}));
    }
  // A file that was placed before the one that failed is removed again.
  const size_t in_g = files_->open_directory(directory("g"), true).value()->list().value().size();
  EXPECT_FALSE(
      table_->ingest({.files = {file("g", {put_cell("b", "v", 5, "g")}), file("f", {put_cell("b", "v")})}})
          .ok());
  expect_all_there(theirs);
  EXPECT_EQ(names_in(directory("g")).size(), in_g);
}

TEST_F(IngestCollision, AFileOfTheSameNameSurvivesAFailedRestore) {
  ingest({file("first", {put_cell("a", "v")})});
  EXPECT_OK(engine_->named_snapshots().create("snap", {}).status());
  EXPECT_OK(table_->put(Put("after").add("f", "q", "v")));
  const std::vector<std::string> theirs = occupy(directory("f"));
  EXPECT_FALSE(engine_->named_snapshots().restore("snap").ok());
  expect_all_there(theirs);
  EXPECT_EQ(value_of("after"), "v");
}

// A copy that fails half way leaves nothing of itself.
TEST_F(IngestCollision, ACopyThatFailsIsRemoved) {
  ingest({file("first", {put_cell("a", "v")})});
  const IngestFile second = file("second", {put_cell("b", "v")});
  table_.reset();
  other_.reset();
  engine_.reset();
  for (const FileOperation operation :
       {FileOperation::kAppend, FileOperation::kSync, FileOperation::kClose, FileOperation::kRead}) {
    FaultFileSystem faults(*files_);
    EngineOptions options;
    options.environment.files = &faults;
    options.environment.clock = &clock_;
    auto engine = Engine::open("store", options);
    ASSERT_TRUE(engine.ok()) << engine.status().to_text();
    auto table = (*engine)->open_table("t");
    const size_t before = store_files();
    const std::string pattern = operation == FileOperation::kRead ? "*second" : "tables/*";
    faults.inject({.on = operation, .name = pattern, .nth = 1});
    const auto done = (*table)->ingest({.files = {second}, .copy = true});
    EXPECT_FALSE(done.ok()) << operation_name(operation);
    EXPECT_EQ(store_files(), before) << operation_name(operation);
    faults.clear();
    table->reset();
    EXPECT_OK((*engine)->close());
  }
}

}  // namespace
}  // namespace cellar::testing
