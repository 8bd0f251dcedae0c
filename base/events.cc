// The events of an engine as lines of text for people.
#include "cellar/events.h"

#include "base/bytes.h"

namespace cellar {

namespace {

std::string place_of(const std::string& table, const std::string& family) { return table + "/" + family; }

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string plural(uint64_t count, const char* one, const char* many) {
  return human_count(count) + " " + (count == 1 ? one : many);
}

}  // namespace

std::string to_text(const FlushInfo& info) {
  std::string text = "flush " + place_of(info.table, info.family) + ": ";
  if (!info.status.ok()) return text + "failed: " + info.status.to_text();
  if (info.file.empty() && info.micros == 0)
    return text + "begins, " + plural(info.cells_in, "cell", "cells");
  text += plural(info.cells_in, "cell", "cells") + " in, " + human_count(info.cells_out) + " out";
  text += info.file.empty() ? ", no file" : ", " + human_bytes(info.bytes_out) + " in " + info.file;
  return text + ", " + human_micros(info.micros);
}

std::string to_text(const CompactionInfo& info) {
  std::string text =
      std::string(info.major ? "major" : "minor") + " compaction " + place_of(info.table, info.family) + ": ";
  if (!info.status.ok()) return text + "failed: " + info.status.to_text();
  const bool has_dropped = info.dropped && info.bytes_in != 0;
  if (info.outputs.empty() && info.micros == 0 && !has_dropped) {
    text += "begins, " + plural(info.inputs.size(), "file", "files") + " (" + joined(info.inputs) + ")";
    return info.why.empty() ? text : text + ": " + info.why;
  }
  if (info.dropped)
    return text + plural(info.inputs.size(), "file", "files") + " dropped, " +
           plural(info.cells_in, "cell", "cells") + ", " + human_bytes(info.bytes_in) + ": " + info.why;
  if (info.moved)
    return text + plural(info.inputs.size(), "file", "files") + " moved to level " +
           std::to_string(info.outputs.empty() ? 0 : info.outputs.front().level) + ": " + info.why;
  text += plural(info.inputs.size(), "file", "files") + ", " + plural(info.cells_in, "cell", "cells") +
          " in, " + human_count(info.cells_out) + " out, " + human_bytes(info.bytes_in) + " to " +
          human_bytes(info.bytes_out);
  if (info.outputs.size() > 1)
    text += " in " + plural(info.outputs.size(), "file", "files") + " from " + info.outputs.front().name;
  else
    text += info.outputs.empty() ? ", no file" : " in " + info.outputs.front().name;
  if (info.parts > 1) text += ", in " + plural(info.parts, "part", "parts");
  return text + ", " + human_micros(info.micros);
}

std::string to_text(const IngestInfo& info) {
  std::string text = "ingest " + info.table + ": " + plural(info.files.size(), "file", "files") + ", " +
                     plural(info.cells, "cell", "cells") + ", " + human_bytes(info.bytes);
  if (info.sequence != 0) text += ", as write " + std::to_string(info.sequence);
  for (const IngestTie& tie : info.ties)
    text += ", " + tie.winner + " wins over " + tie.loser +
            " although their sequences do not decide it, at cell " + tie.cell;
  return text + ", " + human_micros(info.micros);
}

std::string to_text(const RecoveryReport& info) {
  std::string text = info.clean ? "opened after a clean close: " : "recovered: ";
  text += plural(info.segments_read, "log segment", "log segments") + ", " +
          plural(info.records_replayed, "record", "records") + ", " +
          plural(info.cells_replayed, "cell", "cells") + " replayed";
  if (info.cells_skipped > 0) text += ", " + human_count(info.cells_skipped) + " already stored";
  if (info.torn_bytes > 0) text += ", " + human_bytes(info.torn_bytes) + " of a torn tail left out";
  if (info.orphans_removed > 0) {
    text += ", " + plural(info.orphans_removed, "leftover file", "leftover files") + " removed";
  }
  return text + ", " + human_micros(info.micros);
}

}  // namespace cellar
