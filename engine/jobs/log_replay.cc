// replay_log: a log may be absent only where the manifest knows of no write.
#include "engine/jobs/log_replay.h"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "base/assert.h"
#include "engine/log/directory.h"

namespace cellar {

Result<LogSummary> replay_log(const World& world, Directory& root, const ManifestState& state,
                              const LogEnd* from, const std::function<Status(const LogRecord&)>& visit) {
  CELLAR_ASSERT(from == nullptr || from->position.segment != 0);
  const auto wal = open_wal_directory(root, false);
  if (wal.status().is(Code::kNotFound)) {
    // A creation that was interrupted leaves no log directory. A store that was written to later has lost its
    // log.
    if (state.log_facts().synced.segment != 0 || state.clean_close.segment != 0)
      return Status::corruption("the directory wal is missing, and acknowledged writes with it")
          .at(world.path + "/wal");
    return LogSummary();
  }
  CELLAR_TRY(wal.status());
  LogFacts facts = state.log_facts(world.files.boot_identity());
  facts.tolerate_torn = world.options.tolerate_torn_log;
  return from == nullptr ? read_log(**wal, facts, visit) : read_log_from(**wal, facts, *from, visit);
}

std::string place_of(const LogRecord& record) {
  CELLAR_ASSERT(record.segment != 0);
  return fmt::format("wal/{}: offset {}", segment_name(record.segment), record.offset);
}

Status unknown_family_in_log(const LogRecord& record, uint32_t family) {
  return Status::corruption(fmt::format("the log names family {}, which the manifest does not know", family))
      .at(place_of(record));
}

Status check_generation(Directory& root, uint64_t generation) {
  CELLAR_TRY_ASSIGN(const Current current, read_current(root));
  if (current.generation == generation) return {};
  return Status::conflict("another process replaced the manifest while this one read the store")
      .at(root.path())
      .hinting("open the store again");
}

}  // namespace cellar
