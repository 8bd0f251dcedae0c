// Traced operations: how each public operation becomes a record. Call these only while the scope is true. The
// scope of an operation on one row knows the row.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/action.h"
#include "cellar/batch.h"
#include "cellar/options.h"
#include "cellar/query.h"
#include "cellar/scanner.h"
#include "engine/trace/operation_recorder.h"

namespace cellar {

void trace_get(TraceScope& scope, TraceKind kind, std::string_view table, const Get& get,
               const TraceResults& results, Code code, uint8_t flags = 0);
// Several gets in a single operation; those of rows that are not sampled are left out.
void trace_gets(TraceScope& scope, TraceKind kind, std::string_view table, std::span<const Get> gets,
                const TraceResults& results, Code code);
void trace_mutation(TraceScope& scope, TraceKind kind, std::string_view table, const RowMutation& mutation,
                    const WriteOptions& options, Code code);
void trace_mutations(TraceScope& scope, std::string_view table, const RowMutations& mutations,
                     const WriteOptions& options, Code code);
void trace_check(TraceScope& scope, std::string_view table, const CheckAndMutate& check, bool matched,
                 const WriteOptions& options, Code code);
void trace_write(TraceScope& scope, const Batch& batch, const WriteOptions& options, Code code);
void trace_actions(TraceScope& scope, std::string_view table, std::span<const Action> actions,
                   std::span<const Result<ActionResult>> results, const WriteOptions& options);

// Returns a scanner that gives the rows of `inner` and records the scan when it ends. `inner` keeps the
// recorder alive. The scan takes from the beginning of the scope to its end, with the time of its caller.
std::unique_ptr<Scanner> trace_scan(TraceScope& scope, OperationRecorder& recorder, std::string_view table,
                                    const Scan& scan, std::unique_ptr<Scanner> inner, uint8_t flags = 0);

// TracedWrites: the writes of a transaction, kept until its commit. One thread at a time.
class TracedWrites {
 public:
  // Adds a mutation, unless nothing is being recorded.
  void add(OperationRecorder& recorder, TraceEntryKind kind, std::string_view table,
           const RowMutation& mutation);
  // Records the commit. Without writes that were sampled, nothing is recorded.
  void commit(TraceScope& scope, const std::optional<Durability>& durability, Code code);

 private:
  std::shared_ptr<TraceSession> session_;  // of the entries
  std::string entries_;
  size_t count_ = 0;
};

}  // namespace cellar
