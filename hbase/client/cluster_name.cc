// The name of a cluster, part by part.
#include "hbase/client/cluster_name.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "base/bytes.h"
#include "cellar/plugin.h"

namespace cellar::hbase {
namespace {

constexpr uint16_t kMasterPort = 16000;

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

Result<ServerAddress> parse_master(std::string_view text) {
  ServerAddress master{.host = std::string(text), .port = kMasterPort};
  const size_t colon = text.rfind(':');
  if (colon != std::string_view::npos && text.find(']', colon) == std::string_view::npos) {
    if (!parse_number(text.substr(colon + 1), master.port) || master.port == 0)
      return Status::invalid_argument(fmt::format("\"{}\" has no port from 1 to 65535", escaped(text)));
    master.host = text.substr(0, colon);
  }
  if (master.host.starts_with('[') && master.host.ends_with(']'))  // an address of IPv6
    master.host = master.host.substr(1, master.host.size() - 2);
  if (master.host.empty()) return Status::invalid_argument(fmt::format("\"{}\" has no host", escaped(text)));
  return master;
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
  return Status::invalid_argument(fmt::format("unknown option \"{}\"; known: timeout_ms, user", escaped(key)))
      .hinting(nearest_hint(key, {"timeout_ms", "user"}));
}

Result<ClusterName> parse(std::string_view text) {
  ClusterName name;
  text.remove_prefix(std::min(text.size(), kScheme.size()));
  std::string_view options = text;
  std::string_view masters = take_until(options, '?');
  if (masters.ends_with('/')) masters.remove_suffix(1);
  do {
    CELLAR_TRY_ASSIGN(ServerAddress master, parse_master(take_until(masters, ',')));
    name.masters.push_back(std::move(master));
  } while (!masters.empty());
  while (!options.empty()) {
    std::string_view value = take_until(options, '&');
    const std::string_view key = take_until(value, '=');
    CELLAR_TRY(set_option(name, key, value));
  }
  return name;
}

}  // namespace

Result<ClusterName> parse_cluster_name(std::string_view text) {
  Result<ClusterName> name = parse(text);
  if (name.ok()) return name;
  return name.status()
      .with_context(fmt::format("cluster \"{}\"", escaped(text)))
      .hinting("the form is hbase://master1:16000,master2:16000?timeout_ms=120000&user=name");
}

}  // namespace cellar::hbase
