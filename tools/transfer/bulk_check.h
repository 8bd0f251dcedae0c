// BulkCheck: whether HBase's bulk load will take a directory as it is meant, rule by rule.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hfile/check/cell_census.h"
#include "hfile/check/verify.h"
#include "hfile/read/hfile_reader.h"
#include "tools/frame/session.h"
#include "tools/store/row_splits.h"
#include "tools/store/table_description.h"
#include "tools/transfer/bulk_files.h"

namespace cellar {

enum class BulkLevel : uint8_t { kOk, kNote, kWarn, kFail };
std::string_view bulk_level_name(BulkLevel level);  // "ok", "note", "warn", "FAIL"

// One thing found, about one file or the whole.
struct BulkFinding {
  BulkLevel level = BulkLevel::kFail;
  std::string path;  // empty: the whole
  std::string text;
};

struct BulkRule {
  std::string name;
  std::string text;  // what holds when nothing was found
  std::vector<BulkFinding> findings;
  // Returns the level of the gravest finding.
  BulkLevel level() const;
};

// A file of the directory, looked at once.
struct BulkFacts {
  BulkFile file;
  std::shared_ptr<HFileReader> reader;  // null: it could not be opened
  VerifyReport report;
  CellCensus census;
  std::string first_row;  // of its cells
  std::string last_row;
};

struct BulkCheckOptions {
  VerifyLevel level = VerifyLevel::kDeep;
  std::optional<RowSplits> splits;
  std::optional<TableDescription> table;
};

// One thread; used once.
class BulkCheck {
 public:
  // kNotFound, kIoError; what is wrong with the files is in the rules. kAborted when interrupted.
  static Result<BulkCheck> run(Session& session, const std::string& directory,
                               const BulkCheckOptions& options);

  const std::vector<BulkRule>& rules() const { return rules_; }
  const std::vector<BulkFacts>& files() const { return files_; }
  size_t count(BulkLevel level) const;  // of rules

 private:
  BulkRule& rule(std::string name, std::string text);
  void check_layout(const BulkFiles& found);
  void check_openable();
  void check_sound();
  void check_families();
  void check_rows();
  void check_regions(const std::optional<RowSplits>& splits);
  void check_sequences();
  void check_tags();
  void check_times();
  void check_codecs();
  void check_permission();
  void check_table(const TableDescription& table);

  std::vector<BulkFacts> files_;
  std::vector<BulkRule> rules_;
};

// HBase's names of a file's codec, encoding and Bloom filter.
struct BulkShape {
  std::string compression = "NONE";
  std::string encoding = "NONE";
  std::string bloom = "NONE";
  int32_t bloom_prefix = 0;  // of ROWPREFIX_FIXED_LENGTH
  bool operator==(const BulkShape&) const = default;
};
BulkShape shape_of(const HFileReader& file);

}  // namespace cellar
