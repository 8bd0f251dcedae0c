// Named snapshots as records and sentences.
#include "tools/store/snapshot_list.h"

#include <fmt/format.h>

#include "base/bytes.h"

namespace cellar {

void print_snapshots(Session& session, const std::vector<NamedSnapshotInfo>& snapshots) {
  Records records(session.out(), session.format(), "cellar.snapshot/1", "snapshots");
  for (const NamedSnapshotInfo& each : snapshots) {
    records.text("snapshot", each.name);
    if (!each.status.ok() && session.format() == Format::kTable)
      records.text("tables", each.status.to_text());
    else
      records.list("tables", each.checkpoint.tables, ",");
    records.time("created", each.checkpoint.created_ms).count("sequence", each.checkpoint.sequence);
    records.count("files", each.checkpoint.files).size("bytes", each.checkpoint.bytes);
    if (session.format() != Format::kTable)
      records.text("error", each.status.ok() ? "" : each.status.to_text());
    records.add();
  }
  records.finish();
}

std::string size_text(const CheckpointInfo& checkpoint) {
  return fmt::format("{}, {}, {} (of them {} shared with the store)",
                     counted(checkpoint.tables.size(), "table"), counted(checkpoint.files, "file"),
                     human_bytes(checkpoint.bytes), human_bytes(checkpoint.bytes_shared));
}

}  // namespace cellar
