// Reading the log of a store as its manifest knows it, and families in its records.
#pragma once

#include <functional>
#include <vector>

#include "engine/log/wal_reader.h"
#include "engine/manifest/manifest.h"
#include "engine/store/world.h"

namespace cellar {

// Reads the log of the store in `root`, whose manifest has `state`. If `held` is not null, it is this log. If
// `from` is not null, reads only what follows it, as read_log_from(). A store without a log, which an
// interrupted creation or a named snapshot leaves, has an empty summary that is not clean. Errors: as
// read_log(); kCorruption if the log is missing.
Result<LogSummary> replay_log(const World& world, Directory& root, const ManifestState& state, LogFiles* held,
                              const LogEnd* from, const std::function<Status(const LogRecord&)>& visit);

// Returns where the record is, for errors.
std::string place_of(const LogRecord& record);
// The error of a record that names a family which the manifest does not know.
Status unknown_family_in_log(const LogRecord& record, uint32_t family);

// A reader's log belongs to its manifest: each record tells the last edit that was durable before it. But
// Engine::resume() gives up an edit whose sync failed, and its number counts again in the next generation.
// Errors: kConflict if CURRENT no longer names `generation`; kCorruption if the manifest does not have
// LogSummary::later_edit now.
Status check_manifest(Directory& root, const Manifest& manifest, uint64_t generation,
                      const ManifestState& state, const LogSummary& log);

}  // namespace cellar
