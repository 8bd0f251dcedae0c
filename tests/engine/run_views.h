// RunViews: views over HFiles in memory, whose files form sorted runs, or the same files each as a run of its
// own.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/read/table_read.h"
#include "engine/store/store_view.h"
#include "hfile/write/hfile_writer.h"
#include "tests/cell_support/cell_text.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/byte_files.h"
#include "tests/support/manual_clock.h"

namespace cellar::testing {

class RunViews {
 public:
  // One family named "f".
  explicit RunViews(FamilyOptions family) : config_(FamilyConfig::create(family).value()) {}
  RunViews(const RunViews&) = delete;
  RunViews& operator=(const RunViews&) = delete;

  // Adds a run, the youngest of all. Each of its files holds cells in order; a file may be empty.
  void add_run(const std::vector<Cells>& files) {
    ++runs_;
    for (const Cells& cells : files) add_file(cells);
  }

  enum class Files : uint8_t { kInRuns, kAlone };
  std::shared_ptr<StoreView> view(Files files) const {
    auto view = std::make_shared<StoreView>();
    view->config = config_;
    std::vector<PlacedFile> placed;
    for (const Written& each : written_) {
      FileRecord record = each.record;
      if (files == Files::kAlone || record.cells == 0) record.run = 0;
      auto file =
          std::make_shared<StoreFile>(each.reader, record, placed.size() + 1, nullptr, StoredFile(), nullptr);
      placed.push_back({std::move(file), record.run});
    }
    set_files(*view, std::move(placed));
    return view;
  }

  // Changes a byte of the first data block of a file.
  void damage(size_t file) { written_[file].bytes->at(60) ^= 1; }
  size_t files() const { return written_.size(); }

 private:
  struct Written {
    std::shared_ptr<std::string> bytes;
    std::shared_ptr<HFileReader> reader;
    FileRecord record;
  };

  void add_file(const Cells& cells) {
    StringFile file;
    const HFileWriterOptions options =
        writer_options(config_->options, FileOrigin::kFlush, false, true, 1, 1 << 20);
    auto writer = HFileWriter::create(file, options).value();
    for (const Cell& cell : cells) EXPECT_OK(writer->add(owned(cell).view()));
    const HFileSummary summary = writer->finish().value();
    Written made;
    made.bytes = std::make_shared<std::string>(file.bytes());
    made.record.name = "file" + std::to_string(written_.size());
    made.record.take_figures(summary);
    made.record.bytes = made.bytes->size();
    made.record.sequence_max = summary.sequence_max;
    made.record.run = runs_;
    made.reader =
        HFileReader::open(std::make_unique<ViewFile>(*made.bytes), {.name = made.record.name}).value();
    written_.push_back(std::move(made));
  }

  std::shared_ptr<const FamilyConfig> config_;
  std::deque<Written> written_;
  uint64_t runs_ = 0;
};

// ViewScan: reads one view as the scanner of a table does.
class ViewScan {
 public:
  ViewScan(const std::shared_ptr<const StoreView>& view, const Scan& scan) : scan_(scan) {
    EXPECT_OK(request_.resolve(scan_, clock_));
    FamilyChoice choice{"f"};
    scan_.for_each_family([&](std::string_view family, std::span<const std::string> qualifiers) {
      if (family == choice.family) choice.qualifiers = qualifiers;
    });
    StoreQuery query = store_query(scan_, request_.read, choice);
    query.rules.now_ms = clock_.wall_ms();
    StoreReaders readers;
    if (auto reader = StoreReader::open(view, query, request_.read.range))
      readers.push_back(std::move(reader));
    reader_ = std::make_unique<RowReader>(std::move(readers), request_.read.range, request_.read.budget,
                                          request_.read.stats, nullptr, request_.read.filter);
  }

  // Returns the cells of the next row; none at the end or after an error.
  std::vector<std::string> next() {
    RowBatch batch;
    return reader_->next(batch) ? cell_texts(batch.row()) : std::vector<std::string>();
  }
  const Status& status() const { return reader_->status(); }

 private:
  ManualClock clock_;
  const Scan scan_;
  ScanRead request_;
  std::unique_ptr<RowReader> reader_;
};

// Returns the cells that the scan finds in the view.
inline std::vector<std::string> scan_view(const std::shared_ptr<const StoreView>& view, const Scan& scan,
                                          Status* status = nullptr) {
  ViewScan rows(view, scan);
  std::vector<std::string> all;
  for (auto row = rows.next(); !row.empty(); row = rows.next()) all.insert(all.end(), row.begin(), row.end());
  if (status != nullptr) *status = rows.status();
  if (status == nullptr) EXPECT_OK(rows.status());
  return all;
}

// Returns the cells that a get of the row finds in the view.
inline std::vector<std::string> get_from_view(const std::shared_ptr<const StoreView>& view, const Get& get) {
  Scan scan;
  scan.start(get.row()).stop(get.row(), true).versions(get.versions());
  scan.time_range(get.time_from(), get.time_until()).stats(get.stats()).explain(get.explain());
  for (const auto& [family, columns] : get.columns())
    for (const std::string& column : columns) scan.column(family, column);
  return scan_view(view, scan);
}

}  // namespace cellar::testing
