// Goal: a read hears the markers of a family wherever they lie among the versions of the empty column.
// Method: files whose blocks end in every place around the marker; each read must answer as it did from
// memory.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/engine/engine_fixture.h"

namespace cellar::testing {
namespace {

class FamilyMarkerTest : public EngineFixture {
 protected:
  // Row m has more versions of the empty column than a read requests, and a family marker after them. The
  // older file has a column that the marker hides. The rows around it have values of `size` bytes.
  void write(size_t size, bool flushed) {
    FamilyOptions options = family("f", 1000);
    options.block_bytes = 1024;
    table_ = make_table("t" + std::to_string(size) + (flushed ? "f" : "m"), {options});
    const std::string filler(size, 'x');
    EXPECT_OK(table_->put(Put("a").add_at("f", "p", 9000, filler)));
    EXPECT_OK(table_->put(Put("m").add_at("f", "p", 4000, "hidden")));
    if (flushed) EXPECT_OK(table_->flush());
    EXPECT_OK(table_->put(Put("a").add_at("f", "p", 9500, filler)));
    Put put("m");
    for (const int64_t time : {9000, 8000, 7000}) put.add_at("f", "", time, "e");
    EXPECT_OK(table_->put(put.add_at("f", "s", 9000, "shown")));
    EXPECT_OK(table_->erase(Delete("m").family("f", 5000)));
    for (const char* row : {"n", "o"}) EXPECT_OK(table_->put(Put(row).add_at("f", "p", 9000, filler)));
    if (flushed) EXPECT_OK(table_->flush());
  }

  std::vector<Texts> answers() {
    std::vector<Texts> all;
    for (const uint32_t versions : {1U, 2U, 9U}) {
      all.push_back(get(*table_, Get("m").versions(versions)));
      all.push_back(get(*table_, Get("m").column("f", "").column("f", "p").versions(versions)));
      const Scan scan_m = Scan().start("m").stop("m", true).versions(versions);
      all.push_back(scan(*table_, scan_m));
      all.push_back(scan(*table_, Scan(scan_m).reversed(true)));
      all.push_back(scan(*table_, Scan().start("m").versions(versions).family("f")));
    }
    return all;
  }

  std::shared_ptr<Table> table_;
};

TEST_F(FamilyMarkerTest, IsHeardAmongSurplusVersionsOfTheEmptyColumn) {
  open();
  for (size_t size = 600; size <= 1400; size += 25) {
    write(size, false);
    const std::vector<Texts> expected = answers();
    EXPECT_EQ(expected[0], (Texts{"m/f:/9000/Put=e", "m/f:s/9000/Put=shown"}));
    EXPECT_EQ(expected[1], (Texts{"m/f:/9000/Put=e"}));
    write(size, true);
    ASSERT_EQ(answers(), expected) << "values of " << size << " bytes";
  }
}

}  // namespace
}  // namespace cellar::testing
