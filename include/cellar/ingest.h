// IngestRequest and IngestInfo: finished HFiles that a table adopts (Table::ingest), as in HBase's bulk load.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cellar/hfile.h"
#include "cellar/status.h"

namespace CELLAR_PUBLIC cellar {

// IngestFile: a file to adopt, by family and path. IngestInfo and a feed tell what became of it.
struct IngestFile {
  std::string family;
  std::string path;  // on the engine's file system; of this machine for a cluster; empty in a feed
  // Set in IngestInfo and in a feed, ignored in a request.
  std::string table = {};
  std::string name = {};  // below tables/<table id>/<family>/
  uint64_t bytes = 0;
  uint64_t cells = 0;
  bool linked = false;  // else copied; false in a feed
};

struct IngestRequest {
  std::vector<IngestFile> files = {};
  // Copies the files even where the file system has hard links: the originals may change afterwards.
  bool copy = false;
  // Removes the original names after the files are visible.
  bool move = false;
  // The directory under which a cluster's servers find each file as <family>/<name of the file>, such as
  // "hdfs://nn/staging/orders". Empty: they find it at its path. A store refuses any other value.
  // "webhdfs://nn:9870/staging/orders" lets the client write the files into this directory of HDFS, as the
  // user of the cluster's name. The servers move them from there, and the client removes the directories
  // that it made.
  std::string servers_directory = {};
  // kCells or kDeep; other levels fail with kInvalidArgument. kDeep also looks up each key through the index
  // and the Bloom filter, and rebuilds the filters.
  HFileCheckLevel verify = HFileCheckLevel::kDeep;
  // Called after each verified file with the number and the bytes of the files so far, and again while files
  // are written into HDFS. If it returns false, the ingest fails with kAborted. Empty: not called.
  std::function<bool(uint64_t files_done, uint64_t bytes_done)> progress = {};
};

// IngestTie: two files of one ingest have different cells at equal coordinates, and no record of which was
// written later. HBase's rule decided: the smaller file is the newer one. Their writers may have meant the
// opposite.
struct IngestTie {
  std::string family;
  std::string winner;  // path of the file that counts as newer
  std::string loser;
  std::string cell;  // the first such place: row/family:qualifier/timestamp/type
};

struct IngestInfo {
  std::string table;
  uint64_t sequence = 0;              // of every cell; 0: no file had cells
  std::vector<IngestFile> files;      // in the order of their age, the oldest of a family first
  std::vector<std::string> empty;     // paths of files without cells, which are skipped as in HBase
  std::vector<std::string> remained;  // paths that `move` could not remove
  std::vector<IngestTie> ties;        // one for each pair of files, 100 at most for each family
  uint64_t cells = 0;
  uint64_t bytes = 0;
  int64_t micros = 0;
};
// Returns one line of text for people.
std::string to_text(const IngestInfo& info);

}  // namespace cellar
