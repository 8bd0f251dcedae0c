// RepairPlan: which parts of a store are damaged, what a repair does about it, and what is lost.
//
// A repair relies on three facts. First, everything that an edit of the manifest names was durable before
// the edit was written. So the generation with the greatest edit is the best one, whatever CURRENT says.
// Second, a store file that the manifest does not name is harmless in addition to the files that hold the
// same cells. So files that a lost edit may have named are taken in. Third, the log counts up to its first
// damage. Later records may rely on writes that are lost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/manifest/manifest_state.h"

namespace cellar {

// A part of a store that is damaged. Parts are "current", "manifest", "log", "file" and "feed".
struct StoreDamage {
  std::string part;
  std::string place;  // relative to the store
  std::string text;
};

// A step of the repair. Actions are "move" (to the quarantine), "cut", "leave out", "adopt" and "write".
struct RepairStep {
  std::string action;
  std::string place;  // relative to the store
  std::string text;
};

// Cells that may be lost.
struct RiskOfLoss {
  std::string family = {};  // "orders/d"
  std::string place = {};   // where the cells were
  std::string first_row = {};
  std::string last_row = {};
  uint64_t first_sequence = 0;
  uint64_t last_sequence = 0;
  uint64_t cells = 0;
  std::string text = {};  // what is known beyond that
};

struct RepairPlan {
  std::vector<StoreDamage> damage = {};
  std::vector<RepairStep> steps = {};
  std::vector<RiskOfLoss> at_risk = {};
  std::vector<std::string> notes = {};

  // For carrying it out. Paths are relative to the store.
  ManifestState state = {};                    // that is published
  uint64_t newest_generation = 1;              // of the manifests that are there
  std::vector<std::string> keep = {};          // files: get a second name in the quarantine
  std::vector<std::string> move = {};          // links and directories with the name of a file
  uint64_t cut_segment = 0;                    // 0: no segment is cut
  uint64_t cut_bytes = 0;                      // how much of it stays
  uint64_t new_segment = 0;                    // with which the log begins anew; 0: a segment stays
  uint64_t new_segment_record = 0;             // the number of its first record
  std::vector<uint64_t> drop_segments = {};    // in the quarantine afterwards
  std::vector<std::string> remove_files = {};  // store files, in the quarantine afterwards

  bool is_needed() const { return !damage.empty(); }
};

}  // namespace cellar
