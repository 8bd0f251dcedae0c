// Goal: an edit takes time in proportion to itself and the state, not to their product. It does the same with
// many changes, which share an index, as with few, and keeps numbers in use from being given out again.
// Method: the tests count how often an edit looks at tables and families, and compare large edits with the
// same changes made one at a time.
#include <gtest/gtest.h>

#include <string>

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

}  // namespace
}  // namespace cellar::testing
