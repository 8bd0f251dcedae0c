// Goal: whatever the filter, a read that seeks returns the same cells as a read that passes every cell one by
// one. Method: random cells with deletes over many small files and memory, and random nested filters. Gets
// and scans go in both directions, raw, with versions, time ranges, columns and limits. The reference asks a
// second clone of the filter. A filter that judges each cell alone is also compared with a predicate. Every
// filter's text is parsed again and must read the same.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "tests/engine/engine_fixture.h"
#include "tests/engine/filter_reference.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

class FilterRandomTest : public EngineFixture {
 protected:
  std::string word(size_t most) {
    std::string text;
    for (size_t i = random_.below(most + 1); i > 0; --i) text += static_cast<char>('a' + random_.below(4));
    return text;
  }
  std::string row() { return std::string(1, static_cast<char>('a' + random_.below(4))) + word(2); }
  int64_t time() { return static_cast<int64_t>(random_.below(6)); }

  void fill() {
    open();
    FamilyOptions a = family("a", 3);
    FamilyOptions b = family("b", 2);
    a.block_bytes = b.block_bytes = 1024;
    b.encoding = "fast_diff";
    table_ = make_table("t", {a, b});
    // A row of which all is deleted is a row as long as it is stored: here every row keeps a cell.
    for (int i = 0; i < 900; ++i) {
      const std::string r = row();
      const std::string f = random_.below(2) == 0 ? "a" : "b";
      if (random_.below(6) == 0) {
        const std::string q = word(1);
        EXPECT_OK(table_->erase(random_.below(2) == 0 ? Delete(r).column(f, q, time())
                                                      : Delete(r).version(f, q, time())));
      } else {
        EXPECT_OK(table_->put(Put(r).add_at(f, word(2), time(), word(2)).add_at(f, "zz", time(), word(2))));
      }
      if (random_.below(150) == 0) EXPECT_OK(table_->flush());
    }
    // Both reads of a comparison are to see the same: raw ones, too, which show what is stored.
    EXPECT_OK(engine_->wait_for_background());
    auto now = engine_->snapshot();
    ASSERT_TRUE(now.ok()) << now.status().to_text();
    now_ = std::move(now).value();
  }

  std::vector<Row> rows_of(const Scan& scan) {
    std::vector<Row> rows;
    auto scanner = table_->scan(scan);
    EXPECT_TRUE(scanner.ok()) << scanner.status().to_text();
    if (!scanner.ok()) return rows;
    for (const RowView each : **scanner) {
      rows.push_back(each.to_row());
      for (Cell& cell : rows.back().cells) cell.sequence = 0;
    }
    EXPECT_TRUE((*scanner)->status().ok()) << (*scanner)->status().to_text();
    return rows;
  }

  // A read without filter, versions and limit; those come later.
  Scan random_scan(ReferenceRead& read) {
    Scan scan;
    scan.snapshot(now_);
    read.reversed = random_.below(3) == 0;
    read.raw = random_.below(6) == 0;
    scan.reversed(read.reversed).raw(read.raw);
    if (random_.below(4) == 0) scan.time_range(time() / 2, 3 + time());
    if (random_.below(4) == 0) scan.start(row());
    if (!read.raw && random_.below(4) == 0)
      for (size_t i = random_.below(4); i > 0; --i) scan.column(random_.below(2) == 0 ? "a" : "b", word(1));
    read.limit = random_.below(4) == 0 ? 1 + random_.below(4) : 0;
    read.versions = static_cast<uint32_t>(1 + random_.below(3));
    read.on_demand = random_.below(2) == 0;
    return scan;
  }

  static std::string text_of(const std::vector<Row>& rows) {
    std::string text;
    for (const Row& each : rows) {
      text += each.row + ":";
      for (const Cell& cell : each.cells)
        text += " " + cell.family + ":" + cell.qualifier + "@" + std::to_string(cell.timestamp) + "=" +
                cell.value + (cell.type == CellType::kPut ? "" : "/" + std::string(type_name(cell.type)));
      text += "\n";
    }
    return text;
  }

  // Family b keeps two versions; the reference has one limit, so that three are two there by themselves.
  void check_scan() {
    ReferenceRead read;
    Scan scan = random_scan(read);
    scan.all_versions();
    const std::vector<Row> shown = rows_of(scan);
    const RandomFilter filter = random_filter(random_, static_cast<int>(random_.below(4)));
    scan.versions(read.versions)
        .limit(read.limit)
        .filter(filter.filter)
        .load_families_on_demand(read.on_demand);
    const std::string found = text_of(rows_of(scan));
    const std::string text = filter.filter->to_text();
    ASSERT_EQ(found, text_of(filtered(shown, *filter.filter, read)))
        << text << (read.reversed ? " reversed" : "") << (read.raw ? " raw" : "") << " versions "
        << read.versions << " start " << scan.start() << " on demand " << read.on_demand << "\nof\n"
        << text_of(shown);
    if (filter.passes) {
      ++predicates_;
      ASSERT_EQ(found, text_of(filtered(shown, filter.passes, read))) << text;
    }
    if (!found.empty()) ++with_answer_;
    const Result<FilterPtr> again = parse_filter(text);
    ASSERT_TRUE(again.ok()) << text << "\n" << again.status().to_text();
    ASSERT_EQ((*again)->to_text(), text);
  }

  void check_get() {
    const std::string r = row();
    ReferenceRead read;
    read.versions = static_cast<uint32_t>(1 + random_.below(3));
    const std::vector<Row> shown = rows_of(Scan().snapshot(now_).start(r).stop(r, true).all_versions());
    const RandomFilter filter = random_filter(random_, 2);
    const Get get = Get(r).snapshot(now_).versions(read.versions).filter(filter.filter);
    const auto found = table_->get(get);
    ASSERT_TRUE(found.ok()) << found.status().to_text();
    std::vector<Row> rows;
    if (!found->empty()) rows.push_back(found->row().to_row());
    const std::vector<Row> expected = filtered(shown, *filter.filter, read);
    ASSERT_EQ(text_of(rows), text_of(expected)) << filter.filter->to_text();
    const Result<bool> exists = table_->exists(get);
    ASSERT_TRUE(exists.ok());
    ASSERT_EQ(*exists, !expected.empty()) << filter.filter->to_text();
  }

  Random random_{20261122};
  std::shared_ptr<Table> table_;
  std::shared_ptr<const Snapshot> now_;
  uint64_t predicates_ = 0;
  uint64_t with_answer_ = 0;
};

TEST_F(FilterRandomTest, SeeksReturnWhatPassingOverEveryCellReturns) {
  const uint64_t tables = std::max<uint64_t>(2, scaled(8));
  const uint64_t reads = test_scale() < kDailyScale ? 300 : 1200;
  for (uint64_t table = 0; table < tables; ++table) {
    fill();
    for (uint64_t i = 0; i < reads; ++i) {
      ASSERT_NO_FATAL_FAILURE(check_scan()) << "table " << table << " read " << i;
      if (i % 3 == 0) {
        ASSERT_NO_FATAL_FAILURE(check_get());
      }
    }
    now_.reset();
    EXPECT_OK(engine_->drop_table("t"));
  }
  EXPECT_GT(predicates_, reads * tables / 5);
  EXPECT_GT(with_answer_, reads * tables * 2 / 5);
}

}  // namespace
}  // namespace cellar::testing
