// replay_log: a log may be absent only where the manifest knows of no write.
#include "engine/jobs/log_replay.h"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "base/assert.h"
#include "engine/log/directory.h"

namespace cellar {

Result<LogSummary> replay_log(const World& world, Directory& root, const ManifestState& state, LogFiles* held,
                              const LogEnd* from, const std::function<Status(const LogRecord&)>& visit) {
  CELLAR_ASSERT(from == nullptr || from->position.segment != 0);
  LogFacts facts = state.log_facts(world.files.boot_identity());
  facts.tolerate_torn = world.options.tolerate_torn_log;
  const auto read = [&](LogFiles& log) {
    return from == nullptr ? read_log(log, facts, visit) : read_log_from(log, facts, *from, visit);
  };
  if (held != nullptr) return read(*held);
  const auto wal = open_wal_directory(root, false);
  if (wal.status().is(Code::kNotFound)) {
    // A creation that was interrupted leaves no log directory. A store that was written to later has lost its
    // log.
    if (facts.synced.segment != 0 || facts.clean_close.segment != 0)
      return Status::corruption("the directory wal is missing, and acknowledged writes with it")
          .at(world.path + "/wal");
    return LogSummary();
  }
  CELLAR_TRY(wal.status());
  LogFiles log(**wal);
  return read(log);
}

std::string place_of(const LogRecord& record) {
  CELLAR_ASSERT(record.segment != 0);
  return fmt::format("wal/{}: offset {}", segment_name(record.segment), record.offset);
}

Status unknown_family_in_log(const LogRecord& record, uint32_t family) {
  return Status::corruption(fmt::format("the log names family {}, which the manifest does not know", family))
      .at(place_of(record));
}

Status check_manifest(Directory& root, const Manifest& manifest, uint64_t generation,
                      const ManifestState& state, const LogSummary& log) {
  CELLAR_ASSERT(log.later_edit == 0 || log.later_edit > state.edit);
  CELLAR_TRY_ASSIGN(const Current current, read_current(root));
  if (current.generation == generation && log.later_edit == 0) return {};
  if (current.generation == generation) {
    CELLAR_TRY_ASSIGN(const ManifestNews news, manifest.look_for_news());
    const uint64_t edit = news.state != nullptr ? news.state->edit : state.edit;
    if (edit >= log.later_edit) return {};
    return manifest_is_short(edit, log.later_edit, log.end.segment, log.end.offset);
  }
  return Status::conflict("another process replaced the manifest while this one read the store")
      .at(root.path())
      .hinting("open the store again");
}

}  // namespace cellar
