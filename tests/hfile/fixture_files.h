// The HFiles that others wrote: those in tests/data/hfile, and more beside the project where they are
// present.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cellar::testing {

struct FixtureFile {
  std::string origin;  // "hbase-writer"
  std::string name;
  std::string hfile;  // paths
  std::string json;   // what an independent reader says of it
  std::string dump;   // its cells, gzipped; empty when there is none

  std::string label() const;  // for test names
};

// Those of the project itself; always there.
std::vector<FixtureFile> project_fixtures();
// Those that are only used where they lie; empty when the folder is absent.
std::vector<FixtureFile> foreign_fixtures();
// Both.
std::vector<FixtureFile> all_fixtures();
FixtureFile project_fixture(const std::string& origin, const std::string& name);

// The text behind `"key": ` in a document, up to the comma or line's end, without quotes; empty when absent.
// The first one after
// `"section"` when that is given.
std::string json_value(const std::string& document, const std::string& key, const std::string& section = "");

// What its document says.
struct FixtureFacts {
  bool readable = false;
  std::string compression;
  std::string encoding;
  uint64_t cells = 0;
  uint64_t rows = 0;
  std::string document;
  // Whether codec and encoding are ones that this build must read.
  bool supported() const;
};
FixtureFacts facts_of(const FixtureFile& file);

// The lines of its dump, with their ends.
std::string dump_of(const FixtureFile& file);

}  // namespace cellar::testing
