// Znodes: a header of ZooKeeper's clients in HBase, "PBUF", and a message.
#include "hbase/client/znodes.h"

#include <fmt/core.h>

#include <array>

#include "base/coding.h"
#include "hbase/wire/common.pb.h"
#include "hbase/wire/frames.h"
#include "hbase/wire/registry.pb.h"

namespace cellar::hbase {
namespace {

constexpr char kHeaderMark = '\xff';
constexpr size_t kLengthBytes = 4;
constexpr std::string_view kZnodeMagic = "PBUF";
constexpr uint32_t kOpen = 3;

std::string state_name(uint32_t state) {
  constexpr std::array<std::string_view, 16> kNames = {
      "OFFLINE",       "PENDING_OPEN",  "OPENING",      "OPEN",
      "PENDING_CLOSE", "CLOSING",       "CLOSED",       "SPLITTING",
      "SPLIT",         "FAILED_OPEN",   "FAILED_CLOSE", "MERGING",
      "MERGED",        "SPLITTING_NEW", "MERGING_NEW",  "ABNORMALLY_CLOSED"};
  return state < kNames.size() ? std::string(kNames[state]) : fmt::format("{}", state);
}

// Takes the header off, if there is one.
Status take_header(std::string_view& content) {
  if (!content.starts_with(kHeaderMark)) return {};
  content.remove_prefix(1);
  if (content.size() < kLengthBytes) return Status::corruption("its header is cut off");
  const uint32_t bytes = load_be32(content.data());
  content.remove_prefix(kLengthBytes);
  if (bytes > content.size()) return Status::corruption("its header is longer than the znode");
  content.remove_prefix(bytes);
  return {};
}

template <class Message>
Status parse_znode(std::string_view content, Message& message) {
  CELLAR_TRY(take_header(content));
  if (!content.starts_with(kZnodeMagic))
    return Status::corruption("its content does not begin with PBUF: no HBase of version 2 wrote it");
  content.remove_prefix(kZnodeMagic.size());
  return wire::parse_message(message, content);
}

}  // namespace

Result<ServerAddress> address_of(const wire::ServerName& name) {
  if (name.host_name().empty() || name.port() == 0 || name.port() > UINT16_MAX)
    return Status::corruption("the cluster names a server without host and port");
  return ServerAddress{name.host_name(), static_cast<uint16_t>(name.port())};
}

std::string plain_identity(std::string_view identity) {
  std::string plain;
  for (const char c : identity)
    if (c != '-') plain += c;
  return plain;
}

Result<std::string> parse_identity_znode(std::string_view content) {
  wire::ClusterIdNode node;
  CELLAR_TRY(parse_znode(content, node));
  std::string identity = plain_identity(node.cluster_id());
  if (identity.empty()) return Status::corruption("it holds no identity");
  return identity;
}

Result<ServerAddress> parse_master_znode(std::string_view content) {
  wire::MasterNode node;
  CELLAR_TRY(parse_znode(content, node));
  return address_of(node.master());
}

Result<ServerAddress> parse_meta_znode(std::string_view content) {
  wire::MetaNode node;
  CELLAR_TRY(parse_znode(content, node));
  if (node.state() != kOpen)
    return Status::busy(fmt::format("the region of hbase:meta is in state {}", state_name(node.state())));
  return address_of(node.server());
}

}  // namespace cellar::hbase
