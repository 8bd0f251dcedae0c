// Results of Cellar as messages and cell blocks of HBase.
#pragma once

#include <cstddef>
#include <string>

#include "cellar/row_batch.h"

namespace cellar::hbase::wire {

class WireResult;

// Append the cells of a row to a cell block. Return their number.
size_t append_row(std::string& block, const RowView& row);
size_t append_row(std::string& block, const Row& row);
// Adds the cells of a row to a message, for answers whose cells do not travel in a cell block.
void to_wire_result(const Row& row, WireResult& result);
void to_wire_result(const RowView& row, WireResult& result);

}  // namespace cellar::hbase::wire
