// Frames of HBase's RPC: what a connection begins with, requests and responses.
//
// A connection begins with "HBas", the version 0 and the kind of authentication. A ConnectionHeader follows,
// with its length in 4 bytes, big-endian. A frame of either direction begins with its length in 4 bytes. The
// header message and the message of the method follow, each after its length as a varint. A cell block may be
// last (cell_blocks.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cellar/status.h"

namespace google::protobuf {
class MessageLite;
}

namespace cellar::hbase::wire {

class ConnectionHeader;
class RequestHeader;
class ResponseHeader;

constexpr uint8_t kSimpleAuthentication = 80;
constexpr size_t kPreambleBytes = 6;
constexpr size_t kFrameLengthBytes = 4;
// The class that HBase calls the form of cell blocks of cell_blocks.h.
constexpr std::string_view kKeyValueCodec = "org.apache.hadoop.hbase.codec.KeyValueCodec";
// The names of services in a ConnectionHeader.
constexpr std::string_view kClientService = "ClientService";
constexpr std::string_view kMasterService = "MasterService";
constexpr std::string_view kAdminService = "AdminService";
constexpr std::string_view kRegistryService = "ClientMetaService";

// Returns the first bytes of a connection with simple authentication: the preamble, and the header with its
// length.
std::string connection_start(const ConnectionHeader& header);
// Checks the preamble of a client. kNotSupported for another version or kind of authentication, kCorruption
// for bytes that are no preamble.
Status check_preamble(std::string_view bytes);

// Returns the length of a frame or of a connection header, from its first 4 bytes. Fails with kLimit
// if it is more than `most`: nothing may be allocated for it then.
Result<uint32_t> frame_bytes(const char* first, uint32_t most);

// Parts of a frame without its length. The views point into the frame.
struct FrameParts {
  std::string_view message;     // of the method; empty if it is missing
  std::string_view cell_block;  // empty if it is missing
};

// Append a frame with its length. They set has_param and the length of the cell block in the header. A null
// message is left out.
void append_request(std::string& to, RequestHeader& header, const google::protobuf::MessageLite* message,
                    std::string_view cell_block = {});
void append_response(std::string& to, ResponseHeader& header, const google::protobuf::MessageLite* message,
                     std::string_view cell_block = {});

// Take a frame apart. kCorruption if lengths do not add up, or if the header is no message.
Result<FrameParts> parse_request(std::string_view frame, RequestHeader& header);
Result<FrameParts> parse_response(std::string_view frame, ResponseHeader& header);

// Parses a message of untrusted bytes. kCorruption with its name.
Status parse_message(google::protobuf::MessageLite& message, std::string_view bytes);

}  // namespace cellar::hbase::wire
