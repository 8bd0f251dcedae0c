// Takes requests apart, and puts answers together.
#include "hbase/serve/dispatcher.h"

#include <fmt/format.h>

#include <utility>

#include "base/bytes.h"
#include "base/coding.h"
#include "cellar/environment.h"
#include "hbase/wire/registry.pb.h"
#include "hbase/wire/rpc.pb.h"

namespace cellar::hbase::serve {
namespace {

constexpr uint32_t kNoCall = UINT32_MAX;  // the number of answers to what is no call

// Returns a frame; without `message` if that is null.
std::string frame_of(const wire::ResponseHeader& header, const std::string* message,
                     std::string_view cell_block) {
  std::string head;
  header.SerializeToString(&head);
  std::string body;
  append_varint(body, head.size());
  body += head;
  if (message != nullptr) {
    append_varint(body, message->size());
    body += *message;
  }
  std::string frame;
  frame.reserve(wire::kFrameLengthBytes + body.size() + cell_block.size());
  append_be32(frame, static_cast<uint32_t>(body.size() + cell_block.size()));
  frame += body;
  frame += cell_block;
  return frame;
}

std::string failure_frame(uint32_t call_id, const JavaFailure& failure) {
  wire::ResponseHeader header;
  header.set_call_id(call_id);
  wire::ExceptionResponse& exception = *header.mutable_exception();
  exception.set_class_name(failure.class_name);
  exception.set_stack_trace(failure.stack_trace());
  exception.set_do_not_retry(ends_a_call(failure.class_name));
  return frame_of(header, nullptr, {});
}

bool is_known(std::string_view service) {
  return service == wire::kClientService || service == wire::kAdminService ||
         service == wire::kMasterService || service == wire::kRegistryService;
}

}  // namespace

Result<ConnectionTerms> Dispatcher::connect(std::string_view bytes, std::string& refusal) {
  const auto refuse = [&refusal](std::string_view java_class, std::string message) {
    refusal = failure_frame(kNoCall, {std::string(java_class), message});
    return Status::not_supported(std::move(message));
  };
  wire::ConnectionHeader header;
  const Status read = wire::parse_message(header, bytes);
  if (!read.ok()) return refuse(java::kFatalConnection, std::string(read.message()));
  if (!is_known(header.service_name()))
    return refuse(java::kUnknownService, fmt::format("Unknown service: {}", escaped(header.service_name())));
  if (!header.cell_block_compressor().empty())
    return refuse(java::kUnsupportedCompression,
                  "cell blocks are not compressed: remove hbase.client.rpc.compressor");
  const std::string& codec = header.cell_block_codec();
  if (!codec.empty() && codec != wire::kKeyValueCodec)
    return refuse(java::kUnsupportedCodec,
                  fmt::format("{}: the codec of cell blocks is {}", escaped(codec), wire::kKeyValueCodec));
  return ConnectionTerms{header.service_name(), !codec.empty()};
}

std::string Dispatcher::refuse_preamble(std::string_view preamble) const {
  return failure_frame(
      kNoCall, {std::string(java::kFatalConnection),
                fmt::format("Expected HEADER=HBas but received HEADER={}", escaped(preamble.substr(0, 4)))});
}

std::string Dispatcher::refuse_plain_text() const {
  return failure_frame(kNoCall, {std::string(java::kFatalConnection),
                                 "this server speaks TLS alone: set hbase.client.netty.tls.enabled, or "
                                 "tls=true in the name of the cluster"});
}

std::string Dispatcher::answer_registry() const {
  wire::ResponseHeader header;
  header.set_call_id(kNoCall);
  wire::GetClusterIdResponse response;
  response.set_cluster_id(catalog_.cluster_id());
  const std::string message = response.SerializeAsString();
  return frame_of(header, &message, {});
}

Status Dispatcher::run(const ConnectionTerms& terms, Call& call) {
  if (terms.service == wire::kClientService) return regions_.client_service(call);
  if (terms.service == wire::kAdminService) return regions_.admin_service(call);
  if (terms.service == wire::kMasterService) return master_.master_service(call);
  return master_.registry_service(call);
}

Result<std::string> Dispatcher::answer(const ConnectionTerms& terms, std::string_view frame,
                                       int64_t arrived_us) {
  wire::RequestHeader header;
  CELLAR_TRY_ASSIGN(const wire::FrameParts parts, wire::parse_request(frame, header));
  if (!header.has_call_id()) return Status::corruption("a request has no number");
  const int64_t waited_ms = (system_clock().steady_us() - arrived_us) / 1000;
  if (header.timeout_ms() != 0 && waited_ms >= header.timeout_ms())
    return failure_frame(header.call_id(), {std::string(java::kCallDropped),
                                            fmt::format("the call waited {} ms, and its time was {} ms",
                                                        waited_ms, header.timeout_ms())});
  Call call(header.method_name(), parts, header.timeout_ms(), terms.cell_blocks);
  Status done = run(terms, call);
  if (done.ok() && call.answered().size() + call.cell_block().size() > INT32_MAX - (1u << 20))
    done = Status::limit("the answer is larger than 2 GiB").hinting("ask for fewer rows at a time");
  if (!done.ok()) return failure_frame(header.call_id(), call.take_failure(done));
  wire::ResponseHeader response;
  response.set_call_id(header.call_id());
  if (!call.cell_block().empty())
    response.mutable_cell_block_meta()->set_length(static_cast<uint32_t>(call.cell_block().size()));
  return frame_of(response, &call.answered(), call.cell_block());
}

}  // namespace cellar::hbase::serve
