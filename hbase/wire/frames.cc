// Frames of HBase's RPC: each part with its length, none trusted.
#include "hbase/wire/frames.h"

#include <fmt/core.h>

#include "base/coding.h"
#include "hbase/wire/rpc.pb.h"

namespace cellar::hbase::wire {
namespace {

constexpr std::string_view kMagic = "HBas";
constexpr uint8_t kVersion = 0;

void append_delimited(std::string& to, const google::protobuf::MessageLite& message) {
  append_varint(to, message.ByteSizeLong());
  message.AppendToString(&to);
}

template <class Header>
void append_frame(std::string& to, Header& header, const google::protobuf::MessageLite* message,
                  std::string_view cell_block) {
  if (cell_block.empty())
    header.clear_cell_block_meta();
  else
    header.mutable_cell_block_meta()->set_length(static_cast<uint32_t>(cell_block.size()));
  const size_t begin = to.size();
  to.append(kFrameLengthBytes, '\0');
  append_delimited(to, header);
  if (message != nullptr) append_delimited(to, *message);
  to.append(cell_block);
  store_be32(to.data() + begin, static_cast<uint32_t>(to.size() - begin - kFrameLengthBytes));
}

bool take_delimited(ByteReader& reader, std::string_view& bytes) {
  uint64_t size = 0;
  return reader.take_varint(size) && size <= reader.left() && reader.take_bytes(size, bytes);
}

// Parses the header, and leaves the reader after it.
Status take_header(ByteReader& reader, google::protobuf::MessageLite& header) {
  std::string_view bytes;
  if (!take_delimited(reader, bytes)) return Status::corruption("the header of an RPC frame is cut off");
  return parse_message(header, bytes);
}

Result<FrameParts> take_parts(ByteReader& reader, bool has_message, uint64_t cell_block_bytes) {
  FrameParts parts;
  if (has_message && !take_delimited(reader, parts.message))
    return Status::corruption("the message of an RPC frame is cut off");
  if (cell_block_bytes != reader.left())
    return Status::corruption(
        fmt::format("an RPC frame has {} bytes after its message, and its header states {}", reader.left(),
                    cell_block_bytes));
  parts.cell_block = reader.rest();
  return parts;
}

}  // namespace

std::string connection_start(const ConnectionHeader& header) {
  std::string bytes(kMagic);
  bytes += static_cast<char>(kVersion);
  bytes += static_cast<char>(kSimpleAuthentication);
  append_be32(bytes, static_cast<uint32_t>(header.ByteSizeLong()));
  header.AppendToString(&bytes);
  return bytes;
}

Status check_preamble(std::string_view bytes) {
  if (bytes.size() != kPreambleBytes || !bytes.starts_with(kMagic))
    return Status::corruption("the connection does not begin with HBase's preamble");
  const auto version = static_cast<uint8_t>(bytes[kMagic.size()]);
  const auto authentication = static_cast<uint8_t>(bytes[kMagic.size() + 1]);
  if (version != kVersion)
    return Status::not_supported(fmt::format("the client speaks version {} of HBase's RPC, not 0", version));
  if (authentication != kSimpleAuthentication)
    return Status::not_supported(
        fmt::format("the client asks for authentication {}; only simple authentication, {}, is known",
                    authentication, kSimpleAuthentication));
  return {};
}

Result<uint32_t> frame_bytes(const char* first, uint32_t most) {
  const uint32_t bytes = load_be32(first);
  if (bytes > most)
    return Status::limit(fmt::format("an RPC frame states {} bytes; at most {} are accepted", bytes, most));
  return bytes;
}

void append_request(std::string& to, RequestHeader& header, const google::protobuf::MessageLite* message,
                    std::string_view cell_block) {
  header.set_has_param(message != nullptr);
  append_frame(to, header, message, cell_block);
}

void append_response(std::string& to, ResponseHeader& header, const google::protobuf::MessageLite* message,
                     std::string_view cell_block) {
  append_frame(to, header, message, cell_block);
}

Result<FrameParts> parse_request(std::string_view frame, RequestHeader& header) {
  ByteReader reader(frame);
  CELLAR_TRY(take_header(reader, header));
  return take_parts(reader, header.has_param(), header.cell_block_meta().length());
}

Result<FrameParts> parse_response(std::string_view frame, ResponseHeader& header) {
  ByteReader reader(frame);
  CELLAR_TRY(take_header(reader, header));
  return take_parts(reader, !header.has_exception(), header.cell_block_meta().length());
}

Status parse_message(google::protobuf::MessageLite& message, std::string_view bytes) {
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return Status::corruption("bytes are no " + message.GetTypeName());
  return {};
}

}  // namespace cellar::hbase::wire
