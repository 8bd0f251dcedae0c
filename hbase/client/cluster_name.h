// ClusterName: the parts of "hbase://master1:16000,master2:16000?timeout_ms=60000&user=ada", and of
// "hbase+zk://host1:2181,host2:2181/hbase?timeout_ms=60000".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/status.h"
#include "hbase/client/server_address.h"
#include "hbase/net/tls.h"

namespace cellar::hbase {

struct ClusterName {
  std::vector<ServerAddress> masters;  // empty: the cluster is found by ZooKeeper
  std::vector<ServerAddress> quorum;   // servers of ZooKeeper; empty: the cluster is found by its masters
  std::string znode = "/hbase";        // where the cluster registers itself in ZooKeeper
  int64_t timeout_ms = 120'000;        // of an operation, with all its attempts
  // The longest time until a master or ZooKeeper answers for the first time. It is timeout_ms if the text
  // gives one, for a cluster that starts.
  int64_t first_answer_ms = 15'000;
  std::string user = "cellar";
  bool tls = false;  // else the servers are spoken to in plain text
  TlsFiles tls_files = {};
  bool tls_verify_host = true;  // the certificate of a server must be for its host
};

// kInvalidArgument with the part that is wrong. A server without a port has the usual one: 16000 for a
// master, 2181 for ZooKeeper. A name without a path, or with the path "/", has HBase's default, "/hbase".
Result<ClusterName> parse_cluster_name(std::string_view text);

// Parse "host:port", and several of them with commas in between. An address of IPv6 with a port stands in
// brackets. Errors: kInvalidArgument with the part that is wrong.
Result<ServerAddress> parse_server(std::string_view text, uint16_t usual_port);
Result<std::vector<ServerAddress>> parse_servers(std::string_view text, uint16_t usual_port);

}  // namespace cellar::hbase
