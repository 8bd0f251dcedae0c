// Goal: Table::erase_rows deletes what a scan finds, no more and no less. Method: small tables, and a range
// with more rows than one group.
#include <gtest/gtest.h>

#include "cellar/filter.h"
#include "tests/engine/engine_fixture.h"

namespace cellar::testing {
namespace {

class EraseRows : public EngineFixture {
 protected:
  void SetUp() override {
    open();
    table_ = make_table("t", {family("d", 3), family("e")});
  }
  void put(const std::string& row, int64_t time = 10) {
    EXPECT_OK(table_->put(
        Put(row).add_at("d", "a", time, "1").add_at("d", "b", time, "2").add_at("e", "c", time, "3")));
  }
  uint64_t erased(const Scan& which) {
    const auto rows = table_->erase_rows(which);
    EXPECT_OK(rows.status());
    return rows.ok() ? *rows : 0;
  }
  uint64_t cells(const Scan& which = {}) { return table_->count(which).value().cells; }

  std::shared_ptr<Table> table_;
};

TEST_F(EraseRows, OfARange) {
  for (const char* row : {"a", "b1", "b2", "c"}) put(row);
  EXPECT_EQ(erased(std::move(Scan().prefix("b"))), 2U);
  EXPECT_EQ(cells(), 6U);
  EXPECT_FALSE(table_->exists(Get("b1")).value());
  EXPECT_EQ(erased(std::move(Scan().prefix("b"))), 0U);
  EXPECT_EQ(erased(std::move(Scan().start("b").limit(1))), 1U);
  EXPECT_EQ(cells(), 3U);
  EXPECT_EQ(erased(Scan()), 1U);
  EXPECT_EQ(cells(), 0U);
}

TEST_F(EraseRows, OfMoreThanAGroup) {
  for (int i = 0; i < 1000; ++i) put("row" + std::to_string(i));
  uint64_t calls = 0, told = 0;
  const auto on_way = [&](uint64_t rows) { return told = rows, ++calls, true; };
  EXPECT_EQ(table_->erase_rows(std::move(Scan().prefix("row")), on_way).value(), 1000U);
  EXPECT_EQ(told, 1000U);
  EXPECT_EQ(calls, 4U);
  EXPECT_EQ(cells(), 0U);
}

TEST_F(EraseRows, CanBeStopped) {
  for (int i = 0; i < 600; ++i) put("row" + std::to_string(i));
  const auto status = table_->erase_rows(Scan(), [](uint64_t) { return false; }).status();
  EXPECT_TRUE(status.is(Code::kAborted)) << status.to_text();
  EXPECT_EQ(cells(), 3U * (600 - 256));
}

TEST_F(EraseRows, OfFamiliesAndColumnsAlone) {
  put("a");
  put("b");
  EXPECT_EQ(erased(std::move(Scan().column("d", "a").family("e"))), 2U);
  EXPECT_EQ(scan(*table_, Scan()), (Texts{"a/d:b/10/Put=2", "b/d:b/10/Put=2"}));
  EXPECT_EQ(erased(std::move(Scan().column("d", "a"))), 0U);
}

TEST_F(EraseRows, UpToATime) {
  put("a", 10);
  put("a", 20);
  put("b", 20);
  EXPECT_EQ(erased(std::move(Scan().time_range(0, 16))), 1U);
  EXPECT_EQ(cells(std::move(Scan().all_versions())), 6U);
  EXPECT_EQ(cells(std::move(Scan().time_range(0, 16))), 0U);
  const auto refused = table_->erase_rows(std::move(Scan().time_range(5, 16)));
  EXPECT_TRUE(refused.status().is(Code::kInvalidArgument));
}

TEST_F(EraseRows, ThatAFilterLetsPass) {
  put("a");
  put("b");
  EXPECT_OK(table_->put(Put("b").add_at("d", "z", 10, "other")));
  auto filter = parse_filter("SingleColumnValueFilter('d', 'z', =, 'binary:other', true, true)");
  ASSERT_TRUE(filter.ok());
  EXPECT_EQ(erased(std::move(Scan().filter(std::move(filter).value()))), 1U);
  EXPECT_TRUE(table_->exists(Get("a")).value());
  EXPECT_FALSE(table_->exists(Get("b")).value());
}

TEST_F(EraseRows, RefusesWhatErasesAreRefused) {
  put("a");
  EXPECT_TRUE(table_->erase_rows(std::move(Scan().family("x"))).status().is(Code::kInvalidArgument));
  EXPECT_OK(engine_->alter_table("t", {.read_only = true}));
  EXPECT_TRUE(table_->erase_rows(Scan()).status().is(Code::kReadOnly));
  EXPECT_EQ(cells(), 3U);
}

}  // namespace
}  // namespace cellar::testing
