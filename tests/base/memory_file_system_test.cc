// Goal: paths of the file system in memory; the contract itself is
// tests/platform/file_system_contract_test.cc.
#include "base/memory_file_system.h"

#include <gtest/gtest.h>

namespace cellar::testing {

TEST(MemoryFileSystem, PathsHaveOneRoot) {
  const auto files = make_memory_file_system();
  ASSERT_TRUE(files->open_directory("a", true).ok());
  ASSERT_TRUE(files->open_directory("/a/b/", true).ok());
  EXPECT_TRUE(files->open_directory("./a//b", false).ok());
  EXPECT_TRUE(files->open_directory("/", false).ok());
  EXPECT_TRUE(files->open_directory("", false).ok());
  EXPECT_EQ(files->open_directory("a/../b", true).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(files->open_directory("x/y", true).status().code(), Code::kNotFound);
  EXPECT_EQ((*files->open_directory("a/b", false))->path(), "/a/b");
}

TEST(MemoryFileSystem, WorldsAreSeparate) {
  const auto one = make_memory_file_system();
  const auto other = make_memory_file_system();
  ASSERT_TRUE(one->open_directory("a", true).ok());
  EXPECT_EQ(other->open_directory("a", false).status().code(), Code::kNotFound);
}

TEST(MemoryFileSystem, WhatIsOpenOutlivesTheFileSystem) {
  auto files = make_memory_file_system();
  auto directory = std::move(files->open_directory("a", true)).value();
  files.reset();
  auto file = std::move(directory->create("f", {})).value();
  directory.reset();
  EXPECT_TRUE(file->append("abc").ok());
  EXPECT_TRUE(file->close().ok());
}

TEST(MemoryFileSystem, DirectoriesCanBeRenamed) {
  const auto files = make_memory_file_system();
  auto top = std::move(files->open_directory("a", true)).value();
  auto sub = std::move(top->directory("sub", true)).value();
  ASSERT_TRUE(sub->create("f", {}).ok());
  EXPECT_TRUE(top->rename("sub", "other").ok());
  EXPECT_TRUE((*top->directory("other", false))->open("f").ok());
  EXPECT_EQ(top->directory("sub", false).status().code(), Code::kNotFound);
}

}  // namespace cellar::testing
