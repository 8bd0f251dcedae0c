// Goal: aggregates are what a program computes from the same scan, by groups in the order of the rows.
// Method: random tables, ranges, filters and groups, compared with a program of maps; bad values, overflows,
// wide rows and stops by hand.
#include "cellar/aggregate.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "base/random.h"
#include "cellar/filter.h"
#include "cellar/key_schema.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

class AggregateTest : public EngineFixture {
 protected:
  AggregateTest() {
    open();
    table_ = make_table("t", {family("d", 3), family("e")});
  }

  void put(const std::string& row, const std::string& qualifier, const std::string& value,
           const std::string& family = "d") {
    EXPECT_OK(table_->put(Put(row).add(family, qualifier, value)));
  }

  template <class Number>
  std::vector<Aggregate<Number>> groups(const Scan& scan,
                                        const std::function<Result<size_t>(std::string_view)>& group_of,
                                        const AggregateOptions& options = {}) {
    std::vector<Aggregate<Number>> found;
    const auto keep = [&](const Aggregate<Number>& group) {
      found.push_back(group);
      return Status();
    };
    EXPECT_OK(aggregate_groups<Number>(*table_, scan, group_of, keep, options));
    return found;
  }

  // A program computes this of the cells of the scan.
  struct Expected {
    std::vector<int64_t> values;
    uint64_t rows = 0;
    uint64_t bad = 0;
  };
  std::map<std::string, Expected> expected_groups(const Scan& scan, size_t bytes) {
    std::map<std::string, Expected> all;
    const auto scanner = table_->scan(scan).value();
    for (const RowView row : *scanner) {
      Expected& group = all[std::string(row.row().substr(0, bytes))];
      ++group.rows;
      for (const CellView& cell : row) {
        const auto value = int64_of_plain(cell.value_bytes());
        value ? group.values.push_back(*value) : static_cast<void>(++group.bad);
      }
    }
    return all;
  }

  std::shared_ptr<Table> table_;
};

void expect_same(const Aggregate<int64_t>& found, const std::vector<int64_t>& values) {
  ASSERT_EQ(found.values, values.size());
  if (values.empty()) return;
  int64_t sum = 0;
  for (const int64_t value : values) sum += value;
  const double mean = static_cast<double>(sum) / static_cast<double>(values.size());
  double squares = 0;
  for (const int64_t value : values) squares += std::pow(static_cast<double>(value) - mean, 2);
  EXPECT_EQ(found.sum, sum);
  EXPECT_EQ(found.min, *std::ranges::min_element(values));
  EXPECT_EQ(found.max, *std::ranges::max_element(values));
  EXPECT_DOUBLE_EQ(found.average, mean);
  EXPECT_NEAR(found.deviation, std::sqrt(squares / static_cast<double>(values.size())), 1e-6);
}

TEST_F(AggregateTest, IsWhatAProgramComputes) {
  Random random(31);
  const auto draw_row = [&] {
    std::string row(1 + random.below(4), '\0');
    for (char& c : row) c = "ab\xff"[random.below(3)];
    return row;
  };
  for (int i = 0; i < 2000; ++i) {
    const bool bad = random.below(20) == 0;
    put(draw_row(), std::string(1, static_cast<char>('p' + random.below(4))),
        bad ? "seven" : plain_int64(static_cast<int64_t>(random.below(2000)) - 1000),
        random.below(2) == 0 ? "d" : "e");
    if (i % 500 == 499) {
      EXPECT_OK(table_->flush());
    }
  }
  for (uint64_t round = 0; round < std::max<uint64_t>(scaled(500), 50); ++round) {
    Scan scan;
    if (random.below(2) == 0) scan.start(draw_row());
    if (random.below(3) == 0) scan.prefix("").family(random.below(2) == 0 ? "d" : "e");
    if (random.below(3) == 0) scan.column("d", "q");
    if (random.below(3) == 0) scan.all_versions();
    if (random.below(4) == 0) scan.limit(1 + random.below(20));
    if (random.below(4) == 0) scan.filter(parse_filter("QualifierFilter(>, 'binary:p')").value());
    const bool reversed = random.below(4) == 0;
    if (reversed) scan = Scan(scan).start("").reversed(true);
    const size_t bytes = random.below(5);
    auto expected = expected_groups(scan, bytes);
    const auto first_bytes = [&](std::string_view row) { return std::min(row.size(), bytes); };
    const auto found = groups<int64_t>(scan, first_bytes, {.count_bad = true});
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      if (i > 0) {
        EXPECT_EQ(found[i - 1].group < found[i].group, !reversed);
      }
      const Expected& group = expected[found[i].group];
      EXPECT_EQ(found[i].rows, group.rows);
      EXPECT_EQ(found[i].bad, group.bad);
      expect_same(found[i], group.values);
    }
  }
}

TEST_F(AggregateTest, NothingIsNoGroup) {
  EXPECT_EQ(groups<int64_t>(Scan(), [](std::string_view row) { return row.size(); }).size(), 0u);
  const Aggregate<std::string> all = aggregate<std::string>(*table_).value();
  EXPECT_EQ(all.rows + all.values + all.bad, 0u);
  EXPECT_EQ(aggregate<int64_t>(*table_, Scan().family("x")).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(aggregate<int64_t>(*table_, Scan().raw(true)).status().code(), Code::kInvalidArgument);
}

TEST_F(AggregateTest, ABadValueNamesItsCell) {
  put("r1", "q", plain_int64(7));
  put("r\x01", "q\n", "seven");
  const Status status = aggregate<int64_t>(*table_).status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_EQ(status.message(), "row \"r\\x01\", column d:q\\x0A: the value \"seven\" is no long of 8 bytes");
  EXPECT_NE(status.hint().find("count_bad"), std::string_view::npos);
  EXPECT_EQ(aggregate<double>(*table_, Scan().start("r1")).value().values, 1u) << "any eight bytes but NaN";
  put("r1", "nan", plain_float64(std::nan("")));
  EXPECT_EQ(aggregate<double>(*table_, Scan().start("r1"), {.count_bad = true}).value().bad, 1u);
  const Aggregate<int64_t> counted =
      aggregate<int64_t>(*table_, Scan().column("d", "q").column("d", "q\n"), {.count_bad = true}).value();
  EXPECT_EQ(counted.bad, 1u);
  EXPECT_EQ(counted.sum, 7);
  EXPECT_EQ(counted.rows, 2u);
  put("r2", "q", std::string(1000, 'x'));
  EXPECT_LT(aggregate<std::string>(*table_, Scan().start("r2")).status().message().size(), 200u);
}

TEST_F(AggregateTest, AnOverflowIsAnErrorAndNoNumber) {
  put("a", "q", plain_int64(INT64_MAX));
  put("b", "q", plain_int64(1));
  put("c", "q", plain_int64(-5));
  EXPECT_EQ(aggregate<int64_t>(*table_).status().message(),
            "row \"b\", column d:q: the sum of longs overflows");
  EXPECT_EQ(aggregate<int64_t>(*table_, Scan().stop("b")).value().sum, INT64_MAX);
  EXPECT_EQ(aggregate<int64_t>(*table_, Scan().start("b")).value().sum, -4);
  EXPECT_EQ(groups<int64_t>(Scan(), [](std::string_view row) { return row.size(); }).size(), 3u)
      << "each group has a sum of its own";
}

TEST_F(AggregateTest, DoublesKeepWhatRoundingLoses) {
  for (const double value : {1e100, 1.0, -1e100}) put(fmt::format("{}", value), "q", plain_float64(value));
  const Aggregate<double> all = aggregate<double>(*table_).value();
  EXPECT_EQ(all.sum, 1.0);
  EXPECT_EQ(all.min, -1e100);
  EXPECT_EQ(all.max, 1e100);
  put("x", "q", plain_float64(HUGE_VAL));
  EXPECT_EQ(aggregate<double>(*table_).value().sum, HUGE_VAL);
}

TEST_F(AggregateTest, DecimalsAreExact) {
  for (const std::string value : {"0.1", "0.2", "-1e30", "1e30", "-0.25"}) put(value, "q", value);
  const Aggregate<std::string> all = aggregate<std::string>(*table_).value();
  EXPECT_EQ(all.sum, "0.05");
  EXPECT_EQ(all.min, "-1000000000000000000000000000000");
  EXPECT_EQ(all.max, "1000000000000000000000000000000");
  EXPECT_DOUBLE_EQ(all.average, 0.01);
  put("z", "q", "1e-2000");
  EXPECT_EQ(aggregate<std::string>(*table_).status().code(), Code::kLimit);
}

TEST_F(AggregateTest, ARowOfManyPartsIsOneRow) {
  Put wide("wide");
  for (int i = 0; i < 3500; ++i) wide.add("d", std::to_string(i), plain_int64(i));
  EXPECT_OK(table_->put(wide));
  put("x", "q", plain_int64(1));
  const auto found = groups<int64_t>(Scan(), [](std::string_view row) { return row.size(); });
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].rows, 1u);
  EXPECT_EQ(found[0].values, 3500u);
  EXPECT_EQ(found[0].sum, 3499 * 3500 / 2);
}

TEST_F(AggregateTest, GroupsAreFieldsOrReachToASeparator) {
  const KeySchema schema = KeySchema::parse("user text, day int32").value();
  for (const char* user : {"a", "ab", "b"})
    for (const char* day : {"-1", "0", "7"}) put(schema.key({user, day}).value(), "q", plain_int64(1));
  const auto by_user = [&](std::string_view row) { return schema.bytes_of_first(row, 1); };
  const auto users = groups<int64_t>(Scan(), by_user);
  ASSERT_EQ(users.size(), 3u);
  EXPECT_EQ(schema.text(users[1].group), "user=ab");
  EXPECT_EQ(users[1].sum, 3);
  // One row of another form ends the call. The groups before it have come.
  put("plain", "q", plain_int64(1));
  size_t came = 0;
  const auto count = [&](const Aggregate<int64_t>&) { return ++came, Status(); };
  const Status status = aggregate_groups<int64_t>(*table_, Scan(), by_user, count);
  EXPECT_EQ(status.code(), Code::kCorruption);
  EXPECT_TRUE(status.message().starts_with("row \"plain\": field user of the key")) << status.to_text();
  EXPECT_EQ(came, 2u);
  const auto until = [](std::string_view row) { return std::min(row.find('/'), row.size() - 1) + 1; };
  for (const char* row : {"x", "x!", "x/1", "x/2", "x0"}) put(row, "q", plain_int64(1));
  const auto parts = groups<int64_t>(Scan().start("x"), until);
  std::string names;
  for (const auto& part : parts) names += fmt::format("{}={} ", part.group, part.sum);
  EXPECT_EQ(names, "x=1 x!=1 x/=2 x0=1 ");
  EXPECT_FALSE(aggregate_groups<int64_t>(
                   *table_, Scan(), [](std::string_view row) { return row.size() + 1; }, count)
                   .ok());
}

TEST_F(AggregateTest, EndsWhenItIsTold) {
  for (int i = 0; i < 20; ++i) put(std::to_string(i), "q", plain_int64(1));
  uint64_t told = 0;
  const AggregateOptions options = {.on_way = [&](const RangeCount& met) { return ++told, met.rows < 5; }};
  EXPECT_EQ(aggregate<int64_t>(*table_, Scan(), options).status().code(), Code::kAborted);
  EXPECT_EQ(told, 5u);
  size_t came = 0;
  const auto refuse = [&](const Aggregate<int64_t>&) {
    return ++came == 3 ? Status::no_space("enough") : Status();
  };
  const auto by_row = [](std::string_view row) { return row.size(); };
  EXPECT_EQ(aggregate_groups<int64_t>(*table_, Scan(), by_row, refuse).message(), "enough");
  EXPECT_EQ(came, 3u);
}

}  // namespace
}  // namespace cellar::testing
