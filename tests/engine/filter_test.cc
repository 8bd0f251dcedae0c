// Goal: every filter answers as HBase's, forward and reversed, over files and memory, and jumps where it can.
// Method: tests/data/engine/filters.txt: cells, filters in the language, and the rows that come; with "cost"
// the number of cells that were looked at.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/bytes.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/data_driven.h"

namespace cellar::testing {
namespace {

class FilterTest : public EngineFixture {
 protected:
  void SetUp() override {
    open();
    FamilyOptions a = family("a", 3);
    a.block_bytes = 1024;
    FamilyOptions b = family("b");
    b.block_bytes = 1024;
    table_ = make_table("t", {a, b});
  }

  // "row family qualifier timestamp value", or "row family qualifier timestamp" for a deleted column.
  std::string write(const Case& c) {
    for (const std::string& line : c.lines()) {
      Case words;
      words.args = line;
      const std::vector<std::string> parts = words.words();
      const int64_t timestamp = std::stoll(parts.at(3));
      const std::string qualifier = parts[2] == "-" ? "" : parts[2];
      if (parts.size() == 4) {
        EXPECT_OK(table_->erase(Delete(parts[0]).column(parts[1], qualifier, timestamp)));
      } else {
        EXPECT_OK(table_->put(Put(parts[0]).add_at(parts[1], qualifier, timestamp, parts[4])));
      }
    }
    if (c.has("flush")) EXPECT_OK(table_->flush());
    return "";
  }

  // Rows "numbered" r000, r001, … with one cell each.
  std::string fill(const Case& c) {
    for (uint64_t i = 0; i < c.count("rows", 0); ++i) {
      const std::string number = std::to_string(1000 + i).substr(1);
      EXPECT_OK(table_->put(Put("n" + number).add_at("a", "q", 1, number)));
    }
    for (uint64_t i = 0; i < c.count("columns", 0); ++i)
      EXPECT_OK(table_->put(Put("wide").add_at("a", "c" + std::to_string(1000 + i), 1, "v")));
    EXPECT_OK(table_->flush());
    return "";
  }

  static std::string text_of(const RowView& row) {
    std::string text = escaped(row.row()) + ":";
    for (const CellView& cell : row.cells()) {
      text += " " + std::string(cell.family()) + ":" + escaped(cell.qualifier()) + "@" +
              std::to_string(cell.timestamp);
      text += cell.type() == CellType::kPut ? "=" + escaped(cell.value_bytes())
                                            : " " + std::string(type_name(cell.type()));
    }
    return text + (row.more_cells_in_row() ? " …\n" : "\n");
  }

  std::string scan(const Case& c) {
    std::string filter_text = c.input.substr(0, c.input.find('\n'));
    const Result<FilterPtr> filter = parse_filter(filter_text);
    if (!filter.ok()) return filter.status().to_text();
    ReadStats stats;
    Scan scan;
    scan.filter(*filter).stats(&stats).reversed(c.has("reversed")).raw(c.has("raw"));
    scan.versions(static_cast<uint32_t>(c.count("versions", 1))).limit(c.count("limit", 0));
    scan.batch(static_cast<uint32_t>(c.count("batch", 0))).load_families_on_demand(!c.has("all_families"));
    if (c.value("prefix")) scan.prefix(*c.value("prefix"));
    if (c.value("start")) scan.start(*c.value("start"));
    if (c.value("column")) scan.column("a", *c.value("column"));
    auto scanner = table_->scan(scan);
    if (!scanner.ok()) return scanner.status().to_text();
    std::string rows;
    for (const RowView row : **scanner) rows += text_of(row);
    if (!(*scanner)->status().ok()) rows += (*scanner)->status().to_text();
    if (c.has("cost")) rows += "examined " + std::to_string(stats.cells_examined) + "\n";
    return rows.empty() ? "nothing" : rows;
  }

  std::string get(const Case& c) {
    const Result<FilterPtr> filter = parse_filter(c.input.substr(0, c.input.find('\n')));
    if (!filter.ok()) return filter.status().to_text();
    const Get get =
        Get(c.words().front()).filter(*filter).versions(static_cast<uint32_t>(c.count("versions", 1)));
    const auto row = table_->get(get);
    const auto exists = table_->exists(get);
    if (!row.ok() || !exists.ok()) return row.status().to_text();
    EXPECT_EQ(*exists, !row->empty());
    return row->empty() ? "nothing" : text_of(row->row());
  }

  std::shared_ptr<Table> table_;
};

TEST_F(FilterTest, Cases) {
  run_cases("engine/filters.txt", [this](const Case& c) -> std::string {
    if (c.command == "write") return write(c);
    if (c.command == "fill") return fill(c);
    if (c.command == "scan") return scan(c);
    return c.command == "get" ? get(c) : unknown(c);
  });
}

// A filter of the user's own: seeks to rows that end in 7, changes what it shows, and drops the odd ones.
class Sevens final : public Filter {
 public:
  std::unique_ptr<Filter> clone() const override { return std::make_unique<Sevens>(*this); }
  std::string to_text() const override { return "rows that end in 7"; }
  bool drop_row_key(const CellView&) override { return false; }
  FilterCode cell(const CellView& cell) override {
    return cell.row().back() == '7' ? FilterCode::kInclude : FilterCode::kSeekHint;
  }
  std::optional<Cell> seek_hint(const CellView& cell) override {
    std::string row(cell.row());
    if (row.back() > '7') return std::nullopt;
    row.back() = '7';
    return row_hint(row);
  }
  bool needs_whole_row() const override { return true; }
  void edit_row(std::vector<CellView>& cells) override {
    for (CellView& cell : cells) {
      value_ = "changed " + std::string(cell.value_bytes());
      cell.value = value_.data();
      cell.value_size = static_cast<uint32_t>(value_.size());
    }
  }

 private:
  std::string value_;
};

TEST_F(FilterTest, UsersFilterSeeksAndChangesAndOneScanServesManyReads) {
  Case rows;
  rows.args = "rows=40";
  fill(rows);
  const Scan scan = Scan().filter(std::make_shared<Sevens>());
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(EngineFixture::scan(*table_, scan),
              (Texts{"n007/a:q/1/Put=changed 007", "n017/a:q/1/Put=changed 017", "n027/a:q/1/Put=changed 027",
                     "n037/a:q/1/Put=changed 037"}));
  }
  const Scan paged = Scan().filter(page_filter(2));
  EXPECT_EQ(EngineFixture::scan(*table_, paged).size(), 2u);
  EXPECT_EQ(EngineFixture::scan(*table_, paged).size(), 2u) << "the prototype does not count";
}

// Decides by a row's last cell, and does not say that it must see whole rows.
class DropsWhatEndsInZ final : public Filter {
 public:
  std::unique_ptr<Filter> clone() const override { return std::make_unique<DropsWhatEndsInZ>(*this); }
  std::string to_text() const override { return "rows without a z"; }
  void reset() override { last_ = {}; }
  FilterCode cell(const CellView& cell) override {
    last_ = cell.qualifier();
    return FilterCode::kInclude;
  }
  bool drop_row() override { return last_ == "z"; }

 private:
  std::string last_;
};

TEST_F(FilterTest, ExistsAndCountAgreeWithGetAndScanWhereARowIsDroppedAtItsEnd) {
  for (const char* row : {"kept", "left out"}) {
    Put put(row);
    for (int i = 0; i < 1500; ++i) put.add("a", fmt::format("q{:04}", i), "v");
    put.add("a", row[0] == 'l' ? "z" : "y", "v");
    EXPECT_OK(table_->put(put));
  }
  const auto filter = std::make_shared<DropsWhatEndsInZ>();
  const std::vector<Get> gets = {Get("kept").filter(filter), Get("left out").filter(filter)};
  EXPECT_EQ(table_->get_row(gets[0]).value().cells.size(), 1501u);
  EXPECT_TRUE(table_->get_row(gets[1]).value().empty());
  EXPECT_TRUE(table_->exists(gets[0]).value());
  EXPECT_FALSE(table_->exists(gets[1]).value());
  EXPECT_EQ(table_->exists_many(gets).value(), (std::vector<bool>{true, false}));
  const RangeCount count = table_->count(Scan().filter(filter)).value();
  EXPECT_EQ(count.rows, 1u);
  EXPECT_EQ(count.cells, 1501u);
}

TEST_F(FilterTest, RowsReadAheadKeepTheirBytes) {
  Case rows;
  rows.args = "rows=300";
  fill(rows);
  auto scanner =
      table_->scan(Scan().filter(*parse_filter("KeyOnlyFilter(true) AND RowFilter(=, 'regexstring:[05]$')")));
  ASSERT_TRUE(scanner.ok());
  RowBatch batch;
  ASSERT_TRUE((*scanner)->next_batch(batch, 1000));
  ASSERT_EQ(batch.size(), 60u);
  for (size_t i = 0; i < batch.size(); ++i) {
    EXPECT_EQ(batch[i].row(), "n" + std::to_string(1000 + 5 * i).substr(1));
    EXPECT_EQ(batch[i].value("a", "q"), std::string_view("\0\0\0\3", 4));
  }
}

}  // namespace
}  // namespace cellar::testing
