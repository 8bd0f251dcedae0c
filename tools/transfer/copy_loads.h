// CopyLoads: the options of a copy that loads HFiles in place of batches, and of the regions of its table.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cellar/table.h"
#include "tools/frame/arguments.h"
#include "tools/transfer/load_sink.h"

namespace cellar {

class CopyLoads {
 public:
  void declare(Arguments& arguments);
  // Checks the options together. `to_cluster`: the copy goes to a cluster; `copies`: it writes at all.
  Status check(bool to_cluster, bool copies);

  // Returns whether files are loaded.
  bool wanted() const { return !staging_.empty(); }
  // Returns whether the options tell the regions of a new table.
  bool cut_regions() const { return !splits_.empty() || !regions_.empty(); }
  // Makes the directory for the files. `copy` tells copies apart. Errors: those of LoadPlace::open.
  Result<std::unique_ptr<LoadPlace>> open_place(uint64_t copy, bool to_cluster) const;
  // Returns where the regions of a new table of a cluster begin. The options tell, or else the regions of
  // `from` do. The regions of HFiles are in `starts`. Errors: those of RowSplits::read and split_points().
  Result<std::vector<std::string>> splits_for(Table& from, const std::vector<std::string>& starts) const;

 private:
  std::string staging_;
  std::string servers_staging_;
  std::string scratch_;
  std::string splits_;
  std::string regions_;
  uint64_t regions_wanted_ = 1;  // of the text before
};

}  // namespace cellar
