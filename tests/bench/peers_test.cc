// Goal: every engine that the driver measures answers as HBase's data model says, so that the compared work
// is the same. Method: random operations on each engine of this build and on a map. All kinds of reads are
// compared, in memory, after flushes, after compactions and after opening again. Rows and qualifiers hold
// zeros and 0xff.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "bench/driver/peers.h"
#include "tests/support/scratch_directory.h"

namespace cellar::bench {
namespace {

const std::vector<std::string> kFamilies = {"a", "b", "n"};  // n: counters
constexpr int64_t kFirstTime = 1600000000000;

bool even_value(std::string_view, std::string_view value) { return value.back() % 2 == 0; }

struct Stored {
  int64_t timestamp;
  std::string value;
};

// The answers that a store must give: the newest cell of each column.
class Model {
 public:
  using Columns = std::map<std::string, Stored>;
  std::map<std::string, std::map<std::string, Columns>> rows;  // row, family, qualifier

  void scan(const ScanIn& in, Tally& tally) const {
    std::vector<std::string> order;
    for (const auto& [row, families] : rows) order.push_back(row);
    if (in.reversed) std::ranges::reverse(order);
    uint64_t found = 0;
    for (const std::string& row : order) {
      if (!in.start.empty() && (in.reversed ? row > in.start : row < in.start)) continue;
      if (!std::string_view(row).starts_with(in.prefix)) continue;
      if (in.limit != 0 && found == in.limit) break;
      found += add_row(in, row, tally) ? 1 : 0;
    }
  }

 private:
  bool add_row(const ScanIn& in, const std::string& row, Tally& tally) const {
    uint64_t seen = 0;
    for (const auto& [family, columns] : rows.at(row)) {
      if (!in.families.empty() && std::ranges::find(in.families, family) == in.families.end()) continue;
      for (const auto& [qualifier, stored] : columns) {
        if (stored.timestamp < in.from || stored.timestamp >= in.until) continue;
        if (in.filter != nullptr && !in.filter(row, stored.value)) continue;
        tally.add(row, qualifier, stored.value);
        ++seen;
      }
    }
    tally.rows += seen != 0 ? 1 : 0;
    return seen != 0;
  }
};

std::string row_name(uint64_t number) {
  std::string name = "r";
  for (; number != 0; number /= 4) name.push_back("\0\x01z\xff"[number % 4]);
  return name;
}

class PeersTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    peer_ = make_peer(GetParam());
    ASSERT_NE(peer_, nullptr);
    options_ = {.path = scratch_.path() + "/store", .families = kFamilies, .cache_bytes = 1u << 20};
    options_.create = true;
    std::filesystem::create_directories(options_.path);
    open();
  }
  void TearDown() override {
    session_.reset();
    if (peer_ != nullptr) peer_->close();
  }

  void open() {
    peer_->open(options_);
    session_ = peer_->session();
    options_.create = false;
  }

  void put() {
    std::string row = row_name(random_.below(kRows));
    if (erased_.contains(row)) return;  // a marker would hide later puts with an older timestamp
    std::vector<std::pair<std::string, std::string>> bytes;
    for (uint64_t i = 0; i <= random_.below(3); ++i)
      bytes.emplace_back(std::string(1, "\0q\xff"[random_.below(3)]), "value " + std::to_string(time_ + i));
    const std::string& family = kFamilies[random_.below(2)];
    std::vector<CellIn> cells;
    for (const auto& [qualifier, value] : bytes) {
      cells.push_back({family, qualifier, value});
      model_.rows[row][family][qualifier] = {time_, value};
    }
    session_->put({row, cells}, random_.one_in(100) ? Keep::kPower : Keep::kProcess, time_);
    ++time_;
  }

  void erase() {
    const std::string row = row_name(random_.below(kRows));
    std::vector<CellIn> cells;
    for (const auto& [family, columns] : model_.rows[row]) {
      for (const auto& [qualifier, stored] : columns) cells.push_back({family, qualifier, {}});
    }
    session_->erase_row({row, cells}, Keep::kProcess);
    model_.rows.erase(row);
    erased_.emplace(row, true);
  }

  void increment() {
    const std::string row = row_name(kRows + random_.below(5));
    int64_t& counter = counters_[row];
    counter += 7;
    ASSERT_EQ(session_->increment(row, "n", "c", 7, Keep::kProcess), counter);
    std::string value(8, '\0');
    for (int i = 0; i < 8; ++i) value[static_cast<size_t>(i)] = static_cast<char>(counter >> (56 - 8 * i));
    model_.rows[row]["n"]["c"] = {INT64_MAX - 1, value};
  }

  void compare(const ScanIn& in, const std::string& what) {
    Tally wanted, found;
    model_.scan(in, wanted);
    session_->scan(in, found);
    EXPECT_EQ(found.rows, wanted.rows) << what;
    EXPECT_EQ(found.cells, wanted.cells) << what;
    EXPECT_EQ(found.sum, wanted.sum) << what;
  }

  void compare_scans(const std::string& when) {
    const std::string row = row_name(random_.below(kRows));
    const uint64_t limit = 1 + random_.below(20);
    const std::string prefix = row.substr(0, 2);
    for (const bool reversed : {false, true}) {
      const std::string what =
          when + (reversed ? ", reversed" : "") + ", from " + ::testing::PrintToString(row);
      compare({.reversed = reversed}, what + ": everything");
      compare({.start = row, .reversed = reversed}, what + ": start");
      compare({.start = row, .limit = limit, .reversed = reversed}, what + ": limit");
      compare({.prefix = prefix, .reversed = reversed}, what + ": prefix");
      compare({.families = {&kFamilies[1], 1}, .reversed = reversed}, what + ": family");
      compare({.reversed = reversed, .filter = even_value}, what + ": filter");
      compare({.reversed = reversed, .from = time_ - 50}, what + ": time");
    }
  }

  void compare_gets() {
    const std::string row = row_name(random_.below(kRows));
    const std::string qualifier(1, "\0q\xff"[random_.below(3)]);
    Tally wanted_cell, found_cell, wanted_row, found_row;
    if (const auto found = model_.rows.find(row); found != model_.rows.end()) {
      for (const auto& [name, stored] : found->second["a"]) {
        wanted_row.rows = 1;
        wanted_row.add(row, name, stored.value);
        if (name != qualifier) continue;
        wanted_cell.rows = 1;
        wanted_cell.add(row, name, stored.value);
      }
    }
    EXPECT_EQ(session_->get(row, "a", qualifier, found_cell), wanted_cell.rows != 0);
    EXPECT_EQ(session_->get_row(row, "a", found_row), wanted_row.rows != 0);
    EXPECT_EQ(found_cell, wanted_cell);
    EXPECT_EQ(found_row, wanted_row);
  }

  void turn_over(uint64_t what) {
    if (what == 0) peer_->flush();
    if (what == 1) {
      peer_->flush();
      peer_->compact();
    }
    if (what == 2) {
      session_.reset();
      peer_->close();
      open();
    }
    peer_->settle();
  }

  static constexpr uint64_t kRows = 300;
  testing::ScratchDirectory scratch_;
  std::unique_ptr<Peer> peer_;
  std::unique_ptr<Session> session_;
  StoreOptions options_;
  Model model_;
  std::map<std::string, bool> erased_;
  std::map<std::string, int64_t> counters_;
  Random random_{20261121};
  int64_t time_ = kFirstTime;
};

TEST_P(PeersTest, AnswersAsTheModel) {
  for (uint64_t step = 0; step < 60; ++step) {
    for (int i = 0; i < 50; ++i) put();
    for (int i = 0; i < 3; ++i) increment();
    if (step % 3 == 0) erase();
    turn_over(step % 5);
    compare_scans("step " + std::to_string(step));
    for (int i = 0; i < 20; ++i) compare_gets();
    ASSERT_FALSE(HasFailure());
  }
}

TEST_P(PeersTest, BatchesAreWhole) {
  const CellIn cell{"a", "q", "value 0"};
  const std::vector<RowIn> rows = {{"one", {&cell, 1}}, {"two", {&cell, 1}}};
  session_->put_rows(rows, Keep::kNothing);
  for (const RowIn& row : rows) model_.rows[std::string(row.row)]["a"]["q"] = {kFirstTime, "value 0"};
  compare({}, "two rows of a batch");
}

TEST_P(PeersTest, ManyVersionsAreSteppedOver) {
  for (int version = 0; version < 30; ++version) {
    for (const char* qualifier : {"p", "q"}) {
      const std::string value = "version " + std::to_string(version);
      const CellIn cell{"a", qualifier, value};
      session_->put({"row", {&cell, 1}}, Keep::kProcess, kFirstTime + version);
      model_.rows["row"]["a"][qualifier] = {kFirstTime + version, value};
    }
  }
  compare({}, "forward");
  compare({.reversed = true}, "backward");
  peer_->flush();
  peer_->compact();
  compare({}, "compacted");
}

class ExpiringPeersTest : public PeersTest {};

TEST_P(ExpiringPeersTest, ExpiredCellsVanish) {
  const CellIn cell{"a", "q", "value"};
  session_->put({"old", {&cell, 1}}, Keep::kProcess, kFirstTime);
  session_->put({"new", {&cell, 1}}, Keep::kProcess);
  for (const char* row : {"old", "new"}) model_.rows[row]["a"]["q"] = {kFirstTime, "value"};
  compare({}, "before");
  peer_->set_time_to_live("a", 86400);
  model_.rows.erase("old");
  compare({}, "in memory");
  peer_->flush();
  peer_->compact();
  compare({}, "compacted");
}

std::vector<std::string> expiring_peers() {
  std::vector<std::string> names = peer_names();
  std::erase_if(names, [](const std::string& name) { return !make_peer(name)->has(Feature::kTimeToLive); });
  return names;
}

std::string name_of(const ::testing::TestParamInfo<std::string>& engine) { return engine.param; }

INSTANTIATE_TEST_SUITE_P(Engines, PeersTest, ::testing::ValuesIn(peer_names()), name_of);
INSTANTIATE_TEST_SUITE_P(Engines, ExpiringPeersTest, ::testing::ValuesIn(expiring_peers()), name_of);

}  // namespace
}  // namespace cellar::bench
