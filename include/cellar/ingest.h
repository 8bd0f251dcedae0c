// Ingest: taking finished HFiles into a table, as HBase's bulk load does.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cellar/hfile.h"
#include "cellar/status.h"

namespace CELLAR_PUBLIC cellar {

struct IngestFile {
  std::string family;
  std::string path;  // on the engine's file system
};

enum class IngestBy : uint8_t {
  kLink,  // a second name for the file where its file system can give one, else a copy
  kCopy,  // the original may change afterwards
  kMove,  // as kLink; the original's name goes once the files count
};

struct IngestProgress {
  uint64_t files_done = 0;  // linked or copied, and verified
  uint64_t files = 0;
  uint64_t bytes_done = 0;
};

struct IngestRequest {
  std::vector<IngestFile> files = {};
  IngestBy by = IngestBy::kLink;
  // kDeep also finds each key again through index and filter, and rebuilds the filters; kCells does not. Less
  // is refused.
  HFileCheckLevel verify = HFileCheckLevel::kDeep;
  // Told after each file; false gives the whole thing up with kAborted. Empty: nobody is told.
  std::function<bool(const IngestProgress&)> progress = {};
};

struct IngestedFile {
  std::string family;
  std::string source;
  std::string name;  // below tables/<table id>/<family>/
  uint64_t bytes = 0;
  uint64_t cells = 0;
  bool linked = false;  // else copied
};

// Two files of one ingest hold different cells at equal coordinates, and neither says when it was written:
// HBase's order for such files decided (the smaller is the newer), which may not be what their writers meant.
struct IngestTie {
  std::string family;
  std::string winner;  // sources
  std::string loser;
  std::string cell;  // the first such place: row/family:qualifier/timestamp/type
};

struct IngestInfo {
  std::string table;
  uint64_t sequence = 0;              // of every cell; 0: there was nothing to take in
  std::vector<IngestedFile> files;    // in the order of their age, the oldest of a family first
  std::vector<std::string> empty;     // sources without cells, passed over as HBase does
  std::vector<std::string> remained;  // sources that kMove could not remove
  std::vector<IngestTie> ties;        // one for each pair of files, 100 at most for each family
  uint64_t cells = 0;
  uint64_t bytes = 0;
  int64_t micros = 0;
};
// One line of text for people.
std::string to_text(const IngestInfo& info);

}  // namespace cellar
