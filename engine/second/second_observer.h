// SecondObserver: adds to each write of a source what changes in one of its second tables.
#pragma once

#include <string>
#include <utility>

#include "cellar/observer.h"
#include "engine/second/second_definition.h"

namespace cellar {

// Compares the row before and after the write. So every kind of write and delete is followed alike.
class SecondObserver final : public Observer {
 public:
  SecondObserver(std::string table, SecondDefinition definition)
      : table_(std::move(table)), definition_(std::move(definition)) {}

  // Errors: those of SecondDefinition::rows_of; kConflict if the second table was dropped meanwhile.
  Status before_write(const RowView& row, ObserverContext& context) override;

 private:
  const std::string table_;  // the second one
  const SecondDefinition definition_;
};

// The timestamp of all cells and markers of second tables: the order of the sequences alone decides. With
// times of the clock, a key could outlive its marker: after a step back, or when a build meets a writer.
inline constexpr int64_t kSecondTimestamp = 1;

// Returns what is missing of a row of a second table, of which `before` is there; null: nothing is.
Put second_row_put(std::string_view key, const SecondRows::Cells& after, const SecondRows::Cells* before);

}  // namespace cellar
