// Helpers of the tests of the manifest: a state with every field set, and random edits that fit.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "engine/manifest/manifest.h"
#include "tests/engine/wal_support.h"

namespace cellar::testing {

inline FileRecord some_file(uint64_t number) {
  FileRecord file;
  file.name = store_file_name(kTestIdentity, number);
  file.bytes = 1000 + number;
  file.cells = number * 3;
  file.puts = number * 2;
  file.deletes = number;
  file.family_deletes = number / 2;
  file.version_deletes = number / 3;
  file.first_key = key_of(number);
  file.last_key = key_of(number + 1);
  file.time_min = -static_cast<int64_t>(number);
  file.time_max = INT64_MAX - static_cast<int64_t>(number);
  file.earliest_put = INT64_MIN + 1;
  file.sequence_min = number * 10;
  file.sequence_max = kCountMax - 1 - number;
  file.created_ms = 1'700'000'000'000;
  file.rewritten_at = number * 7;
  file.trailer_crc = 0xdeadbeef;
  file.major = number % 2 == 1;
  file.adopted_as = number % 3 == 0 ? number * 10 + 1 : 0;
  file.encoding = "fast_diff";
  file.compression = "gz";
  return file;
}

// A file of a run, with one row: that of its number.
inline FileRecord file_of_run(uint64_t number, uint64_t run) {
  FileRecord file = some_file(number);
  file.first_key = file.last_key = key_of(1'000'000 + number);
  file.run = run;
  file.level = 2;
  return file;
}

inline ManifestState full_state() {
  ManifestState state;
  state.identity = kTestIdentity;
  state.edit = 5;
  state.next_table_id = 12;
  state.next_family_id = 40;
  state.next_file_number = 700;
  state.tables.push_back({3, "users", {.durability = Durability::kFsyncWal}, {}});
  state.tables.push_back({4,
                          std::string("odd\0name", 8),
                          {.read_only = true, .compaction_enabled = false, .memtable_bytes = 9999},
                          {}});
  state.tables[0].families.push_back(
      {9, "f", {{"max_versions", "3"}, {"ttl_s", "86400"}}, 55, {some_file(1), some_file(2)}});
  state.tables[0].families.push_back({8, "g", {}, 0, {some_file(3)}});
  state.tables[0].families.push_back(
      {7, "runs", {}, 0, {file_of_run(10, 10), file_of_run(13, 10), file_of_run(11, 11), some_file(14)}});
  state.tables[1].families.push_back({10, "f", {{"bloom", ""}}, kCountMax - 1, {}});
  state.dropped_families = {2, 5};
  state.last_sequence = 1'000'000'000'000;
  state.wall_ms = -4;
  state.doubted_ms = 1'800'000'000'000;
  state.log_start = 17;
  state.log_synced = {18, 4096, 99, 0};
  state.clean_close = {18, 8192, 120, 0xabcdef01};
  state.sealed = {{17, 300}, {20, 9}};
  state.obsolete = {{3, "f", store_file_name(kTestIdentity, 99), 12},
                    {1, "gone", store_file_name(kTestIdentity, 98), 0}};
  state.feeds.feeds = {{3, "all", 77, 1 << 30, false, {}},
                       {5, "some", 1000, 1 << 20, false, {{"users", {"f", "g"}}, {"odd", {}}}},
                       {9, "lost", 5, 1 << 20, true, {{"gone", {}}}}};
  state.feeds.retained = {{11, 60'000, 80}, {14, 65'000, 990}};
  state.feeds.dropped = {{5, "gone", "f", 90}, {2, "gone", "", 91}};
  state.feeds.unlogged = {{78, 9, store_file_name(kTestIdentity, 2), 1 << 20, 12}};
  return state;
}

// EditMaker: random edits that fit the state they are made for.
class EditMaker {
 public:
  explicit EditMaker(uint64_t seed) : random_(seed) {}

  ManifestEdit next(const ManifestState& state) {
    ManifestEdit edit;
    if (state.tables.empty() || random_.one_in(12)) {
      const uint32_t table = state.next_table_id, family = state.next_family_id;
      edit.set_tables.push_back({table, "t" + std::to_string(table), {}, {}});
      edit.set_tables.back().options = {.durability = Durability::kAsyncWal, .read_only = table % 2 == 0};
      edit.set_families.push_back({table, family, "f", {{"max_versions", "2"}}});
      edit.set_families.push_back({table, family + 1, "g", {}});
      return edit;
    }
    const TableRecord& table = state.tables[random_.below(state.tables.size())];
    if (table.families.empty() || random_.one_in(30)) {
      edit.drop_tables.push_back(table.id);
      return edit;
    }
    const FamilyRecord& family = table.families[random_.below(table.families.size())];
    if (random_.one_in(25)) {
      edit.drop_families.push_back(family.id);
      return edit;
    }
    if (random_.one_in(10)) edit.set_families.push_back({table.id, family.id, family.name, {{"ttl_s", "9"}}});
    if (random_.one_in(10)) edit.forget_obsolete = state.obsolete;
    if (random_.one_in(10)) edit.forget_dropped = state.dropped_families;
    for (const FileRecord& file : family.files) {
      if (random_.one_in(3)) edit.remove_files.push_back({family.id, file.name});
    }
    for (uint64_t i = random_.below(3); i > 0; --i) {
      edit.add_files.push_back({family.id, some_file(state.next_file_number + i)});
    }
    add_runs(state, family, edit);
    edit.flushed.push_back({family.id, state.edit * 10});
    if (!random_.one_in(3))
      edit.work.push_back({family.id, {.bytes_put = 1 + random_.below(1000), .flushes = random_.below(2)}});
    edit.last_sequence = state.edit * 10;
    edit.wall_ms = static_cast<int64_t>(state.edit);
    edit.doubted_ms = random_.one_in(2) ? 0 : static_cast<int64_t>(state.edit) + 7;
    if (random_.one_in(4)) edit.log_start = state.log_start + random_.below(3);
    if (random_.one_in(4)) edit.log_synced = LogPosition{state.log_start, 200, 0, 0};
    if (random_.one_in(4)) edit.clean_close = LogPosition{state.log_start, 300, state.edit, 7};
    if (random_.one_in(4)) edit.seal.push_back({state.log_start + random_.below(5), 100});
    add_feeds(state, edit.feeds);
    return edit;
  }

 private:
  // Sometimes a new run of two files, a file for the run that came last, and a file that moves.
  void add_runs(const ManifestState& state, const FamilyRecord& family, ManifestEdit& edit) {
    const uint64_t number = state.next_file_number;
    if (random_.one_in(4))
      for (const uint64_t i : {7, 6}) edit.add_files.push_back({family.id, file_of_run(number + i, number)});
    if (!family.files.empty() && family.files.back().run != 0 && random_.one_in(2))
      edit.add_files.push_back({family.id, file_of_run(number + 8, family.files.back().run)});
    const auto stays = [&](const FileRecord& file) {
      return std::ranges::find(edit.remove_files, file.name, &ManifestEdit::FileName::name) ==
             edit.remove_files.end();
    };
    const auto file = std::ranges::find_if(
        family.files, [&](const FileRecord& each) { return each.run != 0 && stays(each); });
    if (file != family.files.end() && random_.one_in(3))
      edit.move_files.push_back({family.id, file->name, number + 9, 3});
  }
  void add_feeds(const ManifestState& state, FeedEdit& edit) {
    const FeedBook& book = state.feeds;
    if (random_.one_in(8))
      edit.add.push_back({state.edit + 1,
                          "feed" + std::to_string(state.edit),
                          state.edit * 10,
                          1 << 20,
                          false,
                          {{"t", {"f"}}}});
    if (!book.feeds.empty()) {
      const FeedRecord& feed = book.feeds[random_.below(book.feeds.size())];
      if (random_.one_in(9)) edit.drop.push_back(feed.id);
      if (edit.drop.empty() && random_.one_in(3)) edit.acknowledge.push_back({feed.id, state.edit * 10});
      if (random_.one_in(9)) edit.lose.push_back(feed.id);
    }
    const uint64_t newest = book.retained.empty() ? 0 : book.retained.back().id;
    if (random_.one_in(4)) edit.retain.push_back({newest + 1, 500, state.edit * 10});
    if (random_.one_in(6)) edit.release_before = newest;
  }

  Random random_;
};

}  // namespace cellar::testing
