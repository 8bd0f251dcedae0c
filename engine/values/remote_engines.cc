// Remote engines: openers by scheme.
#include "engine/values/remote_engines.h"

#include <map>

namespace cellar {
namespace {

std::map<std::string, RemoteOpener>& openers() {
  static std::map<std::string, RemoteOpener> all;
  return all;
}

}  // namespace

bool is_cluster_name(std::string_view name) {
  return name.starts_with(kMastersScheme) || name.starts_with(kZooKeeperScheme);
}

std::vector<std::string> remote_schemes() {
  std::vector<std::string> schemes;
  for (const auto& [scheme, open] : openers()) schemes.push_back(scheme);
  return schemes;
}

void set_remote_opener(const std::string& scheme, RemoteOpener opener) { openers()[scheme] = opener; }

std::optional<Result<std::unique_ptr<Engine>>> open_remote(const std::string& name,
                                                           const EngineOptions& options) {
  for (const auto& [scheme, open] : openers())
    if (name.starts_with(scheme)) return open(name, options);
  if (!is_cluster_name(name)) return std::nullopt;
  if (!openers().empty()) return openers().begin()->second(name, options);  // it says what it lacks
  return Status::not_supported("\"" + name +
                               "\" names an HBase cluster, and this program is linked without its client")
      .hinting("link cellar::hbase instead of cellar::cellar (build Cellar with -DCELLAR_WITH_HBASE=ON)");
}

}  // namespace cellar
