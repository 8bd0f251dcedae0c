// Named snapshots as records and sentences.
#include "tools/store/snapshot_list.h"

#include <fmt/format.h>

#include "base/bytes.h"

namespace cellar {

void print_snapshots(Session& session, const std::vector<CheckpointInfo>& snapshots) {
  Records records(session.out(), session.format(), "cellar.snapshot/1", "snapshots");
  for (const CheckpointInfo& each : snapshots) {
    records.text("snapshot", each.name);
    if (!each.status.ok() && session.format() == Format::kTable)
      records.text("tables", each.status.to_text());
    else
      records.list("tables", each.tables, ",");
    records.time("created", each.created_ms).count("sequence", each.sequence);
    records.count("files", each.files).size("bytes", each.bytes);
    if (session.format() != Format::kTable)
      records.text("error", each.status.ok() ? "" : each.status.to_text());
    records.add();
  }
  records.finish();
}

std::string size_text(const CheckpointInfo& checkpoint) {
  return fmt::format("{}, {}, {} (of them {} linked)", counted(checkpoint.tables.size(), "table"),
                     counted(checkpoint.files, "file"), human_bytes(checkpoint.bytes),
                     human_bytes(checkpoint.bytes_shared));
}

}  // namespace cellar
