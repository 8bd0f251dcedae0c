// Answers Scan: opens scanners, reads on, renews and closes them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cellar/environment.h"
#include "hbase/serve/meta_scanner.h"
#include "hbase/serve/region_service.h"
#include "hbase/serve/watched_filter.h"
#include "hbase/wire/client.pb.h"
#include "hbase/wire/from_wire_read.h"
#include "hbase/wire/to_wire_result.h"

namespace cellar::hbase::serve {
namespace {

// A call that works long answers with the rows that it has, or without rows, so that it does not hold up
// others. A client that has little patience gets half of it, but at least this.
constexpr int64_t kPauseMsMin = 500;

// Cuts a scan to the rows of a region, in the direction of the scan.
void cut(Scan& scan, const ServedRegion& region) {
  const std::string start = scan.start();
  const std::string stop = scan.stop();
  if (!scan.reversed()) {
    if (start < region.start) scan.start(region.start, true);
    if (!region.end.empty() && (stop.empty() || stop >= region.end)) scan.stop(region.end, false);
    return;
  }
  if (!region.end.empty() && (start.empty() || start >= region.end)) scan.start(region.end, false);
  if (stop < region.start) scan.stop(region.start, true);
}

// Rows of one call, as far as its limits go.
struct RowCollector {
  Call& call;
  wire::ScanResponse& response;
  uint64_t bytes = 0;
  uint32_t results = 0;

  void add(const RowView& row) {
    for (const CellView& cell : row.cells()) bytes += cell.key_size + cell.value_size;
    ++results;
    if (call.cell_blocks()) {
      const size_t cells = wire::append_row(call.cell_block(), row);
      response.add_cells_per_result(static_cast<uint32_t>(cells));
      response.add_partial_flag_per_result(row.more_cells_in_row());
      return;
    }
    wire::WireResult& result = *response.add_results();
    wire::to_wire_result(row, result);
    result.set_partial(row.more_cells_in_row());
  }
};

}  // namespace

// Reads on until a limit of the call, of the client or of the server is reached. Sets more_results and
// more_results_in_region.
Status RegionService::next_rows(Call& call, const wire::ScanRequest& request, ScanSession& session,
                                wire::ScanResponse& response) {
  const uint32_t rows_most = request.has_number_of_rows() ? request.number_of_rows()
                             : request.close_scanner()    ? 0
                                                          : 1;
  const uint32_t limit = request.limit_of_rows();
  RowCollector collector{call, response};
  uint32_t whole_rows = 0;
  response.set_more_results(true);
  response.set_more_results_in_region(true);
  const auto enough = [&] { return limit != 0 && whole_rows >= limit; };
  const int64_t begin_us = system_clock().steady_us();
  while (collector.results < rows_most && collector.bytes < session.row_bytes && !enough()) {
    if (!session.scanner->next()) {
      response.set_more_results_in_region(false);
      CELLAR_TRY(session.scanner->status());
      break;
    }
    const RowView row = session.scanner->row();
    if (row.is_cursor()) {
      response.set_heartbeat_message(true);
      if (session.needs_cursor) response.mutable_cursor()->set_row(std::string(row.row()));
      break;
    }
    if (!session.unfinished.empty() && session.unfinished != row.row()) {
      ++whole_rows;  // the row before ended without a last part
      session.unfinished.clear();
      if (enough()) break;
    }
    collector.add(row);
    if (row.more_cells_in_row()) {
      session.unfinished = row.row();
    } else {
      session.unfinished.clear();
      ++whole_rows;
    }
    if (session.pause_ms && system_clock().steady_us() - begin_us >= *session.pause_ms * 1000) {
      response.set_heartbeat_message(true);
      break;
    }
  }
  // A filter that is done ends the scan of all regions, but as in HBase only by an answer without rows.
  const bool filter_ended = !response.more_results_in_region() && session.filter_done->load();
  if (enough() || (filter_ended && collector.results == 0)) response.set_more_results(false);
  return {};
}

Status RegionService::open_scan(Call& call, const wire::ScanRequest& request, wire::ScanResponse& response) {
  CELLAR_TRY_ASSIGN(const std::shared_ptr<const ServedRegion> region,
                    catalog_.region(call, request.region()));
  CELLAR_TRY_ASSIGN(Scan scan, wire::from_wire_scan(request.scan()));
  cut(scan, *region);
  auto session = std::make_unique<ScanSession>();
  if (scan.filter() != nullptr)
    scan.filter(std::make_shared<WatchedFilter>(*scan.filter(), session->filter_done));
  session->region_name = region->name;
  session->needs_cursor = request.scan().need_cursor_result();
  session->row_bytes = limits_.answer_bytes;
  if (request.scan().max_result_size() > 0)
    session->row_bytes = std::min<uint64_t>(session->row_bytes, request.scan().max_result_size());
  if (request.client_handles_partials() && scan.batch() == 0) scan.max_result_bytes(session->row_bytes);
  if (request.client_handles_partials() && request.client_handles_heartbeats()) {
    const int64_t patience_ms =
        call.timeout_ms() == 0 ? limits_.lease_ms : std::min<int64_t>(limits_.lease_ms, call.timeout_ms());
    session->pause_ms = std::min(std::max(patience_ms / 2, kPauseMsMin), limits_.scan_call_ms);
    scan.cursor_after_ms(static_cast<uint32_t>(*session->pause_ms));
  }
  Result<std::unique_ptr<Scanner>> opened =
      region->meta ? scan_meta(region->table, scan, request.scan()) : region->table->scan(scan);
  if (!opened.ok()) return name_failure(call, *region->table, opened.status());
  session->scanner = std::move(opened).value();
  CELLAR_TRY_ASSIGN(const uint64_t id, scanners_.reserve());
  const Status read = next_rows(call, request, *session, response);
  const bool over = !response.more_results() || !response.more_results_in_region() || request.close_scanner();
  response.set_scanner_id(id);
  response.set_ttl_ms(static_cast<uint32_t>(limits_.lease_ms));
  if (!read.ok() || over) {
    session.reset();
    scanners_.release(id);
    return name_failure(call, *region->table, read);
  }
  scanners_.put_back(id, std::move(session));
  return {};
}

Status RegionService::use_scan(Call& call, const wire::ScanRequest& request, wire::ScanResponse& response) {
  const uint64_t id = request.scanner_id();
  std::unique_ptr<ScanSession> session = scanners_.take(id);
  if (session == nullptr) {
    if (request.close_scanner()) return {};  // it was closed at its end already
    return call.refuse(
        java::kUnknownScanner,
        fmt::format("no scanner has the number {}: its lease of {} ms may be over", id, limits_.lease_ms));
  }
  if (request.has_next_call_seq() && request.next_call_seq() != session->next_call) {
    const uint64_t expected = session->next_call;
    scanners_.put_back(id, std::move(session));
    return call.refuse(java::kOutOfOrder, fmt::format("expected the call {} of scanner {}, got {}", expected,
                                                      id, request.next_call_seq()));
  }
  if (request.has_next_call_seq()) ++session->next_call;
  if (request.renew()) return scanners_.put_back(id, std::move(session)), Status();
  // The region may have been dropped, or its table disabled.
  wire::RegionSpecifier specifier;
  specifier.set_type(wire::RegionSpecifier::NAME);
  specifier.set_value(session->region_name);
  const Result<std::shared_ptr<const ServedRegion>> region = catalog_.region(call, specifier);
  const Status read = region.ok() ? next_rows(call, request, *session, response) : region.status();
  const bool over = !response.more_results() || !response.more_results_in_region() || request.close_scanner();
  if (!read.ok() || over) {
    session.reset();
    scanners_.release(id);
    return read;
  }
  scanners_.put_back(id, std::move(session));
  response.set_ttl_ms(static_cast<uint32_t>(limits_.lease_ms));
  return {};
}

Status RegionService::scan(Call& call) {
  wire::ScanRequest request;
  CELLAR_TRY(call.read(request));
  wire::ScanResponse response;
  if (request.has_scanner_id()) {
    CELLAR_TRY(use_scan(call, request, response));
  } else if (request.has_scan()) {
    CELLAR_TRY(open_scan(call, request, response));
  } else {
    return Status::invalid_argument("a scan has neither a scanner nor what to read");
  }
  response.set_stale(false);
  return call.answer(response);
}

}  // namespace cellar::hbase::serve
