// GenerationLook: one generation of a manifest, read edit by edit as far as it goes, whatever is damaged.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/file_system.h"
#include "engine/log/directory.h"
#include "engine/log/record_file.h"
#include "engine/manifest/manifest_state.h"

namespace cellar {

// An edit during a look. It lives until the visit returns.
struct SeenEdit {
  uint64_t generation = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t number = 0;
  bool whole_state = false;  // the first record of a generation
  const ManifestEdit& edit;
  const ManifestState& before;
  const ManifestState& after;
};
// Returns false to end the look.
using VisitEdit = std::function<bool(const SeenEdit&)>;

struct GenerationLook {
  uint64_t generation = 0;
  uint64_t bytes = 0;
  Status header = {};                       // ok, or what is wrong with the header of the file
  std::optional<ManifestState> state = {};  // after the last whole edit; nothing: no edit is whole
  uint64_t first_edit = 0;
  uint64_t edits = 0;  // whole ones
  uint64_t end = 0;    // offset after the last whole edit
  Status damage = {};  // what stands there, unless the manifest may end so

  // Returns true if the generation is whole: nothing or a torn last edit stands after the last whole edit.
  bool sound() const { return header.ok() && damage.ok() && state.has_value(); }
};

// Looks at a generation of the store `identity`. An identity of zeros means: as the header says. Only errors
// of the file system are errors; everything else is in the look. `visit` may be null.
Result<GenerationLook> look_at_generation(Directory& root, uint64_t generation, const Identity& identity,
                                          const VisitEdit& visit);

// Returns the numbers of all generations in the directory, ascending.
Result<std::vector<uint64_t>> list_generations(Directory& root);

// Returns the content of CURRENT. Errors: kNotFound, kIoError if it is not a file, kCorruption.
Result<Current> read_current_file(Directory& root);

// Returns what an edit changed, each change in a few words. `before` and `after` give the names of families.
std::vector<std::string> changes_of(const SeenEdit& edit);
// Returns how a state differs from an earlier one of the same store, in the same words.
std::vector<std::string> changes_between(const ManifestState& before, const ManifestState& after);

}  // namespace cellar
