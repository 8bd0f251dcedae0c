// The figures of a trace and of a replay, for people and for programs.
#pragma once

#include <string>

#include "tools/frame/output.h"
#include "tools/trace/replay.h"
#include "tools/trace/trace_summary.h"

namespace cellar {

// TraceInfo: everything that `cellar trace info` shows.
struct TraceInfo {
  std::string path;
  uint64_t file_bytes = 0;
  TraceHeader header;
  TraceEnding ending;
  TraceSummary summary;
  size_t top = 10;  // rows that are listed
};

// Prints the figures as text, or as a JSON document ("cellar.trace.info/1").
void print_trace_info(Output& out, Format format, const TraceInfo& info);
// Returns how a trace ended, in a sentence without a full stop.
std::string ending_text(const TraceEnding& ending);

// Prints a replay: one record for each kind, with its times and those that were recorded, in microseconds.
// `target` names what the trace was replayed on.
void print_replay(Output& out, Format format, const std::string& target, const ReplayReport& report);
// Returns the figures of the whole replay in one line for people.
std::string replay_text(const std::string& target, const ReplayReport& report);

}  // namespace cellar
