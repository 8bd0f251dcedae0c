// Reads whole traces in tests, and shows operations as texts.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/trace/trace_reader.h"

namespace cellar::testing {

struct WholeTrace {
  TraceHeader header;
  std::vector<TraceOperation> operations;  // in the order of the file
  TraceEnding ending;
  Status status;
};

inline WholeTrace read_trace(FileSystem& files, const std::string& path) {
  WholeTrace trace;
  Result<TraceReader> reader = TraceReader::open(files, path);
  trace.status = reader.status();
  if (!reader.ok()) return trace;
  trace.header = reader->header();
  TraceChunk chunk;
  while (true) {
    const Result<bool> more = reader->next(chunk);
    trace.status = more.status();
    if (!more.ok() || !*more) break;
    TraceRecords records(reader->header(), chunk);
    TraceOperation operation;
    while (true) {
      const Result<bool> any = records.next(operation);
      if (!any.ok()) trace.status = any.status();
      if (!any.ok() || !*any) break;
      trace.operations.push_back(operation);
    }
  }
  trace.ending = reader->ending();
  return trace;
}

inline std::string columns_text(const std::vector<TraceColumn>& columns) {
  std::string text;
  for (const TraceColumn& each : columns) {
    text += " " + each.family + ":" + (each.whole_family ? "*" : each.qualifier.bytes);
    if (each.value_bytes != 0) text += "=" + std::to_string(each.value_bytes);
    if (each.timestamp) text += "@" + std::to_string(*each.timestamp);
    if (each.latest_version) text += "!";
    if (is_delete(each.type)) text += "-" + std::string(type_name(each.type));
  }
  return text;
}

// "put t/row d:q=5": the kind, then each entry with its columns, then what was read.
inline std::string text_of(const TraceOperation& operation) {
  static constexpr const char* kEntries[] = {"",          "get",    "put",  "erase",
                                             "increment", "append", "cell", "check"};
  std::string text = std::string(operation.in_transaction ? "transaction " : "") +
                     std::string(trace_kind_name(operation.kind));
  if (operation.kind == TraceKind::kScan) {
    const TraceScan& scan = operation.scan;
    text += " " + scan.table + "/" + scan.start.bytes + ".." + scan.stop.bytes;
    if ((scan.flags & kTraceReversed) != 0) text += " reversed";
    if ((scan.flags & kTracePrefix) != 0) text += " prefix";
    for (const auto& [start, stop] : scan.ranges) text += " [" + start.bytes + ".." + stop.bytes + ")";
    if (scan.limit != 0) text += " limit " + std::to_string(scan.limit);
    text += columns_text(scan.columns);
  }
  for (const TraceEntry& each : operation.entries) {
    if (operation.entries.size() > 1) text += std::string(" | ") + kEntries[static_cast<int>(each.kind)];
    text += " " + each.table + "/" + each.row.bytes + columns_text(each.columns);
    if (each.kind == TraceEntryKind::kCheck) text += each.matched ? " matched" : " failed";
  }
  if (!operation.table.empty() || !operation.family.empty())
    text += " " + operation.table + "/" + operation.family;
  if (operation.rows != 0)
    text += " -> " + std::to_string(operation.rows) + " rows " + std::to_string(operation.cells) + " cells";
  if (operation.durability) text += " " + std::string(durability_name(*operation.durability));
  if (operation.code != Code::kOk) text += " " + std::string(code_name(operation.code));
  return text;
}

inline std::vector<std::string> texts_of(const WholeTrace& trace) {
  std::vector<std::string> texts;
  for (const TraceOperation& each : trace.operations) texts.push_back(text_of(each));
  return texts;
}

}  // namespace cellar::testing
