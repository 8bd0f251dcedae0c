// Manifest edits as bytes: a list of changes, each a tag, a length and fields. manifest.cc writes and reads
// them.
#pragma once

#include <string>
#include <string_view>

#include "cellar/status.h"
#include "engine/manifest/manifest_state.h"

namespace cellar {

// The payload of an EDIT record.
std::string encode_edit(const ManifestEdit& edit);
// The payload of the first record of a generation: the whole state.
std::string encode_snapshot(const ManifestState& state);

enum class EditKind : uint8_t { kSnapshot, kEdit };
// Decodes a payload and applies it; a snapshot replaces the state. Errors: kCorruption if it is malformed or
// does not fit the state; kNotSupported if it holds a change that this version does not know.
Status apply_payload(ManifestState& state, std::string_view payload, EditKind kind);
// Decodes a payload, and returns the changes in it. It leaves out the fields that only snapshots hold.
// Errors: as apply_payload(), but no state is needed.
Result<ManifestEdit> decode_edit(std::string_view payload);

}  // namespace cellar
