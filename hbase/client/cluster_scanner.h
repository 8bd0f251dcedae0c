// ClusterScanner: the rows of a scan over the regions of a table, whatever happens to the regions meanwhile.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/pin.h"
#include "cellar/query.h"
#include "cellar/scanner.h"
#include "hbase/client/cluster.h"

namespace cellar::hbase {

namespace wire {
class ScanRequest;
class ScanResponse;
}  // namespace wire

// One thread at a time. A server's scanner that is gone is opened anew after the last row, or within it.
class ClusterScanner final : public Scanner {
 public:
  // Checks the scan, and asks no server yet.
  static Result<std::unique_ptr<ClusterScanner>> open(std::shared_ptr<Cluster> cluster, std::string table,
                                                      const Scan& scan);
  ~ClusterScanner() override;

  bool next() override;
  RowView row() const override;
  Status status() const override { return status_; }
  bool next_batch(RowBatch& batch, size_t rows) override;

 private:
  // A row, part of a row, or cursor that was fetched.
  struct Part {
    std::vector<CellView> cells;
    std::vector<Pin> frames;
    bool more = false;
    std::string cursor;
  };
  struct Impl;
  ClusterScanner();
  bool move();

  std::unique_ptr<Impl> impl_;
  Part part_;  // the current one
  Status status_;
};

}  // namespace cellar::hbase
