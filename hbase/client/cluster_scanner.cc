// ClusterScanner: region after region, each with a scanner of its server.
#include "hbase/client/cluster_scanner.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "cell/cell_codec.h"
#include "cell/cell_order.h"
#include "cellar/filter.h"
#include "engine/values/row_batch_builder.h"
#include "hbase/client/scan_range.h"
#include "hbase/wire/cell_blocks.h"
#include "hbase/wire/client.pb.h"
#include "hbase/wire/frames.h"
#include "hbase/wire/from_wire_result.h"
#include "hbase/wire/to_wire.h"

namespace cellar::hbase {
namespace {

constexpr uint32_t kRowsOfFetch = 10'000;     // a fetch ends at the bytes below before that, most of the time
constexpr uint64_t kBytesOfFetch = 2u << 20;  // HBase's own default
// A server whose scan finds nothing answers after half of the timeout of the call, and after half a second at
// the least. It drops a call that waited longer than its timeout in a queue, and does not say so.
constexpr uint32_t kCursorTimes = 2;
constexpr uint32_t kCursorCallMs = 1000;
constexpr int64_t kCursorPatienceUs = 1'000'000;  // at first: how much later than that an answer may come

}  // namespace

struct ClusterScanner::Impl {
  std::shared_ptr<Cluster> cluster;
  std::string table;
  wire::WireScan scan;  // without its ends
  ScanRange range;      // what is left of it
  uint64_t limit = 0;   // rows that are still wanted, if has_limit
  bool has_limit = false;
  bool parts_allowed = false;  // the caller takes rows in any parts
  uint32_t batch = 0;
  uint32_t cursor_ms = 0;
  uint32_t call_timeout_ms = 0;  // of a scan with cursors
  ReadStats* stats = nullptr;

  PlacePtr place;  // of the open scanner, if it has an id
  std::optional<uint64_t> scanner_id;
  uint64_t call_seq = 0;
  bool ended = false;
  std::deque<Part> parts;  // fetched, and not yet moved to
  Part pending;            // cells of a row that is not complete
  // The last cell that was returned of a row that may go on: a new scanner begins with its row, and skips up
  // to here.
  std::optional<OwnedCell> skip_until;

  // True if the scan is within this row, of which a part was returned.
  bool is_within(std::string_view row) const { return skip_until && skip_until->view().row() == row; }
  bool reversed() const { return scan.reversed(); }
  Status fetch();
  CallOutcome call(const wire::ScanRequest& request, wire::ScanResponse& response, int64_t deadline_us);
  void set_common(wire::ScanRequest& request) const;
  void lose_scanner();
  void close_scanner();
  Status take(const wire::ScanResponse& response, const CallOutcome& outcome);
  void take_result(const std::vector<CellView>& cells, const Pin& frame, bool partial);
  bool is_returned(const CellView& cell) const;
  void emit_pending(bool more);
  void end_row();
  void take_cursor(const std::string& row);
  void end_region();
};

ClusterScanner::ClusterScanner() : impl_(std::make_unique<Impl>()) {}

ClusterScanner::~ClusterScanner() { impl_->close_scanner(); }

Result<std::unique_ptr<ClusterScanner>> ClusterScanner::open(std::shared_ptr<Cluster> cluster,
                                                             std::string table, const Scan& scan) {
  std::unique_ptr<ClusterScanner> scanner(new ClusterScanner());
  Impl& impl = *scanner->impl_;
  Scan asked = scan;
  CELLAR_TRY_ASSIGN(impl.range, scan_range_of(scan));
  if (scan.has_ranges() && scan.ranges().size() > 1) {
    CELLAR_TRY_ASSIGN(FilterPtr ranges, multi_row_range_filter(scan.ranges()));
    asked.filter(scan.filter() == nullptr ? ranges : all_of({ranges, scan.filter()}));
  }
  CELLAR_TRY(wire::to_wire_scan(asked, impl.scan));
  impl.cluster = std::move(cluster);
  impl.table = std::move(table);
  impl.limit = scan.limit();
  impl.has_limit = scan.limit() != 0;
  impl.batch = scan.batch();
  impl.cursor_ms = scan.cursor_after_ms();
  if (impl.cursor_ms != 0)
    impl.call_timeout_ms = std::max(
        static_cast<uint32_t>(std::min<uint64_t>(uint64_t{impl.cursor_ms} * kCursorTimes, INT32_MAX)),
        kCursorCallMs);
  impl.stats = scan.stats();
  const bool whole = scan.filter() != nullptr && scan.filter()->needs_whole_row();
  impl.parts_allowed = scan.max_result_bytes() != 0 && scan.batch() == 0 && !whole;
  impl.scan.set_max_result_size(impl.parts_allowed ? std::min(scan.max_result_bytes(), kBytesOfFetch)
                                                   : kBytesOfFetch);
  impl.scan.set_caching(kRowsOfFetch);
  impl.ended = impl.range.empty;
  return scanner;
}

bool ClusterScanner::move() {
  if (!status_.ok()) return false;
  while (impl_->parts.empty()) {
    if (impl_->ended) return false;
    status_ = impl_->fetch();
    if (!status_.ok()) return false;
  }
  part_ = std::move(impl_->parts.front());
  impl_->parts.pop_front();
  if (impl_->stats != nullptr && part_.cursor.empty()) {
    impl_->stats->cells_returned += part_.cells.size();
    impl_->stats->rows_returned += part_.more ? 0 : 1;
  }
  return true;
}

bool ClusterScanner::next() {
  if (move()) return true;
  part_ = Part();
  return false;
}

RowView ClusterScanner::row() const {
  if (!part_.cursor.empty()) return RowView::cursor(part_.cursor);
  return {part_.cells, part_.more};
}

bool ClusterScanner::next_batch(RowBatch& batch, size_t rows) {
  batch.clear();
  RowBatchBuilder builder(batch);
  while (batch.size() < rows && move()) {
    if (!part_.cursor.empty()) {
      builder.add_cursor(part_.cursor);
      break;
    }
    const bool one_frame = part_.frames.size() == 1;
    wire::add_row(batch, part_.cells, one_frame ? part_.frames.front().get() : nullptr, part_.more);
  }
  part_ = Part();
  return !batch.empty();
}

// ---- Regions and their scanners

void ClusterScanner::Impl::set_common(wire::ScanRequest& request) const {
  request.set_number_of_rows(has_limit ? static_cast<uint32_t>(std::min<uint64_t>(limit, kRowsOfFetch))
                                       : kRowsOfFetch);
  request.set_client_handles_partials(true);
  request.set_client_handles_heartbeats(true);
  if (has_limit && batch == 0 && !parts_allowed)
    request.set_limit_of_rows(static_cast<uint32_t>(std::min<uint64_t>(limit, INT32_MAX)));
}

CallOutcome ClusterScanner::Impl::call(const wire::ScanRequest& request, wire::ScanResponse& response,
                                       int64_t deadline_us) {
  response.Clear();
  return cluster->rpc().call({.server = place->server,
                              .service = wire::kClientService,
                              .method = "Scan",
                              .request = &request,
                              .response = &response,
                              .server_timeout_ms = call_timeout_ms},
                             deadline_us);
}

void ClusterScanner::Impl::lose_scanner() {
  scanner_id.reset();
  place.reset();
  pending = Part();  // its row is read again, after the cells that were returned of it
}

void ClusterScanner::Impl::close_scanner() {
  if (!scanner_id || place == nullptr) return;
  wire::ScanRequest request;
  request.set_scanner_id(*std::exchange(scanner_id, std::nullopt));
  request.set_close_scanner(true);
  request.set_number_of_rows(0);
  wire::ScanResponse response;
  // The server closes it by itself after a minute, so that nobody waits for the answer.
  cluster->rpc().start({.server = place->server,
                        .service = wire::kClientService,
                        .method = "Scan",
                        .request = &request,
                        .response = &response},
                       cluster->now_us() + 1'000'000);
}

Status ClusterScanner::Impl::fetch() {
  const int64_t deadline = cluster->deadline_us();
  Cluster::Retry retry(*cluster, deadline);
  int64_t patience_us = kCursorPatienceUs;
  while (true) {
    wire::ScanRequest request;
    if (!scanner_id) {
      // A reversed scan that begins with a row begins in the region that holds it; else in the one that ends
      // there.
      const bool holds = !reversed() || (range.start_inclusive && !range.start.empty());
      CELLAR_TRY_ASSIGN(place,
                        cluster->locate(table, range.start, holds ? Side::kHolds : Side::kEndsAt, deadline));
      set_region(*place, *request.mutable_region());
      *request.mutable_scan() = scan;
      request.mutable_scan()->set_start_row(range.start);
      request.mutable_scan()->set_include_start_row(range.start_inclusive);
      request.mutable_scan()->set_stop_row(range.stop);
      request.mutable_scan()->set_include_stop_row(range.stop_inclusive);
    } else {
      request.set_scanner_id(*scanner_id);
      request.set_next_call_seq(call_seq++);
    }
    set_common(request);
    wire::ScanResponse response;
    int64_t until = retry.attempt_deadline_us();
    if (cursor_ms != 0)
      until = std::min(until, cluster->now_us() + int64_t{call_timeout_ms} * 1000 +
                                  std::exchange(patience_us, 2 * patience_us));
    const CallOutcome outcome = call(request, response, until);
    if (outcome.ok()) {
      if (!scanner_id) call_seq = 0;
      if (response.has_scanner_id()) scanner_id = response.scanner_id();
      return take(response, outcome);
    }
    const CallError& error = *outcome.error;
    if (error.remedy == Remedy::kNone) return error.status.with_context("table " + table);
    // After an error nobody knows what the scanner has returned: another one goes on after the last row.
    if (error.remedy == Remedy::kRelocate) cluster->forget(*place, error.moved_to);
    lose_scanner();
    const Status waited = retry.wait(error);
    if (!waited.ok()) return waited.with_context("table " + table);
  }
}

// ---- Results

Status ClusterScanner::Impl::take(const wire::ScanResponse& response, const CallOutcome& outcome) {
  wire::CellBlockReader block(outcome.cell_block);
  for (int i = 0; i < response.cells_per_result_size(); ++i) {
    std::vector<CellView> cells;
    CELLAR_TRY(wire::take_cells(block, response.cells_per_result(i), cells).with_context("table " + table));
    const bool partial = i < response.partial_flag_per_result_size() && response.partial_flag_per_result(i);
    take_result(cells, outcome.frame, partial);
    if (ended) break;  // at the limit
  }
  const bool more = !response.has_more_results() || response.more_results();
  if (!more && !ended) {
    emit_pending(false);
    ended = true;
  }
  if (ended) {
    if (!more) scanner_id.reset();
    close_scanner();
    return {};
  }
  if (response.has_more_results_in_region() && !response.more_results_in_region()) {
    end_region();
  } else if (parts.empty() && cursor_ms != 0 && response.heartbeat_message()) {
    take_cursor(response.cursor().row());
    if (ended) close_scanner();
  }
  return {};
}

// A cursor stands between rows. It is passed over on a row of which a part was fetched or returned.
void ClusterScanner::Impl::take_cursor(const std::string& row) {
  if (row.empty() || is_within(row)) return;
  if (!pending.cells.empty() && pending.cells.front().row() == row) return;
  emit_pending(false);  // the server is beyond its row
  if (ended || (row == range.start && !range.start_inclusive)) return;
  range.start = row;
  range.start_inclusive = true;
  parts.emplace_back().cursor = row;
}

bool ClusterScanner::Impl::is_returned(const CellView& cell) const {
  return is_within(cell.row()) && compare_keys(cell, skip_until->view()) <= 0;
}

void ClusterScanner::Impl::take_result(const std::vector<CellView>& cells, const Pin& frame, bool partial) {
  if (cells.empty()) return;
  const std::string_view row = cells.front().row();
  const bool goes_on = pending.cells.empty() ? is_within(row) : pending.cells.front().row() == row;
  if (!goes_on) emit_pending(false);
  if (ended) return;
  bool full = parts_allowed && !pending.cells.empty();
  for (const CellView& cell : cells) {
    if (is_returned(cell)) continue;  // after a failure a row comes from its beginning again
    if (full || (batch != 0 && pending.cells.size() == batch)) emit_pending(true);
    full = false;
    if (pending.frames.empty() || pending.frames.back().get() != frame.get()) pending.frames.push_back(frame);
    pending.cells.push_back(cell);
  }
  // After a partial result the row need not go on: a part is kept until it is known whether it is the last.
  if (!partial) emit_pending(false);
}

void ClusterScanner::Impl::emit_pending(bool more) {
  if (pending.cells.empty()) {
    if (!more && skip_until) {
      // The rest of the row has gone since its last part was returned.
      if (stats != nullptr) ++stats->rows_returned;
      range.start = skip_until->view().row();
      end_row();
    }
    return;
  }
  Part part = std::exchange(pending, Part());
  part.more = more;
  const CellView& last = part.cells.back();
  range.start = last.row();
  if (more) {
    range.start_inclusive = true;
    skip_until.emplace().assign(last);
  } else {
    end_row();
  }
  parts.push_back(std::move(part));
}

// All parts of the row range.start are found.
void ClusterScanner::Impl::end_row() {
  range.start_inclusive = false;
  skip_until.reset();
  if (has_limit && --limit == 0) ended = true;
}

// The region has no more rows: the scan goes on in the next one, unless that is beyond its end.
void ClusterScanner::Impl::end_region() {
  emit_pending(false);
  scanner_id.reset();  // the server has closed it
  if (ended) return;
  const std::string& edge = reversed() ? place->start : place->end;
  if (edge.empty()) {
    ended = true;
  } else if (reversed()) {
    ended = !range.stop.empty() && edge <= range.stop;
  } else {
    ended = !range.stop.empty() && (edge > range.stop || (edge == range.stop && !range.stop_inclusive));
  }
  range.start = edge;
  range.start_inclusive = !reversed();
  skip_until.reset();
  place.reset();
}

}  // namespace cellar::hbase
