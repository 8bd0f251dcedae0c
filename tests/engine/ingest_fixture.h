// IngestFixture: builds HFiles outside a store and ingests them into its tables. Checks that a refusal leaves
// all as it was.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cellar/hfile_builder.h"
#include "engine/log/directory.h"
#include "tests/cell_support/cell_text.h"
#include "tests/engine/engine_fixture.h"

namespace cellar::testing {

inline Cell put_cell(const std::string& row, const std::string& value, int64_t timestamp = 5,
                     const std::string& family = "f", const std::string& qualifier = "q") {
  return {row, family, qualifier, timestamp, CellType::kPut, value};
}

class IngestFixture : public EngineFixture {
 protected:
  void SetUp() override {
    ASSERT_TRUE(files_->open_directory("in", true).ok());
    reopen();
  }
  void reopen() {
    table_.reset();
    other_.reset();
    EngineOptions options;
    options.automatic_compaction = false;
    open(options);
    FamilyOptions sequence = family("s", 3);
    sequence.delete_order = MarkerOrder::kSequence;
    table_ = make_table("t", {family("f", 3), family("g", 3), sequence});
    other_ = make_table("u", {family("f")});
  }

  // Builds in/<name>; cells in any order.
  IngestFile file(const std::string& name, std::vector<Cell> cells, HFileBuilderOptions options = {},
                  const std::function<void(HFileBuilder&)>& more = {}) {
    const std::string family = cells.empty() ? "f" : cells.front().family;
    std::ranges::sort(cells, [](const Cell& a, const Cell& b) { return compare(a, b) < 0; });
    options.replace = true;
    auto builder = HFileBuilder::create(*files_, "in/" + name, options);
    EXPECT_OK(builder.status());
    for (const Cell& cell : cells) EXPECT_OK(builder->add(cell));
    if (more) more(*builder);
    EXPECT_OK(builder->finish().status());
    return {family, "in/" + name};
  }
  std::string bytes_of(const std::string& path) {
    auto opened = files_->open_file(path);
    EXPECT_OK(opened.status());
    std::string bytes((*opened)->size(), '\0');
    EXPECT_OK((*opened)->read(0, bytes.size(), bytes.data()));
    return bytes;
  }
  void write_file(const std::string& name, const std::string& bytes) {
    auto in = files_->open_directory("in", false);
    static_cast<void>((*in)->unlink(name).ok());
    auto file = (*in)->create(name, {});
    EXPECT_OK((*file)->append(bytes));
    EXPECT_OK((*file)->close());
  }
  std::vector<std::string> names_in(const std::string& path) {
    std::vector<std::string> names;
    for (const DirectoryEntry& entry : files_->open_directory(path, false).value()->list().value())
      names.push_back(entry.name);
    return names;
  }
  size_t store_files() {
    return list_store_files(*files_->open_directory("store", false).value(), nullptr).value().size();
  }
  IngestInfo ingest(std::vector<IngestFile> files, bool copy = false, bool move = false) {
    auto done = table_->ingest({.files = std::move(files), .copy = copy, .move = move});
    EXPECT_OK(done.status());
    return done.ok() ? *done : IngestInfo{};
  }
  // Refused with this code and these words, and nothing has changed.
  void expect_refused(std::vector<IngestFile> files, Code code, const std::string& words) {
    const Texts before = scan(*table_, Scan().all_versions());
    const size_t files_before = store_files();
    const auto done = table_->ingest({.files = std::move(files)});
    EXPECT_EQ(done.status().code(), code) << done.status().to_text();
    EXPECT_NE(done.status().to_text().find(words), std::string::npos) << done.status().to_text();
    EXPECT_EQ(scan(*table_, Scan().all_versions()), before);
    EXPECT_EQ(store_files(), files_before);
    EXPECT_OK(table_->put(Put("still").add_at("g", "q", 1, "writable")));
    EXPECT_OK(table_->erase(Delete("still")));
  }
  std::string value_of(const std::string& row, const std::string& family = "f") {
    auto found = table_->get(Get(row).family(family));
    EXPECT_OK(found.status());
    return found->row().cells().empty() ? "nothing" : std::string(found->row().cells()[0].value_bytes());
  }

  std::shared_ptr<Table> table_, other_;
};

}  // namespace cellar::testing
