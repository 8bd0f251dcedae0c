// Goal: transactions of many threads are as if they had run one after the other. Method: Elle's. They append
// numbers to few lists and read them, concurrently with plain writes, flushes and compactions. Afterwards the
// lists tell which transaction came first, and no circle may be among them. Forged histories show that the
// checker sees circles.
#include <gtest/gtest.h>

#include <atomic>
#include <charconv>
#include <thread>

#include "base/random.h"
#include "tests/engine/engine_fixture.h"
#include "tests/engine/history_checker.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

NumberList numbers_of(std::string_view text) {
  NumberList list;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    uint64_t number = 0;
    std::from_chars(text.data(), text.data() + comma, number);
    list.push_back(number);
    text.remove_prefix(comma + 1);
  }
  return list;
}

NumberList list_in(const RowView& row) { return numbers_of(row.value("d", "l").value_or("")); }
NumberList list_in(const Row& row) { return numbers_of(row.value("d", "l").value_or("")); }

// ---- the checker ----

TEST(HistoryChecker, TakesAHistoryThatHasAnOrder) {
  const std::vector<HistoryEntry> history = {
      {.read = {{"x", {}}}, .appended = {{"x", {1}}, {"y", {2}}}},
      {.read = {{"x", {1}}, {"y", {2}}}, .appended = {{"x", {3, 4}}}},
      {.read = {{"y", {2}}, {"x", {1}}}},
  };
  const HistoryVerdict verdict = check_history(history, {{"x", {1, 3, 4}}, {"y", {2}}});
  EXPECT_EQ(verdict.complaint, "");
  EXPECT_EQ(verdict.ww, 1u);
  EXPECT_EQ(verdict.wr, 4u);
  EXPECT_EQ(verdict.rw, 1u);
}

TEST(HistoryChecker, SeesForgedHistories) {
  using Entries = std::vector<HistoryEntry>;
  // Each wrote over what the other one had read: write skew.
  EXPECT_EQ(check_history(Entries{{.read = {{"y", {}}}, .appended = {{"x", {1}}}},
                                  {.read = {{"x", {}}}, .appended = {{"y", {2}}}}},
                          {{"x", {1}}, {"y", {2}}})
                .complaint,
            "circle: 0 -rw-> 1 -rw-> 0");
  // Two lists in different orders.
  EXPECT_EQ(
      check_history(Entries{{.appended = {{"x", {1}}, {"y", {3}}}}, {.appended = {{"x", {2}}, {"y", {4}}}}},
                    {{"x", {1, 2}}, {"y", {4, 3}}})
          .complaint,
      "circle: 0 -ww-> 1 -ww-> 0");
  // Half of another one was seen.
  EXPECT_NE(check_history(Entries{{.appended = {{"x", {1}}, {"y", {2}}}}, {.read = {{"x", {1}}, {"y", {}}}}},
                          {{"x", {1}}, {"y", {2}}})
                .complaint.find("circle"),
            std::string::npos);
  const auto complaint = [](const NumberList& read, const NumberList& last) {
    return check_history(Entries{{.appended = {{"x", {1}}}}, {.read = {{"x", read}}}}, {{"x", last}})
        .complaint;
  };
  EXPECT_EQ(complaint({1}, {1}), "");
  EXPECT_NE(complaint({}, {}), "") << "an update is lost";
  EXPECT_NE(complaint({2}, {1}), "");
  EXPECT_NE(complaint({1}, {1, 1}), "");
  EXPECT_NE(complaint({1}, {1, 9}), "");
}

// ---- the engine ----

class TransactionIsolation : public EngineFixture {
 protected:
  static constexpr uint64_t kKeys = 6;

  void SetUp() override {
    EngineOptions options;
    options.create_if_missing = true;
    options.memtable_bytes = 128 << 10;
    options.log_segment_bytes = 256 << 10;
    options.environment.files = files_.get();
    auto opened = Engine::open("store", options);
    ASSERT_TRUE(opened.ok()) << opened.status().to_text();
    engine_ = std::move(opened).value();
    for (const char* name : {"even", "odd"}) tables_.push_back(make_table(name, {family("d")}));
  }

  const std::shared_ptr<Table>& table_of(uint64_t key) const { return tables_[key % 2]; }
  static std::string row_of(uint64_t key) { return "k" + std::to_string(key); }

  // One thread's work; what was committed is added to `history`.
  void work(uint64_t seed, bool serializable, std::vector<HistoryEntry>& history) {
    Random random(seed);
    uint64_t number = seed << 32;
    for (uint64_t i = 0; i < scaled(400); ++i) {
      HistoryEntry entry;
      Status status;
      if (random.one_in(8)) {
        const uint64_t key = random.below(kKeys);
        entry.appended[row_of(key)] = {++number};
        status =
            table_of(key)->append(Append(row_of(key)).add("d", "l", std::to_string(number) + ",")).status();
        EXPECT_OK(status);
      } else {
        auto transaction = engine_->begin({.serializable = serializable}).value();
        for (uint64_t operations = 1 + random.below(5); operations > 0; --operations)
          step(*transaction, random, number, entry);
        status = transaction->commit();
        if (status.is(Code::kConflict)) conflicts_.fetch_add(1);
        if (!status.is(Code::kConflict)) EXPECT_OK(status);
      }
      if (status.ok()) history.push_back(std::move(entry));
      if (random.one_in(100)) EXPECT_OK(table_of(random.below(2))->flush());
      if (random.one_in(300)) EXPECT_OK(table_of(random.below(2))->major_compact());
    }
  }

  void step(Transaction& transaction, Random& random, uint64_t& number, HistoryEntry& entry) {
    const uint64_t key = random.below(kKeys);
    const uint64_t kind = random.below(8);
    if (kind == 0) {
      auto scanner = transaction.scan(table_of(key), Scan()).value();
      std::map<std::string, NumberList> found;
      for (uint64_t each = key % 2; each < kKeys; each += 2) found[row_of(each)] = {};
      for (const RowView row : *scanner) found[std::string(row.row())] = list_in(row);
      EXPECT_OK(scanner->status());
      for (auto& [row, list] : found) note_read(row, std::move(list), entry);
    } else if (kind < 4) {
      note_read(row_of(key), list_in(transaction.get_row(table_of(key), Get(row_of(key))).value()), entry);
    } else {
      const std::string text = std::to_string(++number) + ",";
      const auto row = transaction.append(table_of(key), Append(row_of(key)).add("d", "l", text));
      ASSERT_TRUE(row.ok()) << row.status().to_text();
      NumberList& own = entry.appended[row_of(key)];
      own.push_back(number);
      note_read(row_of(key), numbers_of(row->value("d", "l").value_or("")), entry);
    }
  }

  // A read ends with the transaction's own appends; what comes before them never changes.
  static void note_read(const std::string& row, NumberList list, HistoryEntry& entry) {
    const auto own = entry.appended.find(row);
    if (own != entry.appended.end()) {
      ASSERT_GE(list.size(), own->second.size());
      const auto tail = list.end() - static_cast<std::ptrdiff_t>(own->second.size());
      ASSERT_TRUE(std::equal(tail, list.end(), own->second.begin())) << "it does not read its own writes";
      list.erase(tail, list.end());
    }
    const auto [known, fresh] = entry.read.try_emplace(row, list);
    ASSERT_TRUE(fresh || known->second == list) << "a read is not repeatable";
  }

  std::map<std::string, NumberList> lists() {
    std::map<std::string, NumberList> all;
    for (uint64_t key = 0; key < kKeys; ++key)
      all[row_of(key)] = list_in(table_of(key)->get_row(Get(row_of(key))).value());
    return all;
  }

  std::vector<std::shared_ptr<Table>> tables_;
  std::atomic<uint64_t> conflicts_{0};
};

TEST_F(TransactionIsolation, ThreadsLeaveAHistoryThatHasAnOrder) {
  constexpr uint64_t kThreads = 4;
  std::vector<std::vector<HistoryEntry>> parts(kThreads);
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < kThreads; ++i) threads.emplace_back([&, i] { work(i + 1, true, parts[i]); });
  for (std::thread& thread : threads) thread.join();
  std::vector<HistoryEntry> history;
  for (auto& part : parts) history.insert(history.end(), part.begin(), part.end());
  const HistoryVerdict verdict = check_history(history, lists());
  EXPECT_EQ(verdict.complaint, "");
  EXPECT_GT(verdict.rw, 0u);
  count(history.size(), "transactions in a checked history");
  count(verdict.ww + verdict.wr + verdict.rw, "dependencies between transactions");
  count(conflicts_.load(), "transactions in conflict");
}

TEST_F(TransactionIsolation, WriteSkewIsACircle) {
  for (const bool serializable : {true, false}) {
    const uint64_t first = serializable ? 2 : 4;
    std::vector<HistoryEntry> entries(2);
    std::vector<std::unique_ptr<Transaction>> both;
    for (uint64_t i = 0; i < 2; ++i) {
      both.push_back(engine_->begin({.serializable = serializable}).value());
      const std::string read = row_of(first + i), written = row_of(first + 1 - i);
      const RowBatch found = both[i]->get(table_of(first + i), Get(read)).value();
      entries[i].read[read] = list_in(found.row());
      const uint64_t number = i + 1;
      entries[i].appended[written] = {number};
      EXPECT_OK(
          both[i]
              ->append(table_of(first + 1 - i), Append(written).add("d", "l", std::to_string(number) + ","))
              .status());
    }
    EXPECT_OK(both[0]->commit());
    const Status status = both[1]->commit();
    if (serializable) {
      EXPECT_TRUE(status.is(Code::kConflict)) << status.to_text();
    } else {
      EXPECT_OK(status);
      EXPECT_EQ(check_history(entries, lists()).complaint, "circle: 0 -rw-> 1 -rw-> 0");
    }
  }
}

}  // namespace
}  // namespace cellar::testing
