// The HFiles that other programs wrote: those in tests/data/hfile, and more outside the project where they
// are present.
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
  std::string dump;   // its cells, gzipped; empty if the file has no dump

  std::string label() const;  // for test names
};

// Returns the files of the project itself; they are always there.
std::vector<FixtureFile> project_fixtures();
// Returns the files that are only used where they lie; empty when the folder is absent.
std::vector<FixtureFile> foreign_fixtures();
// Both.
std::vector<FixtureFile> all_fixtures();
FixtureFile project_fixture(const std::string& origin, const std::string& name);

// Returns the text after `"key": ` in a document, up to the comma or line's end, without quotes; empty when
// absent. If `section` is given, it is the first such text after `"section"`.
std::string json_value(const std::string& document, const std::string& key, const std::string& section = "");

// The facts that a file's document states.
struct FixtureFacts {
  bool readable = false;
  std::string compression;
  std::string encoding;
  uint64_t cells = 0;
  uint64_t rows = 0;
  std::string document;
  // Returns true if this build must read the codec and the encoding.
  bool supported() const;
};
FixtureFacts facts_of(const FixtureFile& file);

// The lines of its dump, with their ends.
std::string dump_of(const FixtureFile& file);

}  // namespace cellar::testing
