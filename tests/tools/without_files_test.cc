// Goal: a store with a damaged or missing file can be read without it, but only on request. Method: one of
// two files of a family is damaged. Commands that read get its name in CELLAR_ENGINE; commands that write
// refuse it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "cellar/cellar.h"
#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

namespace fs = std::filesystem;

class WithoutFiles : public ToolTest {
 protected:
  // Returns the names of the files of family d of table orders, the older one first.
  std::vector<std::string> make_two_files() const {
    make_shop();
    out_of({"flush", "shop"});
    out_of({"put", "shop", "orders", "later", "d:name", "Barbara"});
    out_of({"flush", "shop"});
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path("shop/tables/1/d")))
      names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    EXPECT_EQ(names.size(), 2u);
    return names;
  }
};

TEST_F(WithoutFiles, ReadsWhatIsLeft) {
  const std::vector<std::string> names = make_two_files();
  for (const bool missing : {false, true}) {
    const std::string file = "shop/tables/1/d/" + names[0];
    if (missing)
      fs::remove(path(file));
    else
      write_file(file, "damaged");
    EXPECT_EQ(run({"get", "shop", "orders", "later"}).exit, 3)
        << "nothing is left out unless it is asked for";
    const ToolResult left = shell("CELLAR_ENGINE=without_files=" + names[0] + " cellar scan shop orders");
    EXPECT_EQ(left.exit, 0) << left.err;
    EXPECT_NE(left.out.find("Barbara"), std::string::npos) << left.out;
    EXPECT_NE(left.out.find("17"), std::string::npos) << "family c has all its files";
    EXPECT_EQ(left.out.find("Grace"), std::string::npos) << left.out;
  }
}

TEST_F(WithoutFiles, ReadsAFamilyWhoseDirectoryIsGone) {
  const std::vector<std::string> names = make_two_files();
  fs::remove_all(path("shop/tables/1/d"));
  const ToolResult one = shell("CELLAR_ENGINE=without_files=" + names[0] + " cellar scan shop orders");
  EXPECT_EQ(one.exit, 3) << "another file is missing, too";
  const ToolResult both =
      shell("CELLAR_ENGINE='without_files=" + names[0] + " " + names[1] + "' cellar scan shop orders");
  EXPECT_EQ(both.exit, 0) << both.err;
  EXPECT_NE(both.out.find("17"), std::string::npos) << both.out;
}

TEST_F(WithoutFiles, RefusesWritesAndNamesThatNoFileHas) {
  const std::vector<std::string> names = make_two_files();
  const ToolResult write =
      shell("CELLAR_ENGINE=without_files=" + names[0] + " cellar put shop orders row d:name x");
  EXPECT_EQ(write.exit, 2);
  EXPECT_NE(write.err.find("for reading only"), std::string::npos) << write.err;
  const ToolResult unknown =
      shell("CELLAR_ENGINE=without_files=" + std::string(32, 'a') + " cellar scan shop orders");
  EXPECT_NE(unknown.exit, 0);
  EXPECT_NE(unknown.err.find("names no store file " + std::string(32, 'a')), std::string::npos)
      << unknown.err;
  const ToolResult invalid = shell("CELLAR_ENGINE=without_files=abc cellar scan shop orders");
  EXPECT_EQ(invalid.exit, 2);
  EXPECT_NE(invalid.err.find("32 hex digits"), std::string::npos) << invalid.err;
}

TEST_F(WithoutFiles, EnginesOpenReadOnlyWithoutThem) {
  const std::vector<std::string> names = make_two_files();
  EngineOptions options;
  options.without_files = {names[1]};
  EXPECT_TRUE(Engine::open(path("shop").string(), options).status().is(Code::kInvalidArgument));
  options.read_only = true;
  const Result<std::unique_ptr<Engine>> engine = Engine::open(path("shop").string(), options);
  ASSERT_TRUE(engine.ok()) << engine.status();
  const std::shared_ptr<Table> table = (*engine)->open_table("orders").value();
  EXPECT_FALSE(table->exists(Get("later")).value());
  EXPECT_TRUE(table->exists(Get("user41")).value());
}

}  // namespace
}  // namespace cellar::testing
