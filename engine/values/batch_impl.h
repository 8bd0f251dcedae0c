// What a Batch holds, for the write path.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "cell/cell_codec.h"
#include "cellar/batch.h"

namespace cellar {

struct Batch::Entry {
  std::shared_ptr<Table> table;
  std::variant<Put, Delete, Increment, Append, Cell> change;
};

struct Batch::Impl {
  std::vector<Entry> entries;
  size_t bytes = 0;
};

}  // namespace cellar
