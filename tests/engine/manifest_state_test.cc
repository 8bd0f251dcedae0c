// Goal: an edit takes time in proportion to itself and the state, not to their product. An edit of many
// changes shares an index, and has the same result as many small edits. Numbers in use are never given out
// again. Method: the tests count how often an edit looks at tables and families. They compare large edits
// with the same changes made one at a time.
#include <gtest/gtest.h>

#include <string>

#include "base/coding.h"
#include "engine/manifest/manifest.h"

namespace cellar::testing {
namespace {

constexpr uint32_t kTables = 200;
constexpr uint32_t kFamiliesEach = 100;
constexpr uint32_t kFamilies = kTables * kFamiliesEach;

std::string file_name(uint32_t number) { return store_file_name({1, 2}, number); }

// As the first record of a manifest with this many families, each with a file.
ManifestEdit whole_state() {
  ManifestEdit edit;
  for (uint32_t table = 1; table <= kTables; ++table)
    edit.set_tables.push_back({.id = table, .name = "t" + std::to_string(table)});
  for (uint32_t family = 1; family <= kFamilies; ++family) {
    edit.set_families.push_back(
        {.table_id = (family - 1) / kFamiliesEach + 1, .id = family, .name = "f" + std::to_string(family)});
    edit.add_files.push_back({.family_id = family, .file = {.name = file_name(family), .bytes = family}});
    edit.flushed.push_back({.family_id = family, .sequence = family});
  }
  return edit;
}

ManifestState fresh() {
  ManifestState state;
  state.identity = {1, 2};
  return state;
}

TEST(ManifestState, ALargeEditLooksAtEachFamilyAFewTimes) {
  ManifestState state = fresh();
  uint64_t steps = 0;
  ASSERT_TRUE(apply(state, whole_state(), &steps).ok());
  EXPECT_EQ(state.tables.size(), kTables);
  EXPECT_LT(steps, 10u * kFamilies);
  ManifestEdit more;
  for (uint32_t family = 1; family <= kFamilies; ++family) {
    more.flushed.push_back({.family_id = family, .sequence = 2 * kFamilies});
    if (family % 2 == 0) more.remove_files.push_back({.family_id = family, .name = file_name(family)});
  }
  steps = 0;
  ASSERT_TRUE(apply(state, more, &steps).ok());
  EXPECT_LT(steps, 10u * kFamilies);
  ManifestEdit drops;
  for (uint32_t family = 1; family <= kFamilies; family += 2) drops.drop_families.push_back(family);
  steps = 0;
  ASSERT_TRUE(apply(state, drops, &steps).ok());
  EXPECT_LT(steps, 10u * kFamilies);
  EXPECT_EQ(state.dropped_families.size(), kFamilies / 2);
  ManifestEdit forget;
  forget.forget_dropped = state.dropped_families;
  forget.forget_obsolete = state.obsolete;
  ASSERT_TRUE(apply(state, forget).ok());
  EXPECT_TRUE(state.dropped_families.empty());
  EXPECT_TRUE(state.obsolete.empty());
}

TEST(ManifestState, ManyChangesDoWhatTheyDoOneByOne) {
  const ManifestEdit whole = whole_state();
  ManifestState at_once = fresh();
  ASSERT_TRUE(apply(at_once, whole).ok());
  ManifestState one_by_one = fresh();
  const auto take = [&](const auto& fill) {
    ManifestEdit edit;
    fill(edit);
    const Status applied = apply(one_by_one, edit);
    ASSERT_TRUE(applied.ok()) << applied.to_text();
  };
  constexpr uint32_t kSome = 3 * kFamiliesEach;  // the families of the first tables
  for (const TableRecord& table : whole.set_tables)
    take([&](ManifestEdit& edit) { edit.set_tables = {table}; });
  for (uint32_t i = 0; i < kSome; ++i) {
    take([&](ManifestEdit& edit) { edit.set_families = {whole.set_families[i]}; });
    take([&](ManifestEdit& edit) { edit.add_files = {whole.add_files[i]}; });
    take([&](ManifestEdit& edit) { edit.flushed = {whole.flushed[i]}; });
  }
  for (uint32_t table = 0; table < 3; ++table) EXPECT_EQ(at_once.tables[table], one_by_one.tables[table]);
}

TEST(ManifestState, ALargeEditIsRefusedForTheSameReasons) {
  const auto refusal = [](const auto& spoil) {
    ManifestEdit edit = whole_state();
    spoil(edit);
    ManifestState state = fresh();
    state.dropped_families = {kFamilies + 7};
    return std::string(apply(state, edit).message());
  };
  EXPECT_EQ(refusal([](ManifestEdit& edit) { edit.set_tables[5].name = "t1"; }), "two tables named 't1'");
  EXPECT_EQ(refusal([](ManifestEdit& edit) { edit.set_families[5].name = "f1"; }), "two families named 'f1'");
  EXPECT_EQ(refusal([](ManifestEdit& edit) { edit.set_families[500].id = 1; }), "two families of id 1");
  EXPECT_EQ(refusal([](ManifestEdit& edit) { edit.set_families[5].table_id = kTables + 1; }), "no table 201");
  EXPECT_EQ(refusal([](ManifestEdit& edit) { edit.set_families[5].id = kFamilies + 7; }),
            "family id 20007 cannot be used");
  EXPECT_EQ(refusal([](ManifestEdit& edit) { edit.flushed[9].family_id = 0; }), "no family 0");
  EXPECT_EQ(refusal([](ManifestEdit& edit) { edit.drop_tables = {9}; }), "no table 9");
}

// A table may take the name that another one gives up in the same edit.
TEST(ManifestState, NamesChangeHandsInALargeEdit) {
  ManifestState state = fresh();
  ASSERT_TRUE(apply(state, whole_state()).ok());
  ManifestEdit rename = whole_state();
  rename.set_families.clear();
  rename.add_files.clear();
  rename.flushed.clear();
  rename.set_tables[0].name = "new";
  rename.set_tables[1].name = "t1";
  ASSERT_TRUE(apply(state, rename).ok());
  EXPECT_EQ(state.table_named("t1")->id, 2u);
  EXPECT_EQ(state.table_named("new")->id, 1u);
  EXPECT_EQ(state.table_named("t2"), nullptr);
}

// The edit says nothing of the next numbers.
TEST(ManifestState, NumbersInUseAreNotGivenOutAgain) {
  ManifestState state = fresh();
  ASSERT_TRUE(apply(state, whole_state()).ok());
  EXPECT_EQ(state.next_table_id, kTables + 1);
  EXPECT_EQ(state.next_family_id, kFamilies + 1);
  EXPECT_EQ(state.next_file_number, kFamilies + 1u);
}

TEST(ManifestState, AFamilyOfADroppedTableIsForgottenOnce) {
  ManifestState state = fresh();
  ASSERT_TRUE(apply(state, whole_state()).ok());
  ManifestEdit drop;
  drop.drop_families = {1};
  drop.drop_tables = {1};
  ASSERT_TRUE(apply(state, drop).ok());
  EXPECT_EQ(state.dropped_families.size(), kFamiliesEach);
  EXPECT_EQ(state.obsolete.size(), kFamiliesEach);
  drop.drop_tables.clear();
  EXPECT_FALSE(apply(state, drop).ok()) << "it is gone";
}

// ---- Sorted runs ----

std::string key_of_row(const std::string& row) {
  std::string key;
  append_be16(key, static_cast<uint16_t>(row.size()));
  return key + row;
}

// Returns a file of a run, with its rows.
FileRecord file_of(uint32_t number, uint64_t run, const std::string& first, const std::string& last) {
  FileRecord file;
  file.name = file_name(number);
  file.first_key = key_of_row(first);
  file.last_key = key_of_row(last);
  file.run = run;
  file.level = run != 0 ? 1 : 0;
  return file;
}

class FileOrder : public ::testing::Test {
 protected:
  FileOrder() {
    ManifestEdit edit;
    edit.set_tables.push_back({.id = 1, .name = "t"});
    edit.set_families.push_back({.table_id = 1, .id = 1, .name = "f"});
    // Two old runs, and two files that are runs of their own.
    for (const FileRecord& file :
         {file_of(2, 50, "e", "h"), file_of(1, 50, "a", "c"), file_of(3, 60, "b", "f"),
          file_of(4, 0, "a", "z"), file_of(5, 0, "a", "z")})
      edit.add_files.push_back({1, file});
    EXPECT_TRUE(apply(state_, edit).ok());
  }
  // Applies the edit to a copy. Returns the numbers of the files in their order, or the error.
  std::string after(const ManifestEdit& edit) const {
    ManifestState state = state_;
    if (const Status status = apply(state, edit); !status.ok()) return status.to_text();
    std::string text;
    for (const FileRecord& file : state.tables[0].families[0].files) {
      uint64_t number = 0;
      EXPECT_TRUE(parse_store_file_name(state.identity, file.name, number));
      text += std::to_string(number) + " ";
    }
    return text;
  }
  static ManifestEdit edit_of(std::vector<uint32_t> removed, std::vector<FileRecord> added) {
    ManifestEdit edit;
    for (const uint32_t number : removed) edit.remove_files.push_back({1, file_name(number)});
    for (FileRecord& file : added) edit.add_files.push_back({1, std::move(file)});
    return edit;
  }
  static ManifestEdit move_of(uint32_t number, uint64_t run) {
    ManifestEdit edit;
    edit.move_files.push_back({1, file_name(number), run, 2});
    return edit;
  }
  ManifestState state_ = fresh();
};

TEST_F(FileOrder, WorkIsAddedToTheTotals) {
  ManifestEdit edit;
  edit.work.push_back({1, {1, 2, 3, 4, 5, 6}});
  edit.work.push_back({1, {10, 20, 30, 40, 50, 60}});
  EXPECT_TRUE(apply(state_, edit).ok());
  EXPECT_TRUE(apply(state_, edit).ok());
  EXPECT_EQ(state_.tables[0].families[0].totals, (FamilyTotals{22, 44, 66, 88, 110, 132}));
  edit.work.push_back({77, {1}});
  EXPECT_TRUE(apply(state_, edit).is(Code::kInvalidArgument));
}

TEST_F(FileOrder, FilesJoinTheirRunByTheirRows) {
  EXPECT_EQ(after({}), "1 2 3 4 5 ");
  EXPECT_EQ(after(edit_of({}, {file_of(9, 50, "d", "d")})), "1 9 2 3 4 5 ");
  EXPECT_EQ(after(edit_of({4, 2}, {file_of(8, 50, "d", "d"), file_of(9, 50, "e", "z")})), "1 8 9 3 5 ");
}

TEST_F(FileOrder, ANewRunTakesThePlaceOfTheOldestRemovedFile) {
  EXPECT_EQ(after(edit_of({}, {file_of(9, 0, "a", "z")})), "1 2 3 4 5 9 ");
  EXPECT_EQ(after(edit_of({4, 5}, {file_of(8, 70, "n", "z"), file_of(9, 70, "a", "m")})), "1 2 3 9 8 ");
  EXPECT_EQ(after(edit_of({3, 4}, {file_of(9, 0, "a", "z")})), "1 2 9 5 ");
}

TEST_F(FileOrder, TheRestOfARunIsYoungerThanTheNewRun) {
  EXPECT_EQ(after(edit_of({2, 3}, {file_of(9, 70, "b", "h")})), "9 1 4 5 ");
  EXPECT_EQ(after(edit_of({3, 2}, {file_of(9, 70, "b", "h")})), "9 1 4 5 ");
}

TEST_F(FileOrder, FilesMove) {
  EXPECT_EQ(after(move_of(2, 80)), "2 1 3 4 5 ")
      << "to a new run, which is just older than the one it leaves";
  EXPECT_EQ(after(move_of(4, 80)), "1 2 3 4 5 ");
  ManifestEdit gap = edit_of({3}, {file_of(9, 60, "d", "d")});
  gap.move_files.push_back({1, file_name(9), 50, 2});
  EXPECT_EQ(after(gap), "1 9 2 4 5 ");
}

TEST_F(FileOrder, RunsWithCommonRowsAreRefused) {
  EXPECT_NE(after(edit_of({}, {file_of(9, 50, "c", "d")})).find("share rows"), std::string::npos);
  EXPECT_NE(after(edit_of({}, {file_of(9, 50, "g", "i")})).find("share rows"), std::string::npos);
  EXPECT_NE(after(move_of(3, 50)).find("share rows"), std::string::npos);
  EXPECT_NE(after(edit_of({}, {file_of(9, 90, "m", "b")})).find("has no rows"), std::string::npos);
  EXPECT_NE(after(move_of(3, 0)).find("without a number"), std::string::npos);
  EXPECT_NE(after(move_of(33, 50)).find("has no file"), std::string::npos);
}

// Few names are looked for one by one, many are sorted.
TEST_F(FileOrder, AFileThatIsThereTwiceIsRefused) {
  for (const uint32_t others : {0, 1, 3, 4, 20}) {
    std::vector<FileRecord> files;
    for (uint32_t i = 0; i < others; ++i) files.push_back(file_of(100 + i, 0, "a", "z"));
    EXPECT_EQ(after(edit_of({}, files)).find("twice"), std::string::npos) << others;
    files.push_back(file_of(3, 0, "a", "z"));  // the store has it
    EXPECT_NE(after(edit_of({}, files)).find("twice"), std::string::npos) << others;
    EXPECT_EQ(after(edit_of({3}, files)).find("twice"), std::string::npos) << others;
    files.back() = file_of(99, 0, "a", "z");
    files.push_back(files.back());  // the edit has it twice
    EXPECT_NE(after(edit_of({}, files)).find("twice"), std::string::npos) << others;
  }
}

}  // namespace
}  // namespace cellar::testing
