// Goal: an HFile of a directory that lost its end is never left out in silence: verification finds it, and
// what reads cells stops. Method: directories as people and Hadoop leave them, with files cut at many places.
#include <gtest/gtest.h>

#include <filesystem>

#include "cellar/hfile_builder.h"
#include "tests/tools/tool_runner.h"
#include "tools/hbase/hfile_paths.h"

namespace cellar::testing {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Strings = std::vector<std::string>;

const std::string kStoreName = "0123456789abcdef0123456789abcdef";

class RemainsTest : public ToolTest {
 protected:
  void make_file(const std::string& name, const std::string& rows,
                 const HFileBuilderOptions& options = {}) const {
    fs::create_directories(path(name).parent_path());
    HFileBuilder file = HFileBuilder::create(posix_file_system(), path(name).string(), options).value();
    for (int i = 0; i < 50; ++i) {
      ASSERT_TRUE(file.add(Cell(rows + std::to_string(100 + i), "d", "q", 5, CellType::kPut, "value")).ok());
    }
    ASSERT_TRUE(file.finish().ok());
  }
};

TEST_F(RemainsTest, AFileThatWasCutIsNotLeftOut) {
  make_file("dir/d/a.hfile", "a");
  make_file("dir/d/b.hfile", "b");
  const std::string whole = read_file("dir/d/b.hfile");
  EXPECT_EQ(run({"verify", "dir"}).exit, 0);
  for (const size_t bytes : {whole.size() - 1, whole.size() / 2, size_t{100}, size_t{8}}) {
    SCOPED_TRACE(bytes);
    write_file("dir/d/b.hfile", whole.substr(0, bytes));
    const ToolResult verified = run({"verify", "dir", "--format", "json"});
    EXPECT_EQ(verified.exit, 1) << verified.err;
    const Json files = Json::parse(verified.out)["files"];
    ASSERT_EQ(files.size(), 2u);
    EXPECT_EQ(files[1]["path"], "dir/d/b.hfile");
    EXPECT_EQ(files[1]["verdict"], "unsound");
    EXPECT_EQ(files[1]["findings"][0]["code"], "V-TRAILER");
    const std::vector<Strings> reads = {{"dump", "dir"},          {"stats", "dir"},
                                        {"scan", "dir/d"},        {"count", "dir/d"},
                                        {"scan", "dir"},          {"count", "dir"},
                                        {"get", "dir/d", "a101"}, {"inspect", "dir"},
                                        {"find", "a101", "dir"},  {"merge", "dir", "-o", "merged"}};
    for (const Strings& line : reads) {
      const ToolResult result = run(line);
      EXPECT_EQ(result.exit, 3) << line[0] << " " << line[1] << "\n" << result.err;
      EXPECT_NE(result.err.find("dir/d/b.hfile"), std::string::npos) << line[0] << ": " << result.err;
    }
    EXPECT_EQ(run({"verify", "dir/d/b.hfile"}).exit, 1) << "named alone it is no other file";
  }
}

TEST_F(RemainsTest, AStoreFileIsKnownByItsNameToo) {
  make_file("dir/a.hfile", "a");
  for (const std::string& content : {std::string(), std::string(5000, '\0'), std::string("noise")}) {
    write_file("dir/" + kStoreName, content);
    EXPECT_EQ(run({"verify", "dir"}).exit, 1);
    EXPECT_EQ(run({"dump", "dir"}).exit, 3);
    EXPECT_EQ(look_at_file(path("dir/" + kStoreName).string()), FileLook::kRemains);
  }
  fs::rename(path("dir/" + kStoreName), path("dir/" + kStoreName + "_SeqId_4_"));
  EXPECT_EQ(run({"verify", "dir"}).exit, 1) << "as after a bulk load";
}

TEST_F(RemainsTest, WhatNeverWasAnHFileIsLeftOutAsBefore) {
  make_file("dir/a.hfile", "a");
  write_file("dir/." + kStoreName + ".crc", "crc");
  write_file("dir/_SUCCESS", "");
  write_file("dir/.regioninfo", "PBUF");
  write_file("dir/notes.txt", "about this directory");
  write_file("dir/empty", "");
  fs::create_directory(path("dir/.tmp"));
  write_file("dir/.tmp/" + kStoreName, "half written");
  const ToolResult verified = run({"verify", "dir"});
  EXPECT_EQ(verified.exit, 0) << verified.out << verified.err;
  EXPECT_NE(verified.err.find("left out, not an HFile: dir/empty, and 1 more"), std::string::npos)
      << verified.err;
  EXPECT_EQ(run({"dump", "dir"}).exit, 0);
  EXPECT_EQ(look_at_file(path("dir/notes.txt").string()), FileLook::kOther);
  EXPECT_EQ(look_at_file(path("dir/a.hfile").string()), FileLook::kHFile);
}

// ---- files without checksums

TEST_F(RemainsTest, FilesWithoutChecksumsAreToldOnce) {
  HFileBuilderOptions unchecked;
  unchecked.checksum = "null";
  make_file("dir/d/a", "a", unchecked);
  make_file("dir/d/b", "b", unchecked);
  make_file("checked", "a");
  const std::string said = "wrong cells in a file without checksums cannot always be detected";
  const std::vector<Strings> reads = {{"dump", "dir"},
                                      {"stats", "dir"},
                                      {"scan", "dir"},
                                      {"get", "dir", "a101"},
                                      {"count", "dir"},
                                      {"find", "a101", "dir"},
                                      {"diff", "dir/d/a", "dir/d/b"},
                                      {"merge", "dir", "-o", "merged"},
                                      {"rewrite", "dir/d/a", "-o", "rewritten"},
                                      {"filter", "dir/d/a", "-o", "filtered"},
                                      {"split", "dir/d/a", "-o", ".", "--parts", "2"},
                                      {"salvage", "dir/d/a", "-o", "salvaged"},
                                      {"bulkload", "plan", "dir", "--table", "t"},
                                      {"bulkload", "ingest", "dir", "shop", "t", "--create"},
                                      {"bulkload", "ingest", "dir", "shop", "t"}};
  for (const Strings& line : reads) {
    const ToolResult result = run(line);
    const size_t at = result.err.find(said);
    ASSERT_NE(at, std::string::npos) << line[0] << ": " << result.err;
    EXPECT_EQ(result.err.find(said, at + 1), std::string::npos) << line[0] << " says it twice";
    EXPECT_EQ(result.out.find(said), std::string::npos);
  }
  EXPECT_NE(run({"bulkload", "check", "dir"}).out.find("wrong cells cannot always be detected"),
            std::string::npos);
  EXPECT_EQ(run({"dump", "checked"}).err.find(said), std::string::npos);
  EXPECT_NE(run({"verify", "dir/d/a"}).out.find("wrong cells cannot always be detected"), std::string::npos);
  EXPECT_NE(run({"inspect", "dir/d/a"}).out.find("wrong cells cannot always be detected"), std::string::npos);
}

// ---- what export makes

TEST_F(RemainsTest, ExportMakesDirectoriesOfTheirOwner) {
  make_shop();
  ASSERT_EQ(shell("umask 0; cellar export shop orders --to hfile -o out").exit, 0);
  const auto mode = [&](const fs::path& file) { return fs::status(file).permissions(); };
  EXPECT_EQ(mode(path("out")), fs::perms(0700));
  size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(path("out"))) {
    EXPECT_EQ(mode(entry.path()), entry.is_directory() ? fs::perms(0700) : fs::perms(0600)) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 5u) << "two families, a file in each, and the schema";
}

}  // namespace
}  // namespace cellar::testing
