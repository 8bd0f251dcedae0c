// Goal: limits per family, parts and cursors of reads are what query.h says, together with all else that a
// read may ask for.
// Method: tests/data/engine/read_limits.txt: cells, then reads with their options and the rows that come; a
// get, an exists and a get of many must agree. Cursors are followed by new scans, too.
#include <algorithm>

#include "base/bytes.h"
#include "cellar/filter.h"
#include "cellar/salted_scan.h"
#include "cellar/transaction.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/data_driven.h"

namespace cellar::testing {
namespace {

class ReadLimitsTest : public EngineFixture {
 protected:
  void SetUp() override {
    open();
    table_ = make_table("t", {family("a", 3), family("b", 3)});
  }

  // "row family qualifier timestamp value", or without a value for a deleted column.
  std::string write(const Case& c) {
    for (const std::string& line : c.lines()) {
      Case words;
      words.args = line;
      const std::vector<std::string> parts = words.words();
      const int64_t timestamp = std::stoll(parts.at(3));
      if (parts.size() == 4) {
        EXPECT_OK(table_->erase(Delete(parts[0]).column(parts[1], parts[2], timestamp)));
      } else {
        EXPECT_OK(table_->put(Put(parts[0]).add_at(parts[1], parts[2], timestamp, parts[4])));
      }
    }
    if (c.has("flush")) EXPECT_OK(table_->flush());
    return "";
  }

  static std::string text_of(const RowView& row) {
    std::string text = escaped(row.row());
    if (row.is_cursor()) return "cursor " + text + "\n";
    text += ":";
    for (const CellView& cell : row.cells()) {
      text += " " + std::string(cell.family()) + ":" + escaped(cell.qualifier()) + "@" +
              std::to_string(cell.timestamp);
      text += cell.type() == CellType::kPut ? "" : " " + std::string(type_name(cell.type()));
    }
    return text + (row.more_cells_in_row() ? " …\n" : "\n");
  }

  template <class Q>
  static Status choose(const Case& c, Q& query) {
    query.versions(static_cast<uint32_t>(c.count("versions", 1)));
    query.max_per_family(static_cast<uint32_t>(c.count("max", 0)));
    query.family_offset(static_cast<uint32_t>(c.count("offset", 0)));
    if (c.has("cells")) query.count_cells_per_family(true);
    if (!c.input.empty()) {
      CELLAR_TRY_ASSIGN(FilterPtr filter, parse_filter(c.lines().front()));
      query.filter(std::move(filter));
    }
    return {};
  }

  static Result<Scan> scan_of(const Case& c) {
    Scan scan;
    CELLAR_TRY(choose(c, scan));
    scan.reversed(c.has("reversed")).raw(c.has("raw")).limit(c.count("limit", 0));
    scan.batch(static_cast<uint32_t>(c.count("batch", 0))).max_result_bytes(c.count("bytes", 0));
    scan.cursor_after_cells(c.count("cursor", 0)).cursor_after_ms(static_cast<uint32_t>(c.count("ms", 0)));
    if (c.value("prefix")) scan.prefix(*c.value("prefix"));
    if (c.value("start")) scan.start(*c.value("start"));
    return scan;
  }

  std::string scan(const Case& c) {
    Result<Scan> asked = scan_of(c);
    if (!asked.ok()) return asked.status().to_text();
    ReadStats stats;
    const auto scanner = table_->scan(asked->stats(&stats));
    if (!scanner.ok()) return scanner.status().to_text();
    std::string rows;
    for (const RowView row : **scanner) rows += text_of(row);
    EXPECT_OK((*scanner)->status());
    if (c.has("cost")) rows += "examined " + std::to_string(stats.cells_examined) + "\n";
    return rows.empty() ? "nothing" : rows;
  }

  // A new scan at each cursor; "--" stands between them.
  std::string resumed(const Case& c) {
    Scan asked = scan_of(c).value();
    std::string rows;
    for (bool again = true; again;) {
      const auto scanner = table_->scan(asked).value();
      again = false;
      while (!again && scanner->next()) {
        again = scanner->row().is_cursor();
        if (again) asked.start(scanner->row().row());
        rows += again ? "-- " + escaped(scanner->row().row()) + "\n" : text_of(scanner->row());
      }
      EXPECT_OK(scanner->status());
    }
    return rows;
  }

  std::string get(const Case& c) {
    Get get(c.words().front());
    if (const Status status = choose(c, get); !status.ok()) return status.to_text();
    const auto row = table_->get(get);
    const auto exists = table_->exists(get);
    const auto many = table_->get_many(std::span(&get, 1));
    if (!row.ok() || !exists.ok() || !many.ok()) return row.status().to_text();
    const std::string text = row->empty() ? "nothing" : text_of(row->row());
    EXPECT_EQ(*exists, !row->empty());
    EXPECT_EQ(many->front().empty() ? "nothing" : text_of(many->front().row()), text);
    return text;
  }

  std::shared_ptr<Table> table_;
};

TEST_F(ReadLimitsTest, Cases) {
  run_cases("engine/read_limits.txt", [this](const Case& c) -> std::string {
    if (c.command == "write") return write(c);
    if (c.command == "scan") return scan(c);
    if (c.command == "resumed") return resumed(c);
    return c.command == "get" ? get(c) : unknown(c);
  });
}

// Lets the clock go on by a second for each row that it drops.
class Slow final : public Filter {
 public:
  explicit Slow(ManualClock& clock) : clock_(clock) {}
  FilterCode cell(const CellView&) override { return FilterCode::kInclude; }
  std::unique_ptr<Filter> clone() const override { return std::make_unique<Slow>(*this); }
  std::string to_text() const override { return "slow"; }
  bool drop_row_key(const CellView&) override {
    clock_.advance_ms(1000);
    return true;
  }

 private:
  ManualClock& clock_;
};

TEST_F(ReadLimitsTest, CursorsAfterATime) {
  for (const char* row : {"r1", "r2", "r3", "r4", "r5"}) EXPECT_OK(table_->put(Put(row).add("a", "q", "v")));
  const auto cursors = [&](uint32_t ms) {
    std::string rows;
    const auto scanner =
        table_->scan(Scan().filter(std::make_shared<Slow>(clock_)).cursor_after_ms(ms)).value();
    for (const RowView row : *scanner) rows += text_of(row);
    return rows;
  };
  EXPECT_EQ(cursors(2000), "cursor r3\ncursor r5\n");
  EXPECT_EQ(cursors(2001), "cursor r4\n");
  EXPECT_EQ(cursors(6000), "");
}

// Time that the caller spends between two calls is not the scan's time.
TEST_F(ReadLimitsTest, TimeBetweenCallsDoesNotCount) {
  for (const char* row : {"r1", "r2", "r3"}) EXPECT_OK(table_->put(Put(row).add("a", "q", "v")));
  EXPECT_OK(table_->erase(Delete("r2")));
  const auto scanner = table_->scan(Scan().cursor_after_ms(10)).value();
  std::string rows;
  for (const RowView row : *scanner) {
    rows += text_of(row).substr(0, 3);
    clock_.advance_ms(1000);
  }
  EXPECT_EQ(rows, "r1:r3:");
}

TEST_F(ReadLimitsTest, ACursorEndsItsBatchAndLivesWithIt) {
  for (const char* row : {"r1", "r2", "r3", "r4"}) EXPECT_OK(table_->put(Put(row).add("a", "q", "v")));
  EXPECT_OK(table_->erase(Delete("r2")));
  const auto scanner = table_->scan(Scan().cursor_after_cells(1)).value();
  RowBatch batch;
  ASSERT_TRUE(scanner->next_batch(batch, 10));
  ASSERT_EQ(batch.size(), 2U);
  EXPECT_FALSE(batch[0].is_cursor());
  RowBatch moved = std::move(batch);
  ASSERT_TRUE(scanner->next_batch(batch, 10));
  EXPECT_TRUE(moved[1].is_cursor());
  EXPECT_EQ(moved[1].row(), "r3");
  EXPECT_TRUE(moved[1].empty());
  EXPECT_FALSE(moved[1].more_cells_in_row());
  EXPECT_EQ(batch.size(), 2U);
  EXPECT_FALSE(batch[1].is_cursor());
  EXPECT_FALSE(scanner->next_batch(batch, 10));
}

TEST_F(ReadLimitsTest, OfATransactionsOwnCells) {
  EXPECT_OK(table_->put(Put("r").add_at("a", "1", 1, "v").add_at("a", "3", 1, "v")));
  const auto transaction = engine_->begin().value();
  EXPECT_OK(transaction->put(table_, Put("r").add_at("a", "2", 1, "own").add_at("b", "x", 1, "own")));
  const auto found = transaction->get(table_, Get("r").max_per_family(1).family_offset(1)).value();
  EXPECT_EQ(text_of(found.row()), "r: a:2@1\n");
  const auto scanner = transaction->scan(table_, Scan().max_per_family(2)).value();
  ASSERT_TRUE(scanner->next());
  EXPECT_EQ(text_of(scanner->row()), "r: a:1@1 a:2@1 b:x@1\n");
}

// A transaction that stopped at a cursor has read what lies before it, and nothing else.
TEST_F(ReadLimitsTest, ATransactionChecksWhatLiesBeforeACursor) {
  for (const char* row : {"r1", "r3", "r5"}) EXPECT_OK(table_->put(Put(row).add("a", "q", "v")));
  EXPECT_OK(table_->erase(Delete("r1")));
  const auto commit_after_write_of = [&](const char* row) {
    const auto transaction = engine_->begin().value();
    const auto scanner = transaction->scan(table_, Scan().cursor_after_cells(1)).value();
    EXPECT_TRUE(scanner->next());
    EXPECT_EQ(text_of(scanner->row()), "cursor r3\n");
    EXPECT_OK(transaction->put(table_, Put("s").add("a", "q", row)));
    EXPECT_OK(table_->put(Put(row).add("b", "q", "v")));
    const Status status = transaction->commit();
    EXPECT_OK(table_->erase(Delete(row).family("b")));
    return status.code();
  };
  EXPECT_EQ(commit_after_write_of("r3"), Code::kOk);
  EXPECT_EQ(commit_after_write_of("r4"), Code::kOk);
  EXPECT_EQ(commit_after_write_of("r2"), Code::kConflict);
}

TEST_F(ReadLimitsTest, SaltedScansPassCursorsOn) {
  const auto row = [](char salt, const std::string& key) { return std::string(1, salt) + key; };
  for (const char* key : {"1", "3", "5"}) {
    EXPECT_OK(table_->put(Put(row('\0', key)).add("a", "q", "v")));
    EXPECT_OK(table_->erase(Delete(row('\0', key))));
  }
  for (const char* key : {"2", "4", "5", "6"}) EXPECT_OK(table_->put(Put(row('\1', key)).add("a", "q", "v")));
  const auto scan = [&](const Scan& asked, bool resumes) {
    std::string text;
    auto merged = scan_salted(*table_, asked, 2).value();
    while (merged->next()) {
      text += (merged->row().is_cursor() ? "cursor " : "row ") + std::string(unsalted(merged->row().row())) +
              "\n";
      if (!resumes || !merged->row().is_cursor()) continue;
      Scan again = asked;
      const uint64_t rows = static_cast<uint64_t>(std::ranges::count(text, 'w'));
      again.start(unsalted(merged->row().row()));
      if (asked.limit() != 0) again.limit(asked.limit() - rows);
      merged = scan_salted(*table_, again, 2).value();
    }
    EXPECT_OK(merged->status());
    return text;
  };
  const Scan asked = Scan().cursor_after_cells(2).limit(3);
  EXPECT_EQ(scan(asked, false), "row 2\ncursor 3\nrow 4\ncursor 5\nrow 5\n");
  EXPECT_EQ(scan(asked, true), scan(asked, false));
  EXPECT_EQ(scan(Scan().cursor_after_cells(2).reversed(true), false),
            "row 6\nrow 5\nrow 4\ncursor 3\nrow 2\ncursor 1\n");
}

// The memtable has an old version that is too large. The newest one is in a file.
TEST_F(ReadLimitsTest, AGetIsNotRefusedForACellThatItDoesNotReturn) {
  EngineOptions options;
  options.row_bytes_max = 1000;
  open(options);
  const auto table = make_table("limited", {family("f")});
  EXPECT_OK(table->put(Put("r").add_at("f", "q", 10, "new")));
  EXPECT_OK(table->flush());
  EXPECT_OK(table->put(Put("r").add_at("f", "q", 5, std::string(2000, 'o'))));
  EXPECT_EQ(EngineFixture::get(*table, Get("r").column("f", "q")), Texts{"r/f:q/10/Put=new"});
  EXPECT_OK(table->put(Put("r").add_at("f", "q", 20, std::string(2000, 'n'))));
  EXPECT_TRUE(table->get(Get("r").column("f", "q")).status().is(Code::kLimit));
}

// The batch holds copies of keys, which a filter changed, when a plain get uses it next.
TEST_F(ReadLimitsTest, ABatchOfAFilteredScanServesAGet) {
  open();
  const auto table = make_table("filtered", {family("f")});
  for (int i = 0; i < 200; ++i)
    EXPECT_OK(table->put(Put(std::string(60, 'k') + std::to_string(1000 + i)).add("f", "q", "value")));
  EXPECT_OK(table->put(Put("r").add("f", "q", "in a file")));
  EXPECT_OK(table->flush());
  EXPECT_OK(table->put(Put("r").add("f", "p", "in memory")));
  RowBatch batch;
  auto scanner = table->scan(Scan().filter(key_only_filter())).value();
  EXPECT_TRUE(scanner->next_batch(batch, 1000));
  scanner.reset();
  EXPECT_OK(table->get_into(Get("r").column("f", "q"), batch));
  EXPECT_EQ(batch.value("f", "q"), "in a file");
}

TEST_F(ReadLimitsTest, ARowThatFailsIsNotInTheBatch) {
  EngineOptions options;
  options.row_bytes_max = 1000;
  open(options);
  const auto table = make_table("limited", {family("f"), family("g")});
  for (const char* row : {"a", "b"}) EXPECT_OK(table->put(Put(row).add("f", "q", "v").add("g", "q", "w")));
  EXPECT_OK(table->put(Put("c").add("f", "p", "v").add("f", "q", std::string(2000, 'v'))));
  for (const Scan& scan : {Scan(), Scan().family("f")}) {
    RowBatch batch;
    auto scanner = table->scan(scan).value();
    uint64_t cells = 0, told = 0;
    while (scanner->next_batch(batch, 1000)) {
      told += batch.cells();
      for (size_t i = 0; i < batch.size(); ++i) cells += batch[i].cells().size();
    }
    EXPECT_TRUE(scanner->status().is(Code::kLimit)) << scanner->status().to_text();
    EXPECT_GT(cells, 0u);
    EXPECT_EQ(told, cells);
  }
}

}  // namespace
}  // namespace cellar::testing
