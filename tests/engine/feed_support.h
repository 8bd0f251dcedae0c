// Helpers of the tests of feeds: an entry as text.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cellar/cellar.h"

namespace cellar::testing {

// "3: t/row/f:q/5/Put=value, …", or "4: t/f took in 2 cells".
inline std::string entry_text(const FeedEntry& entry) {
  std::string text = std::to_string(entry.sequence) + ":";
  for (const auto& [table, cell] : entry.cells)
    text += " " + std::string(table) + "/" + std::string(cell.row()) + "/" + std::string(cell.family()) +
            ":" + std::string(cell.qualifier()) + "/" + std::to_string(cell.timestamp) + "/" +
            std::string(type_name(cell.type())) + "=" + std::string(cell.value_bytes());
  for (const IngestFile& each : entry.files)
    text += " " + each.table + "/" + each.family + " took in " + std::to_string(each.cells) + " cells";
  return text;
}

// All that there is now, or up to `most` entries.
inline std::vector<std::string> read_all(FeedReader& reader, size_t most = SIZE_MAX) {
  std::vector<std::string> texts;
  while (texts.size() < most) {
    const auto entry = reader.next();
    EXPECT_TRUE(entry.ok()) << entry.status().to_text();
    if (!entry.ok() || *entry == nullptr) break;
    EXPECT_EQ((*entry)->sequence, reader.position());
    texts.push_back(entry_text(**entry));
  }
  return texts;
}

// Does to other tables, of the same names, what the feed says.
inline Status follow(FeedReader& reader, Engine& replica) {
  for (;;) {
    CELLAR_TRY_ASSIGN(const FeedEntry* entry, reader.next());
    if (entry == nullptr) return {};
    Batch batch;
    for (const auto& [name, cell] : entry->cells) {
      CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, replica.open_table(std::string(name)));
      batch.cell(table, cell);
    }
    CELLAR_TRY(replica.write(batch));
  }
}

}  // namespace cellar::testing
