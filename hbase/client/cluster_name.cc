// The name of a cluster, part by part.
#include "hbase/client/cluster_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/bytes.h"
#include "cellar/plugin.h"
#include "engine/values/remote_engines.h"

namespace cellar::hbase {
namespace {

constexpr uint16_t kMasterPort = 16000;
constexpr uint16_t kZooKeeperPort = 2181;

std::string_view take_until(std::string_view& text, char separator) {
  const size_t at = text.find(separator);
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return part;
}

template <class Number>
bool parse_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// ZooKeeper takes no other paths.
Status check_znode(std::string_view path) {
  for (std::string_view rest = path.substr(1);;) {
    const bool last = rest.find('/') == std::string_view::npos;
    const std::string_view part = take_until(rest, '/');
    const bool printable = std::ranges::all_of(part, [](unsigned char c) { return c >= 0x20 && c < 0x7f; });
    if (part.empty() || part == "." || part == ".." || !printable)
      return Status::invalid_argument(fmt::format("\"{}\" is no path of ZooKeeper", escaped(path)));
    if (last) return {};
  }
}

const std::vector<std::string> kOptions = {"timeout_ms", "user",           "tls", "tls_ca", "tls_cert",
                                           "tls_key",    "tls_verify_host"};

Status set_switch(bool& to, std::string_view key, std::string_view value) {
  if (value != "true" && value != "false")
    return Status::invalid_argument(fmt::format("{}={} is neither true nor false", key, escaped(value)));
  to = value == "true";
  return {};
}

Status set_file(std::string& to, std::string_view key, std::string_view value) {
  if (value.empty()) return Status::invalid_argument(fmt::format("{}= names no file", key));
  to = value;
  return {};
}

Status set_option(ClusterName& name, std::string_view key, std::string_view value) {
  if (key == "timeout_ms") {
    if (!parse_number(value, name.timeout_ms) || name.timeout_ms <= 0 || name.timeout_ms > INT32_MAX)
      return Status::invalid_argument(
          fmt::format("timeout_ms={} is no number of milliseconds from 1 to 2147483647", escaped(value)));
    name.first_answer_ms = name.timeout_ms;
    return {};
  }
  if (key == "user") {
    if (value.empty()) return Status::invalid_argument("user= names nobody");
    name.user = value;
    return {};
  }
  if (key == "tls") return set_switch(name.tls, key, value);
  if (key == "tls_verify_host") return set_switch(name.tls_verify_host, key, value);
  if (key == "tls_ca") return set_file(name.tls_files.ca, key, value);
  if (key == "tls_cert") return set_file(name.tls_files.certificate, key, value);
  if (key == "tls_key") return set_file(name.tls_files.key, key, value);
  return Status::invalid_argument(
             fmt::format("unknown option \"{}\"; known: {}", escaped(key), fmt::join(kOptions, ", ")))
      .hinting(nearest_hint(key, kOptions));
}

// A name with a certificate means TLS: plain text would be a surprise.
Status check_tls(const ClusterName& name) {
  const TlsFiles& files = name.tls_files;
  const bool named = !files.ca.empty() || !files.certificate.empty() || !files.key.empty();
  if (!name.tls && (named || !name.tls_verify_host))
    return Status::invalid_argument("options of TLS are given, and TLS is not")
        .hinting("add tls=true, or leave the options out that begin with tls_");
  if (files.certificate.empty() != files.key.empty())
    return Status::invalid_argument("tls_cert and tls_key belong together")
        .hinting("one file may hold both the certificate and its key: name it twice");
  return {};
}

Result<ClusterName> parse(std::string_view text) {
  ClusterName name;
  const bool by_zookeeper = text.starts_with(kZooKeeperScheme);
  text.remove_prefix(std::min(text.size(), (by_zookeeper ? kZooKeeperScheme : kMastersScheme).size()));
  std::string_view options = text;
  std::string_view servers = take_until(options, '?');
  if (servers.ends_with('/')) servers.remove_suffix(1);
  if (by_zookeeper) {
    const size_t slash = servers.find('/');
    if (slash != std::string_view::npos) {
      name.znode = servers.substr(slash);
      servers = servers.substr(0, slash);
      CELLAR_TRY(check_znode(name.znode));
    }
    CELLAR_TRY_ASSIGN(name.quorum, parse_servers(servers, kZooKeeperPort));
  } else {
    CELLAR_TRY_ASSIGN(name.masters, parse_servers(servers, kMasterPort));
  }
  while (!options.empty()) {
    std::string_view value = take_until(options, '&');
    const std::string_view key = take_until(value, '=');
    CELLAR_TRY(set_option(name, key, value));
  }
  CELLAR_TRY(check_tls(name));
  return name;
}

}  // namespace

Result<ServerAddress> parse_server(std::string_view text, uint16_t usual_port) {
  ServerAddress server{.host = std::string(text), .port = usual_port};
  const size_t colon = text.rfind(':');
  if (colon != std::string_view::npos && text.find(']', colon) == std::string_view::npos) {
    if (!parse_number(text.substr(colon + 1), server.port) || server.port == 0)
      return Status::invalid_argument(fmt::format("\"{}\" has no port from 1 to 65535", escaped(text)));
    server.host = text.substr(0, colon);
  }
  if (server.host.starts_with('[') && server.host.ends_with(']'))  // an address of IPv6
    server.host = server.host.substr(1, server.host.size() - 2);
  if (server.host.empty()) return Status::invalid_argument(fmt::format("\"{}\" has no host", escaped(text)));
  return server;
}

Result<std::vector<ServerAddress>> parse_servers(std::string_view text, uint16_t usual_port) {
  std::vector<ServerAddress> servers;
  do {
    CELLAR_TRY_ASSIGN(ServerAddress server, parse_server(take_until(text, ','), usual_port));
    servers.push_back(std::move(server));
  } while (!text.empty());
  return servers;
}

Result<ClusterName> parse_cluster_name(std::string_view text) {
  Result<ClusterName> name = parse(text);
  if (name.ok()) return name;
  return name.status()
      .with_context(fmt::format("cluster \"{}\"", escaped(text)))
      .hinting(text.starts_with(kZooKeeperScheme)
                   ? "the form is hbase+zk://host1:2181,host2:2181/hbase?timeout_ms=120000&user=name"
                   : "the form is hbase://master1:16000,master2:16000?timeout_ms=120000&user=name");
}

}  // namespace cellar::hbase
