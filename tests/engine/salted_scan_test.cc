// Goal: a scan over all salts gives what a scan of the same rows without salts gives.
// Method: two tables with the same keys, one salted; random bounds, prefixes, directions, limits and parts.
#include "cellar/salted_scan.h"

#include "base/random.h"
#include "cellar/keys.h"
#include "tests/engine/engine_fixture.h"

namespace cellar::testing {
namespace {

class SaltedScanTest : public EngineFixture {
 protected:
  SaltedScanTest() {
    open();
    plain_ = make_table("plain", {family("d")});
    salted_ = make_table("salted", {family("d")});
  }

  void put(const std::string& key) {
    for (const char* qualifier : {"a", "b", "c"}) {
      ASSERT_TRUE(plain_->put(Put(key).add("d", qualifier, key)).ok());
      ASSERT_TRUE(salted_->put(Put(salted(key, kSalts)).add("d", qualifier, key)).ok());
    }
  }

  static std::string part(std::string_view key, const RowView& row) {
    return std::string(key) + ":" + std::to_string(row.cells().size()) + (row.more_cells_in_row() ? "+" : "");
  }
  Texts plain_rows(const Scan& scan) {
    Texts rows;
    const auto scanner = plain_->scan(scan).value();
    while (scanner->next()) rows.push_back(part(scanner->row().row(), scanner->row()));
    return rows;
  }
  Texts salted_rows(const Scan& scan) {
    Texts rows;
    SaltedScan merged = SaltedScan::create(*salted_, scan, kSalts).value();
    while (merged.next()) rows.push_back(part(merged.key(), merged.row()));
    EXPECT_TRUE(merged.status().ok()) << merged.status().to_text();
    EXPECT_FALSE(merged.next());
    return rows;
  }

  static constexpr uint32_t kSalts = 7;
  std::shared_ptr<Table> plain_;
  std::shared_ptr<Table> salted_;
};

TEST_F(SaltedScanTest, IsTheScanWithoutSalts) {
  Random random(11);
  const auto draw = [&] {
    std::string key(1 + random.below(3), '\0');
    for (char& c : key) c = "ab\xff"[random.below(3)];
    return key;
  };
  for (int i = 0; i < 60; ++i) {
    put(draw());
    if (i == 30) {
      ASSERT_TRUE(engine_->flush().ok());
    }
  }
  for (int i = 0; i < 500; ++i) {
    Scan scan;
    const auto bound = [&] { return random.one_in(2) ? Bound::kInclusive : Bound::kExclusive; };
    if (random.one_in(4)) {
      scan.prefix(draw());
    } else {
      if (random.one_in(2)) scan.start(draw(), bound());
      if (random.one_in(2)) scan.stop(draw(), bound());
    }
    scan.reversed(random.one_in(2)).limit(random.below(3) * 5).batch(static_cast<uint32_t>(random.below(3)));
    EXPECT_EQ(salted_rows(scan), plain_rows(scan)) << "scan " << i;
  }
}

TEST_F(SaltedScanTest, OfAnEmptyTableAndOfAWrongNumberOfSalts) {
  EXPECT_EQ(salted_rows({}), Texts{});
  EXPECT_EQ(SaltedScan::create(*salted_, {}, 0).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(SaltedScan::create(*salted_, {}, 257).status().code(), Code::kInvalidArgument);
  EXPECT_TRUE(SaltedScan::create(*salted_, {}, 256).ok());
}

}  // namespace
}  // namespace cellar::testing
