// The tests of compactions in parts share a listener that checks outputs, random writes, and the list of a
// store's files on disk.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "base/random.h"
#include "cellar/cellar.h"
#include "tests/engine/engine_fixture.h"

namespace cellar::testing {

// PartsWatcher: counts compactions and their parts. The files of each output must be one run, ascending by
// rows.
class PartsWatcher final : public EventListener {
 public:
  size_t most_parts() const { return locked(most_parts_); }
  // Compactions that wrote their output in more than one part.
  int in_parts() const { return locked(in_parts_); }
  // Compactions in more than one part that did not end well.
  int failed_in_parts() const { return locked(failed_in_parts_); }
  int merges() const { return locked(merges_); }

 private:
  template <class Value>
  Value locked(const Value& value) const {
    const std::lock_guard lock(mutex_);
    return value;
  }
  void on_compaction_progress(const CompactionInfo& info) override {
    EXPECT_LE(info.cells_done, info.cells_in);
  }
  void on_compaction_end(const CompactionInfo& info) override {
    if (info.moved || info.dropped) return;
    const std::lock_guard lock(mutex_);
    if (!info.status.ok()) {
      failed_in_parts_ += info.parts > 1 ? 1 : 0;
      return;
    }
    ++merges_;
    in_parts_ += info.parts > 1 ? 1 : 0;
    most_parts_ = std::max(most_parts_, info.parts);
    uint64_t cells = 0;
    for (size_t i = 0; i < info.outputs.size(); ++i) {
      const StoreFileInfo& file = info.outputs[i];
      cells += file.cells;
      EXPECT_LE(file.first_row, file.last_row);
      if (i == 0) continue;
      EXPECT_LT(info.outputs[i - 1].last_row, file.first_row);
      EXPECT_EQ(info.outputs[i - 1].run, file.run);
      EXPECT_NE(file.run, 0u);
    }
    EXPECT_EQ(cells, info.cells_out);
  }

  mutable std::mutex mutex_;
  size_t most_parts_ = 1;
  int in_parts_ = 0;
  int failed_in_parts_ = 0;
  int merges_ = 0;
};

// The policies that make runs of several files, with files so small that a few rows are enough.
inline const std::vector<std::string>& policies_with_parts() {
  static const std::vector<std::string> all = {
      "leveled(fanout=3, base_bytes=16k, file_bytes=2k, runs_min=2)",
      "leveled(fanout=3, base_bytes=16k, file_bytes=500, runs_min=2)",
      "lazy_leveled(runs=2, file_bytes=2k)",
      "tiered(runs=2, file_bytes=2k)",
      "unified(file_bytes=2k, base_bytes=8k)",
      "stripe(stripes=6, split_bytes=64k, level0_files_min=2, files_min=2)"};
  return all;
}

inline std::string part_row(uint64_t number) { return "row" + std::to_string(1000 + number); }

// A random put or delete of any kind, in one of `rows` rows, of family f.
inline Status random_write(Table& table, Random& random, uint64_t rows, int64_t now_ms) {
  const std::string row = part_row(random.below(rows));
  const std::string column = "q" + std::to_string(random.below(3));
  const int64_t timestamp = now_ms - static_cast<int64_t>(random.below(3000));
  switch (random.below(12)) {
    case 0:
      return table.erase(Delete(row));
    case 1:
      return table.erase(Delete(row).column("f", column, timestamp));
    case 2:
      return table.erase(Delete(row).version("f", column, timestamp));
    case 3:
      return table.erase(Delete(row).family_version("f", timestamp));
    case 4:
      return table.erase(Delete(row).latest_version("f", column));
    case 5:
      return table.put(
          Put(row).add("f", column, "short-lived").ttl_ms(static_cast<int64_t>(1 + random.below(4000))));
    case 6:
    case 7:
      return table.put(Put(row).add_at("f", column, timestamp, std::to_string(random.below(1000))));
    default:
      return table.put(
          Put(row).add("f", column, std::string(random.below(60), 'v') + std::to_string(random.below(1000))));
  }
}

// The names of the store files of the first table's family f on disk, in order.
inline std::vector<std::string> files_on_disk(FileSystem& files, const Table& table) {
  const std::string path = "store/tables/" + std::to_string(table.info().id) + "/f";
  std::vector<std::string> names;
  const auto directory = files.open_directory(path, false);
  EXPECT_OK(directory.status());
  if (!directory.ok()) return names;
  const auto entries = (*directory)->list();
  EXPECT_OK(entries.status());
  if (!entries.ok()) return names;
  for (const DirectoryEntry& each : *entries) names.push_back(each.name);
  std::ranges::sort(names);
  return names;
}

// The names of the files that the family has, in order.
inline std::vector<std::string> files_of(const Table& table) {
  std::vector<std::string> names;
  const TableInfo info = table.info();
  for (const StoreFileInfo& each : info.families.at(0).files) names.push_back(each.name);
  std::ranges::sort(names);
  return names;
}

}  // namespace cellar::testing
