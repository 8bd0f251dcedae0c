// Cellar's side of the comparison of two clients of one cluster.
#pragma once

#include <cstdint>
#include <string>

#include "cellar/status.h"

namespace cellar::interop {

// Measures once for each line of standard input, on the table of `rows` rows. Prints a JSON line for
// each kind of operation, and then "done". ClientBench.java does the same with HBase's client.
Status measure_client(const std::string& cluster, const std::string& table, uint64_t rows);

// Opens the cluster and reads one row, which must be there: what a program does at its start.
Status read_first(const std::string& cluster, const std::string& table);

}  // namespace cellar::interop
