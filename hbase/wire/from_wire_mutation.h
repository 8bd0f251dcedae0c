// Writes of HBase's messages as those of Cellar.
#pragma once

#include <cstdint>

#include "cellar/check_and_mutate.h"
#include "cellar/mutation.h"
#include "cellar/options.h"
#include "cellar/status.h"

namespace cellar::hbase::wire {

class CellBlockReader;
class Condition;
class WireMutation;

// ReadMutation: a mutation of a message, and how it is to be written. `nonce` is 0 if the client sent none.
struct ReadMutation {
  RowMutations::Mutation mutation;
  WriteOptions options;
  uint64_t nonce = 0;
};

// Makes a mutation of a message of untrusted bytes. The cells that the message counts are taken from
// `cells`. kInvalidArgument for a message without meaning, kCorruption for a damaged cell block. The table
// checks families and sizes.
Result<ReadMutation> from_wire_mutation(const WireMutation& mutation, CellBlockReader& cells);
// Takes the cells of a mutation that is not applied off `cells`, so that those of the next one follow.
Status skip_cells(const WireMutation& mutation, CellBlockReader& cells);
// Returns the row of a mutation.
std::string_view row_of(const RowMutations::Mutation& mutation);

// Makes a check without its change. kNotSupported for a comparator other than BinaryComparator, which HBase's
// clients send.
Result<CheckAndMutate> from_wire_condition(const Condition& condition);

}  // namespace cellar::hbase::wire
