// FakeCluster: blocking sockets, a thread for each connection.
#include "tests/hbase/fake_cluster.h"

#include <fmt/core.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "base/coding.h"
#include "hbase/proto/hbase.pb.h"
#include "hbase/wire/cell_blocks.h"
#include "hbase/wire/client.pb.h"
#include "hbase/wire/frames.h"
#include "hbase/wire/master.pb.h"
#include "hbase/wire/registry.pb.h"
#include "hbase/wire/rpc.pb.h"

namespace cellar::testing {
namespace {

namespace wire = hbase::wire;
constexpr uint32_t kFrameMax = 64u << 20;

struct Planned {
  FakeCluster::Fault fault;
  std::string exception_class;
  uint16_t moved_to = 0;
};

struct Scanner {
  size_t region = 0;
  std::string start;
  bool inclusive = true;
  std::string stop;
  bool stop_inclusive = false;
  bool reversed = false;
  uint64_t next_call = 0;
};

struct Answer {
  std::string message;  // serialized
  std::string cells;
  std::string exception_class;
  std::string exception_text;
};

template <class Message>
Message parsed(std::string_view bytes) {
  Message message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) std::abort();
  return message;
}

}  // namespace

struct FakeCluster::Impl {
  asio::io_context loop;
  asio::ip::tcp::acceptor acceptor{loop};
  uint16_t port = 0;
  std::thread listener;

  mutable std::mutex mutex;
  std::vector<std::thread> threads;
  std::set<int> sockets;
  bool stopping = false;
  std::map<std::string, std::deque<Planned>> plans;
  std::map<std::string, int> calls;
  std::vector<Region> regions = {{"", "m", 1}, {"m", "", 2}};
  std::map<std::string, std::string> rows;
  std::map<uint64_t, std::string> increments;  // done, by nonce
  std::map<uint64_t, Scanner> scanners;
  uint64_t next_scanner = 100;
  size_t rows_of_fetch = 3;
  bool partial = false;
  std::vector<std::string> loads;
  int refused_loads = 0;
  std::vector<Region> regions_after_refusal;

  static std::string region_name(const Region& region) {
    return fmt::format("t,{},{}.abc.", region.start, region.id);
  }

  void serve(asio::ip::tcp::socket socket);
  bool read(asio::ip::tcp::socket& socket, std::string& bytes, size_t count) {
    std::error_code error;
    bytes.resize(count);
    asio::read(socket, asio::buffer(bytes), error);
    return !error;
  }
  std::optional<Planned> planned(const std::string& method) {
    auto& plan = plans[method];
    if (plan.empty()) return std::nullopt;
    Planned next = plan.front();
    plan.pop_front();
    return next;
  }
  Answer answer(const std::string& method, std::string_view message, std::string_view cells);
  Answer meta(const wire::ScanRequest& request);
  Answer get(const wire::GetRequest& request);
  Answer mutate(const wire::MutateRequest& request, std::string_view cells);
  Answer scan(const wire::ScanRequest& request);
  Answer heartbeat(const wire::ScanRequest& request, const std::string& row);
  Answer multi(const wire::MultiRequest& request, std::string_view cells);
  Answer bulk_load(const wire::BulkLoadRequest& request);
  std::string apply(const wire::WireMutation& mutation, wire::CellBlockReader& block);
  const Region* region_of(const wire::RegionSpecifier& region) const {
    for (const Region& each : regions)
      if (region_name(each) == region.value()) return &each;
    return nullptr;
  }
};

FakeCluster::FakeCluster() : impl_(std::make_unique<Impl>()) {
  const asio::ip::tcp::endpoint any(asio::ip::address_v4::loopback(), 0);
  impl_->acceptor.open(any.protocol());
  impl_->acceptor.bind(any);
  impl_->acceptor.listen();
  impl_->port = impl_->acceptor.local_endpoint().port();
  impl_->listener = std::thread([this] {
    while (true) {
      std::error_code error;
      asio::ip::tcp::socket socket(impl_->loop);
      impl_->acceptor.accept(socket, error);
      const std::lock_guard<std::mutex> lock(impl_->mutex);
      if (error || impl_->stopping) return;
      impl_->sockets.insert(socket.native_handle());
      impl_->threads.emplace_back([this, own = std::make_shared<asio::ip::tcp::socket>(std::move(socket))] {
        impl_->serve(std::move(*own));
      });
    }
  });
}

FakeCluster::~FakeCluster() {
  {
    const std::lock_guard<std::mutex> lock(impl_->mutex);
    impl_->stopping = true;
    for (const int each : impl_->sockets) ::shutdown(each, SHUT_RDWR);
  }
  ::shutdown(impl_->acceptor.native_handle(), SHUT_RDWR);
  impl_->listener.join();
  for (std::thread& each : impl_->threads) each.join();
}

std::string FakeCluster::name(const std::string& options) const {
  return fmt::format("hbase://127.0.0.1:{}?{}", impl_->port, options);
}
uint16_t FakeCluster::port() const { return impl_->port; }

void FakeCluster::fail(const std::string& method, Fault fault, const std::string& exception_class,
                       int times) {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  for (int i = 0; i < times; ++i) impl_->plans[method].push_back({fault, exception_class, 0});
}

void FakeCluster::clear_faults() {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->plans.clear();
}

void FakeCluster::move_to(const std::string& method, uint16_t port) {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->plans[method].push_back(
      {Fault::kException, "org.apache.hadoop.hbase.exceptions.RegionMovedException", port});
}

void FakeCluster::set_regions(std::vector<Region> regions) {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->regions = std::move(regions);
  impl_->scanners.clear();
}

void FakeCluster::set_rows(std::map<std::string, std::string> rows) {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->rows = std::move(rows);
}

void FakeCluster::set_rows_of_fetch(size_t rows) {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->rows_of_fetch = rows;
}

void FakeCluster::set_partial(bool partial) {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->partial = partial;
}

std::map<std::string, std::string> FakeCluster::rows() const {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->rows;
}

std::vector<std::string> FakeCluster::loads() const {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->loads;
}

void FakeCluster::refuse_loads(int times, std::vector<Region> regions) {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->refused_loads = times;
  impl_->regions_after_refusal = std::move(regions);
}

int FakeCluster::calls(const std::string& method) const {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  const auto found = impl_->calls.find(method);
  return found == impl_->calls.end() ? 0 : found->second;
}

// ---- A connection

namespace {

void append_answer(std::string& reply, wire::ResponseHeader& response, const Answer& made) {
  if (!made.exception_class.empty()) {
    response.mutable_exception()->set_class_name(made.exception_class);
    response.mutable_exception()->set_stack_trace(made.exception_text);
    return wire::append_response(reply, response, nullptr);
  }
  // The message is bytes already: a frame is put together by hand.
  if (!made.cells.empty())
    response.mutable_cell_block_meta()->set_length(static_cast<uint32_t>(made.cells.size()));
  std::string frame;
  append_varint(frame, response.ByteSizeLong());
  response.AppendToString(&frame);
  append_varint(frame, made.message.size());
  frame += made.message + made.cells;
  append_be32(reply, static_cast<uint32_t>(frame.size()));
  reply += frame;
}

}  // namespace

void FakeCluster::Impl::serve(asio::ip::tcp::socket socket) {
  std::string bytes;
  if (!read(socket, bytes, wire::kPreambleBytes) || !wire::check_preamble(bytes).ok()) return;
  if (!read(socket, bytes, wire::kFrameLengthBytes) || !read(socket, bytes, load_be32(bytes.data()))) return;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    ++calls["Connection"];
  }
  while (true) {
    if (!read(socket, bytes, wire::kFrameLengthBytes)) break;
    const Result<uint32_t> size = wire::frame_bytes(bytes.data(), kFrameMax);
    if (!size.ok() || !read(socket, bytes, *size)) break;
    wire::RequestHeader header;
    const Result<wire::FrameParts> parts = wire::parse_request(bytes, header);
    if (!parts.ok()) break;
    std::string reply;
    bool drop = false;
    {
      const std::lock_guard<std::mutex> lock(mutex);
      const bool of_meta =
          header.method_name() == "Scan" &&
          parsed<wire::ScanRequest>(parts->message).region().value().starts_with("hbase:meta");
      const std::string method = of_meta ? "Meta" : header.method_name();
      ++calls[method];
      const std::optional<Planned> plan = planned(method);
      if (plan && plan->fault == Fault::kDropBefore) break;
      if (plan && plan->fault == Fault::kSilence) continue;
      wire::ResponseHeader response;
      response.set_call_id(header.call_id());
      Answer made;
      if (plan && plan->fault == Fault::kException) {
        made.exception_class = plan->exception_class;
        made.exception_text = plan->exception_class + ": as planned\n\tat Test.java:1";
        if (plan->moved_to != 0) {
          response.mutable_exception()->set_host_name("127.0.0.1");
          response.mutable_exception()->set_port(plan->moved_to);
        }
      } else if (plan && plan->fault == Fault::kHeartbeat) {
        made = heartbeat(parsed<wire::ScanRequest>(parts->message), plan->exception_class);
      } else {
        made = answer(method, parts->message, parts->cell_block);
        if (plan && plan->fault == Fault::kHalfDone) made.exception_class = plan->exception_class;
      }
      drop = plan && plan->fault == Fault::kDropAfter;
      if (plan && plan->fault == Fault::kCutCells) made.cells.resize(made.cells.size() / 2);
      append_answer(reply, response, made);
      if (plan && plan->fault == Fault::kGarbage) reply = std::string("\0\0\0\x05hello", 9);
    }
    if (drop) break;
    std::error_code error;
    asio::write(socket, asio::buffer(reply), error);
    if (error) break;
  }
  const std::lock_guard<std::mutex> lock(mutex);
  sockets.erase(socket.native_handle());
}

Answer FakeCluster::Impl::answer(const std::string& method, std::string_view message,
                                 std::string_view cells) {
  hbase::wire::ServerName self;
  self.set_host_name("127.0.0.1");
  self.set_port(port);
  if (method == "GetClusterId") {
    wire::GetClusterIdResponse response;
    response.set_cluster_id("01234567-89ab-cdef-0123-456789abcdef");
    return {response.SerializeAsString(), {}, {}, {}};
  }
  if (method == "GetActiveMaster") {
    wire::GetActiveMasterResponse response;
    *response.mutable_server_name() = self;
    return {response.SerializeAsString(), {}, {}, {}};
  }
  if (method == "GetMetaRegionLocations") {
    wire::GetMetaRegionLocationsResponse response;
    *response.add_meta_locations()->mutable_server_name() = self;
    return {response.SerializeAsString(), {}, {}, {}};
  }
  if (method == "GetTableDescriptors") {
    const auto request = parsed<wire::GetTableDescriptorsRequest>(message);
    wire::GetTableDescriptorsResponse response;
    if (request.table_names(0).qualifier() == "t") {
      hbase::TableSchema& schema = *response.add_table_schemas();
      *schema.mutable_table_name() = request.table_names(0);
      schema.add_column_families()->set_name("f");
    }
    return {response.SerializeAsString(), {}, {}, {}};
  }
  if (method == "GetTableNames") {
    wire::GetTableNamesResponse response;
    response.add_table_names()->set_qualifier("t");
    return {response.SerializeAsString(), {}, {}, {}};
  }
  if (method == "Meta") return meta(parsed<wire::ScanRequest>(message));
  if (method == "Get") return get(parsed<wire::GetRequest>(message));
  if (method == "Mutate") return mutate(parsed<wire::MutateRequest>(message), cells);
  if (method == "Scan") return scan(parsed<wire::ScanRequest>(message));
  if (method == "Multi") return multi(parsed<wire::MultiRequest>(message), cells);
  if (method == "PrepareBulkLoad") {
    wire::PrepareBulkLoadResponse response;
    response.set_bulk_token("/staging/token");
    return {response.SerializeAsString(), {}, {}, {}};
  }
  if (method == "BulkLoadHFile") return bulk_load(parsed<wire::BulkLoadRequest>(message));
  if (method == "CleanupBulkLoad") return {};
  return {{}, {}, "org.apache.hadoop.hbase.DoNotRetryIOException", "no method " + method};
}

Answer FakeCluster::Impl::bulk_load(const wire::BulkLoadRequest& request) {
  const Region* const region = region_of(request.region());
  if (region == nullptr) return {{}, {}, "org.apache.hadoop.hbase.NotServingRegionException", "not here"};
  wire::BulkLoadResponse response;
  response.set_loaded(refused_loads == 0 && request.bulk_token() == "/staging/token" &&
                      request.assign_sequence());
  if (refused_loads > 0) {
    --refused_loads;
    if (!regions_after_refusal.empty()) regions = regions_after_refusal;
  }
  for (const wire::BulkLoadRequest::FamilyPath& each : request.paths())
    if (response.loaded())
      loads.push_back(fmt::format("{} {} {}{}", region->start, each.family(), each.path(),
                                  request.copy_file() ? " (copied)" : ""));
  return {response.SerializeAsString(), {}, {}, {}};
}

Answer FakeCluster::Impl::meta(const wire::ScanRequest& request) {
  // A scan forwards is one of all regions. The start of one backwards is "t,ROW,time" or "t,ROW," or "t ,,":
  // the regions at or before it, the last one first.
  const std::string& from = request.scan().start_row();
  const bool last = from == "t ,,";
  const size_t comma = from.rfind(',');
  const std::string row = last ? "" : from.substr(2, comma - 2);
  const bool before = comma + 1 == from.size();
  wire::ScanResponse response;
  Answer answer;
  for (size_t i = regions.size(); i-- > 0;) {
    const bool forwards = !request.scan().reversed();
    const Region& region = regions[forwards ? regions.size() - 1 - i : i];
    const bool passed = !forwards && !last && (before ? region.start >= row : region.start > row);
    if (!from.starts_with("t") || passed) continue;
    hbase::RegionInfo info;
    info.set_region_id(region.id);
    info.mutable_table_name()->set_qualifier("t");
    info.set_start_key(region.start);
    info.set_end_key(region.end);
    const std::string name = region_name(region);
    wire::append_cell(answer.cells, name, "info", "regioninfo", 1, CellType::kPut,
                      "PBUF" + info.SerializeAsString());
    if (region.served)
      wire::append_cell(answer.cells, name, "info", "server", 1, CellType::kPut,
                        fmt::format("127.0.0.1:{}", port));
    response.add_cells_per_result(region.served ? 2 : 1);
    response.add_partial_flag_per_result(false);
  }
  response.set_more_results(false);
  answer.message = response.SerializeAsString();
  return answer;
}

Answer FakeCluster::Impl::get(const wire::GetRequest& request) {
  if (region_of(request.region()) == nullptr)
    return {{}, {}, "org.apache.hadoop.hbase.NotServingRegionException", "not here"};
  wire::GetResponse response;
  Answer answer;
  const auto found = rows.find(request.get().row());
  if (request.get().existence_only()) {
    response.mutable_result()->set_exists(found != rows.end());
  } else {
    response.mutable_result()->set_associated_cell_count(found != rows.end() ? 1 : 0);
    if (found != rows.end())
      wire::append_cell(answer.cells, found->first, "f", "q", 1, CellType::kPut, found->second);
  }
  answer.message = response.SerializeAsString();
  return answer;
}

// Returns the new value of an increment, as its 8 bytes.
std::string FakeCluster::Impl::apply(const wire::WireMutation& mutation, wire::CellBlockReader& block) {
  std::string result;
  for (int i = 0; i < mutation.associated_cell_count(); ++i) {
    CellView cell;
    if (!block.next(cell).ok()) return {};
    std::string& value = rows[std::string(cell.row())];
    if (mutation.type() == wire::WireMutation::PUT) value = cell.value_bytes();
    if (mutation.type() != wire::WireMutation::INCREMENT) continue;
    if (const auto done = increments.find(mutation.nonce()); done != increments.end()) return done->second;
    const uint64_t before = value.size() == 8 ? load_be64(value.data()) : 0;
    value.clear();
    append_be64(value, before + load_be64(cell.value_bytes().data()));
    if (mutation.nonce() != 0) increments[mutation.nonce()] = value;
    result = value;
  }
  if (mutation.type() == wire::WireMutation::DELETE) rows.erase(mutation.row());
  return result;
}

Answer FakeCluster::Impl::mutate(const wire::MutateRequest& request, std::string_view cells) {
  if (region_of(request.region()) == nullptr)
    return {{}, {}, "org.apache.hadoop.hbase.NotServingRegionException", "not here"};
  wire::CellBlockReader block(cells);
  const std::string value = apply(request.mutation(), block);
  wire::MutateResponse response;
  response.set_processed(true);
  Answer answer;
  if (!value.empty()) {
    response.mutable_result()->set_associated_cell_count(1);
    wire::append_cell(answer.cells, request.mutation().row(), "f", "q", 1, CellType::kPut, value);
  }
  answer.message = response.SerializeAsString();
  return answer;
}

Answer FakeCluster::Impl::multi(const wire::MultiRequest& request, std::string_view cells) {
  wire::CellBlockReader block(cells);
  wire::MultiResponse response;
  Answer answer;
  for (const wire::RegionAction& actions : request.region_actions()) {
    wire::RegionActionResult& results = *response.add_region_results();
    if (region_of(actions.region()) == nullptr) {
      results.mutable_exception()->set_name("org.apache.hadoop.hbase.NotServingRegionException");
      results.mutable_exception()->set_value("not here");
      for (const wire::WireAction& action : actions.actions())
        for (int i = 0; i < action.mutation().associated_cell_count(); ++i) {
          CellView skipped;
          if (!block.next(skipped).ok()) std::abort();
        }
      continue;
    }
    for (const wire::WireAction& action : actions.actions()) {
      wire::ResultOrException& result = *results.add_results();
      result.set_index(action.index());
      if (const std::optional<Planned> plan = planned("Action")) {
        result.mutable_exception()->set_name(plan->exception_class);
        result.mutable_exception()->set_value("as planned");
        if (plan->fault == Fault::kHalfDone) {
          apply(action.mutation(), block);
          continue;
        }
        for (int i = 0; i < action.mutation().associated_cell_count(); ++i) {
          CellView skipped;
          if (!block.next(skipped).ok()) std::abort();
        }
        continue;
      }
      if (action.has_mutation()) {
        const std::string value = apply(action.mutation(), block);
        if (!value.empty()) {
          result.mutable_result()->set_associated_cell_count(1);
          wire::append_cell(answer.cells, action.mutation().row(), "f", "q", 1, CellType::kPut, value);
        }
        continue;
      }
      const auto found = rows.find(action.get().row());
      result.mutable_result()->set_exists(found != rows.end());
      if (found == rows.end() || action.get().existence_only()) continue;
      result.mutable_result()->set_associated_cell_count(1);
      wire::append_cell(answer.cells, found->first, "f", "q", 1, CellType::kPut, found->second);
    }
  }
  answer.message = response.SerializeAsString();
  return answer;
}

Answer FakeCluster::Impl::heartbeat(const wire::ScanRequest& request, const std::string& row) {
  if (const auto found = scanners.find(request.scanner_id()); found != scanners.end())
    ++found->second.next_call;
  wire::ScanResponse response;
  response.set_more_results(true);
  response.set_more_results_in_region(true);
  response.set_heartbeat_message(true);
  response.mutable_cursor()->set_row(row);
  return {response.SerializeAsString(), {}, {}, {}};
}

Answer FakeCluster::Impl::scan(const wire::ScanRequest& request) {
  wire::ScanResponse response;
  Answer answer;
  uint64_t id = request.scanner_id();
  if (request.has_scan()) {
    const Region* region = region_of(request.region());
    if (region == nullptr) return {{}, {}, "org.apache.hadoop.hbase.NotServingRegionException", "not here"};
    id = next_scanner++;
    const wire::WireScan& scan = request.scan();
    scanners[id] = {static_cast<size_t>(region - regions.data()),
                    scan.start_row(),
                    scan.include_start_row(),
                    scan.stop_row(),
                    scan.include_stop_row(),
                    scan.reversed(),
                    0};
  }
  const auto found = scanners.find(id);
  if (found == scanners.end()) return {{}, {}, "org.apache.hadoop.hbase.UnknownScannerException", "gone"};
  Scanner& scanner = found->second;
  if (request.close_scanner() && !request.has_scan()) {
    scanners.erase(found);
    return {response.SerializeAsString(), {}, {}, {}};
  }
  if (!request.has_scan() && request.next_call_seq() != scanner.next_call++)
    return {{}, {}, "org.apache.hadoop.hbase.exceptions.OutOfOrderScannerNextException", "out of order"};
  const Region& region = regions[scanner.region];
  const auto is_inside = [&](const std::string& row) {
    const int from = scanner.start.empty() ? 1
                     : scanner.reversed    ? scanner.start.compare(row)
                                           : row.compare(scanner.start);
    const int until = scanner.stop.empty() ? 1
                      : scanner.reversed   ? row.compare(scanner.stop)
                                           : scanner.stop.compare(row);
    return row >= region.start && (region.end.empty() || row < region.end) &&
           (scanner.inclusive ? from >= 0 : from > 0) && (scanner.stop_inclusive ? until >= 0 : until > 0);
  };
  std::vector<std::string> inside;
  for (const auto& [row, value] : rows)
    if (is_inside(row)) inside.push_back(row);
  if (scanner.reversed) std::ranges::reverse(inside);
  const bool more = inside.size() > rows_of_fetch;
  if (more) inside.resize(rows_of_fetch);
  for (const std::string& row : inside) {
    wire::append_cell(answer.cells, row, "f", "q", 1, CellType::kPut, rows[row]);
    response.add_cells_per_result(1);
    response.add_partial_flag_per_result(partial);
    scanner.start = row;
    scanner.inclusive = false;
  }
  response.set_scanner_id(id);
  response.set_more_results(true);
  response.set_more_results_in_region(more);
  if (!more) scanners.erase(id);
  answer.message = response.SerializeAsString();
  return answer;
}

}  // namespace cellar::testing
