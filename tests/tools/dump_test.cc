// Goal: what `cellar dump` leaves out, and how it shows what it prints, is what its options say. Method: the
// cells of HBase's files, chosen here from the whole dump.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "cellar/file_system.h"
#include "cellar/hfile_builder.h"
#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

using Json = nlohmann::json;
using Strings = std::vector<std::string>;

class Dump : public ToolTest {
 protected:
  std::vector<Json> dump(const std::string& file, const Strings& more) const {
    Strings line = {"dump", file, "--format", "jsonl"};
    line.insert(line.end(), more.begin(), more.end());
    std::vector<Json> cells;
    std::istringstream lines(out_of(line));
    for (std::string text; std::getline(lines, text);) cells.push_back(Json::parse(text));
    return cells;
  }
  // Cells of the empty family, as Hudi writes them.
  void make_hudi_file() const {
    HFileBuilderOptions options;
    Result<HFileBuilder> builder =
        HFileBuilder::create(posix_file_system(), path("hudi.hfile").string(), options);
    ASSERT_TRUE(builder.ok()) << builder.status().to_text();
    for (const char* qualifier : {"", "q"})
      ASSERT_TRUE(builder->add(Cell("key", "", qualifier, 5, CellType::kPut, "value")).ok());
    ASSERT_TRUE(builder->finish().ok());
  }
};

TEST_F(Dump, VersionsAreCountedByColumn) {
  const std::string file = example_file("versions.hfile");
  const std::vector<Json> all = dump(file, {});
  for (const int wanted : {1, 3}) {
    std::vector<Json> expected;
    std::map<std::string, int> seen;
    for (const Json& cell : all) {
      const std::string column = cell["row"].get<std::string>() + "/" + cell["qualifier"].get<std::string>();
      if (++seen[column] <= wanted) expected.push_back(cell);
    }
    EXPECT_LT(expected.size(), all.size());
    EXPECT_EQ(dump(file, {"--versions", std::to_string(wanted)}), expected);
  }
  EXPECT_EQ(dump(file, {"--versions", "all"}), all);
}

TEST_F(Dump, ASampleIsTheSameForTheSameSeed) {
  const std::string file = example_file("versions.hfile");
  const std::vector<Json> one = dump(file, {"--sample", "0.2", "--seed", "5"});
  EXPECT_EQ(one, dump(file, {"--sample", "20%", "--seed", "5"}));
  EXPECT_NE(one, dump(file, {"--sample", "0.2", "--seed", "6"}));
  EXPECT_GT(one.size(), 60u);
  EXPECT_LT(one.size(), 190u) << "of 600: mean 120, deviation 10";
  EXPECT_EQ(dump(file, {"--sample", "0"}).size(), 0u);
  EXPECT_EQ(dump(file, {"--sample", "100%"}).size(), 600u);
  for (const char* wrong : {"2", "-0.1", "x", "1%%", "nan"})
    EXPECT_EQ(error_of({"dump", file, "--sample", wrong}, 2).value("code", ""), "CEL-INVALID-ARGUMENT")
        << wrong;
}

TEST_F(Dump, GrepLooksAtRowColumnAndValue) {
  const std::string file = example_file("weblog.hfile");
  const std::vector<Json> all = dump(file, {});
  const auto expected = [&](const auto& wanted) {
    std::vector<Json> cells;
    std::ranges::copy_if(all, std::back_inserter(cells), wanted);
    return cells;
  };
  const std::string row = all[100]["row"];
  const std::vector<Json> by_row = dump(file, {"--grep", "^" + row.substr(0, row.size() - 2) + ".+$"});
  EXPECT_GT(by_row.size(), 0u);
  const std::string column =
      all[3]["family"].get<std::string>() + ":" + all[3]["qualifier"].get<std::string>();
  EXPECT_EQ(dump(file, {"--grep", "^" + column + "$"}), expected([&](const Json& cell) {
              return cell["qualifier"] == all[3]["qualifier"] && cell["family"] == all[3]["family"];
            }));
  EXPECT_EQ(error_of({"dump", file, "--grep", "("}, 2).value("code", ""), "CEL-INVALID-ARGUMENT");
  EXPECT_EQ(dump(file, {"--grep", "\\x00\\xff\\x00"}).size(), 0u) << "bytes that stand nowhere";
}

TEST_F(Dump, KeysLeaveValuesOut) {
  const std::string file = example_file("versions.hfile");
  std::vector<Json> expected = dump(file, {"--mvcc"});
  for (Json& cell : expected) cell.erase("value");
  EXPECT_EQ(dump(file, {"--mvcc", "--keys"}), expected);
  const std::string csv = out_of({"dump", file, "--keys", "--format", "csv", "--limit", "1"});
  EXPECT_EQ(csv, "row,family,qualifier,ts,type\nrow-000,cf,,1600122000366,DeleteFamilyVersion\n");
  EXPECT_EQ(run({"dump", file, "--keys", "--format", "raw"}).exit, 2);
}

TEST_F(Dump, RulesDecodeRowsAndColumns) {
  const std::string file = example_file("versions.hfile");
  const auto csv = [&](Strings more) {
    more.insert(more.begin(),
                {"dump", file, "--format", "csv", "--row", "row-000", "--types", "put", "--limit", "1"});
    const std::string text = out_of(more);
    return text.substr(text.find('\n') + 1);
  };
  const std::string plain = csv({});
  EXPECT_EQ(plain.substr(0, 14), "row-000,cf,q0,") << plain;
  EXPECT_EQ(csv({"--decode", "row=hex"}).substr(0, 14), "726f772d303030") << "row-000";
  EXPECT_NE(csv({"--decode", "qualifier=hex"}).find(",cf,7130,"), std::string::npos);
  EXPECT_NE(csv({"--decode", "cf:q0=hex"}).find(",Put,7634"), std::string::npos)
      << csv({"--decode", "cf:q0=hex"});
  EXPECT_EQ(csv({"--decode", "cf:q1=hex"}), plain) << "another column";
  EXPECT_NE(csv({"--decode", "cf=hex"}).find(",Put,7634"), std::string::npos);
  EXPECT_EQ(csv({"--decode", "cf:q0=utf8", "--decode", "cf=hex"}), plain)
      << "the column goes before its family";
  for (const char* wrong : {"row", "row=latin", "=hex", "cf:q0="})
    EXPECT_EQ(run({"dump", file, "--decode", wrong}).exit, 2) << wrong;
  EXPECT_EQ(run({"dump", file, "--decode", "row=hex", "--format", "json"}).exit, 2);
}

TEST_F(Dump, TheEmptyFamilyHasColumnsToo) {
  make_hudi_file();
  EXPECT_EQ(dump("hudi.hfile", {"--column", ":q"}).size(), 1u);
  EXPECT_EQ(dump("hudi.hfile", {"--column", ":"}).size(), 1u);
  EXPECT_EQ(dump("hudi.hfile", {}).size(), 2u);
  EXPECT_EQ(json_of({"find", "key", "hudi.hfile", "--column", ":q"})["found"], 1);
}

}  // namespace
}  // namespace cellar::testing
