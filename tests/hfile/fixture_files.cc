// Finding fixtures, and reading what their documents say.
#include "tests/hfile/fixture_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/coding.h"
#include "hfile/codec/codecs.h"
#include "tests/hfile_support/writer_support.h"

namespace cellar::testing {

namespace {

namespace fs = std::filesystem;

void collect(const fs::path& hfiles, const fs::path& documents, const std::string& origin,
             std::vector<FixtureFile>& files) {
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(hfiles / origin, failed)) {
    if (entry.path().extension() != ".hfile") continue;
    const std::string name = entry.path().stem().string();
    const fs::path document = documents / origin / name;
    FixtureFile file = {origin, name, entry.path().string(), document.string() + ".json",
                        document.string() + ".jsonl.gz"};
    if (!fs::exists(file.json)) continue;
    if (!fs::exists(file.dump)) file.dump.clear();
    files.push_back(std::move(file));
  }
}

std::vector<FixtureFile> sorted(std::vector<FixtureFile> files) {
  std::sort(files.begin(), files.end(), [](const FixtureFile& a, const FixtureFile& b) {
    return a.origin != b.origin ? a.origin < b.origin : a.name < b.name;
  });
  return files;
}

}  // namespace

std::string FixtureFile::label() const {
  std::string text = origin + "_" + name;
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return text;
}

std::vector<FixtureFile> project_fixtures() {
  std::vector<FixtureFile> files;
  const fs::path folder = fs::path(CELLAR_TEST_DATA_DIR) / "hfile";
  for (const char* origin : {"hbase-writer", "derived"}) collect(folder, folder, origin, files);
  return sorted(std::move(files));
}

std::vector<FixtureFile> foreign_fixtures() {
  std::vector<FixtureFile> files;
  const fs::path folder(CELLAR_FIXTURES_DIR);
  for (const char* origin : {"hudi-rs", "bigtable", "hbase-hubspot"}) {
    collect(folder / "hfiles", folder / "expected", origin, files);
  }
  return sorted(std::move(files));
}

std::vector<FixtureFile> all_fixtures() {
  std::vector<FixtureFile> files = project_fixtures();
  for (FixtureFile& file : foreign_fixtures()) files.push_back(std::move(file));
  return files;
}

FixtureFile project_fixture(const std::string& origin, const std::string& name) {
  for (FixtureFile& file : project_fixtures()) {
    if (file.origin == origin && file.name == name) return file;
  }
  ADD_FAILURE() << "no fixture " << origin << "/" << name;
  return {};
}

std::string json_value(const std::string& document, const std::string& key, const std::string& section) {
  size_t from = 0;
  if (!section.empty()) from = document.find("\"" + section + "\":");
  const std::string label = "\"" + key + "\": ";
  const size_t at = document.find(label, from);
  if (from == std::string::npos || at == std::string::npos) return "";
  const size_t begin = at + label.size();
  std::string value = document.substr(begin, document.find('\n', begin) - begin);
  if (!value.empty() && value.back() == ',') value.pop_back();
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
    value = value.substr(1, value.size() - 2);
  return value;
}

bool FixtureFacts::supported() const {
  return compressor_by_name(compression).ok() && encoding != "PREFIX_TREE";
}

FixtureFacts facts_of(const FixtureFile& file) {
  FixtureFacts facts;
  facts.document = read_test_file(file.json);
  facts.readable = json_value(facts.document, "readable") == "true";
  facts.compression = json_value(facts.document, "compression");
  facts.encoding = json_value(facts.document, "data_block_encoding", "format");
  if (facts.encoding == "null") facts.encoding = "NONE";
  if (facts.readable) {
    facts.cells = std::stoull(json_value(facts.document, "cells", "counts"));
    facts.rows = std::stoull(json_value(facts.document, "rows", "counts"));
  }
  return facts;
}

std::string dump_of(const FixtureFile& file) {
  const std::string packed = read_test_file(file.dump);
  if (packed.size() < 18) return "";
  // One gzip member, whose last four bytes are its size.
  std::string lines(load_le32(packed.data() + packed.size() - 4), '\0');
  const Status status = compressor_by_name("gz").value()->decompress(packed, lines.size(), lines.data());
  EXPECT_TRUE(status.ok()) << file.dump << ": " << status.to_text();
  return lines;
}

}  // namespace cellar::testing
