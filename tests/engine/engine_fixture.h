// EngineFixture: an engine over a memory file system and a manual clock, with the shorthands that engine
// tests share.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/memory_file_system.h"
#include "cellar/cellar.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/manual_clock.h"

namespace cellar::testing {

#define EXPECT_OK(expression)                                         \
  do {                                                                \
    const ::cellar::Status expect_ok_status = (expression);           \
    EXPECT_TRUE(expect_ok_status.ok()) << expect_ok_status.to_text(); \
  } while (false)

// "row/family:qualifier/timestamp/type=value".
inline std::string cell_text(const CellView& cell) {
  return std::string(cell.row()) + "/" + std::string(cell.family()) + ":" + std::string(cell.qualifier()) +
         "/" + std::to_string(cell.timestamp) + "/" + std::string(type_name(cell.type())) + "=" +
         std::string(cell.value_bytes());
}

// The same of each cell, one row after the other.
inline std::vector<std::string> cell_texts(const RowView& row) {
  std::vector<std::string> texts;
  for (const CellView& cell : row.cells()) texts.push_back(cell_text(cell));
  return texts;
}

class EngineFixture : public ::testing::Test {
 protected:
  using Texts = std::vector<std::string>;

  void open(EngineOptions options = {}) {
    engine_.reset();
    options.create_if_missing = !options.read_only;
    options.environment.files = files_.get();
    options.environment.clock = &clock_;
    auto opened = Engine::open("store", options);
    ASSERT_TRUE(opened.ok()) << opened.status().to_text();
    engine_ = std::move(opened).value();
  }

  // A test calls this before open(). Engines that are opened afterwards use files that fail as they are told,
  // and that record every call.
  FaultFileSystem& watch_files() {
    memory_ = std::move(files_);
    auto watched = std::make_unique<FaultFileSystem>(*memory_);
    FaultFileSystem& result = *watched;
    files_ = std::move(watched);
    return result;
  }

  std::shared_ptr<Table> make_table(const std::string& name, std::vector<FamilyOptions> families) {
    auto made = engine_->open_or_create_table(name, {.families = std::move(families)});
    EXPECT_TRUE(made.ok()) << made.status().to_text();
    return made.ok() ? made.value() : nullptr;
  }

  static FamilyOptions family(const std::string& name, uint32_t versions = 1) {
    FamilyOptions options;
    options.name = name;
    options.max_versions = versions;
    return options;
  }

  // Family f with this compaction policy, whose files have many blocks.
  static FamilyOptions family_of_small_blocks(const std::string& policy) {
    FamilyOptions options = family("f");
    options.compaction = policy;
    options.block_bytes = 1 << 10;
    options.compression = "none";
    return options;
  }

  // The newest value of a column, or "-".
  static std::string value_of(Table& table, const Get& get, std::string_view family,
                              std::string_view qualifier) {
    const Result<Row> row = table.get_row(get);
    EXPECT_OK(row.status());
    return row.ok() ? std::string(row->value(family, qualifier).value_or("-")) : "-";
  }
  static Texts get(Table& table, const Get& get) {
    auto row = table.get(get);
    EXPECT_TRUE(row.ok()) << row.status().to_text();
    return row.ok() ? cell_texts(row->row()) : Texts{};
  }

  static Texts scan(Table& table, const Scan& scan) {
    Texts all;
    auto scanner = table.scan(scan);
    EXPECT_TRUE(scanner.ok()) << scanner.status().to_text();
    if (!scanner.ok()) return all;
    for (const RowView row : **scanner)
      for (const std::string& text : cell_texts(row)) all.push_back(text);
    EXPECT_TRUE((*scanner)->status().ok()) << (*scanner)->status().to_text();
    return all;
  }

  std::unique_ptr<FileSystem> memory_;  // what watched files stand on
  std::unique_ptr<FileSystem> files_ = make_memory_file_system();
  ManualClock clock_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace cellar::testing
