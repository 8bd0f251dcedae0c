// Which options of a load go together, and where new regions begin.
#include "tools/transfer/copy_loads.h"

#include <fmt/format.h>

#include <utility>

#include "tools/frame/operands.h"
#include "tools/store/region_splits.h"
#include "tools/store/row_splits.h"

namespace cellar {
namespace {

Status misplaced(std::string_view option, std::string_view why) {
  return Status::invalid_argument(fmt::format("{} {}", option, why));
}

}  // namespace

void CopyLoads::declare(Arguments& arguments) {
  arguments
      .option("--staging", staging_, "PLACE",
              "load HFiles, through a directory or webhdfs://NAMENODE:9870/DIR")
      .option("--servers-staging", servers_staging_, "URI",
              "where the servers of the cluster find --staging (file:///PLACE)")
      .option("--scratch", scratch_, "DIR", "where files lie until WebHDFS has them (.)")
      .option("--splits", splits_, "FILE",
              "first rows of the regions of a new table in a cluster, one a line")
      .option("--regions", regions_, "N", "cut a new table in a cluster into N regions of about one size");
}

Status CopyLoads::check(bool to_cluster, bool copies) {
  if (!regions_.empty()) {
    CELLAR_TRY_ASSIGN(regions_wanted_, for_argument("--regions", parse_count(regions_)));
  }
  if (regions_wanted_ < 1 || regions_wanted_ > kRegionsMax)
    return misplaced("--regions", fmt::format("expects a number from 1 to {}", kRegionsMax));
  const bool web_hdfs = LoadPlace::is_in_hdfs(staging_);
  if (!web_hdfs && staging_.find("://") != std::string::npos)
    return misplaced("--staging", "is neither a directory nor a name that begins with webhdfs://")
        .hinting("the form is webhdfs://NAMENODE:9870/DIR; --servers-staging takes other names");
  if (!copies && (wanted() || cut_regions()))
    return misplaced("--verify only", "copies nothing: leave out --staging, --splits and --regions");
  if (web_hdfs && !to_cluster)
    return misplaced("--staging", "names HDFS, which a store cannot read")
        .hinting("name a directory on the file system of the store");
  if (!servers_staging_.empty() && (!wanted() || web_hdfs || !to_cluster))
    return misplaced("--servers-staging", "is for a directory that --staging shares with a cluster");
  if (!scratch_.empty() && !web_hdfs)
    return misplaced("--scratch", "is for --staging webhdfs://NAMENODE:9870/DIR");
  if (!splits_.empty() && !regions_.empty())
    return misplaced("--regions", "and --splits contradict each other: give one of them");
  if (!to_cluster && cut_regions())
    return misplaced(splits_.empty() ? "--regions" : "--splits", "is for a cluster: a store has no regions");
  return {};
}

Result<std::unique_ptr<LoadPlace>> CopyLoads::open_place(uint64_t copy, bool to_cluster) const {
  return LoadPlace::open({.staging = staging_,
                          .servers_staging = servers_staging_,
                          .scratch = scratch_,
                          .copy = copy,
                          .for_cluster = to_cluster});
}

Result<std::vector<std::string>> CopyLoads::splits_for(Table& from,
                                                       const std::vector<std::string>& starts) const {
  if (!splits_.empty()) {
    CELLAR_TRY_ASSIGN(const RowSplits splits, RowSplits::read(splits_));
    return splits.rows();
  }
  if (!regions_.empty()) {
    Result<RangeSplits> splits = from.split_points(regions_wanted_);
    if (splits.status().is(Code::kNotSupported))
      return splits.status().hinting("name the first rows of the regions: --splits FILE");
    CELLAR_TRY(splits.status());
    return std::move(splits->rows);
  }
  std::vector<std::string> rows = starts;
  if (rows.empty()) {
    CELLAR_TRY_ASSIGN(rows, from.region_starts());
  }
  std::erase(rows, "");
  return rows;
}

}  // namespace cellar
